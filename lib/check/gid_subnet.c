/* SPDX-License-Identifier: MIT */
#include "check/add.h"
#include "check/gid.h"
#include "gid/address.h"
#include "gid/subnet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { SUBJECT_SIZE = 96 };

static bool has_entry(const struct gid_document *document, const struct netdev *netdev)
{
	list_each(entry, &document->entries)
		if (entry->link == netdev && (entry->type == GID_TYPE_ROCE_V2 || entry->type == GID_TYPE_ROCE_V1))
			return true;
	return false;
}

/*
 * Other ports than those of RoCE, which are told by their entries, whose connections go by what ARP tells: rdma_cm
 * takes the peer's port GID from IPoIB, and refuses a request that came to another port than the address has
 * (validate_net_dev() in drivers/infiniband/core/cma.c); a connection of iWARP is one of the adapter whose netdev it
 * came to. That of siw is a socket of the kernel, which takes it anywhere.
 */
static bool goes_by_arp(const struct rdma_device *device, const struct port *port)
{
	return port->transport == TRANSPORT_INFINIBAND ||
	       (port->transport == TRANSPORT_IWARP && device->software != FLAG_YES);
}

static bool is_on_rdma(const struct host *host, const struct gid_document *document, const struct netdev *netdev)
{
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			if (goes_by_arp(device, port) && netdev_belongs_to_port(host, netdev, port) == FLAG_YES)
				return true;
	return has_entry(document, netdev);
}

static const struct subnet_member *rdma_member(
        const struct host *host, const struct gid_document *document, const struct shared_subnet *subnet)
{
	list_each(member, &subnet->members)
		if (is_on_rdma(host, document, member->netdev))
			return member;
	return NULL;
}

static const char *names_of(struct arena *arena, const struct shared_subnet *subnet)
{
	const char *names = NULL;
	list_each(member, &subnet->members)
		names = names ? arena_printf(arena, "%s, %s", names, member->netdev->name) : member->netdev->name;
	return names ? names : "netdevs";
}

/* Who answers for the others, where that is not everyone; NULL: everyone does. */
static const char *lax_names(struct arena *arena, const struct shared_subnet *subnet, uint32_t *count)
{
	const char *names = "";
	*count = 0;
	list_each(member, &subnet->members)
		if (gid_subnet_answers_for_others(member) && names)
			names = arena_printf(arena, "%s%s%s", names, (*count)++ ? ", " : "", member->netdev->name);
	return *count < subnet->members.count ? names : NULL;
}

static void add_settings(struct report *report, struct finding *finding, const struct netdev *netdev)
{
	char name[SUBJECT_SIZE];
	if (!netdev->arp || !netdev->arp->ignore.known)
		return;
	snprintf(name, sizeof(name), "arp_ignore of %s", netdev->name);
	report_evidence(report, finding, "net.ipv4.conf", name, "%" PRId64, netdev->arp->ignore.value);
}

/* "192.0.2.0/24" */
static void subnet_text(const struct address *address, char text[static IP_TEXT_SIZE])
{
	uint8_t gid[16];
	unsigned int length = address->prefix_length, first = address->family == AF_INET ? 12 : 0;
	gid_from_address(address, gid);
	for (unsigned int i = 0; first + i < sizeof(gid); i++) {
		unsigned int kept = length <= i * 8 ? 0 : length - i * 8 < 8 ? length - i * 8 : 8;
		gid[first + i] &= (uint8_t)(0xff00U >> kept);
	}
	gid_format_ip(gid, text);
	size_t used = strlen(text);
	snprintf(text + used, IP_TEXT_SIZE - used, "/%u", length);
}

static void report_subnet(struct host *host, const struct shared_subnet *subnet, const struct subnet_member *rdma)
{
	char subject[SUBJECT_SIZE], ip[IP_TEXT_SIZE];
	char network[IP_TEXT_SIZE];
	uint8_t gid[16];
	gid_from_address(rdma->address, gid);
	gid_format_ip(gid, ip);
	subnet_text(rdma->address, network);
	snprintf(subject, sizeof(subject), "net:%s", rdma->netdev->name);
	uint32_t count;
	const char *lax = lax_names(host->arena, subnet, &count);
	const char *who = lax ? arena_printf(host->arena, "%s answer%s", lax, count == 1 ? "s" : "") : "each answers";
	struct finding *finding = check_add(&host->report, "gid-same-subnet", subject,
	        "%s have addresses in one subnet (%s): %s ARP for the others' addresses too, so a peer's packets may "
	        "arrive %s",
	        names_of(host->arena, subnet), network, who ? who : "each answers",
	        lax ? "there" : "at another of them");
	report_evidence(&host->report, finding, "RTM_GETADDR", "address", "%s/%u", ip, rdma->address->prefix_length);
	list_each(member, &subnet->members)
		add_settings(&host->report, finding, member->netdev);
	report_advice(finding,
	        lax ? arena_printf(host->arena,
	                      "Set arp_ignore=1 and arp_announce=2 on %s, as the others have arp_ignore or "
	                      "arp_filter, or put each of them into a subnet of its own.",
	                      lax)
	            : "Put each of them into a subnet of its own, or set arp_ignore=1, arp_announce=2 and source-based "
	              "routing.");
}

/* ---- subnets of different size ---- */

/* The address of a GID that stands for a subnet; NULL: the entry is none of that kind. */
static const struct address *subnet_of(const struct gid_entry *entry)
{
	const struct address *address = entry->address;
	unsigned int whole = address && address->family == AF_INET ? 32 : 128;
	bool counts = entry->type == GID_TYPE_ROCE_V2 && entry->link && address && address->prefix_length &&
	              address->prefix_length < whole;
	return counts && entry->scope != GID_SCOPE_LINK_LOCAL && entry->scope != GID_SCOPE_LOOPBACK ? address : NULL;
}

/* The smallest subnet of another adapter that is larger than the entry's and holds it; NULL: there is none. */
static const struct gid_entry *find_around(
        const struct host *host, const struct gid_document *document, const struct gid_entry *entry)
{
	const struct address *address = subnet_of(entry);
	const struct gid_entry *found = NULL;
	list_each(other, &document->entries) {
		const struct address *larger = subnet_of(other);
		if (!larger || larger->prefix_length >= address->prefix_length ||
		        !gid_same_subnet(entry->bytes, other->bytes, larger->prefix_length))
			continue;
		if ((found && found->address->prefix_length >= larger->prefix_length) ||
		        netdev_base(host, entry->link) == netdev_base(host, other->link) ||
		        gid_vrf_of(host, entry->link) != gid_vrf_of(host, other->link))
			continue;
		found = other;
	}
	return found;
}

static void check_around(struct host *host, const struct gid_document *document, const struct gid_entry *entry)
{
	char subject[SUBJECT_SIZE], network[IP_TEXT_SIZE], larger[IP_TEXT_SIZE];
	const struct gid_entry *around = find_around(host, document, entry);
	if (!around)
		return;
	subnet_text(entry->address, network);
	subnet_text(around->address, larger);
	snprintf(subject, sizeof(subject), "net:%s", entry->link->name);
	struct finding *finding = check_add(&host->report, "gid-subnet-overlap", subject,
	        "its subnet %s lies within %s of %s: the kernel's routes lead to addresses in it over %s, also to "
	        "peers on the network of %s",
	        network, larger, around->link->name, entry->link->name, around->link->name);
	report_evidence(&host->report, finding, "RTM_GETADDR", entry->link->name, "%s/%u", entry->ip,
	        entry->address->prefix_length);
	report_evidence(&host->report, finding, "RTM_GETADDR", around->link->name, "%s/%u", around->ip,
	        around->address->prefix_length);
	report_advice(finding, "Give the ports subnets that do not overlap.");
}

/* Of several devices on one netdev the first speaks. */
static bool is_first(const struct gid_document *document, const struct gid_entry *entry)
{
	list_each(other, &document->entries)
		if (other->address == entry->address && subnet_of(other))
			return other == entry;
	return false;
}

static void check_overlaps(struct host *host, const struct gid_document *document)
{
	list_each(entry, &document->entries)
		if (subnet_of(entry) && is_first(document, entry))
			check_around(host, document, entry);
}

/* ---- subnets of InfiniBand ---- */

static bool is_text_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Functions of one adapter share a port and its LID, as VFs do. Omni-Path is no subnet of InfiniBand. */
static bool may_be_one_port(const struct rdma_device *a, const struct rdma_device *b)
{
	return a == b || a->pci == b->pci || !is_text_same(a->protocol, b->protocol) ||
	       a->function.kind == FUNCTION_VF || b->function.kind == FUNCTION_VF || a->companion_of ||
	       b->companion_of || !a->sys_image_guid || !b->sys_image_guid ||
	       !strcmp(a->sys_image_guid, b->sys_image_guid);
}

/*
 * NULL: no active port of InfiniBand with a LID and a GID. Devices without uverbs are there for management, as the one
 * of the planes of a port, which have its LID.
 */
static const struct gid_entry *port_guid(const struct gid_document *document, const struct gid_table *table)
{
	const struct port *port = table->rdma_port;
	bool active = port && table->rdma && table->rdma->uverbs.path && port->transport == TRANSPORT_INFINIBAND &&
	              port_is_active(port);
	const struct gid_entry *entry = active && table->count ? document->entries.items[table->first] : NULL;
	return entry && !entry->index.value && port_has_lid(port) ? entry : NULL;
}

/* A LID stands for one port of a subnet. */
static bool is_same_lid(const struct gid_document *document, const struct gid_table *a, const struct gid_table *b)
{
	enum { PREFIX = 8 };
	const struct gid_entry *entry = port_guid(document, a), *other = port_guid(document, b);
	return entry && other && !may_be_one_port(a->rdma, b->rdma) && !memcmp(entry->bytes, other->bytes, PREFIX) &&
	       num_is(a->rdma_port->lid, b->rdma_port->lid.value);
}

static void report_same_lid(struct report *report, const struct gid_table *table, const struct gid_table *earlier)
{
	char subject[PORT_LABEL_SIZE], other[PORT_LABEL_SIZE];
	int lid = (int)table->rdma_port->lid.value;
	struct finding *finding = check_add(report, "ports-of-same-lid",
	        port_label(table->device, table->port, subject),
	        "%s has the LID %d too, so they are in two subnets, which have the same prefix: programs that go by it "
	        "(UCX, Open MPI) take them for one",
	        port_label(earlier->device, earlier->port, other), lid);
	report_evidence(report, finding, "RDMA port", "lid", "%d", lid);
	report_advice(finding,
	        "Give each subnet a prefix of its own (subnet_prefix of its subnet manager), or name the "
	        "device to each program.");
}

/* Each port once, with the first that has its LID. */
void check_gid_lids(struct host *host, const struct gid_document *document)
{
	list_each(table, &document->tables)
		for (uint32_t i = 0; i < table_index; i++)
			if (is_same_lid(document, table, document->tables.items[i])) {
				report_same_lid(&host->report, table, document->tables.items[i]);
				break;
			}
}

void check_gid_subnets(struct host *host, const struct gid_document *document)
{
	check_overlaps(host, document);
	struct shared_subnets subnets = { 0 };
	if (gid_subnets_find(host->arena, host, &subnets))
		return;
	list_each(subnet, &subnets) {
		const struct subnet_member *rdma =
		        gid_subnet_has_flux(subnet) ? rdma_member(host, document, subnet) : NULL;
		if (rdma)
			report_subnet(host, subnet, rdma);
	}
}
