/* SPDX-License-Identifier: MIT */
/*
 * What all processes of a run share: hosts' devices with their ports, tables and counters, every verbs object as the
 * kernel and the firmware know it, and one packet ring for each QP. It lies in one file, mapped by each process at an
 * address of its own, so it holds no pointers; user addresses in it are those of the object's owner.
 */
#ifndef MLX5EMU_FABRIC_H
#define MLX5EMU_FABRIC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <rdma/ib_user_verbs.h>

enum {
	FABRIC_MAGIC = 0x6d6c7835,
	FABRIC_VERSION = 1,
	MAX_DEVS = 32,
	MAX_PORTS = 4,
	MAX_GIDS = 32,
	MAX_MEMBERS = 2,
	MAX_CTXS = 128,
	MAX_PDS = 256,
	MAX_MRS = 1024,
	MAX_CQS = 256,
	MAX_QPS = 256,
	RING_SLOTS = 64,
	MAX_MTU = 4096,
	MAX_STRIKES = 16,
	NAME_LEN = 32,
};

/* Order of the tables in counters.c. */
enum port_counter {
	PC_XMIT_DATA,
	PC_RCV_DATA,
	PC_XMIT_PACKETS,
	PC_RCV_PACKETS,
	PC_UNICAST_XMIT,
	PC_UNICAST_RCV,
	PC_XMIT_DISCARDS,
	PC_RCV_ERRORS,
	PC_LINK_DOWNED,
	PC_LINK_RECOVERY,
	PC_COUNT
};

enum hw_counter {
	HC_RX_WRITE,
	HC_RX_READ,
	HC_RX_ATOMIC,
	HC_RX_DCT_CONNECT,
	HC_OUT_OF_BUFFER,
	HC_OUT_OF_SEQUENCE,
	HC_DUPLICATE,
	HC_RNR_NAK_RETRY,
	HC_PACKET_SEQ_ERR,
	HC_IMPLIED_NAK,
	HC_ACK_TIMEOUT,
	HC_RESP_LENGTH,
	HC_RESP_CQE_ERR,
	HC_REQ_CQE_ERR,
	HC_REQ_INVALID,
	HC_REQ_ACCESS,
	HC_RESP_ACCESS,
	HC_RESP_FLUSH,
	HC_REQ_FLUSH,
	HC_TRANSPORT_RETRIES,
	HC_RNR_RETRIES,
	HC_ADP_RETRANS,
	HC_ADP_RETRANS_TO,
	HC_SLOW_RESTART,
	HC_SLOW_RESTART_CNPS,
	HC_SLOW_RESTART_TRANS,
	HC_CNP_IGNORED,
	HC_CNP_HANDLED,
	HC_ECN_MARKED,
	HC_CNP_SENT,
	HC_ICRC,
	HC_COUNT
};

struct fab_gid {
	uint8_t raw[16];
	uint8_t type; /* enum ibv_gid_type: IB, RoCE v1, RoCE v2 */
	bool used;
	uint32_t ifindex;
	char ndev[16];
};

/* A physical port behind a bonded RDMA port. */
struct fab_member {
	char ndev[16];
	_Atomic bool up;
	_Atomic uint64_t xmit_packets;
};

struct fab_port {
	_Atomic uint8_t state;         /* IB port state: 1 DOWN … 4 ACTIVE */
	_Atomic uint32_t state_events; /* counts changes; each process tells its own contexts */
	bool ib;
	uint16_t lid, sm_lid;
	uint32_t ifindex;
	char ndev[16];
	struct fab_gid gid[MAX_GIDS];
	unsigned int nmembers; /* 0: no LAG */
	struct fab_member member[MAX_MEMBERS];
	_Atomic uint32_t next_member;
	_Atomic uint64_t pc[PC_COUNT];
	_Atomic uint64_t hc[HC_COUNT];
};

struct fab_dev {
	char host[NAME_LEN], name[NAME_LEN];
	uint32_t index;  /* ibdev index, counted by host */
	uint32_t uverbs; /* N of uverbsN, counted by host */
	uint64_t guid;   /* host byte order */
	unsigned int nports;
	int numa_node;
	bool odp;  /* offers on-demand paging */
	bool edge; /* unlike mlx5, raises completion events for new completions only */
	char pci[16];
	_Atomic bool fatal;
	_Atomic uint32_t fatal_events;
	struct fab_port port[MAX_PORTS];
};

/* Head of each object. An object lives while its owner does: see fabric_reap(). */
struct fab_obj {
	bool used;
	uint8_t gen;
	uint16_t dev, ctx;
	pid_t pid;
	uint32_t id; /* restrack id, counted by device as the kernel does */
};

struct fab_ctx {
	struct fab_obj o;
	uint64_t starttime; /* of the owner, so that a reused pid is not taken for it */
	bool devx;
	_Atomic uint32_t beat; /* passes of the owner's device thread */
};

struct fab_pd {
	struct fab_obj o;
};

struct fab_mr {
	struct fab_obj o;
	uint32_t key, pd, access;
	uint64_t start, len, iova;
};

struct fab_cq {
	struct fab_obj o;
	uint32_t cqn, ncqe, cqe_size;
	uint64_t buf, dbr, user_handle;
	uint32_t pi, notified_ci, arm_ci, arm_seen;
	bool error, armed, solicited_only;
	uint32_t comp_events, async_events;
	uint8_t dim;
};

struct fab_qp {
	struct fab_obj o;
	uint32_t qpn, pd, scq, rcq, uidx;
	uint8_t type, state, port;
	uint64_t buf, dbr, user_handle;
	uint32_t sq_cnt, sq_off, rq_cnt, rq_shift;
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
	bool sig_all, scatter_cqe;
	struct ib_uverbs_modify_qp attr; /* the last value of each attribute */
	uint8_t lag_port;                /* 1-based member; 0 without LAG */
	uint16_t sw_sq, hw_sq;           /* QPC sw_sq_wqebb_counter and hw_sq_wqebb_counter */
	uint32_t sw_rq, hw_rq;
	uint32_t next_psn, acked_psn, rcv_psn, msn, ssn;
	uint8_t cur_retry, cur_rnr;
	uint32_t async_events;
};

enum packet_op { PK_WRITE = 1, PK_SEND, PK_READ, PK_ATOMIC, PK_READ_RESPONSE, PK_ACK, PK_NAK, PK_RNR };
enum packet_flag { PF_FIRST = 1, PF_LAST = 2, PF_IMM = 4, PF_SOLICITED = 8, PF_INVALIDATE = 16 };
enum nak_code { NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION };

/* One RoCE or IB packet: the headers that matter here, then the payload. */
struct packet {
	uint8_t op, flags, syndrome, mpath;
	uint32_t src_qpn, dst_qpn, psn, rkey, len, dma_len, imm, msn;
	uint32_t run;        /* of the sender: its faults were applied by the sender */
	uint64_t va;         /* RETH */
	uint64_t atomic[2];  /* AtomicETH: swap or add, compare */
	uint64_t deliver_ns; /* not seen by the receiver before (delay fault) */
	uint8_t data[];
};

struct fab_slot {
	_Alignas(8) uint8_t bytes[sizeof(struct packet) + MAX_MTU];
};

struct fab_ring {
	pthread_mutex_t lock; /* several senders; the one receiver needs none */
	_Atomic uint32_t head, tail;
	struct fab_slot slot[RING_SLOTS];
};

/* A fault that strikes once in a run, and has. */
struct fab_strike {
	uint32_t run;
	char spec[128];
};

struct fabric {
	uint32_t magic, version;
	pthread_mutex_t lock; /* of all tables below */
	uint32_t ndevs;
	uint32_t next_guid;
	_Atomic uint32_t attached; /* processes so far: rank for the random generator */
	uint32_t next_id[MAX_DEVS][8];
	struct fab_strike strike[MAX_STRIKES];
	struct fab_dev dev[MAX_DEVS];
	struct fab_ctx ctx[MAX_CTXS];
	struct fab_pd pd[MAX_PDS];
	struct fab_mr mr[MAX_MRS];
	struct fab_cq cq[MAX_CQS];
	struct fab_qp qp[MAX_QPS];
	struct fab_ring ring[MAX_QPS];
};

extern struct fabric *fab;

int fabric_create(const char *dir); /* makes the file where it is missing, and attaches */
int fabric_attach(void);            /* attaches to $MLX5EMU_FABRIC, once */
const char *fabric_dir(void);
const char *fabric_host(void);
void fabric_lock(void);
void fabric_unlock(void);
void fabric_reap(void); /* drops objects of processes that are gone; with the lock held */

struct fab_dev *dev_by_index(uint32_t index); /* of this process's host */
struct fab_dev *dev_by_uverbs(uint32_t minor);
unsigned int host_devices(struct fab_dev **list); /* list holds MAX_DEVS */

/* Tables: allocation takes the lock itself; lookups are by number, and of living objects only. */
enum obj_table { TABLE_CTX, TABLE_PD, TABLE_MR, TABLE_CQ, TABLE_QP };
void *obj_alloc(enum obj_table table, const struct fab_dev *dev, uint16_t ctx);
void obj_free(struct fab_obj *o);
void *obj_at(enum obj_table table, uint32_t handle); /* NULL where unused or not of this process */
uint32_t obj_handle(enum obj_table table, const void *obj);

struct fab_qp *qp_by_number(uint32_t qpn);
struct fab_cq *cq_by_number(uint32_t cqn);
struct fab_mr *mr_by_key(uint32_t key);

#endif
