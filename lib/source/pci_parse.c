/* SPDX-License-Identifier: MIT */
/* What the texts and the configuration space of a PCI function say; no access to anything. */
#include "source/pci.h"

#include <ctype.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What nobody answers reads as ones. Of a VF only the first four bytes do (SR-IOV specification, 3.4.1). */
static bool is_silent(const uint8_t *config)
{
	for (size_t i = 0; i <= PCI_HEADER_TYPE; i++)
		if (config[i] != 0xff)
			return false;
	return true;
}

void pci_parse_config(
        const uint8_t *config, size_t length, struct arena *arena, struct pci_hop *hop, bool *capabilities)
{
	*capabilities = length > PCI_STD_HEADER_SIZEOF;
	if (length < PCI_STD_HEADER_SIZEOF)
		return;
	hop->silent = is_silent(config);
	if (hop->silent)
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

/* A count; scanf(3) and strtoull(3) take a sign. Unknown: none, or one beyond what the model holds. */
static struct num aer_count(const char *digits)
{
	unsigned long long value;
	bool fits = isdigit((unsigned char)*digits) && sscanf(digits, "%llu", &value) == 1 && value <= INT64_MAX;
	return fits ? num((int64_t)value) : (struct num){ 0 };
}

struct num pci_parse_aer(const char *text, enum aer_severity severity, struct arena *arena, struct aer_facts *aer)
{
	while (*text) {
		size_t length = strcspn(text, "\n"), name = length;
		while (name && text[name - 1] != ' ')
			name--;
		struct num count = aer_count(name ? text + name : "");
		/* Linux 4.19 fills the names up with blanks, and has some in them */
		while (name && text[name - 1] == ' ')
			name--;
		if (strncmp(text, "TOTAL_ERR_", sizeof("TOTAL_ERR_") - 1) == 0)
			return count;
		const char *copy = name && count.value > 0 ? arena_strndup(arena, text, name) : NULL;
		struct aer_kind *kind = copy ? list_add(arena, &aer->kinds) : NULL;
		if (kind)
			*kind = (struct aer_kind){ .severity = (int)severity, .name = copy, .count = count };
		text += length + (text[length] == '\n');
	}
	return (struct num){ 0 };
}
