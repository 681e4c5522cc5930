/* SPDX-License-Identifier: MIT */
#include "source/verbs_live.h"
#include "base/cleanup.h"
#include "base/room.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

/* ---- the record, for snapshots ---- */

static const struct field verbs_gid_fields[] = {
	FIELD(NUMBER, struct verbs_gid, port, "port number"),
	FIELD(NUMBER, struct verbs_gid, index, "slot of the table"),
	FIELD(TEXT, struct verbs_gid, gid, "eight full groups"),
	FIELD(NUMBER, struct verbs_gid, type, "enum ibv_gid_type: 0 IB, 1 RoCE v1, 2 RoCE v2"),
	FIELD(NUMBER, struct verbs_gid, ifindex, "netdev, 0: none"),
};
static RECORD(verbs_gid_record, verbs_gid, verbs_gid_fields);

static const struct field verbs_port_fields[] = {
	FIELD(NUMBER, struct verbs_port, number, "port number"),
	FIELD(NUMBER, struct verbs_port, active_mtu, "bytes"),
	FIELD(NUMBER, struct verbs_port, max_mtu, "bytes"),
	FIELD(NUMBER, struct verbs_port, gid_table_length, "slots"),
	FIELD(NUMBER, struct verbs_port, link_layer, "IBV_LINK_LAYER_*"),
	FIELD(NUMBER, struct verbs_port, state, "enum ibv_port_state"),
	FIELD(NUMBER, struct verbs_port, physical_state, "physical state of IBTA"),
	FIELD(NUMBER, struct verbs_port, lid, "local identifier"),
	FIELD(NUMBER, struct verbs_port, sm_lid, "of the subnet manager"),
	FIELD(NUMBER, struct verbs_port, active_speed, "speed code"),
	FIELD(NUMBER, struct verbs_port, active_width, "width code"),
};
static RECORD(verbs_port_record, verbs_port, verbs_port_fields);

static const struct field verbs_fields[] = {
	FIELD(TEXT, struct verbs_answer, provider, "name of the uverbs device"),
	FIELD(NUMBER, struct verbs_answer, port_count, "phys_port_cnt"),
	FIELD(NUMBER, struct verbs_answer, vendor_id, "IEEE OUI of the vendor"),
	FIELD(NUMBER, struct verbs_answer, vendor_part_id, "device id of the vendor"),
	FIELD(NUMBER, struct verbs_answer, max_message_bytes, "max_msg_sz of port 1"),
	FIELD(FLAG, struct verbs_answer, on_demand_paging, "IBV_ODP_SUPPORT"),
	FIELD_OF(RECORDS, struct verbs_answer, ports, verbs_port_record, "ibv_query_port()"),
	FIELD_OF(RECORDS, struct verbs_answer, gids, verbs_gid_record, "ibv_query_gid_table()"),
	FIELD(NUMBER, struct verbs_answer, gid_error, "errno of ibv_query_gid_table()"),
};
RECORD(verbs_record, verbs_answer, verbs_fields);

/* ---- libibverbs ---- */

struct verbs_devices {
	struct ibv_device **list;
	int count;
	int next; /* behind what was found last: devices are asked for in about the order of the list */
};

/*
 * The length of the ioctl's buffer is a 16-bit attribute, so more than 2047 entries of 32 bytes are refused
 * (drivers/infiniband/core/uverbs_std_types_device.c).
 */
enum { GID_ENTRIES = 2047 };

static void close_context(struct ibv_context **context)
{
	if (*context)
		ibv_close_device(*context);
}

int verbs_list(struct verbs_devices **devices)
{
	struct verbs_devices *listed = calloc(1, sizeof(*listed));
	if (!listed)
		return -ENOMEM;
	errno = 0;
	listed->list = ibv_get_device_list(&listed->count);
	if (listed->list) {
		*devices = listed;
		return 0;
	}
	int error = errno ? -errno : -ENODEV;
	free(listed);
	return error;
}

void verbs_devices_free(struct verbs_devices *devices)
{
	if (!devices)
		return;
	ibv_free_device_list(devices->list);
	free(devices);
}

static struct ibv_device *find_device(struct verbs_devices *devices, const char *name)
{
	int next = __atomic_load_n(&devices->next, __ATOMIC_RELAXED);
	for (int i = 0; i < devices->count; i++) {
		int at = (next + i) % devices->count;
		if (strcmp(ibv_get_device_name(devices->list[at]), name) != 0)
			continue;
		__atomic_store_n(&devices->next, at + 1, __ATOMIC_RELAXED);
		return devices->list[at];
	}
	return NULL;
}

/* The codes are 1: 256 … 5: 4096 (enum ibv_mtu). */
static struct num mtu_bytes(int code)
{
	return code >= IBV_MTU_256 && code <= IBV_MTU_4096 ? num(128 << code) : (struct num){ 0 };
}

static int query_port(struct ibv_context *context, struct arena *arena, uint8_t number, struct verbs_answer *answer)
{
	struct ibv_port_attr attr;
	int error = ibv_query_port(context, number, &attr);
	if (error)
		return error > 0 ? -error : -EIO;
	struct verbs_port *port = list_add(arena, &answer->ports);
	if (!port)
		return -ENOMEM;
	*port = (struct verbs_port){
		.number = num(number),
		.active_mtu = mtu_bytes((int)attr.active_mtu),
		.max_mtu = mtu_bytes((int)attr.max_mtu),
		.gid_table_length = num(attr.gid_tbl_len),
		.link_layer = num(attr.link_layer),
		.state = num(attr.state),
		.physical_state = num(attr.phys_state),
		.lid = num(attr.lid),
		.sm_lid = num(attr.sm_lid),
		.active_speed = num(attr.active_speed),
		.active_width = num(attr.active_width),
	};
	if (!answer->max_message_bytes.known)
		answer->max_message_bytes = num(attr.max_msg_sz);
	return 0;
}

/* Slots of the ports' tables: the kernel clears memory for as many entries as are asked for, used or not. */
static size_t entries_wanted(const struct verbs_answer *answer)
{
	int64_t slots = 0;
	list_each(port, &answer->ports)
		slots += port->gid_table_length.value;
	return slots > 0 && slots < GID_ENTRIES ? (size_t)slots : GID_ENTRIES;
}

static int query_gids(struct ibv_context *context, struct arena *arena, struct verbs_answer *answer)
{
	/* 64 KiB at most, too much for a small stack; the next device gets the same pages again. */
	autofree struct ibv_gid_entry *entries = malloc(GID_ENTRIES * sizeof(*entries));
	size_t wanted = entries_wanted(answer);
	if (!entries)
		return -ENOMEM;
	ssize_t count = ibv_query_gid_table(context, entries, wanted, 0);
	if (count == -EINVAL && wanted < GID_ENTRIES) /* of a port that was not asked, or did not answer, too */
		count = ibv_query_gid_table(context, entries, GID_ENTRIES, 0);
	if (count < 0) {
		answer->gid_error = num(-count);
		return 0;
	}
	for (ssize_t i = 0; i < count; i++) {
		char text[GID_TEXT_SIZE];
		format_gid(entries[i].gid.raw, text);
		struct verbs_gid *gid = list_add(arena, &answer->gids);
		if (!gid)
			return -ENOMEM;
		*gid = (struct verbs_gid){
			.port = num(entries[i].port_num),
			.index = num(entries[i].gid_index),
			.gid = arena_strdup(arena, text),
			.type = num(entries[i].gid_type),
			.ifindex = num(entries[i].ndev_ifindex),
		};
	}
	return 0;
}

static int query_device(struct ibv_context *context, struct verbs_answer *answer)
{
	struct ibv_device_attr_ex attr = { 0 };
	int error = ibv_query_device_ex(context, NULL, &attr);
	if (error)
		return error > 0 ? -error : -EIO;
	answer->port_count = num(attr.orig_attr.phys_port_cnt);
	answer->vendor_id = num(attr.orig_attr.vendor_id);
	answer->vendor_part_id = num(attr.orig_attr.vendor_part_id);
	answer->on_demand_paging = flag(attr.odp_caps.general_caps & IBV_ODP_SUPPORT);
	return 0;
}

/* Ports need not be contiguous and may fail one by one: what answers is kept, the first error is told. */
static int query_ports(struct ibv_context *context, struct arena *arena, const struct verbs_question *question,
        struct verbs_answer *answer, const char *device, struct error *error)
{
	int result = 0;
	size_t count = question->port_count ? question->port_count : (size_t)answer->port_count.value;
	for (size_t i = 0; i < count; i++) {
		uint8_t number = question->port_count ? question->ports[i] : (uint8_t)(i + 1);
		int failed = query_port(context, arena, number, answer);
		if (failed && !result)
			result = error_set(error, failed, "%s/%d: ibv_query_port", device, (int)number);
	}
	return answer->ports.count ? 0 : result;
}

static int query(struct ibv_context *context, struct arena *arena, const char *device,
        const struct verbs_question *question, struct verbs_answer *answer, struct error *error)
{
	unsigned int want = question->want;
	answer->provider = arena_strdup(arena, ibv_get_device_name(context->device));
	int result = 0;
	if (want & VERBS_DEVICE || (want & VERBS_PORTS && !question->port_count))
		result = query_device(context, answer);
	if (result)
		return error_set(error, result, "%s: ibv_query_device_ex", device);
	if (want & VERBS_PORTS)
		result = query_ports(context, arena, question, answer, device, error);
	if (!result && want & VERBS_GIDS)
		result = query_gids(context, arena, answer);
	return result;
}

int verbs_query(struct verbs_devices *devices, struct arena *arena, const char *device,
        const struct verbs_question *question, struct verbs_answer *answer, struct error *error)
{
	struct ibv_device *found = find_device(devices, device);
	int room = found ? 0 : process_room();
	if (room)
		return error_set(
		        error, room, "%s: libibverbs does not offer the device, and has no room to look", device);
	if (!found)
		return error_say(error, -ENODEV,
		        "%s: libibverbs does not know the device (no uverbs device, or no provider library for its "
		        "driver)",
		        device);
	errno = 0;
	autocall(close_context) struct ibv_context *context = ibv_open_device(found);
	if (!context)
		return error_set(error, errno ? -errno : -EIO, "%s: ibv_open_device", device);
	return query(context, arena, device, question, answer, error);
}

int verbs_event_port(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		return event->element.port_num;
	default:
		return 0;
	}
}
