/* SPDX-License-Identifier: MIT */
#include "source/irq.h"
#include "base/cleanup.h"
#include "source/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- proc/interrupts ---- */

/*
 * " 45:  12  0  IR-PCI-MSI 524288-edge  mlx5_comp0@pci:0000:3b:00.0": a counter for each CPU, the chip's name, the
 * hardware interrupt, and the names of the actions, which are all that has no fixed place.
 */
static const char *after_counters(const char *at)
{
	for (;;) {
		at += strspn(at, " \t");
		size_t digits = strspn(at, "0123456789");
		if (!digits || (at[digits] != ' ' && at[digits] != '\t'))
			return at;
		at += digits;
	}
}

/* Behind the chip and the hardware interrupt ("524288-edge", "3 Edge"). */
static const char *after_chip(const char *at, const char *end)
{
	for (int words = 0; words < 2 && at < end; words++) {
		at += strcspn(at, " \t\n");
		at += strspn(at, " \t");
	}
	if (end - at > 5 && (!strncasecmp(at, "Edge ", 5) || !strncasecmp(at, "Level", 5))) {
		at += strcspn(at, " \t\n");
		at += strspn(at, " \t");
	}
	return at;
}

int irq_lines_parse(const char *text, struct irq_lines *lines)
{
	size_t capacity = 0;
	*lines = (struct irq_lines){ 0 };
	for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		char *end;
		long long number = strtoll(line, &end, 10);
		if (end == line || *end != ':')
			continue;
		if (lines->count == capacity) {
			capacity = capacity ? 2 * capacity : 256;
			struct irq_line *items = reallocarray(lines->items, capacity, sizeof(*items));
			if (!items)
				return -ENOMEM;
			lines->items = items;
		}
		lines->items[lines->count++] = (struct irq_line){ number, end + 1 };
	}
	return 0;
}

void irq_lines_free(struct irq_lines *lines)
{
	free(lines->items);
}

static int compare_numbers(const void *key, const void *item)
{
	int64_t number = *(const int64_t *)key, other = ((const struct irq_line *)item)->number;
	return number < other ? -1 : number > other;
}

/* The kernel writes them in ascending order (kernel/irq/proc.c). */
const char *irq_lines_name(const struct irq_lines *lines, int64_t number, struct arena *arena)
{
	const struct irq_line *line =
	        lines->count ? bsearch(&number, lines->items, lines->count, sizeof(*lines->items), compare_numbers)
	                     : NULL;
	if (!line)
		return NULL;
	const char *end = line->text + strcspn(line->text, "\n");
	const char *at = after_chip(after_counters(line->text), end);
	size_t length = at < end ? (size_t)(end - at) : 0;
	while (length && isspace((unsigned char)at[length - 1]))
		length--;
	return length ? arena_strndup(arena, at, length) : NULL;
}

static bool has_any(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

enum flag irq_is_completion(const char *name)
{
	/* mlx5, irdma, ice and ixgbe, bnxt_re, virtio, hns, efa, mana, hfi1, qede and others. */
	static const char *const words[] = { "_comp", "-comp", "-TxRx", "-rx", "-tx", "CEQ", "ceq", "-nq", "input",
		"output", "queue", "Rx", "Tx", "-fp-", "mana_q", "kctxt", "sdma" };
	static const char *const others[] = { "async", "config", "control", "cmd", "pages", "health", "AEQ", "aeq",
		"hwc", "mgmnt", "misc", "creq", "-abn", "common", "FWevent", "admin", "Mailbox", "mbx" };
	if (has_any(name, others, ARRAY_SIZE(others)))
		return FLAG_NO;
	/* "mlx4-3@0000:05:00.0" (mlx4_assign_eq()) */
	bool mlx4 = !strncmp(name, "mlx4-", strlen("mlx4-")) && isdigit((unsigned char)name[strlen("mlx4-")]);
	return mlx4 || has_any(name, words, ARRAY_SIZE(words)) ? FLAG_YES : FLAG_UNKNOWN;
}

/* ---- affinity ---- */

static enum flag is_apart(const char *cpus, const char *local)
{
	autocall(cpuset_free) struct cpuset a = { 0 }, b = { 0 };
	if (cpuset_parse(cpus, &a) || cpuset_parse(local, &b))
		return FLAG_UNKNOWN;
	return flag(!cpuset_intersects(&a, &b));
}

/* A function without a known node has all CPUs for local ones. */
static bool has_place(const struct pci_function *pci)
{
	return pci->local_cpus && *pci->local_cpus && pci->numa_node.known;
}

/* Nodes that firmware makes of caches are one place for an adapter. */
static bool is_on_near_node(const struct host *host, const char *cpus, int64_t id)
{
	list_each(node, &host->numa_nodes)
		if (node->cpus && *node->cpus && host_nodes_are_near(host, node->id.value, id) &&
		        is_apart(cpus, node->cpus) == FLAG_NO)
			return true;
	return false;
}

/* An interrupt that was not started has no effective CPUs, then those that are allowed count. */
static enum flag is_remote(const struct host *host, const struct interrupt *interrupt, const struct pci_function *pci)
{
	const char *cpus = interrupt->effective && *interrupt->effective ? interrupt->effective : interrupt->affinity;
	enum flag apart = cpus && *cpus && has_place(pci) ? is_apart(cpus, pci->local_cpus) : FLAG_UNKNOWN;
	return apart == FLAG_YES && is_on_near_node(host, cpus, pci->numa_node.value) ? FLAG_NO : apart;
}

/* 0, or the positive errno that hid one of the lists. A kernel may have no effective_affinity_list. */
static int read_affinity(struct origin *origin, struct arena *arena, struct interrupt *interrupt, int64_t number)
{
	interrupt->affinity = sysfs_text(origin, arena, "proc/irq/%" PRId64 "/smp_affinity_list", number);
	int error = interrupt->affinity ? 0 : errno;
	interrupt->effective = sysfs_text(origin, arena, "proc/irq/%" PRId64 "/effective_affinity_list", number);
	if (!interrupt->effective && errno != ENOENT)
		error = errno;
	return error;
}

/* How many are remote is known where it is known of each; the reason is told once. */
static void count_completion(
        struct host *host, struct function_interrupts *function, const struct interrupt *interrupt, int error)
{
	function->completions.value++;
	if (interrupt->remote == FLAG_YES && function->remote.known)
		function->remote.value++;
	if (interrupt->remote != FLAG_UNKNOWN || !has_place(function->pci) || !function->remote.known)
		return;
	function->remote = (struct num){ 0 };
	char subject[64];
	snprintf(subject, sizeof(subject), "pci:%.50s", function->address);
	report_missing(&host->report, "remote", subject, -error, "the CPUs of interrupt %" PRId64 " (%s) are not known",
	        interrupt->number.value, interrupt->name);
}

static int add_interrupt(struct origin *origin, struct host *host, struct function_interrupts *function,
        const struct irq_lines *lines, int64_t number)
{
	const char *name = irq_lines_name(lines, number, host->arena);
	struct interrupt *interrupt = name ? list_add(host->arena, &function->interrupts) : NULL;
	if (!interrupt)
		return name ? -ENOMEM : 0;
	interrupt->number = num(number);
	interrupt->name = name;
	interrupt->completion = irq_is_completion(name);
	int error = read_affinity(origin, host->arena, interrupt, number);
	if (error)
		sysfs_missing(host, "affinity", name, error);
	interrupt->remote = is_remote(host, interrupt, function->pci);
	if (interrupt->completion == FLAG_YES)
		count_completion(host, function, interrupt, error);
	return 0;
}

/* Where the name of none says that it is for completions, they may be those that say nothing. */
static void check_names(struct host *host, struct function_interrupts *function)
{
	const struct interrupt *first = NULL;
	char subject[64];
	list_each(interrupt, &function->interrupts)
		if (!first && interrupt->completion == FLAG_UNKNOWN)
			first = interrupt;
	if (!first)
		return;
	snprintf(subject, sizeof(subject), "pci:%.50s", function->address);
	report_missing(&host->report, "completion", subject, 0,
	        "what interrupt %" PRId64 " (%s) is for is not known by its name", first->number.value, first->name);
	if (function->completions.value)
		return;
	function->completions = function->remote = (struct num){ 0 };
	report_missing(
	        &host->report, "completions", subject, 0, "what its interrupts are for is not known by their names");
	report_missing(&host->report, "remote", subject, 0, "what its interrupts are for is not known by their names");
}

/*
 * msi_irqs of a function; mlx5 gives vectors of its PF's pool to sub-functions too, those are in the PF's list. Virtio
 * functions have theirs on the PCI device.
 */
static int read_function(struct origin *origin, struct host *host, struct health *health, const struct irq_lines *lines,
        const struct pci_function *pci)
{
	char path[SYSFS_PATH_SIZE];
	struct strings names;
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/msi_irqs", pci->address);
	int result = origin_list(origin, host->arena, path, &names);
	if (result)
		sysfs_missing(host, "interrupts", origin_subject(origin), -result);
	if (result || !names.count)
		return 0;
	struct function_interrupts *function = list_add(host->arena, &health->functions);
	if (!function)
		return -ENOMEM;
	*function = (struct function_interrupts){ .address = pci->address,
		.local_cpus = pci->local_cpus,
		.completions = num(0),
		.remote = num(0),
		.pci = pci };
	for (uint32_t i = 0; i < names.count && !result; i++) {
		struct num number = parse_num(names.items[i], 10);
		if (number.known)
			result = add_interrupt(origin, host, function, lines, number.value);
	}
	check_names(host, function);
	return result;
}

int irq_read(struct origin *origin, struct host *host, struct health *health)
{
	autofree char *text = NULL;
	size_t length;
	origin_about(origin, "host");
	int result = origin_read_all(origin, "proc/interrupts", &text, &length);
	autocall(irq_lines_free) struct irq_lines lines = { 0 };
	if (!result)
		result = irq_lines_parse(text, &lines);
	if (result)
		return result;
	list_each(function, &host->pci_functions) {
		if (result || !(function->has_device || function->is_reached))
			continue;
		char subject[64];
		snprintf(subject, sizeof(subject), "pci:%.50s", function->address);
		origin_about(origin, subject);
		result = read_function(origin, host, health, &lines, function);
	}
	return result;
}
