/* SPDX-License-Identifier: MIT */
/* What only an opened device knows, in a form that a snapshot can record. No verbs header is needed to read it. */
#ifndef RDMADIAG_SOURCE_VERBS_H
#define RDMADIAG_SOURCE_VERBS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "model/record.h"

struct verbs_gid {
	struct num port, index;
	const char *gid;    /* eight full groups */
	struct num type;    /* enum ibv_gid_type_sysfs / ib_uverbs_gid_type: 0 IB, 1 RoCE v1, 2 RoCE v2 */
	struct num ifindex; /* 0: none */
};

struct verbs_port {
	struct num number;
	struct num active_mtu, max_mtu; /* bytes */
	struct num gid_table_length;
	struct num link_layer; /* IBV_LINK_LAYER_* */
	struct num state, physical_state;
	struct num lid, sm_lid, active_speed, active_width;
};

struct verbs_answer {
	const char *provider;  /* driver name of the user-space provider's device, as ibv_get_device_name's driver */
	struct num port_count; /* phys_port_cnt */
	struct num vendor_id, vendor_part_id, max_message_bytes;
	enum flag on_demand_paging;
	LIST(struct verbs_port) ports;
	LIST(struct verbs_gid) gids; /* used slots, from ibv_query_gid_table (one ioctl a device) */
	struct num gid_error;        /* positive errno of that call, unknown: it answered */
};

extern const struct record verbs_record;

/* What to ask of an opened device. */
enum verbs_want { VERBS_PORTS = 1, VERBS_GIDS = 2, VERBS_DEVICE = 4 };

struct verbs_question {
	unsigned int want; /* enum verbs_want */
	/* The ports that there are, as netlink or sysfs number them; none: 1 to phys_port_cnt. */
	const uint8_t *ports;
	size_t port_count;
};

/* What origin_verbs() asks of one device. */
struct verbs_call {
	const char *device;
	struct verbs_question question;
	struct verbs_answer answer;
	int result; /* 0 or negative errno; -ENODEV: libibverbs does not list it */
	struct error error;
	int done; /* `answer`, `result` and `error` hold */
};

#endif
