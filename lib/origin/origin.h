/* SPDX-License-Identifier: MIT */
/* clang-format off */
/*
 * Where facts come from: this host, or a snapshot of one. The only place that opens files below a root, sockets and
 * RDMA devices for collecting, so that every collector and parser runs unchanged on a captured machine.
 *
 * A snapshot is a map from path to bytes, in a directory or in a tar archive (plain, or packed by gzip, bzip2, xz or
 * zstd; its members may all lie in one directory):
 *
 *	sys/…, proc/…              files and symbolic links as on the host; links are resolved inside the snapshot, "/" is
 *	                           its root
 *	dev/infiniband/uverbsN     a file with the positive errno that access(2) gives, "0": accessible; absent: ENOENT
 *	netlink/PROTOCOL/NAME      the concatenated reply messages to the request of that name (native byte order),
 *	                           without NLMSG_DONE
 *	verbs/DEVICE.json          the answers of verbs queries (struct verbs_answer); of a device that failed an object
 *	                           "error" with "errno" and "text"
 *	umad/NODE.ATTRIBUTE.MODIFIER
 *	                           the 256 bytes that an adapter answers to SubnGet of an attribute (four and eight hexadecimal
 *	                           digits) through dev/infiniband/NODE
 *	process.json               struct process_facts of the capturing process; "error" as of a device where some are unknown
 *	cuda.json                  struct cuda_answer, where libcuda was asked; "error" as of a device
 *	hwloc.json                 struct package_answer, where hwloc was asked; "error" as of a device
 *	filters.json               struct filter_answer, where it was asked for; "error" as of a device
 *	settings.json              struct gid_settings of the capturing process
 *	host.json                  struct host_facts
 *	errors                     lines "ERRNO PATH": reading, listing or asking PATH answers that positive errno, whatever
 *	                           the snapshot holds there. PATH may also be netlink/PROTOCOL/NAME or umad/…. It is listed in its
 *	                           directory, except with ENOENT: that is what a name answers that is listed and not there
 *	names                      lines "PATH": it was listed when the snapshot was made, and not read, or is an empty slot of a
 *	                           GID table. Reading it answers ENODATA
 *
 * Lines that begin with "#" are ignored in errors and names. There has to be a sys/ or a host.json; all else may be
 * missing: a file that is not there answers ENOENT. Without netlink/ it behaves like an old kernel: -ENOENT for every
 * exchange. What is neither file, directory nor link makes the whole snapshot invalid, and so does an archive with
 * absolute names, "..", members below links, more than 256 MiB or 2^20 entries, or one that ends in the middle. In a
 * directory that holds for what is looked at (origin_damage()).
 *
 * Names of requests: rdma/sys, rdma/dev, rdma/dev.DEVINDEX (where the dump blocked), rdma/port.DEVINDEX, rdma/chardev.DEVINDEX,
 * rdma/stat.DEVINDEX.PORT, route/link, route/addr, route/route.ADDRESS, route/neigh, route/dcb.IFINDEX, generic/family.NAME,
 * generic/ethtool-WHAT.IFINDEX, generic/devlink-health.
 *
 * What may block in a driver is announced first, see struct watch.
 */
/* clang-format on */
#ifndef RDMADIAG_ORIGIN_ORIGIN_H
#define RDMADIAG_ORIGIN_ORIGIN_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct origin;
struct process_facts;
struct cuda_answer;
struct filter_answer;
struct gid_settings;
struct host_facts;
struct package_list;
struct verbs_question;
struct verbs_answer;

/* Opens this host; SYSFS_PATH replaces /sys as in libibverbs, not when set-user-ID. NULL without memory. */
struct origin *origin_live(void);
/* Opens a snapshot: a directory, or an archive that libarchive reads. NULL with `error` filled. */
struct origin *origin_snapshot(const char *path, struct error *error);
/*
 * Writes every answer that `origin` gives from now on below `directory`, which does not exist yet or is empty: a
 * snapshot of what the collectors read. Works across fork. recorder.c has the details. 0 or negative errno with
 * `error`.
 */
int origin_record(struct origin *origin, const char *directory, struct error *error);
/* 0, or the first negative errno that writing the record met, with `error`. */
int origin_record_result(const struct origin *origin, struct error *error);
/*
 * 0, or the negative errno of the first thing that was found wrong with a snapshot as a whole, with `error`: what the
 * origin answered since may be less than the snapshot ought to hold.
 */
int origin_damage(const struct origin *origin, struct error *error);
/* Frees a recorder too. */
void origin_close(struct origin *origin);
static inline void origin_closep(struct origin **origin)
{
	origin_close(*origin);
}
/* "live" or "snapshot". */
const char *origin_name(const struct origin *origin);

/*
 * Files. Paths are relative and begin with "sys/", "proc/" or "dev/". Symbolic links are followed, never out of the
 * root. Reading gives at most size - 1 bytes, always ends `buffer` with a NUL, and returns the length or a negative
 * errno (that of read(2) included: EINVAL and EIO are answers of sysfs).
 */
ssize_t origin_read(struct origin *origin, const char *path, char *buffer, size_t size);
/* Reads one line without blanks at its end into the arena. NULL: unknown, errno is set (positive), else it is 0. */
char *origin_text(struct origin *origin, struct arena *arena, const char *path);
struct num origin_number(struct origin *origin, const char *path, int base);
/* A whole file of any size (up to 64 MiB) into malloc'ed memory, NUL-ended. 0 or negative errno. */
int origin_read_all(struct origin *origin, const char *path, char **data, size_t *length);
/* Names in a directory in natural order, without "." and "..". 0 or negative errno; names live in the arena. */
int origin_list(struct origin *origin, struct arena *arena, const char *path, struct strings *names);
/* The target of a link as stored. Length or negative errno. */
ssize_t origin_readlink(struct origin *origin, const char *path, char *buffer, size_t size);
/*
 * The canonical path behind `path` with every link resolved, beginning with "sys/" (whatever the root is called here).
 * 0 or negative errno.
 */
int origin_realpath(struct origin *origin, const char *path, char *buffer, size_t size);
/* access(2) for reading and writing: 0 or negative errno. */
int origin_access(struct origin *origin, const char *path);

/* Netlink: requests go out, whole replies come back. */
struct nl_request {
	const char *name;         /* below netlink/PROTOCOL/, see above */
	struct nlmsghdr *message; /* complete; sequence number and port id are filled in by origin */
	/* Results: */
	int error;            /* 0 or negative errno: of the socket, or the kernel's answer */
	unsigned char *reply; /* malloc'ed: concatenated messages without NLMSG_ERROR and NLMSG_DONE */
	size_t length;
};

/*
 * Sends `count` requests on the origin's one socket of `protocol` (NETLINK_RDMA, NETLINK_ROUTE, NETLINK_GENERIC) and
 * reads all replies. Requests that are not dumps go out together. Dumps that the kernel marks as interrupted are
 * repeated (and given back as they are after some tries). 0, or a negative errno when no request was answered; the
 * caller frees with nl_requests_free().
 */
int origin_netlink(struct origin *origin, int protocol, struct nl_request *requests, size_t count);
void nl_requests_free(struct nl_request *requests, size_t count);

/* Subnet management: an attribute that the adapter tells of itself. */
enum { MAD_SIZE = 256 };
struct mad_request {
	const char *node; /* umadN */
	uint16_t attribute;
	uint32_t modifier;
	unsigned char reply[MAD_SIZE]; /* the whole MAD */
};

/* SubnGet by a directed route of no hops: nothing goes to the wire. 0 or negative errno. */
int origin_mad(struct origin *origin, struct mad_request *request);

/* Announces that origin_verbs() will follow: listing the devices goes on meanwhile. */
void origin_expect_verbs(struct origin *origin);
struct verbs_call; /* source/verbs.h */
/*
 * Devices opened and queried through libibverbs, two at a time, or their recorded answers: fills `answer`, `result` and
 * `error` of each call, whose device is the subject of what is announced. `answered` gets the calls in their order,
 * in this thread, while others go on; what it returns other than 0 ends it all, and is returned.
 */
int origin_verbs(struct origin *origin, struct arena *arena, struct verbs_call *calls, size_t count,
        int (*answered)(void *data, struct verbs_call *call), void *data);
/* The packages that hwloc finds on this host (source/hwloc.h), or the recorded answer; -EOPNOTSUPP: there is none. */
int origin_packages(struct origin *origin, struct arena *arena, struct package_list *packages, struct error *error);
/* Rules that drop packets of RoCE v2 (source/nft.h), or the recorded answer. 0 or negative errno with `error`. */
int origin_filters(struct origin *origin, struct arena *arena, struct filter_answer *answer, struct error *error);
/* These three: -ENOENT where the snapshot does not have it; `error` may be NULL. */
int origin_process(struct origin *origin, struct arena *arena, struct process_facts *facts, struct error *error);
int origin_host(struct origin *origin, struct arena *arena, struct host_facts *facts, struct error *error);
/* What the environment and files of this process set for consumers of GIDs, see gid/settings.h. */
int origin_settings(struct origin *origin, struct arena *arena, struct gid_settings *settings, struct error *error);
/* Loads libcuda and asks it, see source/cuda.h, or the recorded answer. 0 or negative errno with `error`. */
int origin_cuda(struct origin *origin, struct arena *arena, struct cuda_answer *answer, struct error *error);

/*
 * What a call that may block is about, in memory shared with a watching parent; see origin/worker.h. The kinds are
 * skipped separately: a device whose ioctl blocks still shows what sysfs knows.
 */
enum watch_kind { WATCH_FILES, WATCH_NETLINK, WATCH_VERBS, WATCH_KIND_COUNT };
struct watch {
	uint64_t started_ns; /* CLOCK_MONOTONIC; 0: nothing is under way */
	int kind;            /* enum watch_kind */
	char subject[64];    /* DEV, DEV/PORT, net:IFNAME or host */
	char action[128];    /* path or name of the request */
};

struct watch_skip {
	int kind;
	char subject[64];
	char action[128]; /* the call that blocked, see origin_skip(); empty: everything */
	bool died;        /* the process that made it died in it */
};

/* Calls that are under way at a time: of one thread, and of one that lists or asks devices beside it. */
enum { WATCH_LANES = 2 };
/* `watches`: a lane each, WATCH_LANES or, so that nothing is made beside anything else, one. */
void origin_watch(struct origin *origin, struct watch *watches, size_t lanes);
/*
 * The call `action` about `subject` of `kind`, and of files and verbs every later one as well, answers -ETIMEDOUT from
 * now on without being made; those of verbs -ECHILD where the process died in it.
 */
int origin_skip(struct origin *origin, const struct watch_skip *skip);
/* Sets the subject of the calls that follow. */
void origin_about(struct origin *origin, const char *subject);
const char *origin_subject(const struct origin *origin);

#endif
