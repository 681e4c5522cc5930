/* SPDX-License-Identifier: MIT */
#include "model/gid.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

const char *const gid_type_names[GID_TYPE_COUNT] = {
	[GID_TYPE_IB] = "IB",
	[GID_TYPE_ROCE_V1] = "RoCE v1",
	[GID_TYPE_ROCE_V2] = "RoCE v2",
	[GID_TYPE_IWARP] = "iWARP",
};

const char *const gid_family_names[GID_FAMILY_COUNT] = { [GID_FAMILY_IPV4] = "ipv4", [GID_FAMILY_IPV6] = "ipv6" };

const char *const gid_scope_names[GID_SCOPE_COUNT] = {
	[GID_SCOPE_LINK_LOCAL] = "link-local",
	[GID_SCOPE_PRIVATE] = "private",
	[GID_SCOPE_GLOBAL] = "global",
	[GID_SCOPE_LOOPBACK] = "loopback",
	[GID_SCOPE_IB_SUBNET] = "ib-subnet",
};

const char *const gid_state_names[GID_STATE_COUNT] = {
	[GID_STATE_UNKNOWN] = "unknown",
	[GID_STATE_OK] = "ok",
	[GID_STATE_STALE] = "stale",
	[GID_STATE_FOREIGN_NETNS] = "foreign-netns",
	[GID_STATE_DUPLICATE] = "duplicate",
};

void gid_entry_subject(const struct gid_entry *entry, char subject[static GID_SUBJECT_SIZE])
{
	snprintf(subject, GID_SUBJECT_SIZE, "%s/%" PRId64 "/gid/%" PRId64, entry->device, entry->port.value,
	        entry->index.value);
}

static const struct field gid_table_fields[] = {
	FIELD(TEXT, struct gid_table, device, "RDMA device"),
	FIELD(NUMBER, struct gid_table, port, "port number"),
	FIELD(NUMBER, struct gid_table, size, "slots of the table"),
	FIELD(NUMBER, struct gid_table, used, "slots with a GID"),
	FIELD(NUMBER, struct gid_table, holes, "empty slots below the highest used one"),
};
static RECORD(gid_table_record, gid_table, gid_table_fields);

static const struct field gid_entry_fields[] = {
	FIELD(TEXT, struct gid_entry, device, "RDMA device"),
	FIELD(NUMBER, struct gid_entry, port, "port number"),
	FIELD(NUMBER, struct gid_entry, index, "index in the port's table"),
	FIELD(TEXT, struct gid_entry, gid, "GID, eight full groups"),
	FIELD_OF_NAMES(struct gid_entry, type, gid_type_names, "type of the entry"),
	FIELD(TEXT, struct gid_entry, netdev, "netdev of the entry"),
	FIELD(NUMBER, struct gid_entry, ifindex, "interface index of that netdev"),
	FIELD(TEXT, struct gid_entry, ip, "the GID as an IP address"),
	FIELD_OF_NAMES(struct gid_entry, family, gid_family_names, "address family"),
	FIELD_OF_NAMES(struct gid_entry, scope, gid_scope_names, "scope of the address"),
	FIELD(NUMBER, struct gid_entry, vlan, "VLAN id of frames sent with it"),
	FIELD_OF_NAMES(struct gid_entry, state, gid_state_names, "can it be used"),
	FIELD(TEXT, struct gid_entry, state_reason, "why it is not ok"),
	FIELD(NUMBERS, struct gid_entry, same_gid_as, "other indexes of the port with the same GID"),
};
static RECORD(gid_entry_record, gid_entry, gid_entry_fields);

static const struct field gid_rejection_fields[] = {
	FIELD(NUMBER, struct gid_rejection, index, "index not chosen"),
	FIELD(TEXT, struct gid_rejection, reason, "why"),
};
static RECORD(gid_rejection_record, gid_rejection, gid_rejection_fields);

static const struct field gid_choice_fields[] = {
	FIELD(TEXT, struct gid_choice, device, "RDMA device"),
	FIELD(NUMBER, struct gid_choice, port, "port number"),
	FIELD(TEXT, struct gid_choice, consumer, "whose rule: rdmadiag, nccl, ucx, perftest, mooncake or rdma_cm"),
	FIELD(NUMBER, struct gid_choice, index, "the index it takes, null: none"),
	FIELD(TEXT, struct gid_choice, reason, "why"),
	FIELD_OF(RECORDS, struct gid_choice, rejected, gid_rejection_record, "the others"),
};
static RECORD(gid_choice_record, gid_choice, gid_choice_fields);

static const struct field gid_route_fields[] = {
	FIELD(TEXT, struct gid_route, address, "address asked for"),
	FIELD(TEXT, struct gid_route, device, "RDMA device that reaches it"),
	FIELD(NUMBER, struct gid_route, port, "port number"),
	FIELD(NUMBER, struct gid_route, index, "GID index"),
	FIELD(TEXT, struct gid_route, reason, "why, or why none does"),
};
static RECORD(gid_route_record, gid_route, gid_route_fields);

static const struct field gid_change_fields[] = {
	FIELD(TEXT, struct gid_change, device, "RDMA device"),
	FIELD(NUMBER, struct gid_change, port, "port number"),
	FIELD(TEXT, struct gid_change, kind, "moved, gone or new"),
	FIELD(TEXT, struct gid_change, gid, "the GID"),
	FIELD(NUMBER, struct gid_change, from, "index before"),
	FIELD(NUMBER, struct gid_change, to, "index now"),
	FIELD_OF_NAMES(struct gid_change, type, gid_type_names, "type of the entry"),
	FIELD(TEXT, struct gid_change, effect, "what it means to a program that uses the old index"),
};
RECORD(gid_change_record, gid_change, gid_change_fields);

static const struct field gid_resize_fields[] = {
	FIELD(TEXT, struct gid_resize, device, "RDMA device"),
	FIELD(NUMBER, struct gid_resize, port, "port number"),
	FIELD(NUMBER, struct gid_resize, from, "slots before"),
	FIELD(NUMBER, struct gid_resize, to, "slots now"),
};
static RECORD(gid_resize_record, gid_resize, gid_resize_fields);

static const struct field gid_fields[] = {
	FIELD_OF(RECORDS, struct gid_document, tables, gid_table_record, "GID tables"),
	FIELD_OF(RECORDS, struct gid_document, entries, gid_entry_record, "used entries; with --all empty ones too"),
	FIELD_OF(RECORDS, struct gid_document, choices, gid_choice_record,
	        "who takes which index: rdmadiag; with --explain the others too"),
	FIELD_OF(RECORD, struct gid_document, to, gid_route_record, "with --to: how the address is reached"),
	FIELD_OF(RECORDS, struct gid_document, changes, gid_change_record, "with --diff: what changed"),
	FIELD_OF(RECORDS, struct gid_document, resized, gid_resize_record, "with --diff: tables of another size"),
};
RECORD(gid_record, gid_document, gid_fields);

static const struct field gid_settings_fields[] = {
	FIELD(TEXTS, struct gid_settings, variables, "variables of the environment that consumers go by"),
	FIELD(TEXTS, struct gid_settings, nccl_conf, "lines of NCCL's files, the first that sets something counts"),
};
RECORD(gid_settings_record, gid_settings, gid_settings_fields);

struct gid_table *gid_table_of(const struct gid_document *document, const char *device, struct num port)
{
	list_each(table, &document->tables)
		if (text_same(table->device, device) && table->port.value == port.value)
			return table;
	return NULL;
}
