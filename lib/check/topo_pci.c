/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "check/add.h"
#include "check/topo.h"

#include <stdio.h>
#include <string.h>

enum { LINK_TEXT_SIZE = 48 };

/* Payload of a link in Mb/s: 8b/10b up to 5 GT/s, 128b/130b above, from 64 GT/s on 236 bytes of a FLIT of 256. */
static int64_t capacity(struct num mtps, struct num width)
{
	if (!mtps.known || !width.known)
		return 0;
	int64_t raw = mtps.value * width.value;
	return mtps.value <= 5000 ? raw * 8 / 10 : mtps.value < 64000 ? raw * 128 / 130 : raw * 236 / 256;
}

static void link_text(struct num mtps, struct num width, char text[static LINK_TEXT_SIZE])
{
	char speed[24] = "? GT/s";
	if (mtps.known)
		snprintf(
		        speed, sizeof(speed), mtps.value % 1000 ? "%.1f GT/s" : "%.0f GT/s", (double)mtps.value / 1000);
	if (width.known)
		snprintf(text, LINK_TEXT_SIZE, "x%d at %s", (int)width.value, speed);
	else
		snprintf(text, LINK_TEXT_SIZE, "%s", speed);
}

static struct num less(struct num a, struct num b)
{
	return !a.known || (b.known && b.value < a.value) ? b : a;
}

static bool below(struct num a, struct num b)
{
	return a.known && b.known && a.value < b.value;
}

/* The link above a hop; the port above it is NULL where the path begins with this hop. */
struct link {
	const struct pci_hop *above, *hop;
	struct num able_speed, able_width; /* of both ends */
};

static bool has_link(const struct pci_function *function, uint32_t i, struct link *link)
{
	*link = (struct link){ .hop = function->path.items[i] };
	link->above = i ? function->path.items[i - 1] : NULL;
	if (link->hop->kind == PCI_ROOT_PORT || link->hop->kind == PCI_SWITCH_DOWNSTREAM)
		return false; /* inside the root complex or the switch; its link is told at the hop below */
	link->able_speed = link->hop->max_speed_mtps;
	link->able_width = link->hop->max_width;
	if (link->above) {
		link->able_speed = less(link->able_speed, link->above->max_speed_mtps);
		link->able_width = less(link->able_width, link->above->max_width);
	}
	return link->hop->speed_mtps.known || link->hop->width.known;
}

static const struct pci_hop *narrowest(const struct pci_function *function)
{
	const struct pci_hop *least = NULL;
	struct link link;
	for (uint32_t i = 0; i < function->path.count; i++) {
		const struct pci_hop *hop = function->path.items[i];
		if (has_link(function, i, &link) && capacity(hop->speed_mtps, hop->width) &&
		        (!least || capacity(hop->speed_mtps, hop->width) < capacity(least->speed_mtps, least->width)))
			least = hop;
	}
	return least;
}

static void check_link(const struct rdma_device *device, const struct pci_function *function, const struct link *link,
        struct report *report)
{
	char subject[80], now[LINK_TEXT_SIZE], able[LINK_TEXT_SIZE];
	const struct pci_hop *hop = link->hop;
	const char *least = narrowest(function) == hop ? ", the narrowest of the path" : "";
	snprintf(subject, sizeof(subject), "pci:%s", hop->address);
	link_text(hop->speed_mtps, hop->width, now);
	if (below(hop->speed_mtps, link->able_speed) || below(hop->width, link->able_width)) {
		link_text(link->able_speed, link->able_width, able);
		struct finding *finding = check_add(report, "pcie-link-downtrained", subject,
		        "the link%s%s to %s runs %s of %s%s (on the way to %s)", link->above ? " from " : "",
		        link->above ? link->above->address : "", hop->address, now, able, least, device->name);
		report_evidence(report, finding, "sysfs", "current_link", "%s", now);
		report_evidence(report, finding, "sysfs", "max_link", "%s", able);
		report_advice(
		        finding, "Reseat the adapter, look at the riser and at the slot's setting in the firmware.");
	} else if (below(hop->speed_mtps, hop->max_speed_mtps) || below(hop->width, hop->max_width)) {
		/* That it does less counts, not what the port above says it can: emulated ones (QEMU) say anything. */
		link_text(hop->max_speed_mtps, hop->max_width, able);
		struct finding *finding = check_add(report, "pcie-slot-limits-adapter", subject,
		        "%s can %s, the port %s above it limits the link to %s%s (on the way to %s)", hop->address,
		        able, link->above ? link->above->address : "", now, least, device->name);
		report_evidence(report, finding, "sysfs", "max_link", "%s", able);
	}
}

/* ---- the link and the port ---- */

/* Whose packets have other ways too: of Socket Direct, multi-PF and data-direct adapters. */
static bool has_other_paths(const struct host *host, const struct rdma_device *device)
{
	list_each(other, &host->devices) {
		bool board = other != device && other->pci && device->sys_image_guid && other->sys_image_guid &&
		             !strcmp(device->sys_image_guid, other->sys_image_guid);
		if (board &&
		        strncmp(device->pci->address, other->pci->address, strcspn(device->pci->address, ".")) != 0)
			return true;
	}
	return device->secondaries.count || device->companion_of;
}

/* InfiniBand up to QDR counts its 8b/10b code; Ethernet has none in its rate, though that is told in the same words. */
static int64_t payload(const struct port *port)
{
	static const char *const coded[] = { " SDR)", " DDR)", " QDR)" };
	int64_t mbps = port->rate_mbps.value;
	for (size_t i = 0; i < ARRAY_SIZE(coded); i++)
		if (port->link_layer == LINK_LAYER_INFINIBAND && port->rate_text && strstr(port->rate_text, coded[i]))
			return mbps * 8 / 10;
	return mbps;
}

static const struct port *fastest(const struct rdma_device *device)
{
	const struct port *found = NULL;
	list_each(port, &device->ports)
		if (port->rate_mbps.known && port_is_active(port) &&
		        (!found || port->rate_mbps.value > found->rate_mbps.value))
			found = port;
	return found;
}

/* What both ends of the link above that hop could carry, in Mb/s. */
static int64_t able(const struct pci_function *function, const struct pci_hop *hop)
{
	struct link link;
	for (uint32_t i = 0; i < function->path.count; i++)
		if (function->path.items[i] == hop && has_link(function, i, &link))
			return capacity(link.able_speed, link.able_width);
	return 0;
}

static void check_rate(const struct host *host, const struct rdma_device *device, struct report *report)
{
	char text[LINK_TEXT_SIZE];
	const struct port *port = fastest(device);
	const struct pci_hop *hop = narrowest(device->pci);
	int64_t mbps = hop ? capacity(hop->speed_mtps, hop->width) : 0;
	if (!port || !hop || payload(port) <= mbps || has_other_paths(host, device))
		return;
	link_text(hop->speed_mtps, hop->width, text);
	struct finding *finding = check_add(report, "pcie-below-port-rate", device->name,
	        "PCIe carries %.0f Gb/s at most (the link to %s runs %s), the port runs %s", (double)mbps / 1000,
	        hop->address, text, port->rate_text);
	/* Else it is what the slot has, or the host's part of a multi-host adapter. */
	if (finding && able(device->pci, hop) >= payload(port))
		finding->severity = SEVERITY_WARNING;
	report_evidence(report, finding, "sysfs", "current_link", "%s", text);
	report_evidence(report, finding, "RDMA port", "rate", "%s", port->rate_text);
	report_advice(finding, "Where the whole rate is wanted, the adapter needs a slot, or a setting of it, that "
	                       "carries it.");
}

static void check_acs(const struct rdma_device *device, const struct pci_function *function, struct report *report)
{
	char subject[80];
	list_each(hop, &function->path) {
		if (!hop->acs || !strstr(hop->acs, "request-redirect"))
			continue;
		snprintf(subject, sizeof(subject), "pci:%s", hop->address);
		/* That of an endpoint is a matter of its functions (PCIe base specification, 6.12.1.2). */
		bool bridge = hop->kind != PCI_ENDPOINT;
		struct finding *finding = check_add(report, "acs-redirect", subject,
		        "ACS redirects requests on %s %s: peer-to-peer DMA %s goes through the root complex",
		        bridge ? "the bridge above" : "the function of", device->name,
		        bridge ? "(GPUDirect)" : "between functions of that adapter");
		report_evidence(report, finding, "PCI configuration space", "ACS control", "%s", hop->acs);
	}
}

static void add_total(struct report *report, struct finding *finding, const char *file, struct num total)
{
	if (total.known)
		report_evidence(report, finding, "sysfs", file, "%lld", (long long)total.value);
}

/* `where` tells of a bridge what it leads to; "" for the device's function itself. */
static void check_errors(const char *address, const struct aer_facts *aer, const char *where, struct report *report)
{
	char subject[80], errors[AER_TEXT_SIZE];
	if (!aer_has_errors(aer))
		return;
	snprintf(subject, sizeof(subject), "pci:%s", address);
	aer_text(aer, errors);
	struct finding *finding =
	        check_add(report, "pcie-errors", subject, "PCIe errors since boot%s: %s", where, errors);
	/* The link layer repaired those that were corrected, and ports count requests that nobody supported while
	 * booting. */
	if (finding && (aer->nonfatal.value <= 0 || *where) && aer->fatal.value <= 0)
		finding->severity = SEVERITY_INFO;
	add_total(report, finding, "aer_dev_correctable", aer->correctable);
	add_total(report, finding, "aer_dev_nonfatal", aer->nonfatal);
	add_total(report, finding, "aer_dev_fatal", aer->fatal);
}

/* Either end of a link counts what it receives: what the adapter sent damaged stands at the port above it. */
static void check_errors_above(
        const struct rdma_device *device, const struct pci_function *function, struct report *report)
{
	char where[160];
	snprintf(where, sizeof(where), " at a port on the way to %s", device->name);
	list_each(hop, &function->path)
		check_errors(hop->address, hop->aer, where, report);
}

static void check_path(const struct rdma_device *device, const struct pci_function *function, struct report *report)
{
	struct link link;
	for (uint32_t i = 0; i < function->path.count; i++)
		if (has_link(function, i, &link))
			check_link(device, function, &link, report);
	check_acs(device, function, report);
	check_errors(function->address, function->aer, "", report);
	check_errors_above(device, function, report);
}

void check_pci(const struct host *host, struct report *report)
{
	/* What lies on several ways is told of a device whose own it is. */
	list_each(device, &host->devices)
		if (device->pci) {
			check_path(device, device->pci, report);
			check_rate(host, device, report);
		}
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			list_each(netdev, &port->netdevs)
				if (netdev->netdev->pci && netdev->netdev->pci != device->pci)
					check_path(device, netdev->netdev->pci, report);
}
