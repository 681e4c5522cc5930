/* SPDX-License-Identifier: MIT */
/* The document of `gid`: the tables of all ports, what state their entries are in, and which index to use. */
#ifndef RDMADIAG_MODEL_GID_H
#define RDMADIAG_MODEL_GID_H

#include "base/arena.h"
#include "base/text.h"
#include "model/host.h"
#include "model/record.h"

enum gid_type { GID_TYPE_UNKNOWN, GID_TYPE_IB, GID_TYPE_ROCE_V1, GID_TYPE_ROCE_V2, GID_TYPE_IWARP, GID_TYPE_COUNT };
enum gid_family { GID_FAMILY_UNKNOWN, GID_FAMILY_IPV4, GID_FAMILY_IPV6, GID_FAMILY_COUNT };
enum gid_scope {
	GID_SCOPE_UNKNOWN,
	GID_SCOPE_LINK_LOCAL,
	GID_SCOPE_PRIVATE,
	GID_SCOPE_GLOBAL,
	GID_SCOPE_LOOPBACK,
	GID_SCOPE_IB_SUBNET,
	GID_SCOPE_COUNT
};
/* Not "unknown" by zero: the JSON has the word "unknown" for this one. */
enum gid_state {
	GID_STATE_UNKNOWN,
	GID_STATE_OK,
	GID_STATE_STALE,
	GID_STATE_FOREIGN_NETNS,
	GID_STATE_DUPLICATE,
	GID_STATE_COUNT
};

struct gid_table {
	const char *device;
	struct num port, size, used, holes;
	/* not in the document: */
	struct rdma_device *rdma; /* NULL: read back from a file */
	struct port *rdma_port;
	uint32_t first, count;               /* its entries in gid_document.entries, in order of index */
	int source;                          /* enum gid_source that answered */
	const char *cm_mode;                 /* configfs default_roce_mode of rdma_cm, NULL: no such directory */
	const struct gid_choice *advice;     /* rdmadiag's own choice, see gid_advise() */
	uint32_t first_choice, choice_count; /* in gid_document.choices, see gid_choices_of() */
};

struct gid_entry {
	const char *device;
	struct num port, index;
	const char *gid; /* eight full groups */
	int type;        /* enum gid_type */
	const char *netdev;
	struct num ifindex;
	const char *ip;
	int family, scope; /* enum gid_family, enum gid_scope */
	struct num vlan;
	int state;                /* enum gid_state */
	const char *state_reason; /* why it is not ok, or what else is wrong with it; NULL: nothing */
	LIST(struct num) same_gid_as;
	/* not in the document: */
	uint8_t bytes[16];
	const char *seen_netdev;       /* gid_attrs/ndevs/N as read: a name in the netdev's own namespace */
	struct num seen_ifindex;       /* of the ioctl: an index in the netdev's own namespace; 0: none */
	enum flag seen;                /* is it known which netdev the entry has, or that it shows none */
	const struct address *address; /* that it was made from; NULL: none that is known, or a MAC */
	struct netdev *link;           /* the netdev, when it is one of this namespace; NULL: not ours, or unknown */
	struct num outer_vlan;         /* of a VLAN below that of the entry, whose tag the adapter leaves out */
	bool vlan_hidden;              /* the VLAN is not known, as what the netdev stands on is not here */
	bool pathless;                 /* the kernel has no route from it to any peer, see gid/judge.c */
	bool unread;                   /* the state is unknown for want of facts: nothing speaks against the entry */
	enum flag empty;               /* of `--all`: a slot without a GID */
};

struct gid_rejection {
	struct num index;
	const char *reason;
};

struct gid_choice {
	const char *device;
	struct num port;
	const char *consumer; /* rdmadiag, nccl, ucx, perftest, mooncake, rdma_cm */
	struct num index;
	const char *reason;
	LIST(struct gid_rejection) rejected;
	/* not in the document: */
	bool empty_slot;    /* it takes none only because the slot that it looks at is empty */
	const char *set_by; /* the variable that names its index; NULL: it searches */
	struct num set_index;
	const char *left_out_by; /* the variable because of which the port is not used; NULL: none */
	const char *alternative; /* NAME=VALUE with which it would take one here that routers forward; NULL: none */
	const char *remedy;      /* what would have it take a good entry; NULL: it does, or nothing better is there */
	bool without_remedy;     /* `remedy` says why no setting helps */
};

struct gid_route {
	const char *address;
	const char *device;
	struct num port, index;
	const char *reason;
	bool unknown; /* not in the document: the kernel was not asked, or did not answer */
};

struct gid_change {
	const char *device;
	struct num port;
	const char *kind; /* moved, gone, new */
	const char *gid;
	struct num from, to;
	int type;           /* enum gid_type */
	const char *effect; /* what it means to a program that uses the old index */
};

/* Firmware and drivers decide on the size of a table. */
struct gid_resize {
	const char *device;
	struct num port;
	struct num from, to; /* slots */
};

struct gid_document {
	LIST(struct gid_table) tables;
	LIST(struct gid_entry) entries;
	LIST(struct gid_choice) choices;
	struct gid_route *to;            /* NULL without --to */
	LIST(struct gid_change) changes; /* with --diff */
	LIST(struct gid_resize) resized; /* with --diff */
	/* not in the document: */
	struct strings devices;    /* of the host, those without a table too */
	struct strings uncompared; /* DEV/PORT, by gid_diff(): one of the two tables is not known */
};

/* NAME=VALUE of the process that looked: what its consumers would go by. A snapshot records it. */
struct gid_settings {
	struct strings variables; /* of the environment */
	struct strings nccl_conf; /* lines of NCCL's files, the first that sets something counts */
};

/* The table of that port; NULL: the document has none. */
struct gid_table *gid_table_of(const struct gid_document *document, const char *device, struct num port);

enum { GID_SUBJECT_SIZE = 96 };

/* "DEV/PORT/gid/INDEX", as findings and not_collected name an entry. */
void gid_entry_subject(const struct gid_entry *entry, char subject[static GID_SUBJECT_SIZE]);

extern const char *const gid_type_names[GID_TYPE_COUNT];
extern const char *const gid_family_names[GID_FAMILY_COUNT];
extern const char *const gid_scope_names[GID_SCOPE_COUNT];
extern const char *const gid_state_names[GID_STATE_COUNT];

extern const struct record gid_record, gid_change_record, gid_settings_record;

#endif
