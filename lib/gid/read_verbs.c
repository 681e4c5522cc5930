/* SPDX-License-Identifier: MIT */
/* GID tables from what an opened device answered. */
#include "gid/reader.h"

#include "gid/address.h"
#include "source/verbs.h"

#include <errno.h>

static const struct verbs_port *verbs_port_of(const struct verbs_answer *answer, int64_t number)
{
	list_each(port, &answer->ports)
		if (num_is(port->number, number))
			return port;
	return NULL;
}

/*
 * The ioctl tells the index of the netdev in the netdev's own namespace, and small indexes are taken in every
 * namespace. So the index is believed only when that netdev of ours stands on the port and has the address; in doubt
 * sysfs is asked for the name too, which costs three system calls for such entries only.
 */
static bool is_surely_ours(struct gid_reader *reader, const struct gid_entry *entry, const struct netdev *netdev)
{
	return netdev && netdev_belongs_to_port(reader->host, netdev, reader->port) == FLAG_YES &&
	       (netdev_address(netdev, entry->bytes) ||
	               (gid_is_link_local(entry->bytes, false) && gid_matches_mac(entry->bytes, netdev)));
}

static void set_verbs_netdev(struct gid_reader *reader, struct gid_entry *entry, const struct verbs_gid *gid)
{
	entry->seen = FLAG_YES;
	entry->seen_ifindex = gid->ifindex;
	if (!gid->ifindex.known || !gid->ifindex.value)
		return;
	const struct netdev *netdev = host_netdev(reader->host, gid->ifindex.value);
	if (is_surely_ours(reader, entry, netdev)) {
		entry->seen_netdev = netdev->name;
		return;
	}
	gid_read_netdev_name(reader, entry);
}

static int add_verbs_gid(struct gid_reader *reader, const struct verbs_gid *gid)
{
	uint8_t bytes[16];
	if (!gid->index.known || !gid->gid || parse_gid(gid->gid, bytes) || gid_is_zero(bytes))
		return 0;
	struct gid_entry *entry = gid_add_entry(reader, gid->index.value, bytes);
	if (!entry)
		return -ENOMEM;
	entry->type = (int)gid_type_of_number(gid->type.known ? gid->type.value : -1, reader->transport);
	if (!entry->type && reader->transport == TRANSPORT_ROCE)
		report_missing(&reader->host->report, "type", reader->subject, 0, "unknown type of the ioctl");
	set_verbs_netdev(reader, entry, gid);
	return 0;
}

static int read_port_from_verbs(struct gid_reader *reader, struct port *port, const struct verbs_answer *answer)
{
	int result = gid_begin_table(reader, port, GID_SOURCE_VERBS);
	if (result)
		return result;
	for (uint32_t i = 0; !result && i < answer->gids.count; i++)
		if (num_is(answer->gids.items[i]->port, port->number.value))
			result = add_verbs_gid(reader, answer->gids.items[i]);
	const struct verbs_port *told = verbs_port_of(answer, port->number.value);
	gid_end_table(reader, told ? told->gid_table_length : (struct num){ 0 });
	if (!told || !told->gid_table_length.known)
		report_missing(&reader->host->report, "size", reader->subject, 0, "ibv_query_port did not answer");
	return result;
}

int gid_read_from_verbs(struct gid_reader *reader, struct verbs_call *call)
{
	int result = call->result;
	/* A device may answer so, too: that is its own trouble. */
	if (result == -ENOMEM && arena_exhausted(reader->host->arena))
		return result;
	if (result)
		return 1;
	const struct verbs_answer *answer = &call->answer;
	if (answer->gid_error.known) {
		error_set(&call->error, -(int)answer->gid_error.value, "%s: ibv_query_gid_table", reader->device->name);
		return 1;
	}
	for (uint32_t i = 0; !result && i < reader->device->ports.count; i++)
		if (gid_wants_port(reader, reader->device->ports.items[i]))
			result = read_port_from_verbs(reader, reader->device->ports.items[i], answer);
	return result;
}
