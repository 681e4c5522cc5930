/* SPDX-License-Identifier: MIT */
/*
 * What one process keeps about the devices it uses, and the functions between the files. One mutex guards all of it:
 * the kernel's part (system calls of the program) and the device's part (the device thread) take turns.
 */
#ifndef MLX5EMU_EMU_H
#define MLX5EMU_EMU_H

#include <dirent.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "fabric.h"
#include "fault.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	PAGE = 4096,
	UAR_PAGES = 64,
	STATIC_UARS = 8,
	BF_REG_SIZE = 512,
	MAX_FDS = 65536,
	MAX_CHANNELS = 256,
	WINDOW = 64, /* WQEs of a QP on their way */
	READ_JOBS = 32,
};

/* IB_QPS_*: the numbers of the write ABI */
enum qp_state { QPS_RESET, QPS_INIT, QPS_RTR, QPS_RTS, QPS_SQD, QPS_SQE, QPS_ERR };

/* IB_EVENT_* */
enum async_event {
	EV_CQ_ERR = 0,
	EV_QP_FATAL = 1,
	EV_DEVICE_FATAL = 8,
	EV_PORT_ACTIVE = 9,
	EV_PORT_ERR = 10,
};

/* The C library's own functions, under their interposed names. */
struct real_calls {
	int (*open)(const char *, int, ...);
	int (*openat)(int, const char *, int, ...);
	DIR *(*opendir)(const char *);
	FILE *(*fopen)(const char *, const char *);
	int (*close)(int);
	ssize_t (*write)(int, const void *, size_t);
	ssize_t (*read)(int, void *, size_t);
	int (*ioctl)(int, unsigned long, ...);
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	int (*stat)(const char *, struct stat *);
	int (*lstat)(const char *, struct stat *);
	int (*fstat)(int, struct stat *);
	int (*fstatat)(int, const char *, struct stat *, int);
	int (*statx)(int, const char *, int, unsigned int, struct statx *);
	int (*access)(const char *, int);
	int (*eaccess)(const char *, int);
	int (*faccessat)(int, const char *, int, int);
	int (*socket)(int, int, int);
	int (*bind)(int, const struct sockaddr *, socklen_t);
	int (*connect)(int, const struct sockaddr *, socklen_t);
	int (*getsockname)(int, struct sockaddr *, socklen_t *);
	int (*setsockopt)(int, int, int, const void *, socklen_t);
	int (*getsockopt)(int, int, int, void *, socklen_t *);
	ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
	ssize_t (*sendmsg)(int, const struct msghdr *, int);
	int (*sendmmsg)(int, struct mmsghdr *, unsigned int, int);
	ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
	ssize_t (*recvmsg)(int, struct msghdr *, int);
	int (*recvmmsg)(int, struct mmsghdr *, unsigned int, int, struct timespec *);
};
extern struct real_calls real;

/* An open uverbs file: one context. Slot numbers are those of fabric.ctx. */
struct local_ctx {
	bool open, has_context;
	struct fab_dev *dev;
	int nfds;
	int async_r, async_w;
	int memfd;
	uint8_t *uar;
	uint64_t uar_used;
	uint32_t port_events[MAX_PORTS], fatal_events;
};

/* A WQE that was sent and is not acknowledged. Data is read from the program's memory again when it is sent again. */
struct sge {
	uint32_t lkey, len;
	uint64_t addr;
};
struct tx_op {
	uint16_t index; /* WQEBB counter of its first block */
	uint16_t end;   /* of the WQE after it */
	uint8_t opcode, nsge;
	bool signalled, solicited, inlined;
	bool scattered; /* a read's data went to the CQE */
	uint8_t fail_syndrome, fail_vendor;
	uint32_t rkey, imm, bytes, psn_first, npackets;
	uint64_t va, atomic[2];
	struct sge sge[32];
	uint8_t inline_data[1024];
};
struct read_job {
	uint32_t dst_qpn, psn, rkey, left;
	uint64_t va;
	bool atomic, last;
	uint64_t result;
};

/* The device's part of a QP: only in its owner. */
struct local_qp {
	struct fab_qp *qp;
	uint16_t fetch; /* next WQEBB to read; the QPC shows hw_sq, which may be older or, in ERR, wrong */
	bool doorbell_lost;
	uint16_t lost_at;
	struct tx_op op[WINDOW];
	uint32_t op_head, op_tail; /* oldest not acknowledged, next free */
	uint32_t send_psn;         /* next to put on the wire: goes back on retries */
	uint32_t max_psn;          /* the first that was never sent */
	uint64_t rto_ns, rnr_ns, late_ns;
	uint32_t judged, judged_read; /* fetch + 1 of the WQE that faults were asked about */
	bool held, unread;
	uint32_t peer_beat, extensions; /* when the timer was started, and since */
	uint32_t beat_before_receive;   /* when this turn began to look for answers */
	/* responder */
	bool nak_sent, receiving, loopback; /* loopback: the last packet came from the same port */
	struct sge rsge[32];
	unsigned int nrsge;
	uint32_t received;
	uint16_t rq_index;
	uint32_t ack_psn;
	uint8_t ack_syndrome, ack_op;
	bool ack_due;
	struct read_job job[READ_JOBS];
	uint32_t job_head, job_tail;
	uint64_t atomic_last[8];
	uint32_t atomic_psn[8];
	unsigned int atomic_next;
};

struct local_state {
	pthread_mutex_t lock;
	struct local_ctx ctx[MAX_CTXS];
	struct local_qp *qp[MAX_QPS];
	struct {
		int r, w;
	} channel[MAX_CHANNELS];
	unsigned int nchannels;
	int cq_channel[MAX_CQS]; /* index of channel, -1 for none */
	bool modern;             /* ioctl commands and dynamic UARs */
	bool devx, netlink;
	enum { PRIVILEGE_AUTO, PRIVILEGE_YES, PRIVILEGE_NO } privilege;
	bool ready;
};
extern struct local_state emu;

uint64_t now_ns(void);
void emu_lock(void);
void emu_unlock(void);
int emu_init(void); /* reads the environment and attaches; 0, or a negative errno when not in a run */

/* truth.c: the ground truth as JSON lines; fmt makes the members after "event" */
bool truth_wanted(void);
void truth(const char *event, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* objects.c: what the kernel driver does */
int ctx_open(struct fab_dev *dev); /* returns the slot */
void ctx_close(int slot);
int ctx_uar_alloc(struct local_ctx *c, unsigned int *index);
void ctx_async_event(struct local_ctx *c, uint64_t element, enum async_event type);
int channel_create(void); /* returns the file descriptor of the reading end */
struct fab_cq *cq_create(int ctx, uint32_t cqe, uint64_t user_handle, int channel_fd, const void *driver, size_t len);
void cq_destroy(struct fab_cq *cq, uint32_t *comp_events, uint32_t *async_events);
struct fab_qp *qp_create(int ctx, const struct ib_uverbs_ex_create_qp *req, const void *driver, size_t len);
int qp_modify(struct fab_qp *qp, const struct ib_uverbs_modify_qp *req);
void qp_destroy(struct fab_qp *qp, uint32_t *async_events);

/* verbs_cmd.c: one command, by write() or by ioctl */
struct cmd_buf {
	const void *in, *drv_in;
	void *out, *drv_out;
	size_t in_len, drv_in_len, out_len, drv_out_len;
};
int verbs_command(int ctx, uint32_t command, struct cmd_buf *b);
void fill_ucontext(const struct fab_dev *dev, bool modern, void *out, size_t len);
int fill_port(const struct fab_dev *dev, unsigned int port, struct ib_uverbs_query_port_resp *r);
int uverbs_write(int ctx, const void *buf, size_t len); /* 0 or a positive errno, as all of these */
struct ib_uverbs_ioctl_hdr;
int uverbs_ioctl(int ctx, struct ib_uverbs_ioctl_hdr *h);
int devx_command(int ctx, const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len);

/* gate.c: with the lock held */
int command_gate(const struct fab_dev *dev, const char *name); /* 0, or the errno that the call fails with */
bool block_if(enum fault_kind kind, const struct fault_site *site);
void sleep_in_kernel(uint64_t ns); /* 0: until the run ends; without the lock */

/* device.c: the adapter */
void device_start(void);
void device_stop(void); /* with the lock held, when the last context closed */
void device_tell_contexts(void);
bool mr_translate(const struct fab_qp *qp, uint32_t key, uint64_t va, uint32_t len, uint32_t access, uint8_t **p);
void qp_to_error(struct local_qp *l, bool by_device);
void qp_reset(struct local_qp *l);
unsigned int path_mtu(const struct fab_qp *qp);
struct fab_dev *qp_dev(const struct fab_qp *qp);
struct fab_port *qp_port(const struct fab_qp *qp);
void fill_site(const struct fab_qp *qp, struct fault_site *site);

/* requester.c */
struct local_qp *local_qp_by_number(uint32_t qpn); /* of this process; NULL: none */
void requester_before_receive(struct local_qp *l);
void requester_run(struct local_qp *l);
void requester_ack(struct local_qp *l, const struct packet *p);
void requester_flush(struct local_qp *l);
int32_t psn_diff(uint32_t a, uint32_t b);

/* responder.c */
void responder_packet(struct local_qp *l, const struct packet *p);
void responder_run(struct local_qp *l);
void responder_flush(struct local_qp *l);

/* completion.c */
struct completion {
	uint8_t opcode; /* MLX5_CQE_* */
	uint8_t wqe_opcode, syndrome, vendor_err;
	uint16_t wqe_counter;
	uint32_t bytes, imm, rkey;
	bool solicited;
	const uint8_t *inlined; /* scattered to the CQE: bytes of it */
};
bool cqe_write(struct fab_cq *cq, const struct fab_qp *qp, const struct completion *c);
void cqe_release_late(void);
void cqe_forget(const struct fab_cq *cq);
void cq_arm(struct fab_cq *cq, uint32_t ci, bool solicited_only);
/* What the arm record in memory says, whether or not its doorbell was read yet. */
void cq_look_at_arming(struct fab_cq *cq);

/* packet.c */
bool packet_send(const struct fab_qp *qp, struct packet *p); /* false: no room now, try again */
void packet_receive(struct local_qp *l);

/* firmware.c */
enum { QPC_OFFSET = 0x18, CQC_OFFSET = 0x10, QUERY_OUT_LEN = 272, MKC_OFFSET = 0x10 };
void bits_set(uint8_t *base, unsigned int off, unsigned int width, uint64_t value);
uint32_t bits_get(const uint8_t *base, unsigned int off, unsigned int width);
void qpc_image(const struct fab_qp *qp, uint8_t *qpc);
void cqc_image(const struct fab_cq *cq, uint8_t *cqc);
size_t resource_dump(uint8_t *out, uint16_t type, uint32_t index, const uint8_t *payload, size_t len);

/* counters.c */
extern const char *const port_counter_name[PC_COUNT];
extern const char *const hw_counter_name[HC_COUNT];
void count_hw(const struct fab_qp *qp, enum hw_counter c);
bool counter_by_name(const struct fab_port *p, const char *name, uint64_t *value);
extern const char *const static_counter_name[];

/* sysfs_live.c: files whose contents move are brought up to date when they are opened */
void sysfs_refresh(int dirfd, const char *path);

/* netlink.c */
void netlink_input(const void *buf, size_t len, uint32_t portid);
void netlink_reply(const void *msg, size_t len); /* in preload_socket.c: queues for the socket being served */

/* preload.c */
int uverbs_of_fd(int fd); /* context slot, or -1 */
const struct fab_dev *uverbs_of_path(const char *path);

#endif
