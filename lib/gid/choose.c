/* SPDX-License-Identifier: MIT */
#include "gid/choose.h"

#include "base/cleanup.h"
#include "gid/remedy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *gid_environment_get(const struct gid_environment *environment, const char *name)
{
	size_t length = strlen(name);
	if (!environment || (environment->without && !strcmp(environment->without, name)))
		return NULL;
	if (environment->with && !strncmp(environment->with, name, length) && environment->with[length] == '=')
		return environment->with + length + 1;
	char *const *variables = environment->variables;
	for (; variables && *variables; variables++)
		if (!strncmp(*variables, name, length) && (*variables)[length] == '=')
			return *variables + length + 1;
	return NULL;
}

enum transport gid_port_transport(const struct gid_port *port)
{
	const struct port *rdma_port = port->table->rdma_port;
	return rdma_port ? (enum transport)rdma_port->transport : TRANSPORT_UNKNOWN;
}

const char *gid_port_inactive(const struct gid_port *port)
{
	const char *state = port->table->rdma_port ? port->table->rdma_port->state : NULL;
	return state && strcmp(state, "ACTIVE") ? state : NULL;
}

const struct gid_entry *gid_entry_at(const struct gid_port *port, int64_t index)
{
	for (uint32_t i = 0; i < port->count; i++)
		if (num_is(port->entries[i]->index, index))
			return port->entries[i]->empty == FLAG_YES ? NULL : port->entries[i];
	return NULL;
}

int64_t gid_port_size(const struct gid_port *port)
{
	if (port->table->size.known)
		return port->table->size.value;
	return port->count ? port->entries[port->count - 1]->index.value + 1 : 0;
}

void gid_take(struct arena *arena, struct gid_choice *choice, int64_t index, const char *reason, ...)
{
	va_list args;
	va_start(args, reason);
	choice->reason = arena_vprintf(arena, reason, args);
	va_end(args);
	choice->index = num(index);
}

void gid_set_by(struct gid_choice *choice, const char *variable, int64_t index)
{
	choice->set_by = variable;
	choice->set_index = num(index);
}

const char *gid_read_as(struct arena *arena, const char *text, int base)
{
	char *end = NULL;
	strtoll(text, &end, base);
	bool is_number = end != text && !*end;
	const char *note = is_number ? NULL : arena_printf(arena, " (\"%.40s\" is read as that number)", text);
	return note ? note : "";
}

void gid_take_none(struct arena *arena, struct gid_choice *choice, const char *reason, ...)
{
	va_list args;
	va_start(args, reason);
	choice->reason = arena_vprintf(arena, reason, args);
	va_end(args);
	choice->index = (struct num){ 0 };
}

void gid_reject(struct arena *arena, struct gid_choice *choice, const struct gid_entry *entry, const char *reason, ...)
{
	struct gid_rejection *rejection = list_add(arena, &choice->rejected);
	if (!rejection)
		return;
	va_list args;
	va_start(args, reason);
	rejection->reason = arena_vprintf(arena, reason, args);
	va_end(args);
	rejection->index = entry->index;
}

void gid_reject_others(struct arena *arena, struct gid_choice *choice, const struct gid_port *port, const char *reason)
{
	for (uint32_t i = 0; i < port->count; i++)
		if (!choice->index.known || choice->index.value != port->entries[i]->index.value)
			gid_reject(arena, choice, port->entries[i], "%s", reason);
}

struct gid_choices gid_choices_of(const struct gid_document *document, const struct gid_table *table)
{
	return (struct gid_choices){ document->choices.items + table->first_choice, table->choice_count };
}

struct gid_port gid_port_of(const struct host *host, const struct gid_document *document, const struct gid_table *table)
{
	return (struct gid_port){
		.host = host,
		.table = table,
		.entries = document->entries.items + table->first,
		.count = table->count,
	};
}

static const struct gid_consumer consumers[] = {
	{ "rdmadiag", gid_choose_rdmadiag, NULL, false, false, NULL },
	{ "nccl", gid_choose_nccl, "NCCL_IB_GID_INDEX=", true, false, "which it does not use" },
	{ "ucx", gid_choose_ucx, "UCX_IB_GID_INDEX=", true, true, "which it does not use for that" },
	{ "perftest", gid_choose_perftest, "-x ", false, false, "which it uses with -R only" },
	{ "mooncake", gid_choose_mooncake, "MC_GID_INDEX=", true, true, "which it does not use" },
	{ "rdma_cm", gid_choose_rdma_cm, NULL, false, false, NULL },
};

/*
 * All of them open the device first. EACCES is a matter of who runs them; a node that is not here, or that the
 * container's rules refuse, is one of everybody's here.
 */
const char *gid_why_unopened(const struct rdma_device *device)
{
	if (!device)
		return NULL;
	if (device->uverbs.accessible == FLAG_NO && device->uverbs.refused != -EACCES)
		return device->uverbs.reason;
	if (device->uverbs.accessible != FLAG_YES || !device->provider_missing)
		return NULL;
	return device->unseen ? "libibverbs does not offer it (sysfs does not show it)"
	                      : "libibverbs does not offer it (no provider library)";
}

static bool opens(struct arena *arena, const struct gid_port *port, struct gid_choice *choice)
{
	const char *why = gid_why_unopened(port->table->rdma);
	if (!why)
		return true;
	gid_take_none(arena, choice, "it cannot open the device: %s", why);
	gid_reject_others(arena, choice, port, "the device cannot be opened");
	return false;
}

const char *gid_entry_trouble(const struct gid_entry *entry)
{
	if (!entry)
		return "the slot is empty";
	if (entry->state == GID_STATE_STALE)
		return "it is stale";
	if (entry->state == GID_STATE_FOREIGN_NETNS)
		return "its netdev is in another network namespace";
	if (entry->type == GID_TYPE_ROCE_V1)
		return "no router forwards RoCE v1";
	if (entry->pathless)
		return "its netdev has no link-local IPv6 address, so no peer is reached";
	return entry->scope == GID_SCOPE_LINK_LOCAL ? "link-local reaches its own segment only" : NULL;
}

/*
 * A queue pair of iWARP runs on a TCP connection, which the connection manager of the kernel makes (iw_cm):
 * ibv_modify_qp() does not connect it, whatever the GID.
 */
static void tell_iwarp(struct arena *arena, const struct gid_port *port, const struct gid_consumer *consumer,
        struct gid_choice *choice)
{
	if (gid_port_transport(port) != TRANSPORT_IWARP || !consumer->iwarp || !choice->index.known)
		return;
	const char *reason =
	        arena_printf(arena, "%s; but only rdma_cm connects iWARP, %s", choice->reason, consumer->iwarp);
	choice->reason = reason ? reason : choice->reason;
}

/* Its slots are neither used nor empty; an index that a setting names is taken all the same. */
static void tell_unread(struct arena *arena, const struct gid_port *port, struct gid_choice *choice)
{
	if (port->count || port->table->used.known || choice->set_by)
		return;
	gid_take_none(arena, choice, "its GID table could not be read");
	choice->empty_slot = false;
}

static int choose(struct host *host, const struct gid_environment *environment, struct gid_document *document,
        struct gid_table *table, size_t count)
{
	struct gid_port port = gid_port_of(host, document, table);
	table->first_choice = document->choices.count;
	table->choice_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct gid_choice *choice = list_add(host->arena, &document->choices);
		if (!choice)
			return -ENOMEM;
		table->choice_count++;
		choice->device = table->device;
		choice->port = table->port;
		choice->consumer = consumers[i].name;
		if (!i || opens(host->arena, &port, choice))
			consumers[i].choose(host->arena, &port, environment, choice);
		tell_unread(host->arena, &port, choice);
		if (count == 1)
			table->advice = choice;
		tell_iwarp(host->arena, &port, &consumers[i], choice);
	}
	return 0;
}

/* The first consumer is this program. */
int gid_advise(struct host *host, struct gid_document *document)
{
	int result = 0;
	for (uint32_t i = 0; i < document->tables.count && !result; i++)
		result = choose(host, NULL, document, document->tables.items[i], 1);
	return result;
}

int gid_explain(struct host *host, const struct gid_environment *environment, struct gid_document *document)
{
	int result = 0;
	for (uint32_t i = 0; i < document->tables.count && !result; i++)
		result = choose(host, environment, document, document->tables.items[i], ARRAY_SIZE(consumers));
	return result ? result : gid_tell_remedies(host, environment, document, consumers, ARRAY_SIZE(consumers));
}
