/* SPDX-License-Identifier: MIT */
#include "render/topo_details.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "render/places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_WIDTH = 14 };

struct lines {
	FILE *stream;
	bool failed; /* no memory */
};

static void put_clean(struct lines *lines, const char *text)
{
	autofree char *clean = text_for_terminal(text);
	lines->failed |= !clean;
	fprintf(lines->stream, "%s\n", clean ? clean : "");
}

/* "  key           value"; what a value holds may be the words of a device or of firmware. */
__attribute__((format(printf, 3, 4))) static void put(struct lines *lines, const char *key, const char *format, ...)
{
	autofree char *text = NULL;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&text, format, args);
	va_end(args);
	fprintf(lines->stream, "  %-*s ", KEY_WIDTH, key);
	put_clean(lines, length < 0 ? NULL : text);
}

static void put_text(struct lines *lines, const char *key, const char *text)
{
	put(lines, key, "%s", text ? text : "unknown");
}

/* ---- the device ---- */

static void put_function(struct lines *lines, const struct rdma_device *device)
{
	static const char *const words[FUNCTION_COUNT] = {
		[FUNCTION_PF] = "physical function", [FUNCTION_VF] = "virtual function", [FUNCTION_SF] = "subfunction"
	};
	const struct function *function = &device->function;
	if (!words[function->kind])
		return;
	if (function->parent)
		put(lines, "function", "%s of %s", words[function->kind], function->parent);
	else
		put(lines, "function", "%s", words[function->kind]);
}

static void put_uverbs(struct lines *lines, const struct uverbs *uverbs)
{
	static const char *const words[] = {
		[FLAG_UNKNOWN] = "", [FLAG_NO] = ", cannot be opened", [FLAG_YES] = ", may be opened"
	};
	const char *path = uverbs->path ? uverbs->path : "none";
	put(lines, "uverbs", "%s%s%s%s", path, words[uverbs->accessible], uverbs->reason ? ": " : "",
	        uverbs->reason ? uverbs->reason : "");
}

static void put_device(struct lines *lines, const struct rdma_device *device)
{
	put(lines, "driver", "%s%s", device->driver ? device->driver : "unknown",
	        device->software == FLAG_YES ? ", software" : "");
	if (device->software != FLAG_YES) {
		put_text(lines, "firmware", device->fw_version);
		put_text(lines, "board", device->board_id);
	}
	put_text(lines, "node GUID", device->node_guid);
	put_text(lines, "system GUID", device->sys_image_guid);
	put_uverbs(lines, &device->uverbs);
	put_function(lines, device);
}

/* ---- PCI ---- */

static void put_iommu(struct lines *lines, const struct iommu_facts *iommu)
{
	if (iommu && iommu->group.known)
		put(lines, "IOMMU", "group %" PRId64 "%s%s%s", iommu->group.value, iommu->type ? " (" : "",
		        iommu->type ? iommu->type : "", iommu->type ? ")" : "");
}

static void put_aer(struct lines *lines, const struct aer_facts *aer)
{
	char text[AER_TEXT_SIZE];
	if (!aer)
		return;
	aer_text(aer, text);
	put(lines, "PCIe errors", "%s", text);
}

/* From the root on; the link to the hop above stands at the lower of its two ends. */
static void put_path(struct lines *lines, const struct pci_function *function)
{
	const struct pci_hop *above = NULL;
	list_each(hop, &function->path) {
		bool has_link = hop->kind != PCI_ROOT_PORT && hop->kind != PCI_SWITCH_DOWNSTREAM;
		char link[PLACE_LINK_SIZE] = "";
		char errors[AER_TEXT_SIZE] = "";
		if (has_link)
			place_link(hop, above, link);
		if (aer_has_errors(hop->aer)) /* most bridges count nothing, and then nothing is said */
			aer_text(hop->aer, errors);
		put(lines, above ? "" : "PCI path", "%s %s%s%s%s%s%s%s", hop->address,
		        pci_kind_names[hop->kind] ? pci_kind_names[hop->kind] : "of unknown kind",
		        *link ? ", link " : "", link, hop->acs ? ", ACS " : "", hop->acs ? hop->acs : "",
		        *errors ? ", PCIe errors " : "", errors);
		above = hop;
	}
}

/* ---- ports ---- */

static void put_mtu(struct lines *lines, const struct port *port)
{
	if (port->active_mtu.known && port->max_mtu.known)
		put(lines, "MTU", "%" PRId64 " of %" PRId64, port->active_mtu.value, port->max_mtu.value);
	else if (port->active_mtu.known)
		put(lines, "MTU", "%" PRId64, port->active_mtu.value);
	else
		put(lines, "MTU", "unknown");
}

/* RoCE has none. */
static void put_lid(struct lines *lines, const struct port *port)
{
	if (port->lid.known && !port_has_lid(port))
		put(lines, "LID", "none, the port says %" PRId64, port->lid.value);
	else if (port->lid.known && port->sm_lid.known)
		put(lines, "LID", "%" PRId64 ", subnet manager %" PRId64, port->lid.value, port->sm_lid.value);
	else if (port->lid.known)
		put(lines, "LID", "%" PRId64, port->lid.value);
	else if (port->transport == TRANSPORT_INFINIBAND)
		put(lines, "LID", "unknown");
}

static void put_netdev(struct lines *lines, const struct port_netdev *netdev)
{
	static const char *const words[RELATION_COUNT] = {
		[RELATION_PORT] = "netdev", [RELATION_ABOVE] = "stacked above", [RELATION_BELOW] = "below"
	};
	char mtu[sizeof(", MTU ") + NUMBER_TEXT_SIZE] = "";
	if (netdev->mtu.known)
		snprintf(mtu, sizeof(mtu), ", MTU %" PRId64, netdev->mtu.value);
	put(lines, words[netdev->relation] ? words[netdev->relation] : "netdev", "%s, %s%s%s%s", netdev->name,
	        netdev->kind ? netdev->kind : "of unknown kind", mtu, netdev->netdev->mac ? ", address " : "",
	        netdev->netdev->mac ? netdev->netdev->mac : "");
	list_each(name, &netdev->netdev->altnames)
		put(lines, "", "also called %s", name);
}

static void put_port(struct lines *lines, const struct port *port)
{
	put_text(lines, "link layer", link_layer_names[port->link_layer]);
	put_mtu(lines, port);
	put_lid(lines, port);
	list_each(netdev, &port->netdevs)
		put_netdev(lines, netdev);
}

int topo_details_print(const struct host *host, FILE *stream)
{
	struct lines lines = { .stream = stream };
	list_each(device, &host->devices) {
		put_clean(&lines, device->name);
		put_device(&lines, device);
		if (device->pci) {
			put_path(&lines, device->pci);
			put_iommu(&lines, device->pci->iommu);
			put_aer(&lines, device->pci->aer);
		}
		list_each(port, &device->ports) {
			char label[PORT_LABEL_SIZE];
			put_clean(&lines, port_label(device->name, port->number, label));
			put_port(&lines, port);
		}
	}
	return lines.failed ? -ENOMEM : 0;
}
