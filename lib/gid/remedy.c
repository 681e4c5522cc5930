/* SPDX-License-Identifier: MIT */
/*
 * A variable is one for all ports that a process uses, and tables differ. So an index is only advised where it is the
 * advised one of all these ports; else the variable is better not set, where the consumer then finds good entries
 * itself; and where neither helps, that is said.
 */
#include "gid/remedy.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct look {
	struct host *host;
	const struct gid_environment *environment;
	struct gid_document *document;
	const struct gid_consumer *consumers;
	uint32_t count;    /* of consumers */
	bool unread;       /* there are ports of devices whose tables were not read */
	uint32_t consumer; /* that is looked at */
	/* Of that consumer, asked once for all tables: */
	const char *unset; /* variable that was tried without; NULL: none yet */
	bool better_unset;
};

static struct gid_choice *choice_of(const struct look *look, uint32_t table, uint32_t consumer)
{
	return look->document->choices.items[table * look->count + consumer];
}

static struct gid_port port_of(const struct look *look, uint32_t table)
{
	return gid_port_of(look->host, look->document, look->document->tables.items[table]);
}

/* The advised index, when it is a good one; unknown: there is none. */
static struct num advised(const struct look *look, uint32_t table)
{
	struct gid_port port = port_of(look, table);
	struct num index = choice_of(look, table, 0)->index;
	bool good = index.known && gid_port_transport(&port) == TRANSPORT_ROCE &&
	            !gid_entry_trouble(gid_entry_at(&port, index.value));
	return good ? index : (struct num){ 0 };
}

/* Why the choice is a bad one; NULL: it is not, or the port is not used. */
static const char *trouble_of(const struct gid_port *port, const struct gid_choice *choice)
{
	return choice->index.known  ? gid_entry_trouble(gid_entry_at(port, choice->index.value))
	       : choice->empty_slot ? "the slot is empty"
	                            : NULL;
}

static bool is_used(const struct gid_choice *choice)
{
	return choice->index.known || choice->empty_slot;
}

/* UCX and Mooncake leave a port of InfiniBand alone whose slot is empty. */
static bool spoils_infiniband(const struct look *look, const struct gid_port *port, int64_t index)
{
	return gid_port_transport(port) == TRANSPORT_INFINIBAND && look->consumers[look->consumer].also_on_infiniband &&
	       !gid_entry_at(port, index);
}

/* Is another index advised there, or the only one good that reaches its segment? */
static bool wants_another(const struct look *look, uint32_t table, int64_t index)
{
	struct num own = advised(look, table);
	if (own.known)
		return own.value != index;
	struct gid_port port = port_of(look, table);
	if (spoils_infiniband(look, &port, index))
		return true;
	const struct gid_entry *entry = gid_entry_at(&port, index);
	bool useless = !entry || entry->state == GID_STATE_STALE || entry->state == GID_STATE_FOREIGN_NETNS;
	return useless && gid_port_transport(&port) == TRANSPORT_ROCE && choice_of(look, table, 0)->index.known;
}

/* Another table whose port the consumer uses too and where the index is not the one to take; UINT32_MAX: none. */
static uint32_t other_advice(const struct look *look, uint32_t table)
{
	int64_t index = advised(look, table).value;
	for (uint32_t i = 0; i < look->document->tables.count; i++)
		if (is_used(choice_of(look, i, look->consumer)) && wants_another(look, i, index))
			return i;
	return UINT32_MAX;
}

/* Does the consumer that is looked at go by its setting there? */
static bool counts_on(const struct look *look, enum transport transport)
{
	bool infiniband = transport == TRANSPORT_INFINIBAND && look->consumers[look->consumer].also_on_infiniband;
	return transport == TRANSPORT_ROCE || infiniband;
}

/* Are there ports that have a table which was not read, as only one device was asked for? */
static bool others_unread(const struct look *look)
{
	uint32_t ports = 0;
	list_each(device, &look->host->devices)
		list_each(port, &device->ports)
			ports += counts_on(look, (enum transport)port->transport) &&
			         (!port->state || !strcmp(port->state, "ACTIVE"));
	uint32_t read = 0;
	for (uint32_t i = 0; i < look->document->tables.count; i++) {
		struct gid_port port = port_of(look, i);
		read += counts_on(look, gid_port_transport(&port)) && !gid_port_inactive(&port);
	}
	return ports > read;
}

/* On all its ports, as far as there are any to find. */
static bool finds_good_ones(const struct look *look, const struct gid_environment *environment)
{
	for (uint32_t i = 0; i < look->document->tables.count; i++) {
		struct gid_choice choice = { 0 };
		struct gid_port port = port_of(look, i);
		if (!advised(look, i).known || !is_used(choice_of(look, i, look->consumer)))
			continue;
		look->consumers[look->consumer].choose(look->host->arena, &port, environment, &choice);
		if (!choice.index.known || trouble_of(&port, &choice))
			return false;
	}
	return true;
}

static bool finds_good_ones_without(const struct look *look, const char *variable)
{
	struct gid_environment environment = *look->environment;
	environment.without = variable;
	return finds_good_ones(look, &environment);
}

/* A setting other than the index, where it spoils no other port; NULL: none. */
static const char *tell_alternative(const struct look *look, const struct gid_choice *choice)
{
	struct gid_environment environment = *look->environment;
	environment.with = choice->alternative;
	if (!choice->alternative || !finds_good_ones(look, &environment))
		return NULL;
	return arena_printf(look->host->arena, "set %s to get one that routers forward%s", choice->alternative,
	        look->unread ? " (it counts for the other devices too)" : "");
}

/* Does it take good entries on all its ports once the variable is not set, as far as there are any? */
static bool is_better_unset(struct look *look, const char *variable)
{
	if (!look->unset || strcmp(look->unset, variable) != 0) {
		look->unset = variable;
		look->better_unset = finds_good_ones_without(look, variable);
	}
	return look->better_unset;
}

static const char *find_remedy(struct look *look, uint32_t table)
{
	struct arena *arena = look->host->arena;
	const struct gid_consumer *consumer = &look->consumers[look->consumer];
	struct gid_choice *choice = choice_of(look, table, look->consumer);
	int64_t index = advised(look, table).value;
	uint32_t other = consumer->for_all_ports ? other_advice(look, table) : UINT32_MAX;
	bool unread = consumer->for_all_ports && look->unread;
	const char *unset = choice->set_by && (other != UINT32_MAX || unread) && is_better_unset(look, choice->set_by)
	                            ? choice->set_by
	                            : NULL;
	if (other == UINT32_MAX && !unset)
		return arena_printf(arena, "%s %s%" PRId64 " to get the advised index%s",
		        consumer->for_all_ports ? "set" : "give it", consumer->setting, index,
		        unread ? " (it counts for the other devices too)" : "");
	if (other == UINT32_MAX)
		return arena_printf(arena,
		        "unset %s: it counts for all ports, and a good index is found on this one without it", unset);
	choice->without_remedy = !unset;
	const struct gid_choice *elsewhere = choice_of(look, other, 0);
	const char *why = arena_printf(arena,
	        "one index counts for all ports, and %" PRId64 " is advised here, %" PRId64 " on %s/%" PRId64, index,
	        elsewhere->index.value, elsewhere->device, elsewhere->port.value);
	return !why    ? NULL
	       : unset ? arena_printf(arena, "unset %s: %s; without it good ones are found", unset, why)
	               : arena_printf(arena, "%.*s alone is no remedy: %s", (int)strcspn(consumer->setting, "="),
	                         consumer->setting, why);
}

/* Is a better index known than the one that it takes? */
static bool is_outdone(const struct look *look, uint32_t table, const struct gid_choice *choice, const char *trouble)
{
	struct num index = advised(look, table);
	return look->consumers[look->consumer].setting && index.known && trouble &&
	       !(choice->index.known && choice->index.value == index.value);
}

static int tell(struct look *look, uint32_t table)
{
	struct gid_port port = port_of(look, table);
	struct gid_choice *choice = choice_of(look, table, look->consumer);
	const char *trouble = trouble_of(&port, choice), *family = tell_alternative(look, choice);
	bool outdone = is_outdone(look, table, choice, trouble);
	if (!choice->reason || (!outdone && !family))
		return 0;
	const char *index = outdone ? find_remedy(look, table) : NULL;
	if (family && choice->without_remedy)
		index = NULL;
	choice->without_remedy &= index != NULL;
	choice->remedy = family && index ? arena_printf(look->host->arena, "%s; or %s", family, index)
	                 : family        ? family
	                                 : index;
	bool told = !trouble || strstr(choice->reason, trouble) || choice->empty_slot;
	const char *reason = choice->remedy ? arena_printf(look->host->arena, "%s%s%s; %s", choice->reason,
	                                              told ? "" : "; ", told ? "" : trouble, choice->remedy)
	                                    : NULL;
	choice->reason = reason ? reason : choice->reason;
	return reason ? 0 : -ENOMEM;
}

int gid_tell_remedies(struct host *host, const struct gid_environment *environment, struct gid_document *document,
        const struct gid_consumer *consumers, uint32_t count)
{
	struct look look = {
		.host = host, .environment = environment, .document = document, .consumers = consumers, .count = count
	};
	for (; look.consumer < count; look.consumer++, look.unset = NULL) {
		look.unread = others_unread(&look);
		for (uint32_t i = 0; i < document->tables.count; i++)
			if (tell(&look, i))
				return -ENOMEM;
	}
	return 0;
}
