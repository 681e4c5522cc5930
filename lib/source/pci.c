/* SPDX-License-Identifier: MIT */
#include "source/pci.h"

#include "base/cleanup.h"
#include "source/sysfs.h"
#include "source/vendors.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>

enum { PCI_ADDRESS_SIZE = sizeof("00000000:00:00.0") };

static void about(struct origin *origin, const char *address)
{
	char subject[64];
	snprintf(subject, sizeof(subject), "pci:%.50s", address);
	origin_about(origin, subject);
}

static struct num link_width(struct num width)
{
	return width.known && width.value > 0 && width.value <= 32 ? width : (struct num){ 0 };
}

/* A virtual function has no link of its own: its width is 0, and the speed unknown. */
static void tell_odd_link(
        struct host *host, const char *subject, const struct pci_hop *hop, const char *speed, struct num width)
{
	if (num_is(width, 0))
		return;
	if (speed && !hop->speed_mtps.known)
		report_missing(&host->report, "speed_gts", subject, 0, "\"%s\" is no speed", speed);
	if (width.known && !hop->width.known)
		report_missing(
		        &host->report, "width", subject, 0, "%lld is no width of a link", (long long)width.value);
}

static void read_link(struct origin *origin, struct host *host, const char *path, struct pci_hop *hop)
{
	hop->max_speed_mtps = pci_speed_mtps(sysfs_text(origin, host->arena, "%s/max_link_speed", path));
	if (errno == ENOENT)
		return; /* not PCI Express */
	const char *speed = sysfs_text(origin, host->arena, "%s/current_link_speed", path);
	hop->speed_mtps = pci_speed_mtps(speed);
	hop->max_width = link_width(sysfs_number(origin, "%s/max_link_width", path));
	struct num width = sysfs_number(origin, "%s/current_link_width", path);
	if (!width.known)
		sysfs_missing(host, "width", origin_subject(origin), errno);
	hop->width = link_width(width);
	tell_odd_link(host, origin_subject(origin), hop, speed, width);
}

/* Without the capability the place decides: bridges alternate below a root port. */
static void guess_kind(struct pci_hop *hop, const struct pci_hop *above, struct num class_code)
{
	enum { BRIDGE_CLASS = 0x0604 };
	bool bridge =
	        hop->kind == PCI_BRIDGE || (!hop->kind && class_code.known && class_code.value >> 8 == BRIDGE_CLASS);
	if (!bridge) {
		if (!hop->kind && class_code.known)
			hop->kind = PCI_ENDPOINT;
		return;
	}
	hop->kind = PCI_BRIDGE;
	if (!hop->max_speed_mtps.known)
		return;
	if (!above)
		hop->kind = PCI_ROOT_PORT;
	else if (above->kind == PCI_ROOT_PORT || above->kind == PCI_SWITCH_DOWNSTREAM)
		hop->kind = PCI_SWITCH_UPSTREAM;
	else if (above->kind == PCI_SWITCH_UPSTREAM)
		hop->kind = PCI_SWITCH_DOWNSTREAM;
}

static void tell_silent(struct host *host, const char *subject)
{
	static const char *const facts[] = { "speed_gts", "width" };
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		report_missing(&host->report, facts[i], subject, 0,
		        "it does not answer: its configuration space reads all ones");
}

static void read_hop(
        struct origin *origin, struct host *host, const char *path, struct pci_hop *hop, const struct pci_hop *above)
{
	char file[SYSFS_PATH_SIZE + 8];
	uint8_t config[PCI_CFG_SPACE_EXP_SIZE + 1];
	bool capabilities = false;
	about(origin, hop->address);
	snprintf(file, sizeof(file), "%s/config", path);
	ssize_t length = origin_read(origin, file, (char *)config, sizeof(config));
	if (length > 0)
		pci_parse_config(config, (size_t)length, host->arena, hop, &capabilities);
	if (hop->silent)
		tell_silent(host, origin_subject(origin));
	if (capabilities && !hop->silent)
		return;
	errno = 0;
	if (!hop->silent)
		read_link(origin, host, path, hop);
	guess_kind(hop, above, hop->kind ? (struct num){ 0 } : sysfs_number(origin, "%s/class", path));
	if (length < 0 && hop->kind != PCI_ENDPOINT)
		sysfs_missing(host, "acs", origin_subject(origin), (int)-length);
	if (length > 0 && hop->kind != PCI_ENDPOINT && !hop->silent)
		report_missing(&host->report, "acs", origin_subject(origin), -EPERM,
		        "the extended configuration space is readable with CAP_SYS_ADMIN only");
}

/* Of the function or bridge in the directory `path`. NULL: it has none. */
static struct aer_facts *read_aer(struct origin *origin, struct arena *arena, const char *path)
{
	static const char *const files[AER_SEVERITY_COUNT] = { "aer_dev_correctable", "aer_dev_nonfatal",
		"aer_dev_fatal" };
	struct aer_facts *aer = NULL;
	struct num totals[AER_SEVERITY_COUNT] = { 0 };
	for (int i = 0; i < AER_SEVERITY_COUNT; i++) {
		char file[SYSFS_PATH_SIZE], text[2048];
		snprintf(file, sizeof(file), "%s/%s", path, files[i]);
		ssize_t length = origin_read(origin, file, text, sizeof(text));
		/* the first one tells whether there are any */
		if (length >= 0 && !aer && !(aer = arena_new_object(arena, struct aer_facts)))
			return NULL;
		if (length >= 0)
			totals[i] = pci_parse_aer(text, (enum aer_severity)i, arena, aer);
		if (!totals[AER_CORRECTABLE].known)
			return NULL;
	}
	aer->correctable = totals[AER_CORRECTABLE];
	aer->nonfatal = totals[AER_NONFATAL];
	aer->fatal = totals[AER_FATAL];
	return aer;
}

static int read_path(struct origin *origin, struct host *host, struct pci_function *function)
{
	const char *address;
	const struct pci_hop *above = NULL;
	size_t length;
	for (size_t i = 0; (length = pci_address_in_path(function->sysfs_path, i, &address)); i++) {
		char name[PCI_ADDRESS_SIZE];
		snprintf(name, sizeof(name), "%.*s", (int)length, address);
		struct pci_hop *hop = host_hop(host, name);
		if (!hop) {
			char path[SYSFS_PATH_SIZE];
			hop = list_add(host->arena, &host->pci_hops);
			if (!hop)
				return -ENOMEM;
			hop->address = arena_strdup(host->arena, name);
			if (!hop->address || host_index_hop(host, hop))
				return -ENOMEM;
			snprintf(path, sizeof(path), "%.*s", (int)(address + length - function->sysfs_path),
			        function->sysfs_path);
			read_hop(origin, host, path, hop, above);
			if (address[length]) /* a bridge: something follows it */
				hop->aer = read_aer(origin, host->arena, path);
		}
		if (list_add_existing(host->arena, &function->path, hop))
			return -ENOMEM;
		above = hop;
	}
	return 0;
}

/* ---- functions ---- */

static void read_identity(struct origin *origin, struct host *host, const char *path, struct pci_function *function)
{
	char file[SYSFS_PATH_SIZE], text[1024];
	snprintf(file, sizeof(file), "%s/uevent", path);
	if (origin_read(origin, file, text, sizeof(text)) > 0)
		pci_parse_uevent(text, host->arena, function);
	if (function->vendor.known && function->class_code.known)
		return;
	if (!function->vendor.known)
		function->vendor = sysfs_number(origin, "%s/vendor", path);
	if (!function->device.known)
		function->device = sysfs_number(origin, "%s/device", path);
	if (!function->class_code.known)
		function->class_code = sysfs_number(origin, "%s/class", path);
	if (!function->driver) {
		snprintf(file, sizeof(file), "%s/driver", path);
		function->driver = sysfs_link_name(origin, host->arena, file);
	}
}

static void read_locality(struct origin *origin, struct host *host, struct pci_function *function)
{
	const char *subject = origin_subject(origin);
	struct num node = sysfs_number(origin, "%s/numa_node", function->sysfs_path);
	int error = errno;
	if (node.known && node.value >= 0)
		function->numa_node = node;
	else if (!node.known && error && error != ENOENT)
		sysfs_missing(host, "numa_node", subject, error);
	else
		report_missing(&host->report, "numa_node", subject, node.known ? 0 : -error,
		        node.known               ? "the kernel says -1: the firmware names no node"
		        : host->numa_nodes.count ? "sysfs has no file numa_node of it"
		                                 : "a kernel without NUMA: there is no such attribute");
	function->without_node = node.known && node.value < 0;
	function->local_cpus = sysfs_text(origin, host->arena, "%s/local_cpulist", function->sysfs_path);
	if (!function->local_cpus)
		sysfs_missing(host, "local_cpus", subject, errno);
}

static void read_iommu(struct origin *origin, struct host *host, struct pci_function *function)
{
	char file[SYSFS_PATH_SIZE];
	snprintf(file, sizeof(file), "%s/iommu_group", function->sysfs_path);
	const char *group = sysfs_link_name(origin, host->arena, file);
	struct iommu_facts *iommu = group ? arena_new_object(host->arena, struct iommu_facts) : NULL;
	if (!iommu)
		return;
	iommu->group = parse_num(group, 10);
	iommu->type = sysfs_text(origin, host->arena, "sys/kernel/iommu_groups/%s/type", group);
	if (!iommu->type)
		sysfs_missing(host, "iommu", origin_subject(origin), errno);
	function->iommu = iommu;
}

/* The routing id of VF n is that of its PF plus offset plus n times stride (PCIe SR-IOV, 9.2.1.2). */
static struct num vf_index(struct origin *origin, const struct pci_function *function)
{
	unsigned int vf[3], pf[3];
	const char *vf_tail = strchr(function->address, ':'), *pf_tail = strchr(function->physfn, ':');
	struct num offset = sysfs_number(origin, "%s/physfn/sriov_offset", function->sysfs_path);
	struct num stride = sysfs_number(origin, "%s/physfn/sriov_stride", function->sysfs_path);
	if (!offset.known || !stride.known || stride.value <= 0 || !vf_tail || !pf_tail ||
	        sscanf(vf_tail, ":%x:%x.%x", &vf[0], &vf[1], &vf[2]) != 3 ||
	        sscanf(pf_tail, ":%x:%x.%x", &pf[0], &pf[1], &pf[2]) != 3)
		return (struct num){ 0 };
	int64_t distance = (int64_t)(vf[0] << 8 | vf[1] << 3 | vf[2]) - (int64_t)(pf[0] << 8 | pf[1] << 3 | pf[2]);
	return distance >= offset.value ? num((distance - offset.value) / stride.value) : (struct num){ 0 };
}

static void read_sriov(struct origin *origin, struct host *host, struct pci_function *function)
{
	char file[SYSFS_PATH_SIZE];
	snprintf(file, sizeof(file), "%s/physfn", function->sysfs_path);
	function->physfn = sysfs_link_name(origin, host->arena, file);
	function->physfn_unknown = !function->physfn && errno != ENOENT;
	if (function->physfn_unknown)
		sysfs_missing(host, "function", origin_subject(origin), errno);
	else if (function->physfn)
		function->vf_index = vf_index(origin, function);
	else
		function->sriov_numvfs = sysfs_number(origin, "%s/sriov_numvfs", function->sysfs_path);
}

static struct pci_function *add_function(struct host *host, const char *address)
{
	struct pci_function *function = list_add(host->arena, &host->pci_functions);
	if (!function)
		return NULL;
	function->address = address;
	return host_index_function(host, function) ? NULL : function;
}

static const char *last_address(struct arena *arena, const char *path, size_t *end)
{
	const char *address = NULL, *last = NULL;
	size_t length, last_length = 0;
	for (size_t i = 0; (length = pci_address_in_path(path, i, &address)); i++) {
		last = address;
		last_length = length;
	}
	if (!last)
		return NULL;
	*end = (size_t)(last - path) + last_length;
	return arena_strndup(arena, last, last_length);
}

struct pci_function *pci_function_of_path(struct origin *origin, struct host *host, const char *path)
{
	size_t end;
	const char *address = path ? last_address(host->arena, path, &end) : NULL;
	if (!address)
		return NULL;
	struct pci_function *function = host_function(host, address);
	if (function && function->sysfs_path)
		return function;
	if (!function)
		function = add_function(host, address);
	if (!function)
		return NULL;
	function->sysfs_path = arena_strndup(host->arena, path, end);
	if (!function->sysfs_path)
		return function;
	read_path(origin, host, function);
	about(origin, address);
	if (!function->vendor.known)
		read_identity(origin, host, function->sysfs_path, function);
	read_locality(origin, host, function);
	read_iommu(origin, host, function);
	function->aer = read_aer(origin, host->arena, function->sysfs_path);
	read_sriov(origin, host, function);
	return function;
}

void pci_read_identity(struct origin *origin, struct host *host, struct pci_function *function)
{
	char path[SYSFS_PATH_SIZE];
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", function->address);
	about(origin, function->address);
	read_identity(origin, host, path, function);
}

void pci_scan(struct origin *origin, struct host *host)
{
	enum { NETWORK_CLASS = 0x02 };
	struct strings names;
	origin_about(origin, "host");
	if (origin_list(origin, host->arena, "sys/bus/pci/devices", &names))
		return;
	for (uint32_t i = 0; i < names.count; i++) {
		struct pci_function found = { .address = names.items[i] };
		if (host_function(host, names.items[i]))
			continue;
		pci_read_identity(origin, host, &found);
		bool network = found.class_code.known && found.class_code.value >> 16 == NETWORK_CLASS;
		if (!network && !vendor_id_is_recovery(found.vendor, found.device))
			continue;
		char physfn[SYSFS_PATH_SIZE];
		snprintf(physfn, sizeof(physfn), "sys/bus/pci/devices/%s/physfn", names.items[i]);
		if (!found.driver) /* one that nobody took: whether it is a VF makes the difference */
			found.physfn = sysfs_link_name(origin, host->arena, physfn);
		struct pci_function *function = add_function(host, names.items[i]);
		if (function)
			*function = found;
	}
}
