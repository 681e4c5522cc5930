/* SPDX-License-Identifier: MIT */
/* Builds a host with one RDMA port and its GID table in a few lines. */
#ifndef RDMADIAG_TESTS_GID_FIXTURE_H
#define RDMADIAG_TESTS_GID_FIXTURE_H

#include "unit.h"

#include "gid/address.h"
#include "gid/choose.h"
#include "gid/judge.h"
#include "model/gid.h"
#include "model/host.h"
#include "source/collect.h"

#include <stdio.h>
#include <sys/socket.h>

struct fixture {
	struct host *host;
	struct gid_document document;
	struct rdma_device *device;
	struct port *port;
	struct gid_table *table;
};

static inline struct fixture fixture_of(enum transport transport, int64_t size)
{
	struct fixture fixture = { .host = host_new() };
	assert_non_null(fixture.host);
	struct arena *arena = fixture.host->arena;
	fixture.device = list_add(arena, &fixture.host->devices);
	fixture.device->name = "mlx5_0";
	fixture.device->transport = (int)transport;
	fixture.port = list_add(arena, &fixture.device->ports);
	fixture.port->number = num(1);
	fixture.port->transport = (int)transport;
	fixture.port->link_layer = transport == TRANSPORT_INFINIBAND    ? LINK_LAYER_INFINIBAND
	                           : transport == TRANSPORT_UNSPECIFIED ? LINK_LAYER_UNSPECIFIED
	                                                                : LINK_LAYER_ETHERNET;
	fixture.port->state = "ACTIVE";
	fixture.table = list_add(arena, &fixture.document.tables);
	fixture.table->device = fixture.device->name;
	fixture.table->port = num(1);
	fixture.table->rdma = fixture.device;
	fixture.table->rdma_port = fixture.port;
	fixture.table->size = num(size);
	fixture.table->used = num(0);
	return fixture;
}

static inline void fixture_free(struct fixture *fixture)
{
	host_free(fixture->host);
}

static inline void parse_mac(const char *text, struct netdev *netdev)
{
	unsigned int byte[6];
	assert_int_equal(
	        sscanf(text, "%x:%x:%x:%x:%x:%x", &byte[0], &byte[1], &byte[2], &byte[3], &byte[4], &byte[5]), 6);
	for (int i = 0; i < 6; i++)
		netdev->mac_bytes[i] = (uint8_t)byte[i];
	netdev->mac = text;
	netdev->mac_length = 6;
}

/* `addresses`: "192.0.2.1/24 fe80::1/64", may be empty. */
static inline struct netdev *add_netdev(
        struct fixture *fixture, const char *name, enum link_kind kind, const char *mac, const char *addresses)
{
	struct netdev *netdev = list_add(fixture->host->arena, &fixture->host->netdevs);
	netdev->name = name;
	netdev->ifindex = num(fixture->host->netdevs.count + 1);
	netdev->kind = (int)kind;
	netdev->admin_up = netdev->carrier = FLAG_YES;
	if (mac)
		parse_mac(mac, netdev);
	char copy[256];
	snprintf(copy, sizeof(copy), "%s", addresses);
	char *rest = copy;
	for (char *part; (part = strsep(&rest, " "));) {
		char *slash = strchr(part, '/');
		uint8_t gid[16];
		if (!slash)
			continue;
		*slash = '\0';
		assert_int_equal(gid_parse_ip(part, gid), 0);
		struct address *address = list_add(fixture->host->arena, &netdev->addresses);
		address->family = gid_is_ipv4(gid) ? AF_INET : AF_INET6;
		address->prefix_length = (uint8_t)atoi(slash + 1);
		memcpy(address->bytes, gid_is_ipv4(gid) ? gid + 12 : gid, gid_is_ipv4(gid) ? 4 : 16);
	}
	return netdev;
}

/* The netdev of the port, as PORT_GET names it. */
static inline struct netdev *set_port_netdev(struct fixture *fixture, struct netdev *netdev)
{
	struct port_netdev *known = list_add(fixture->host->arena, &fixture->port->netdevs);
	known->name = netdev->name;
	known->ifindex = netdev->ifindex;
	known->relation = RELATION_PORT;
	known->netdev = netdev;
	fixture->port->netdev_ifindex = netdev->ifindex;
	return netdev;
}

/* `ip`: "192.0.2.1", "fe80::1"; `netdev`: what ndevs/N shows, NULL: EINVAL. To be added in order of index. */
static inline struct gid_entry *add_gid(
        struct fixture *fixture, int64_t index, const char *ip, enum gid_type type, const char *netdev)
{
	struct gid_entry *entry = list_add(fixture->host->arena, &fixture->document.entries);
	char text[GID_TEXT_SIZE];
	entry->device = fixture->device->name;
	entry->port = num(1);
	entry->index = num(index);
	assert_int_equal(gid_parse_ip(ip, entry->bytes), 0);
	format_gid(entry->bytes, text);
	entry->gid = arena_strdup(fixture->host->arena, text);
	entry->type = (int)type;
	entry->seen = FLAG_YES;
	entry->seen_netdev = netdev;
	fixture->table->count++;
	fixture->table->used = num(fixture->table->count);
	return entry;
}

/* The two rows that mlx5 has for each address. */
static inline void add_pair(struct fixture *fixture, int64_t index, const char *ip, const char *netdev)
{
	add_gid(fixture, index, ip, GID_TYPE_ROCE_V1, netdev);
	add_gid(fixture, index + 1, ip, GID_TYPE_ROCE_V2, netdev);
}

static inline void judge(struct fixture *fixture)
{
	assert_int_equal(gid_judge(fixture->host, &fixture->document), 0);
}

static inline struct gid_entry *entry_at(const struct fixture *fixture, int64_t index)
{
	list_each(entry, &fixture->document.entries)
		if (num_is(entry->index, index))
			return entry;
	fail_msg("no entry %d", (int)index);
	return NULL;
}

enum { NONE = -1 };

/* The index that a rule takes; NONE: none. Every other used entry must have been rejected, once. */
static inline int64_t chosen(struct fixture *fixture, gid_rule rule, char *const *variables)
{
	struct gid_choice choice = { 0 };
	struct gid_port port = gid_port_of(fixture->host, &fixture->document, fixture->table);
	struct gid_environment environment = { .variables = variables };
	rule(fixture->host->arena, &port, &environment, &choice);
	assert_non_null(choice.reason);
	bool takes_used = choice.index.known && gid_entry_at(&port, choice.index.value);
	assert_int_equal(choice.rejected.count, port.count - takes_used);
	list_each(rejection, &choice.rejected) {
		assert_non_null(rejection->reason);
		assert_false(choice.index.known && choice.index.value == rejection->index.value);
	}
	return choice.index.known ? choice.index.value : NONE;
}

#endif
