/* SPDX-License-Identifier: MIT */
/*
 * Libraries that take, without being told to, an entry which cannot work here though there is one that can: NCCL takes
 * the first IPv4 entry, whosever it is, and UCX leaves a port alone whose slot 0 is empty. RoCE v1 and link-local GIDs
 * work on their segment; where there is an entry that routers forward, its peers may be anywhere. perftest is left out:
 * it is started by hand, with an index. rdma_cm goes by the default type, which configfs may have set to RoCE v1.
 */
#include "check/add.h"
#include "check/gid.h"
#include "gid/choose.h"

#include <inttypes.h>
#include <string.h>

enum trouble {
	TROUBLE_NONE,
	TROUBLE_FOREIGN,
	TROUBLE_STALE,
	TROUBLE_EMPTY,
	TROUBLE_UNUSED,
	TROUBLE_V1,
	TROUBLE_LOCAL,
	TROUBLE_COUNT
};

static const char *const said[TROUBLE_COUNT] = {
	[TROUBLE_FOREIGN] = "takes an entry whose netdev is in another network namespace",
	[TROUBLE_STALE] = "takes a stale entry",
	[TROUBLE_EMPTY] = "takes an empty slot",
	[TROUBLE_UNUSED] = "leaves the port alone, as slot 0 is empty",
	[TROUBLE_V1] = "takes RoCE v1, which no router forwards",
	[TROUBLE_LOCAL] = "takes a link-local entry, which no router forwards",
};

static bool is_library(const char *consumer)
{
	return !strcmp(consumer, "nccl") || !strcmp(consumer, "ucx") || !strcmp(consumer, "mooncake");
}

/* What a setting leads to is a matter of gid-index-setting; without a remedy there is nothing better to take. */
static enum trouble trouble_of(const struct gid_port *port, const struct gid_choice *choice)
{
	if (choice->set_by || !choice->remedy || !is_library(choice->consumer))
		return TROUBLE_NONE;
	if (!choice->index.known)
		return TROUBLE_UNUSED;
	const struct gid_entry *entry = gid_entry_at(port, choice->index.value);
	if (!entry)
		return TROUBLE_EMPTY;
	return entry->state == GID_STATE_FOREIGN_NETNS ? TROUBLE_FOREIGN
	       : entry->state == GID_STATE_STALE       ? TROUBLE_STALE
	       : entry->type == GID_TYPE_ROCE_V1       ? TROUBLE_V1
	       : entry->scope == GID_SCOPE_LINK_LOCAL  ? TROUBLE_LOCAL
	                                               : TROUBLE_NONE;
}

/* Of one port. What is the same on all ports has no index in it, so that it is told once of all of them. */
struct statement {
	char text[512], remedies[640];
	bool without_remedy;
};

static void state(struct statement *statement, const struct gid_choice *choice, enum trouble trouble)
{
	text_append(statement->text, sizeof(statement->text), "%s%s by itself %s", *statement->text ? ", " : "",
	        choice->consumer, said[trouble]);
	statement->without_remedy |= choice->without_remedy;
	if (!choice->without_remedy)
		text_append(statement->remedies, sizeof(statement->remedies), "%s%s", *statement->remedies ? "; " : "",
		        choice->remedy);
}

/* An administrator's file says RoCE v1, though the advised entry is one that routers forward. */
static bool is_cm_on_v1(struct gid_choices choices, const struct gid_port *port, const struct gid_choice *choice)
{
	if (strcmp(choice->consumer, "rdma_cm") != 0 || !port->table->cm_mode || !choice->index.known)
		return false;
	const struct gid_entry *taken = gid_entry_at(port, choice->index.value);
	struct num advised = choices.items[0]->index;
	return taken && taken->type == GID_TYPE_ROCE_V1 && advised.known &&
	       !gid_entry_trouble(gid_entry_at(port, advised.value));
}

static void state_cm(struct statement *statement, const struct gid_port *port)
{
	text_append(statement->text, sizeof(statement->text),
	        "%srdma_cm takes RoCE v1, as default_roce_mode says, which no router forwards",
	        *statement->text ? ", " : "");
	text_append(statement->remedies, sizeof(statement->remedies),
	        "%swrite \"RoCE v2\" to /sys/kernel/config/rdma_cm/%s/ports/%" PRId64 "/default_roce_mode",
	        *statement->remedies ? "; " : "", port->table->device, port->table->port.value);
}

static void check_port(struct report *report, struct gid_choices choices, const struct gid_port *port)
{
	struct statement statement = { 0 };
	list_each(choice, &choices)
		if (trouble_of(port, choice))
			state(&statement, choice, trouble_of(port, choice));
		else if (is_cm_on_v1(choices, port, choice))
			state_cm(&statement, port);
	if (!*statement.text)
		return;
	char subject[PORT_LABEL_SIZE];
	port_label(port->table->device, port->table->port, subject);
	struct finding *finding = check_add(report, "gid-default-choice", subject, "%s", statement.text);
	list_each(choice, &choices)
		if (trouble_of(port, choice) || is_cm_on_v1(choices, port, choice))
			report_evidence(report, finding, "choice", choice->consumer, "%s", choice->reason);
	if (statement.without_remedy)
		text_append(statement.remedies, sizeof(statement.remedies),
		        "%sports need different indexes, see rdmadiag gid --explain", *statement.remedies ? "; " : "");
	report_advice(finding, check_sentence(report, statement.remedies));
}

void check_gid_defaults(struct host *host, const struct gid_document *document)
{
	list_each(table, &document->tables) {
		struct gid_port port = gid_port_of(host, document, table);
		if (gid_port_transport(&port) == TRANSPORT_ROCE)
			check_port(&host->report, gid_choices_of(document, table), &port);
	}
}
