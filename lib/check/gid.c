/* SPDX-License-Identifier: MIT */
#include "check/gid.h"

#include "base/cleanup.h"
#include "check/add.h"
#include "check/gid_table.h"
#include "gid/address.h"
#include "gid/choose.h"
#include "gid/subnet.h"
#include "source/join.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_gid_evidence(struct report *report, struct finding *finding, const struct gid_entry *entry)
{
	report_evidence(report, finding, "GID table", "gid", "%s", entry->gid);
	if (entry->netdev)
		report_evidence(report, finding, "GID table", "netdev", "%s", entry->netdev);
}

/* ---- one entry ---- */

static void check_stale(struct report *report, const struct gid_entry *entry)
{
	if (entry->state != GID_STATE_STALE)
		return;
	char subject[GID_SUBJECT_SIZE];
	gid_entry_subject(entry, subject);
	bool mac = gid_is_link_local(entry->bytes, false) && gid_has_eui64(entry->bytes) && entry->link &&
	           entry->link->mac;
	struct finding *finding = check_add(
	        report, mac ? "gid-mac-mismatch" : "gid-stale", subject, "stale GID: %s", entry->state_reason);
	add_gid_evidence(report, finding, entry);
	if (mac)
		report_evidence(report, finding, "RTM_GETLINK", "IFLA_ADDRESS", "%s", entry->link->mac);
	report_advice(finding,
	        "Do not use this index; taking the netdev down and up again lets the kernel renew its entries.");
}

static bool stands_on(const struct host *host, const struct netdev *upper, const struct netdev *lower)
{
	if (!upper || !lower || upper == lower)
		return false;
	return netdev_is_member(lower, upper) || netdev_base(host, upper) == lower;
}

/* Once for each group: at its lowest index. */
static void check_duplicate(const struct table_check *check, const struct gid_entry *entry)
{
	if (entry->state != GID_STATE_DUPLICATE)
		return;
	const struct gid_entry *twin = NULL;
	list_each(index, &entry->same_gid_as) {
		const struct gid_entry *other = gid_entry_at(&check->port, index->value);
		if (!twin && other && other->type == entry->type)
			twin = other;
	}
	if (!twin || twin->index.value < entry->index.value)
		return;
	char subject[GID_SUBJECT_SIZE];
	gid_entry_subject(entry, subject);
	/*
	 * Each VLAN netdev repeats the link-local GID of the netdev below it, and so does a bridge or team with the MAC
	 * of its port: that is how it has to be.
	 */
	bool usual = entry->vlan.known != twin->vlan.known || entry->vlan.value != twin->vlan.value ||
	             stands_on(check->host, entry->link, twin->link) || stands_on(check->host, twin->link, entry->link);
	if (usual && entry->scope == GID_SCOPE_LINK_LOCAL)
		return;
	struct finding *finding = check_add(check->report, "gid-duplicate", subject,
	        "duplicate GID at %" PRId64 " (%s) and %" PRId64 " (%s)", entry->index.value,
	        entry->netdev ? entry->netdev : "no netdev", twin->index.value,
	        twin->netdev ? twin->netdev : "no netdev");
	add_gid_evidence(check->report, finding, entry);
	report_advice(finding, "Give the index explicitly: a look-up by GID finds the lower one, whatever its netdev.");
}

static void check_down(struct report *report, const struct gid_entry *entry)
{
	bool usable = entry->state == GID_STATE_OK || entry->state == GID_STATE_DUPLICATE;
	if (!usable || !entry->link || entry->link->admin_up != FLAG_NO)
		return;
	char subject[GID_SUBJECT_SIZE];
	gid_entry_subject(entry, subject);
	struct finding *finding = report_finding(
	        report, "gid-netdev-down", SEVERITY_INFO, subject, "netdev %s of the entry is down", entry->link->name);
	report_evidence(report, finding, "RTM_GETLINK", "IFF_UP", "no");
}

/* The same GID of another type says the same. */
static bool is_first_of_its_kind(const struct gid_entry *entry)
{
	list_each(index, &entry->same_gid_as)
		if (index->value < entry->index.value)
			return false;
	return true;
}

/* Packets to the address go to either node. */
static void check_taken(struct report *report, const struct gid_entry *entry)
{
	if (!entry->address || !address_is_taken(entry->address) || !is_first_of_its_kind(entry))
		return;
	char subject[GID_SUBJECT_SIZE];
	gid_entry_subject(entry, subject);
	struct finding *finding =
	        check_add(report, "gid-address-taken", subject, "another node has the address %s too", entry->ip);
	add_gid_evidence(report, finding, entry);
	report_evidence(report, finding, "RTM_GETADDR", "IFA_FLAGS", "IFA_F_DADFAILED");
	report_advice(
	        finding, "Give one of the two nodes another address; the kernel keeps this GID, and programs take it.");
}

/* Ports of one bond, and functions that share a netdev, have the same GIDs rightly, and so has each VRF its own
 * network. */
static bool is_same_elsewhere(const struct host *host, const struct gid_entry *entry, const struct gid_entry *other)
{
	if (memcmp(other->bytes, entry->bytes, sizeof(entry->bytes)) != 0 || other->type != entry->type)
		return false;
	if (!other->link || other->link == entry->link || !other->address || other->scope != entry->scope)
		return false;
	if (gid_vrf_of(host, entry->link) != gid_vrf_of(host, other->link))
		return false;
	return strcmp(other->device, entry->device) || other->port.value != entry->port.value;
}

/* Netdevs of adapters that nothing joins to others: members of a bond have its MAC rightly. */
static bool has_mac_of_its_own(const struct gid_entry *entry)
{
	const struct netdev *netdev = entry->link;
	return netdev && netdev->pci && !netdev->master_ifindex.known && gid_matches_mac(entry->bytes, netdev);
}

/* Switches learn the MAC at either port. */
static void check_same_mac(
        struct host *host, const struct gid_document *document, uint32_t at, const struct gid_entry *entry)
{
	char subject[GID_SUBJECT_SIZE];
	if (entry->scope != GID_SCOPE_LINK_LOCAL || !has_mac_of_its_own(entry) || !is_first_of_its_kind(entry))
		return;
	for (uint32_t i = at; i < document->entries.count; i++) {
		const struct gid_entry *other = document->entries.items[i];
		if (other->type != entry->type || memcmp(other->bytes, entry->bytes, sizeof(entry->bytes)) != 0 ||
		        !has_mac_of_its_own(other) || other->link->pci == entry->link->pci)
			continue;
		gid_entry_subject(entry, subject);
		struct finding *finding = check_add(&host->report, "gid-same-on-ports", subject,
		        "%s/%" PRId64 " has the same GID at index %" PRId64 ": %s and %s have the same MAC %s",
		        other->device, other->port.value, other->index.value, entry->link->name, other->link->name,
		        entry->link->mac);
		add_gid_evidence(&host->report, finding, entry);
		report_advice(finding, "Give each adapter a MAC of its own: in one network, frames to it arrive at one "
		                       "of the two.");
		return;
	}
}

static void check_same_on_ports(
        struct host *host, const struct gid_document *document, uint32_t at, const struct gid_entry *entry)
{
	struct report *report = &host->report;
	if (!entry->link || !entry->address || !is_first_of_its_kind(entry) || entry->scope == GID_SCOPE_LINK_LOCAL ||
	        entry->scope == GID_SCOPE_LOOPBACK)
		return;
	for (uint32_t i = at; i < document->entries.count; i++) {
		const struct gid_entry *other = document->entries.items[i];
		if (!is_same_elsewhere(host, entry, other))
			continue;
		char subject[GID_SUBJECT_SIZE];
		gid_entry_subject(entry, subject);
		struct finding *finding = check_add(report, "gid-same-on-ports", subject,
		        "%s/%" PRId64 " has the same GID at index %" PRId64 ": %s and %s have the same address",
		        other->device, other->port.value, other->index.value, entry->link->name, other->link->name);
		add_gid_evidence(report, finding, entry);
		report_advice(finding,
		        "Give each port an address of its own, or bond them: a peer's packets arrive at one "
		        "of the two.");
		return;
	}
}

static bool has_usable(const struct host *host, const struct gid_document *document)
{
	list_each(table, &document->tables) {
		struct gid_port port = gid_port_of(host, document, table);
		if (gid_table_is_usable(&port))
			return true;
	}
	return false;
}

void check_gid(struct host *host, const struct gid_document *document)
{
	bool works = has_usable(host, document);
	list_each(table, &document->tables) {
		struct table_check check = {
			.host = host,
			.report = &host->report,
			.port = gid_port_of(host, document, table),
			.others_work = works,
		};
		snprintf(check.subject, sizeof(check.subject), "%s/%" PRId64, table->device, table->port.value);
		for (uint32_t i = 0; i < check.port.count; i++) {
			check_stale(check.report, check.port.entries[i]);
			check_duplicate(&check, check.port.entries[i]);
			check_down(check.report, check.port.entries[i]);
			check_taken(check.report, check.port.entries[i]);
			check_same_on_ports(host, document, table->first + i + 1, check.port.entries[i]);
			check_same_mac(host, document, table->first + i + 1, check.port.entries[i]);
		}
		check_gid_table(&check);
	}
	check_gid_subnets(host, document);
}
