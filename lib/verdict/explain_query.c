/* SPDX-License-Identifier: MIT */
#include "verdict/explain_query.h"

#include "base/cleanup.h"
#include "base/errno_name.h"
#include "base/nearest.h"
#include "check/findings.h"
#include "verdict/explain.h"
#include "verdict/explain_log.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct field explain_fields[] = {
	FIELD(TEXT, struct explain_document, query, "what was asked"),
	FIELD(TEXT, struct explain_document, kind,
	        "wc, vendor, errno, event, finding, counter, layer, stage, outcome or confidence"),
	FIELD(TEXT, struct explain_document, name, "name of the code"),
	FIELD(NUMBER, struct explain_document, number, "its number"),
	FIELD(TEXT, struct explain_document, context, "provider of a vendor code, step of an errno"),
	FIELD(TEXT, struct explain_document, meaning, "what it means, null: not known"),
	FIELD(TEXT, struct explain_document, severity, "of a finding, and when it has another one"),
	FIELD(TEXTS, struct explain_document, layers, "layers that the code alone leaves open"),
	FIELD(TEXT, struct explain_document, next, "what to look at next"),
	FIELD(TEXT, struct explain_document, source, "where it is written down"),
};
RECORD(explain_record, explain_document, explain_fields);

struct lookup {
	const struct explain_texts *texts;
	struct arena *arena;
	struct explain_document *document;
	struct error *error;
};

static int fill(struct lookup *lookup, const struct explanation *text)
{
	struct explain_document *document = lookup->document;
	document->meaning = text->meaning;
	document->next = text->next;
	document->source = text->source;
	for (int i = LAYER_CONFIGURATION; i < LAYER_UNDETERMINED; i++)
		if (text->layers & LAYER_BIT(i))
			strings_add(lookup->arena, &document->layers, layer_names[i]);
	return 0;
}

/* The number below `count` that libibverbs calls `what`; -1: there is none. A word alone is nothing that it says of an
 * error. */
static int64_t number_called(const char *what, size_t count, const char *(*text)(int number))
{
	for (int i = 0; text && strchr(what, ' ') && i < (int)count; i++)
		if (!strcasecmp(text(i), what))
			return i;
	return -1;
}

static const struct wc_explanation *wc_of(const struct lookup *lookup, const char *what)
{
	int64_t number;
	size_t count;
	explain_wc_table(&count);
	if (!parse_number(what, 0, &number))
		return explain_wc(number);
	const struct wc_explanation *named = explain_wc_name(what);
	return named ? named : explain_wc(number_called(what, count, lookup->texts ? lookup->texts->status : NULL));
}

static int find_wc(struct lookup *lookup, const char *what)
{
	const struct wc_explanation *found = wc_of(lookup, what);
	if (!found)
		return error_say(lookup->error, -ENOENT, "'%s' is no status of a work completion", what);
	lookup->document->name = found->name;
	lookup->document->number = num(found->status);
	return fill(lookup, &found->text);
}

/* Splits "A:B" at its last colon into `first` and the rest; steps may have blanks, not colons. */
static const char *split(const char *what, char *first, size_t size)
{
	const char *colon = strrchr(what, ':');
	if (!colon || colon == what || (size_t)(colon - what) >= size || !colon[1])
		return NULL;
	memcpy(first, what, (size_t)(colon - what));
	first[colon - what] = '\0';
	return colon + 1;
}

static int find_vendor(struct lookup *lookup, const char *what)
{
	char provider[64];
	int64_t number;
	const char *code = split(what, provider, sizeof(provider));
	if (!code || parse_number(code, 0, &number))
		return error_say(lookup->error, -EINVAL,
		        "'%s': a provider and a number are needed, as in vendor:mlx5:0x81", what);
	lookup->document->number = num(number);
	lookup->document->context = arena_strdup(lookup->arena, provider);
	if (!explain_provider(provider))
		return error_say(lookup->error, -ENOENT,
		        "no code of provider '%s' is known, only of mlx5, bnxt_re and efa; those of other vendors mean "
		        "nothing here",
		        provider);
	const struct vendor_explanation *found = explain_vendor(provider, number);
	if (!found)
		return error_say(lookup->error, -ENOENT, "code %s of %s is not known; go by the status", code,
		        explain_provider(provider));
	lookup->document->context = found->provider;
	return fill(lookup, &found->text);
}

/* The number of an errno's name; 0: there is none. */
static int errno_number(const char *name)
{
	enum { ERRNO_LIMIT = 134 };
	for (int i = 1; i < ERRNO_LIMIT; i++)
		if (errno_name(i) && !strcasecmp(errno_name(i), name))
			return i;
	return 0;
}

static int refuse_step(struct lookup *lookup, const char *step, const char *code)
{
	struct nearest nearest = { .typed = step };
	size_t count;
	const struct errno_explanation *table = explain_errno_table(&count);
	struct strings tried = { 0 };
	for (size_t i = 0; i < count; i++) {
		const char *meant = arena_printf(lookup->arena, "errno:%s:%s", table[i].step, code);
		if (!meant || strings_contain(&tried, meant))
			continue;
		nearest_try(&nearest, table[i].step, meant);
		strings_add(lookup->arena, &tried, meant);
	}
	return error_say(lookup->error, -ENOENT, "'%s' is no step of a probe%s", step, nearest_text(&nearest));
}

static int find_errno(struct lookup *lookup, const char *what)
{
	char step[64];
	int64_t number;
	const char *code = split(what, step, sizeof(step));
	if (!code)
		return error_say(
		        lookup->error, -EINVAL, "'%s': a step and an errno are needed, as in errno:RTR:110", what);
	if (parse_number(code, 0, &number))
		number = errno_number(code);
	const char *name = number > 0 && number < 4096 ? errno_name((int)number) : NULL;
	if (!name)
		return error_say(lookup->error, -ENOENT, "'%s' is no errno", code);
	lookup->document->name = name;
	lookup->document->number = num(number);
	lookup->document->context = explain_step(step);
	if (!lookup->document->context)
		return refuse_step(lookup, step, code);
	const struct errno_explanation *found = explain_errno(step, number);
	if (!found)
		return error_say(lookup->error, -ENOENT, "%s (%s) has no entry for %s", name, strerror((int)number),
		        lookup->document->context);
	return fill(lookup, &found->text);
}

static const struct event_explanation *event_of(const struct lookup *lookup, const char *what)
{
	int64_t number;
	size_t count;
	explain_event_table(&count);
	if (!parse_number(what, 0, &number))
		return explain_event_number(number);
	const struct event_explanation *named = explain_event(what);
	return named ? named
	             : explain_event_number(number_called(what, count, lookup->texts ? lookup->texts->event : NULL));
}

static int find_event(struct lookup *lookup, const char *what)
{
	size_t count;
	const struct event_explanation *found = event_of(lookup, what);
	if (!found)
		return error_say(lookup->error, -ENOENT, "'%s' is no asynchronous event", what);
	lookup->document->name = found->name;
	lookup->document->number = num(found - explain_event_table(&count));
	return fill(lookup, &found->text);
}

static int find_counter(struct lookup *lookup, const char *what)
{
	const struct counter_explanation *found = explain_counter(what);
	if (!found)
		return error_say(lookup->error, -ENOENT, "counter '%s' is not known", what);
	lookup->document->name = found->name;
	return fill(lookup, &found->text);
}

/* What to look at next and where it is written down, by how the id begins; the first that fits. */
static const struct {
	const char *prefix, *next, *source;
} finding_groups[] = {
	{ "device-not-answering", "The kernel log tells hung tasks, and health or AER messages of the adapter.",
	        "not_collected of the document" },
	{ "collecting-cut-short", "The entries of not_collected say what did not answer before that.",
	        "not_collected of the document" },
	{ "bond-mixed-mtu", "ip link shows both; the bond's MTU is set on all members.",
	        "IFLA_MTU of bond and members" },
	{ "bond-", "Look at /proc/net/bonding/NAME and, for 802.3ad, at the switch's LACP state.",
	        "Documentation/networking/bonding.rst" },
	{ "roce-lag-", "rdmadiag topo shows the members; the adapter's mapping is in debugfs mlx5/ADDRESS/lag.",
	        "drivers/net/ethernet/mellanox/mlx5/core/lag/debugfs.c" },
	{ "gid-", "rdmadiag gid --explain says which index each program takes, and why not the others.",
	        "drivers/infiniband/core/roce_gid_mgmt.c" },
	{ "irq-",
	        "rdmadiag topo --health -j lists each interrupt with its affinity; /proc/irq/N/smp_affinity_list sets "
	        "it.",
	        "Documentation/core-api/irq/irq-affinity.rst" },
	{ "qos-", "dcb pfc show and dcb app show (iproute2) show the port's settings; the switch has its own.",
	        "RTM_GETDCB, net/dcb/dcbnl.c" },
	{ "wire-", "ethtool -S and --show-fec show counters of the driver; compare with the other end of the cable.",
	        "Documentation/networking/statistics.rst" },
	{ "link-", "ethtool NAME and the kernel log say more; rdmadiag topo --health shows what was counted.",
	        "Documentation/networking/ethtool-netlink.rst" },
	{ "devlink-", "devlink health show, and devlink health diagnose of that reporter, say more.",
	        "Documentation/networking/devlink/devlink-health.rst" },
	{ "qdisc-", "tc -s qdisc show dev NAME tells what it is limited to and how much it has dropped.",
	        "net/sched/" },
	{ "netem-", "tc -s qdisc show dev NAME tells what it does and how much it has dropped.",
	        "net/sched/sch_netem.c" },
	{ "roce-port-filtered", "nft -a list ruleset shows the rule, with its counter where it has one.",
	        "net/netfilter/nf_tables_api.c" },
	{ "port-error-counters", "perfquery on InfiniBand, ethtool -S on Ethernet; rdmadiag topo --health lists them.",
	        "sysfs ports/N/counters" },
	{ "probe-", "rdmadiag probe shows the whole trace.", "rdmadiag-probe(8)" },
	{ "active-mtu-", "Compare ip link with ibv_devinfo -v; the driver follows changes of the netdev.",
	        "include/rdma/ib_addr.h, iboe_get_mtu()" },
	{ "firmware-", "ethtool -i or the vendor's tool shows the release, rdmadiag compare the other nodes.",
	        "sysfs fw_ver and board_id" },
	{ "counter-", "rdmadiag explain counter:NAME says what the counter is of.", "rdmadiag-explain(8)" },
	{ "port-",
	        "Look at the netdev (ip link), the cable and the switch port; on InfiniBand at ibstat and the subnet "
	        "manager.",
	        "InfiniBand specification, port state machine; RDMA_NLDEV_ATTR_PORT_STATE" },
	{ "acs-", "lspci -vv shows ACSCtl of the ports above; peer-to-peer DMA needs redirects off on its way.",
	        "PCI Express Base Specification, Access Control Services" },
	{ "pcie-errors",
	        "RxErr, BadTLP, BadDLLP, Rollover and Timeout tell of the signal on the link: reseat the adapter, look "
	        "at the slot, riser or cable. CmpltTO: nobody answered a read in time; UnsupReq, CmpltAbrt: it was "
	        "refused; ACSViol: ACS refused it, as of one adapter or GPU to another; UncorrIntErr, CorrIntErr: an "
	        "error inside the adapter; MalfTLP, ECRC, TLP (poisoned): damaged data. dmesg has the AER messages "
	        "with the addresses.",
	        "Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats" },
	{ "pcie-", "lspci -vv of the adapter and of the port above it: LnkCap beside LnkSta.",
	        "Documentation/ABI/testing/sysfs-bus-pci, current_link_speed and current_link_width" },
	{ "rdma-netns-", "rdma system show says the mode, rdma dev show what is here, ip netns list the namespaces.",
	        "RDMA_NLDEV_SYS_ATTR_NETNS_MODE" },
	{ "gpu", "rdmadiag topo --matrix shows the GPUs with drivers, topo --cuda what libcuda says about dma-buf.",
	        "cuda.h, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED; sysfs module/nvidia_peermem" },
	{ "memlock-", "ulimit -l, /etc/security/limits.conf, LimitMEMLOCK= of the service.",
	        "getrlimit(2), RLIMIT_MEMLOCK" },
	{ "memory-policy-", "numactl --show, and the cpuset of the service or container.", "set_mempolicy(2)" },
	{ "numa-",
	        "rdmadiag topo shows nodes and packages; the firmware's settings decide (SRAT, sub-NUMA clustering).",
	        "Documentation/ABI/testing/sysfs-bus-pci, numa_node" },
	{ "process-", "taskset -p or numactl --cpunodebind places the process near the device.",
	        "sched_getaffinity(2)" },
	{ "rdma-cm-", "ls -l /dev/infiniband/rdma_cm, the module rdma_ucm and the devices of the container.",
	        "drivers/infiniband/core/ucma.c" },
	{ "uverbs-", "ls -l /dev/infiniband, the modules ib_uverbs and the device rules of the container.",
	        "drivers/infiniband/core/uverbs_main.c" },
};

/* The table's words as a sentence. */
static const char *sentence(struct arena *arena, const char *words)
{
	char *text = arena_printf(arena, "%s.", words);
	if (text)
		*text = (char)toupper((unsigned char)*text);
	return text ? text : words;
}

static int find_finding(struct lookup *lookup, const char *what)
{
	const struct finding_kind *found = finding_kind(what);
	if (!found)
		return error_say(lookup->error, -ENOENT, "'%s' is no finding", what);
	struct explanation text = { sentence(lookup->arena, found->meaning), 0,
		"rdmadiag topo shows the devices and what belongs to them.", "rdmadiag-findings(7)" };
	for (size_t i = 0; i < ARRAY_SIZE(finding_groups); i++) {
		if (strncmp(found->id, finding_groups[i].prefix, strlen(finding_groups[i].prefix)) != 0)
			continue;
		text.next = finding_groups[i].next;
		text.source = finding_groups[i].source;
		break;
	}
	lookup->document->name = found->id;
	lookup->document->severity = arena_printf(lookup->arena, "%s%s%s", severity_names[found->severity],
	        found->otherwise ? "; " : "", found->otherwise ? found->otherwise : "");
	return fill(lookup, &text);
}

static const char *const word_kinds[WORD_KIND_COUNT] = {
	[WORD_LAYER] = "layer",
	[WORD_STAGE] = "stage",
	[WORD_OUTCOME] = "outcome",
	[WORD_CONFIDENCE] = "confidence",
};

static int find_word(struct lookup *lookup, enum word_kind kind, const char *what)
{
	const struct word_explanation *found = explain_word(kind, what);
	if (!found)
		return error_say(lookup->error, -ENOENT, "'%s' is no %s of a probe", what, word_kinds[kind]);
	lookup->document->name = found->name;
	return fill(lookup, &found->text);
}

static int find_layer(struct lookup *lookup, const char *what)
{
	return find_word(lookup, WORD_LAYER, what);
}

static int find_stage(struct lookup *lookup, const char *what)
{
	return find_word(lookup, WORD_STAGE, what);
}

static int find_outcome(struct lookup *lookup, const char *what)
{
	return find_word(lookup, WORD_OUTCOME, what);
}

static int find_confidence(struct lookup *lookup, const char *what)
{
	return find_word(lookup, WORD_CONFIDENCE, what);
}

static const struct kind {
	const char *name;
	int (*find)(struct lookup *lookup, const char *what);
	bool bare; /* a word alone can name an entry */
	const char *example;
} kinds[] = {
	{ "wc", find_wc, true, "12" },
	{ "vendor", find_vendor, false, "mlx5:0x81" },
	{ "errno", find_errno, false, "RTR:110" },
	{ "event", find_event, true, "CQ_ERR" },
	{ "finding", find_finding, true, "port-down" },
	{ "counter", find_counter, true, "out_of_sequence" },
	{ "layer", find_layer, true, "platform" },
	{ "stage", find_stage, true, "published" },
	{ "outcome", find_outcome, true, "stalled" },
	{ "confidence", find_confidence, true, "likely" },
};

static int find_kind(struct lookup *lookup, const struct kind *kind, const char *what)
{
	*lookup->document = (struct explain_document){ .query = lookup->document->query, .kind = kind->name };
	return kind->find(lookup, what);
}

/* The kind whose name these `length` characters are; NULL: none. */
static const struct kind *kind_called(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].name) == length && !strncmp(kinds[i].name, name, length))
			return &kinds[i];
	return NULL;
}

static int refuse_kind_alone(struct lookup *lookup, const struct kind *kind)
{
	return error_say(lookup->error, -EINVAL, "'%s' is a kind: which one of them, as in %s:%s? --list has all",
	        kind->name, kind->name, kind->example);
}

/* A number could be a status, an errno or a vendor's code; an errno means something only together with a step. */
static int refuse_bare(struct lookup *lookup, const char *word)
{
	int64_t number;
	if (!parse_number(word, 0, &number))
		return error_say(lookup->error, -EINVAL,
		        "'%s' alone is ambiguous: wc:%s, event:%s, errno:STEP:%s or vendor:PROVIDER:%s", word, word,
		        word, word, word);
	if (errno_number(word))
		return error_say(
		        lookup->error, -EINVAL, "an errno means something only with its step: errno:RTR:%s", word);
	return 0;
}

/* Which entries, of `kind` or with NULL of all kinds, `typed` may mean, else where all are listed; for as long as
 * `nearest`. */
static const char *suggest(struct arena *arena, const struct kind *kind, const char *typed, struct nearest *nearest)
{
	struct strings queries = { 0 };
	nearest->typed = typed;
	explain_queries(arena, &queries);
	for (uint32_t i = 0; i < queries.count; i++) {
		const char *name = strchr(queries.items[i], ':');
		if (name && (!kind || kind_called(queries.items[i], (size_t)(name - queries.items[i])) == kind))
			nearest_try(nearest, name + 1, queries.items[i]);
	}
	const char *text = nearest_text(nearest);
	return *text ? text : " (rdmadiag explain --list has all)";
}

/* As much of `text` as a message quotes of it. */
static const char *beginning(struct arena *arena, const char *text)
{
	enum { QUOTED = 60 };
	size_t length = strlen(text), end = QUOTED;
	if (length <= QUOTED)
		return text;
	while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--; /* not inside a character */
	const char *cut = arena_printf(arena, "%.*s…", (int)end, text);
	return cut ? cut : "";
}

/* Several words: "wc 12", or a line of a log. */
static int refuse_words(struct lookup *lookup, const char *text)
{
	struct strings meant = { 0 };
	struct nearest nearest = { 0 };
	const char *blank = strchr(text, ' '), *offered = "";
	if (kind_called(text, (size_t)(blank - text))) {
		const char *query = arena_printf(lookup->arena, "%.*s:%s", (int)(blank - text), text, blank + 1);
		if (query)
			strings_add(lookup->arena, &meant, query);
	} else {
		explain_log(lookup->arena, text, &meant);
	}
	for (uint32_t i = 0; i < meant.count && offered; i++)
		offered = arena_printf(lookup->arena, "%s%s%s", offered, i ? ", " : "; is it ", meant.items[i]);
	if (meant.count && offered)
		offered = arena_printf(lookup->arena, "%s?", offered);
	return error_say(lookup->error, -ENOENT, "'%s' is no code or word that is known%s",
	        beginning(lookup->arena, text),
	        offered && *offered ? offered : suggest(lookup->arena, NULL, text, &nearest));
}

static int find_bare(struct lookup *lookup, const char *word)
{
	int result = refuse_bare(lookup, word);
	const struct kind *only = NULL;
	struct nearest nearest = { 0 };
	for (size_t i = 0; !result && i < ARRAY_SIZE(kinds); i++) {
		if (!kinds[i].bare || find_kind(lookup, &kinds[i], word))
			continue;
		if (only)
			result = error_say(lookup->error, -EINVAL, "'%s' is ambiguous: %s:%s or %s:%s", word,
			        only->name, word, kinds[i].name, word);
		only = &kinds[i];
	}
	const struct kind *alone = kind_called(word, strlen(word));
	if (!result && !only && alone)
		result = refuse_kind_alone(lookup, alone);
	else if (!result && !only && strchr(word, ' '))
		result = refuse_words(lookup, word);
	else if (!result && !only)
		result = error_say(lookup->error, -ENOENT,
		        "'%s' is not known as status, event, finding, counter or word of a verdict%s",
		        beginning(lookup->arena, word), suggest(lookup->arena, NULL, word, &nearest));
	if (!result) {
		*lookup->error = (struct error){ 0 }; /* of the tables that do not have it */
		return find_kind(lookup, only, word);
	}
	*lookup->document = (struct explain_document){ .query = lookup->document->query };
	return result;
}

/* A query of `kind`, where nothing else than its table may have it. */
static int find_of_kind(struct lookup *lookup, const struct kind *kind, const char *what)
{
	struct nearest nearest = { 0 };
	what += strspn(what, " ");
	if (!*what)
		return refuse_kind_alone(lookup, kind);
	int result = find_kind(lookup, kind, what);
	if (result != -ENOENT || !kind->bare)
		return result;
	const char *said = arena_strdup(lookup->arena, lookup->error->text);
	return error_say(
	        lookup->error, -ENOENT, "%s%s", said ? said : "", suggest(lookup->arena, kind, what, &nearest));
}

/* What stands in front of the colon is no kind: perhaps the kind was left out, or has a slip in it. */
static int refuse_kind(struct lookup *lookup, const char *query)
{
	struct nearest nearest = { 0 };
	char typed[40];
	const char *rest = split(query, typed, sizeof(typed));
	const char *left_out = !rest ? NULL : explain_provider(typed) ? "vendor" : explain_step(typed) ? "errno" : NULL;
	nearest.typed = typed;
	for (size_t i = 0; rest && !left_out && i < ARRAY_SIZE(kinds); i++)
		nearest_try(&nearest, kinds[i].name, arena_printf(lookup->arena, "%s:%s", kinds[i].name, rest));
	if (left_out)
		return error_say(
		        lookup->error, -EINVAL, "'%s' is no kind of code; is it %s:%s?", typed, left_out, query);
	const char *meant = rest ? nearest_text(&nearest) : "";
	return error_say(lookup->error, -EINVAL, "'%.*s' is no kind of code%s", (int)strcspn(query, ":"), query,
	        *meant ? meant : ": wc, vendor, errno, event, finding, counter, layer, stage, outcome, confidence");
}

int explain_query(const char *query, const struct explain_texts *texts, struct arena *arena,
        struct explain_document *document, struct error *error)
{
	struct lookup lookup = { texts, arena, document, error };
	*document = (struct explain_document){ .query = arena_strdup(arena, query) };
	const char *colon = strchr(query, ':');
	const struct kind *kind = colon ? kind_called(query, (size_t)(colon - query)) : NULL;
	if (kind)
		return find_of_kind(&lookup, kind, colon + 1);
	if (!colon || strchr(query, ' '))
		return find_bare(&lookup, query);
	return refuse_kind(&lookup, query);
}

/* ---- all that can be asked ---- */

__attribute__((format(printf, 3, 4))) static void add_query(
        struct arena *arena, struct strings *queries, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *query = arena_vprintf(arena, format, args);
	va_end(args);
	if (query)
		strings_add(arena, queries, query);
}

void explain_queries(struct arena *arena, struct strings *queries)
{
	size_t count;
	const struct wc_explanation *wc = explain_wc_table(&count);
	for (size_t i = 0; i < count; i++)
		add_query(arena, queries, "wc:%s", wc[i].name);
	const struct vendor_explanation *vendor = explain_vendor_table(&count);
	for (size_t i = 0; i < count; i++)
		add_query(arena, queries, "vendor:%s:0x%x", vendor[i].provider, vendor[i].code);
	const struct errno_explanation *error = explain_errno_table(&count);
	for (size_t i = 0; i < count; i++)
		add_query(arena, queries, "errno:%s:%s", error[i].step, errno_name(error[i].error));
	const struct event_explanation *event = explain_event_table(&count);
	for (size_t i = 0; i < count; i++)
		add_query(arena, queries, "event:%s", event[i].name);
	const struct counter_explanation *counter = explain_counter_table(&count);
	for (size_t i = 0; i < count; i++)
		add_query(arena, queries, "counter:%s", counter[i].name);
	for (size_t i = 0; i < finding_kind_count; i++)
		add_query(arena, queries, "finding:%s", finding_kinds[i].id);
	for (int kind = 0; kind < WORD_KIND_COUNT; kind++) {
		const struct word_explanation *words = explain_word_table((enum word_kind)kind, &count);
		for (size_t i = 0; i < count; i++)
			add_query(arena, queries, "%s:%s", word_kinds[kind], words[i].name);
	}
}
