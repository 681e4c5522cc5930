/* SPDX-License-Identifier: MIT */
#include "check/add.h"
#include "check/gid.h"
#include "gid/address.h"
#include "gid/subnet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SUBJECT_SIZE = 96 };

static bool is_on_roce(const struct gid_document *document, const struct netdev *netdev)
{
	list_each(entry, &document->entries)
		if (entry->link == netdev && (entry->type == GID_TYPE_ROCE_V2 || entry->type == GID_TYPE_ROCE_V1))
			return true;
	return false;
}

static const struct subnet_member *roce_member(const struct gid_document *document, const struct shared_subnet *subnet)
{
	list_each(member, &subnet->members)
		if (is_on_roce(document, member->netdev))
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
	unsigned int length = address->prefix_length;
	gid_from_address(address, gid);
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int kept = length <= i * 8 ? 0 : length - i * 8 < 8 ? length - i * 8 : 8;
		gid[12 + i] &= (uint8_t)(0xff00U >> kept);
	}
	gid_format_ip(gid, text);
	size_t used = strlen(text);
	snprintf(text + used, IP_TEXT_SIZE - used, "/%u", length);
}

static void report_subnet(struct host *host, const struct shared_subnet *subnet, const struct subnet_member *roce)
{
	char subject[SUBJECT_SIZE], ip[IP_TEXT_SIZE];
	char network[IP_TEXT_SIZE];
	uint8_t gid[16];
	gid_from_address(roce->address, gid);
	gid_format_ip(gid, ip);
	subnet_text(roce->address, network);
	snprintf(subject, sizeof(subject), "net:%s", roce->netdev->name);
	struct finding *finding = check_add(&host->report, "gid-same-subnet", subject,
	        "%s have addresses in one subnet (%s): each answers ARP for the others' addresses too, so a peer's "
	        "packets may arrive at another of them",
	        names_of(host->arena, subnet), network);
	report_evidence(&host->report, finding, "RTM_GETADDR", "address", "%s/%u", ip, roce->address->prefix_length);
	list_each(member, &subnet->members)
		add_settings(&host->report, finding, member->netdev);
	report_advice(finding, "Put each of them into a subnet of its own, or set arp_ignore=1, arp_announce=2 and "
	                       "source-based routing.");
}

void check_gid_subnets(struct host *host, const struct gid_document *document)
{
	struct shared_subnets subnets = { 0 };
	if (gid_subnets_find(host->arena, host, &subnets))
		return;
	list_each(subnet, &subnets) {
		const struct subnet_member *roce = gid_subnet_has_flux(subnet) ? roce_member(document, subnet) : NULL;
		if (roce)
			report_subnet(host, subnet, roce);
	}
}
