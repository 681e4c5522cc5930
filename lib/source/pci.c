/* SPDX-License-Identifier: MIT */
#include "source/pci.h"
#include "source/sysfs.h"
#include "source/vendors.h"

#include <ctype.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsers ---- */

static size_t hex_digits(const char *text, size_t length)
{
	size_t count = 0;
	while (count < length && isxdigit((unsigned char)text[count]))
		count++;
	return count;
}

bool pci_is_address(const char *text, size_t length)
{
	enum { REST = sizeof(":00:00.0") - 1 };
	size_t domain = hex_digits(text, length);
	if (domain < 4 || domain > 8 || length != domain + REST)
		return false;
	text += domain;
	return text[0] == ':' && hex_digits(text + 1, 2) == 2 && text[3] == ':' && hex_digits(text + 4, 2) == 2 &&
	       text[6] == '.' && text[7] >= '0' && text[7] <= '7';
}

size_t pci_address_in_path(const char *path, size_t n, const char **address)
{
	while (*path) {
		size_t length = strcspn(path, "/");
		if (pci_is_address(path, length) && !n--) {
			*address = path;
			return length;
		}
		path += length;
		path += *path == '/';
	}
	return 0;
}

struct num pci_speed_mtps(const char *text)
{
	char *end;
	if (!text)
		return (struct num){ 0 };
	long whole = strtol(text, &end, 10), tenths = 0;
	if (end == text || whole < 0 || whole > 1000)
		return (struct num){ 0 };
	if (*end == '.' && isdigit((unsigned char)end[1])) {
		tenths = end[1] - '0';
		end += 2;
	}
	return strncmp(end, " GT/s", 5) ? (struct num){ 0 } : num(whole * 1000 + tenths * 100);
}

static uint16_t word_at(const uint8_t *config, size_t at)
{
	return (uint16_t)(config[at] | config[at + 1] << 8);
}

static uint32_t long_at(const uint8_t *config, size_t at)
{
	return (uint32_t)word_at(config, at) | (uint32_t)word_at(config, at + 2) << 16;
}

static size_t find_capability(const uint8_t *config, size_t length, uint8_t wanted)
{
	enum { LONGEST = 48 }; /* a list that is longer goes in circles */
	if (length <= PCI_STD_HEADER_SIZEOF || !(word_at(config, PCI_STATUS) & PCI_STATUS_CAP_LIST))
		return 0;
	size_t at = config[PCI_CAPABILITY_LIST] & ~3u;
	for (int i = 0; i < LONGEST && at >= PCI_STD_HEADER_SIZEOF && at + 2 <= length; i++) {
		if (config[at + PCI_CAP_LIST_ID] == wanted)
			return at;
		at = config[at + PCI_CAP_LIST_NEXT] & ~3u;
	}
	return 0;
}

static size_t find_extended(const uint8_t *config, size_t length, uint16_t wanted)
{
	enum { LONGEST = 128 };
	size_t at = PCI_CFG_SPACE_SIZE;
	for (int i = 0; i < LONGEST && at >= PCI_CFG_SPACE_SIZE && at + 4 <= length; i++) {
		uint32_t header = long_at(config, at);
		if (PCI_EXT_CAP_ID(header) == wanted && header)
			return at;
		at = PCI_EXT_CAP_NEXT(header);
	}
	return 0;
}

static enum pci_kind kind_of_type(unsigned int type)
{
	switch (type) {
	case PCI_EXP_TYPE_ROOT_PORT:
		return PCI_ROOT_PORT;
	case PCI_EXP_TYPE_UPSTREAM:
		return PCI_SWITCH_UPSTREAM;
	case PCI_EXP_TYPE_DOWNSTREAM:
		return PCI_SWITCH_DOWNSTREAM;
	case PCI_EXP_TYPE_PCI_BRIDGE:
	case PCI_EXP_TYPE_PCIE_BRIDGE:
		return PCI_BRIDGE;
	default:
		return PCI_ENDPOINT;
	}
}

/* Codes of LNKCAP and LNKSTA; 0 is a link that is down or none at all (a VF, an integrated endpoint). */
static struct num speed_of_code(unsigned int code)
{
	static const int speeds[] = { 0, 2500, 5000, 8000, 16000, 32000, 64000 };
	return code && code < sizeof(speeds) / sizeof(speeds[0]) ? num(speeds[code]) : (struct num){ 0 };
}

static struct num width_of_code(unsigned int code)
{
	return code && code <= 32 ? num(code) : (struct num){ 0 };
}

static char *acs_text(struct arena *arena, uint16_t control)
{
	static const char *const flags[] = { "source-validation", "translation-blocking", "request-redirect",
		"completion-redirect", "upstream-forwarding", "egress-control", "direct-translated" };
	char text[160] = "";
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (control >> i & 1)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? " " : "", flags[i]);
	return arena_strdup(arena, *text ? text : "none");
}

static bool is_bridge(const uint8_t *config, size_t length)
{
	return length > PCI_HEADER_TYPE && (config[PCI_HEADER_TYPE] & 0x7f) == PCI_HEADER_TYPE_BRIDGE;
}

void pci_parse_config(
        const uint8_t *config, size_t length, struct arena *arena, struct pci_hop *hop, bool *capabilities)
{
	*capabilities = length > PCI_STD_HEADER_SIZEOF;
	if (length < PCI_STD_HEADER_SIZEOF)
		return;
	hop->kind = is_bridge(config, length) ? PCI_BRIDGE : PCI_ENDPOINT;
	size_t at = find_capability(config, length, PCI_CAP_ID_EXP);
	if (at && at + PCI_EXP_LNKSTA + 2 <= length) {
		uint32_t able = long_at(config, at + PCI_EXP_LNKCAP);
		uint16_t now = word_at(config, at + PCI_EXP_LNKSTA);
		hop->kind = (int)kind_of_type(
		        (word_at(config, at + PCI_EXP_FLAGS) & PCI_EXP_FLAGS_TYPE) / 16U /* bits 4 to 7 */);
		hop->max_speed_mtps = speed_of_code(able & PCI_EXP_LNKCAP_SLS);
		hop->max_width = width_of_code((able & PCI_EXP_LNKCAP_MLW) >> 4);
		hop->speed_mtps = speed_of_code(now & PCI_EXP_LNKSTA_CLS);
		hop->width = width_of_code((now & PCI_EXP_LNKSTA_NLW) / (1U << PCI_EXP_LNKSTA_NLW_SHIFT));
	}
	at = find_extended(config, length, PCI_EXT_CAP_ID_ACS);
	if (at && at + PCI_ACS_CTRL + 2 <= length)
		hop->acs = acs_text(arena, word_at(config, at + PCI_ACS_CTRL));
}

static const char *uevent_value(const char *text, const char *key)
{
	size_t length = strlen(key);
	for (; text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		if (!strncmp(text, key, length))
			return text + length;
	return NULL;
}

void pci_parse_uevent(const char *text, struct arena *arena, struct pci_function *function)
{
	const char *value = uevent_value(text, "DRIVER=");
	unsigned int vendor, device, class_code;
	if (value)
		function->driver = arena_strndup(arena, value, strcspn(value, "\n"));
	value = uevent_value(text, "PCI_CLASS=");
	if (value && sscanf(value, "%6x", &class_code) == 1)
		function->class_code = num(class_code);
	value = uevent_value(text, "PCI_ID=");
	if (value && sscanf(value, "%4x:%4x", &vendor, &device) == 2) {
		function->vendor = num(vendor);
		function->device = num(device);
	}
}

struct num pci_aer_total(const char *text)
{
	const char *line = strstr(text, "TOTAL_ERR_");
	unsigned long long value;
	/* scanf(3) takes a sign. */
	bool fits = line && sscanf(line, "%*s %llu", &value) == 1 && value <= INT64_MAX;
	return fits ? num((int64_t)value) : (struct num){ 0 };
}

/* ---- hops ---- */

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
	if (capabilities)
		return;
	errno = 0;
	read_link(origin, host, path, hop);
	guess_kind(hop, above, hop->kind ? (struct num){ 0 } : sysfs_number(origin, "%s/class", path));
	if (length < 0 && hop->kind != PCI_ENDPOINT)
		sysfs_missing(host, "acs", origin_subject(origin), (int)-length);
	if (length > 0 && hop->kind != PCI_ENDPOINT)
		report_missing(&host->report, "acs", origin_subject(origin), -EPERM,
		        "the extended configuration space is readable with CAP_SYS_ADMIN only");
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
		        node.known ? "the kernel says -1: the firmware names no node"
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

static struct num read_aer_file(struct origin *origin, const struct pci_function *function, const char *name)
{
	char file[SYSFS_PATH_SIZE], text[2048];
	snprintf(file, sizeof(file), "%s/%s", function->sysfs_path, name);
	ssize_t length = origin_read(origin, file, text, sizeof(text));
	return length < 0 ? (struct num){ 0 } : pci_aer_total(text);
}

static void read_aer(struct origin *origin, struct host *host, struct pci_function *function)
{
	struct num correctable = read_aer_file(origin, function, "aer_dev_correctable");
	struct aer_facts *aer = correctable.known ? arena_new_object(host->arena, struct aer_facts) : NULL;
	if (!aer)
		return;
	aer->correctable = correctable;
	aer->nonfatal = read_aer_file(origin, function, "aer_dev_nonfatal");
	aer->fatal = read_aer_file(origin, function, "aer_dev_fatal");
	function->aer = aer;
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
	read_aer(origin, host, function);
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
