/* SPDX-License-Identifier: MIT */
/* Indexes that somebody set once: tables differ by port, and change with every address that comes and goes. */
#include "base/cleanup.h"
#include "base/text.h"
#include "check/add.h"
#include "check/gid.h"
#include "gid/choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CONSUMERS_SIZE = 64 };

/* "nccl" or "nccl and mooncake": all that go by the same variable. */
static void consumers_of(struct gid_choices choices, const char *variable, char text[static CONSUMERS_SIZE])
{
	text[0] = '\0';
	list_each(choice, &choices)
		if (choice->set_by && !strcmp(choice->set_by, variable))
			(void)text_append(text, CONSUMERS_SIZE, "%s%s", *text ? " and " : "", choice->consumer);
}

/* Why the index that is set is a bad one, where a better one is known or none can be worse; NULL: it is not. */
static const char *trouble_of(
        const struct gid_port *port, const struct gid_choice *choice, const struct gid_choice *advice, bool *better)
{
	const struct gid_entry *entry = gid_entry_at(port, choice->set_index.value);
	const char *trouble = gid_entry_trouble(entry);
	*better = advice && advice->index.known && advice->index.value != choice->set_index.value &&
	          !gid_entry_trouble(gid_entry_at(port, advice->index.value));
	bool useless = !entry || entry->state == GID_STATE_STALE || entry->state == GID_STATE_FOREIGN_NETNS;
	return *better || useless ? trouble : NULL;
}

/* The first of those that go by its variable speaks for all of them. */
static bool is_first(struct gid_choices choices, const struct gid_choice *choice)
{
	list_each(other, &choices)
		if (other->set_by && !strcmp(other->set_by, choice->set_by))
			return other == choice;
	return false;
}

/* All of a port in one finding. */
struct statement {
	char text[256];
	const struct gid_choice *choice; /* of the first trouble */
	bool better;                     /* is what is advised */
	char remedies[512];              /* of all that go by a variable, each told once */
};

static void add_remedy(struct statement *statement, const struct gid_choice *choice)
{
	size_t used = strlen(statement->remedies);
	if (!choice->remedy || strstr(statement->remedies, choice->remedy))
		return;
	if (text_append(statement->remedies, sizeof(statement->remedies), "%s%s", used ? "; " : "", choice->remedy))
		statement->remedies[used] = '\0';
}

static void state(
        struct statement *statement, struct gid_choices choices, const struct gid_choice *choice, const char *trouble)
{
	char consumers[CONSUMERS_SIZE];
	consumers_of(choices, choice->set_by, consumers);
	(void)text_append(statement->text, sizeof(statement->text), "%s%s=%" PRId64 " (%s): %s",
	        *statement->text ? ", " : "", choice->set_by, choice->set_index.value, consumers, trouble);
	statement->choice = statement->choice ? statement->choice : choice;
}

static void check_table(struct report *report, struct gid_choices choices, const struct gid_port *port)
{
	struct statement statement = { 0 };
	const struct gid_choice *advice = choices.count ? choices.items[0] : NULL;
	list_each(choice, &choices) {
		bool better;
		if (!choice->set_by || !is_first(choices, choice))
			continue;
		const char *trouble = trouble_of(port, choice, advice, &better);
		if (!trouble)
			continue;
		state(&statement, choices, choice, trouble);
		add_remedy(&statement, choice);
		statement.better |= better;
	}
	if (!statement.choice)
		return;
	char subject[PORT_LABEL_SIZE], advised[48] = "";
	port_label(port->table->device, port->table->port, subject);
	if (statement.better)
		snprintf(advised, sizeof(advised), "; %" PRId64 " is advised", advice->index.value);
	struct finding *finding = check_add(report, "gid-index-setting", subject, "%s%s", statement.text, advised);
	report_evidence(
	        report, finding, "settings", statement.choice->set_by, "%" PRId64, statement.choice->set_index.value);
	const char *remedies = check_sentence(report, statement.remedies);
	report_advice(finding, remedies ? remedies : "Unset it, so that an index is searched for on each port.");
}

/* ---- devices ---- */

/*
 * NCCL's own transport and UCX connect queue pairs themselves, which iWARP does not allow; NCCL leaves others alone. Of
 * what transport a port is may be unknown, then it may do.
 */
static bool may_use(const char *consumer, enum transport transport)
{
	bool other = transport == TRANSPORT_UNSPECIFIED && !strcmp(consumer, "nccl");
	return transport != TRANSPORT_IWARP && !other;
}

/*
 * The variable that keeps a consumer from every port here that could be used; NULL: from some at most, or not all are
 * known. `inactive`: a port that it leaves, which is not active, while others are; NULL: none.
 */
static const char *left_out_by(const struct host *host, const struct gid_document *document, const char *consumer,
        const struct gid_table **inactive)
{
	const char *variable = NULL;
	bool left_out_active = false;
	list_each(device, &host->devices)
		if (!device->ports.count)
			return NULL;
	list_each(table, &document->tables) {
		struct gid_choices choices = gid_choices_of(document, table);
		struct gid_port port = gid_port_of(host, document, table);
		list_each(choice, &choices) {
			if (strcmp(choice->consumer, consumer) != 0 || !may_use(consumer, gid_port_transport(&port)))
				continue;
			if (!choice->left_out_by && !gid_port_inactive(&port))
				return NULL;
			if (!choice->left_out_by) {
				*inactive = table;
				continue;
			}
			variable = choice->left_out_by;
			left_out_active |= !gid_port_inactive(&port);
		}
	}
	/* Where no port is active, the one that is left is down for reasons of its own. */
	return *inactive && !left_out_active ? NULL : variable;
}

/* UCX takes netdevs by the same variable: who names one wants TCP. */
static bool may_name_netdev(const struct host *host, const char *list)
{
	list_each(netdev, &host->netdevs)
		if (gid_ucx_lists(list, netdev->name))
			return true;
	return !host->netdevs.count; /* then they could not be read: every namespace has one */
}

static const char *names_of(const struct host *host, struct arena *arena)
{
	enum { SHOWN = 4 };
	const char *names = "";
	list_each(device, &host->devices)
		if (names && device_index < SHOWN)
			names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", device->name);
	return names && host->devices.count > SHOWN
	               ? arena_printf(arena, "%s and %u more", names, host->devices.count - SHOWN)
	               : names;
}

/* What a consumer is told that leaves it nothing. */
struct fruitless {
	const char *consumer, *variable;
	const char *value;            /* NULL: it is left something, or wants none */
	const struct gid_table *left; /* the port that it is left, which is not active; NULL: none */
};

static struct fruitless fruitless_setting(const struct host *host, const struct gid_document *document,
        const struct gid_environment *environment, const char *consumer)
{
	struct fruitless setting = { .consumer = consumer };
	setting.variable = left_out_by(host, document, consumer, &setting.left);
	bool nccl = !strcmp(consumer, "nccl");
	if (!setting.variable)
		return setting;
	setting.value =
	        nccl ? gid_nccl_get(environment, setting.variable) : gid_environment_get(environment, setting.variable);
	bool lists = !strcmp(setting.variable, "UCX_NET_DEVICES") && setting.value;
	if (lists && *setting.value != '^' && may_name_netdev(host, setting.value))
		setting.value = NULL;
	return setting;
}

/* "mlx5_0:2,mlx5_1:2" without what is behind the colons; NULL without memory. */
static const char *names_without_ports(struct arena *arena, const char *list)
{
	char *names = arena_strdup(arena, list), *to = names;
	for (const char *from = list; names && *from;) {
		size_t length = strcspn(from, ":,");
		memcpy(to, from, length);
		to += length;
		from += length;
		from += strcspn(from, ",");
		if (*from)
			*to++ = *from++;
	}
	if (names)
		*to = '\0';
	return names;
}

static bool nccl_names(const char *names, const char *device, bool exact)
{
	if (exact)
		return text_lists(names, device, ",");
	for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
		size_t length = strcspn(at, ",");
		if (length && !strncmp(at, device, length))
			return true;
	}
	return false;
}

static bool may_use_device(const char *consumer, const struct rdma_device *device)
{
	list_each(port, &device->ports)
		if (may_use(consumer, (enum transport)port->transport))
			return true;
	return false;
}

/*
 * The ports of a device that the list names without their numbers: it has others. NULL: there is no such device that
 * could be used.
 */
static const char *ports_of_named(const struct host *host, const struct fruitless *setting)
{
	bool exact = *setting->value == '=', nccl = !strcmp(setting->consumer, "nccl");
	const char *names = names_without_ports(host->arena, setting->value + exact);
	list_each(device, &host->devices) {
		const char *ports = "";
		if (!names || !(nccl ? nccl_names(names, device->name, exact) : gid_ucx_lists(names, device->name)) ||
		        !may_use_device(setting->consumer, device))
			continue;
		list_each(port, &device->ports)
			if (ports)
				ports = arena_printf(
				        host->arena, "%s%s%" PRId64, ports, *ports ? ", " : "", port->number.value);
		return arena_printf(host->arena, "%s has port%s %s only.", device->name, plural(device->ports.count),
		        ports ? ports : "1");
	}
	return NULL;
}

static const char *advice_of(const struct host *host, const struct fruitless *setting)
{
	struct arena *arena = host->arena;
	if (setting->left)
		return arena_printf(arena, "What it is left, %s/%" PRId64 ", is %s.", setting->left->device,
		        setting->left->port.value, setting->left->rdma_port->state);
	if (!strcmp(setting->variable, "UCX_IB_GID_INDEX"))
		return "UCX_IB_GID_INDEX is an index or \"auto\", and there is no -1 that stands for the latter.";
	if (!strcmp(setting->variable, "UCX_IB_ROCE_SUBNETS"))
		return "UCX_IB_ROCE_SUBNETS has to name subnets of addresses that ports here have, and "
		       "UCX_IB_GID_INDEX not to be set beside it.";
	if (*setting->value == '^')
		return arena_printf(arena,
		        "With \"^\" in front %s names what is not to be used: take the \"^\" or some "
		        "names away.",
		        setting->variable);
	const char *ports = ports_of_named(host, setting);
	return ports ? ports
	             : "Name devices of this host: udev gives others than the driver's where it renames them "
	               "(rdma_rename), and hosts differ.";
}

void check_gid_devices(
        struct host *host, const struct gid_document *document, const struct gid_environment *environment)
{
	static const char *const consumers[] = { "nccl", "ucx" };
	struct fruitless settings[ARRAY_SIZE(consumers)];
	const char *said = "", *advice = "";
	for (size_t i = 0; i < ARRAY_SIZE(consumers); i++) {
		settings[i] = fruitless_setting(host, document, environment, consumers[i]);
		const char *own = settings[i].value ? advice_of(host, &settings[i]) : NULL;
		if (!own || !said || !advice)
			continue;
		said = arena_printf(host->arena, "%s%s%s=%.80s leaves none%s to %s", said, *said ? ", " : "",
		        settings[i].variable, settings[i].value, settings[i].left ? " that is active" : "",
		        consumers[i]);
		if (!strstr(advice, own))
			advice = arena_printf(host->arena, "%s%s%s", advice, *advice ? " " : "", own);
	}
	const char *names = said && *said ? names_of(host, host->arena) : NULL;
	if (!names)
		return;
	struct finding *finding = check_add(&host->report, "device-setting", "host",
	        "of the devices here (%s) %s: without RDMA it is slow, or does not start", names, said);
	for (size_t i = 0; i < ARRAY_SIZE(consumers); i++)
		if (settings[i].value)
			report_evidence(
			        &host->report, finding, "settings", settings[i].variable, "%.80s", settings[i].value);
	report_advice(finding, advice);
}

void check_gid_settings(struct host *host, const struct gid_document *document)
{
	list_each(table, &document->tables) {
		struct gid_port port = gid_port_of(host, document, table);
		enum transport transport = gid_port_transport(&port);
		/* On others these consumers do not connect queue pairs by a GID. */
		if (transport == TRANSPORT_ROCE || transport == TRANSPORT_INFINIBAND)
			check_table(&host->report, gid_choices_of(document, table), &port);
	}
}
