/* SPDX-License-Identifier: MIT */
#include "render/gid_text.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "render/report_text.h"
#include "render/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum column { DEV, PORT, INDEX, GID, IPV4, VER, NETDEV, IP, SCOPE, VLAN, STATE, NOTE, COLUMN_COUNT };

static const struct table_column columns[COLUMN_COUNT] = {
	[DEV] = { .heading = "DEV" },
	[PORT] = { .heading = "PORT", .right = true },
	[INDEX] = { .heading = "INDEX", .right = true },
	[GID] = { .heading = "GID" },
	[IPV4] = { .heading = "IPv4" },
	[VER] = { .heading = "VER" },
	[NETDEV] = { .heading = "DEV" }, /* twice, as in show_gids */
	[IP] = { .heading = "IP" },
	[SCOPE] = { .heading = "SCOPE" },
	[VLAN] = { .heading = "VLAN", .right = true },
	[STATE] = { .heading = "STATE" },
	[NOTE] = { .heading = "NOTE" },
};

static const char *const version_names[GID_TYPE_COUNT] = {
	[GID_TYPE_IB] = "IB",
	[GID_TYPE_ROCE_V1] = "v1",
	[GID_TYPE_ROCE_V2] = "v2",
	[GID_TYPE_IWARP] = "iWARP",
};

static const char *const state_colors[GID_STATE_COUNT] = {
	[GID_STATE_UNKNOWN] = "yellow",
	[GID_STATE_OK] = "green",
	[GID_STATE_STALE] = "red",
	[GID_STATE_FOREIGN_NETNS] = "red",
	[GID_STATE_DUPLICATE] = "yellow",
};

static void note_same(struct table *table, const struct gid_entry *entry)
{
	char text[96] = "";
	size_t length = 0;
	list_each(index, &entry->same_gid_as)
		if (length < sizeof(text) - 24)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%" PRId64,
			        length ? "," : "same GID as ", index->value);
	table_cell(table, NOTE, text);
}

static void print_entry(struct table *table, const struct gid_entry *entry)
{
	table_row(table, NULL);
	table_cell(table, DEV, entry->device);
	table_cell_num(table, PORT, entry->port);
	table_cell_num(table, INDEX, entry->index);
	table_cell(table, GID, entry->gid);
	if (entry->empty == FLAG_YES) {
		table_cell(table, NOTE, "empty");
		table_color_cell(table, GID, "darkgray");
		return;
	}
	if (entry->family == GID_FAMILY_IPV4)
		table_cell(table, IPV4, entry->ip);
	table_cell(table, VER, version_names[entry->type]);
	table_cell(table, NETDEV, entry->netdev);
	table_cell(table, IP, entry->ip);
	table_cell(table, SCOPE, gid_scope_names[entry->scope]);
	if (entry->vlan_hidden)
		table_cell(table, VLAN, "?");
	else
		table_cell_num(table, VLAN, entry->vlan);
	table_cell(table, STATE, gid_state_names[entry->state]);
	table_color_cell(table, STATE, state_colors[entry->state]);
	if (entry->state_reason)
		table_cell(table, NOTE, entry->state_reason);
	else
		note_same(table, entry);
}

static void table_freep(struct table **table)
{
	table_free(*table);
}

static int print_entries(FILE *stream, const struct gid_document *document, bool color)
{
	autocall(table_freep) struct table *table = table_new(columns, COLUMN_COUNT, color);
	if (!table)
		return -ENOMEM;
	list_each(entry, &document->entries)
		print_entry(table, entry);
	return table_print(table, stream);
}

/* Texts of reasons hold names of netdevs, which are bytes of the kernel's choice. */
static void print_clean(FILE *stream, const char *text)
{
	autofree char *clean = text ? text_for_terminal(text) : NULL;
	fputs(clean ? clean : "?", stream);
}

static void print_port(FILE *stream, const char *device, struct num port)
{
	print_clean(stream, device);
	fprintf(stream, "/%" PRId64, port.value);
}

static void print_advice(FILE *stream, const struct gid_choice *advice)
{
	if (advice->index.known)
		fprintf(stream, "; use index %" PRId64 ": ", advice->index.value);
	else
		fputs("; no index to use: ", stream);
	print_clean(stream, advice->reason);
}

/* How full each table is, and which index to use. */
static void print_counts(FILE *stream, const struct gid_document *document)
{
	fputs(document->entries.count ? "\n" : "", stream);
	list_each(table, &document->tables) {
		print_port(stream, table->device, table->port);
		fputs(": ", stream);
		if (!table->used.known)
			fputs("GID table not known", stream);
		else if (!table->size.known)
			fprintf(stream, "%" PRId64 " used, %" PRId64 " hole%s", table->used.value, table->holes.value,
			        plural(table->holes.value));
		else
			fprintf(stream, "%" PRId64 " of %" PRId64 " used, %" PRId64 " hole%s", table->used.value,
			        table->size.value, table->holes.value, plural(table->holes.value));
		if (table->advice && table->used.known)
			print_advice(stream, table->advice);
		fputc('\n', stream);
	}
}

/* ---- --explain, --to, --diff ---- */

/* "0-3, 6": all that were rejected for the reason of the first one. */
static void print_rejected(FILE *stream, const struct gid_choice *choice, uint32_t first, bool *told)
{
	const char *reason = choice->rejected.items[first]->reason;
	int64_t last = -1;
	bool range = false;
	for (uint32_t i = first; i < choice->rejected.count; i++) {
		const struct gid_rejection *rejection = choice->rejected.items[i];
		if (told[i] || !rejection->reason != !reason || (reason && strcmp(rejection->reason, reason) != 0))
			continue;
		told[i] = true;
		if (i > first && rejection->index.value == last + 1) {
			range = true;
		} else {
			if (range)
				fprintf(stream, "-%" PRId64, last);
			range = false;
			fprintf(stream, "%s%" PRId64, i > first ? ", " : "", rejection->index.value);
		}
		last = rejection->index.value;
	}
	if (range)
		fprintf(stream, "-%" PRId64, last);
	fputs(": ", stream);
	print_clean(stream, reason);
	fputc('\n', stream);
}

static void print_rejections(FILE *stream, const struct gid_choice *choice)
{
	autofree bool *told = calloc(choice->rejected.count ? choice->rejected.count : 1, sizeof(*told));
	for (uint32_t i = 0; told && i < choice->rejected.count; i++)
		if (!told[i]) {
			fputs("              not ", stream);
			print_rejected(stream, choice, i, told);
		}
}

static void print_choices(FILE *stream, const struct gid_document *document)
{
	const struct gid_choice *previous = NULL;
	list_each(choice, &document->choices) {
		bool same_port = previous && !strcmp(previous->device, choice->device) &&
		                 previous->port.value == choice->port.value;
		if (!same_port) {
			fputc('\n', stream);
			print_port(stream, choice->device, choice->port);
			fputc('\n', stream);
		}
		previous = choice;
		if (choice->index.known)
			fprintf(stream, "  %-9s %4" PRId64 "  ", choice->consumer, choice->index.value);
		else
			fprintf(stream, "  %-9s none  ", choice->consumer);
		print_clean(stream, choice->reason);
		fputc('\n', stream);
		print_rejections(stream, choice);
	}
}

static void print_route(FILE *stream, const struct gid_route *to)
{
	print_clean(stream, to->address);
	fputs(": ", stream);
	if (to->unknown) {
		print_clean(stream, to->reason);
		fputc('\n', stream);
		return;
	}
	if (to->device)
		print_port(stream, to->device, to->port);
	if (to->device && to->index.known)
		fprintf(stream, " index %" PRId64 ": ", to->index.value);
	else if (to->device)
		fputs(": ", stream);
	else
		fputs("no index reaches it: ", stream);
	print_clean(stream, to->reason);
	fputc('\n', stream);
}

/* The IPv4 address in a GID, which nobody reads from eight groups. */
static void print_mapped(FILE *stream, const char *gid)
{
	unsigned int high, low;
	if (gid && sscanf(gid, "0000:0000:0000:0000:0000:ffff:%4x:%4x", &high, &low) == 2)
		fprintf(stream, " (%u.%u.%u.%u)", high >> 8, high & 0xff, low >> 8, low & 0xff);
}

void gid_print_change(FILE *stream, const struct gid_change *change)
{
	const char *space = change->type ? " " : "", *type = change->type ? gid_type_names[change->type] : "";
	print_port(stream, change->device, change->port);
	fputc(' ', stream);
	if (!strcmp(change->kind, "new"))
		fprintf(stream, "new: index %" PRId64 " is ", change->to.value);
	else
		fprintf(stream, "%s: ", change->kind);
	print_clean(stream, change->gid);
	print_mapped(stream, change->gid);
	fprintf(stream, "%s%s", space, type);
	if (strcmp(change->kind, "new") != 0) {
		fputs(": ", stream);
		print_clean(stream, change->effect ? change->effect : "");
	}
	fputc('\n', stream);
}

int gid_print(FILE *stream, const struct gid_document *document, const struct report *report,
        const struct gid_print_options *options)
{
	int result = 0;
	if (options->table) {
		result = print_entries(stream, document, options->color);
		print_counts(stream, document);
	}
	if (options->choices)
		print_choices(stream, document);
	if (document->to)
		print_route(stream, document->to);
	list_each(resize, &document->resized) {
		print_port(stream, resize->device, resize->port);
		fprintf(stream, " resized: the table had %" PRId64 " slot%s and has %" PRId64 "\n", resize->from.value,
		        plural(resize->from.value), resize->to.value);
	}
	list_each(change, &document->changes)
		gid_print_change(stream, change);
	if (options->changes && !document->changes.count && !document->resized.count)
		fputs(document->uncompared.count ? "no difference where both tables are known\n" : "no difference\n",
		        stream);
	if (options->table) {
		fputs(report->findings.count ? "\n" : "", stream);
		(void)report_print_findings(report, stream, options->color);
		fputs(report->not_collected.count ? "\n" : "", stream);
		report_print_not_collected(report, stream);
	}
	return result ? result : ferror(stream) ? -EIO : 0;
}
