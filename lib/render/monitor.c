/* SPDX-License-Identifier: MIT */
#include "render/monitor.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/utf8.h"
#include "check/findings.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

/* ---- monitoring plug-ins ---- */

static enum monitor_status status_of(const struct finding_counts *counts)
{
	if (counts->errors.value)
		return MONITOR_CRITICAL;
	return counts->warnings.value ? MONITOR_WARNING : MONITOR_OK;
}

/* A "|" would begin the performance data. */
static void print_plain(FILE *stream, const char *text)
{
	autofree char *clean = text_for_terminal(text);
	for (const char *at = clean ? clean : ""; *at; at++)
		fputc(*at == '|' ? ' ' : *at, stream);
}

/* A label in quotes, in which neither "=" nor a quote may stand. */
static void print_label_of_port(
        FILE *stream, const struct rdma_device *device, const struct port *port, const char *what)
{
	fputs(" '", stream);
	autofree char *name = text_for_terminal(device->name);
	for (const char *at = name ? name : "?"; *at; at++)
		fputc(*at == '=' || *at == '\'' || *at == '|' ? '_' : *at, stream);
	fprintf(stream, "/%" PRId64 "_%s'=", port->number.value, what);
}

/* Drivers name some rate of a port that is down, as the least or the most that it can do: it moves nothing. */
static bool has_rate(const struct port *port)
{
	return port->rate_mbps.known && (!port->state || strcmp(port->state, "DOWN") != 0);
}

/* What is not known is left out, but for the rate of a port that is down: its label stays in its place ("U": unknown).
 */
static void print_ports(FILE *stream, const struct host *host)
{
	list_each(device, &host->devices) {
		list_each(port, &device->ports) {
			if (port->state) {
				print_label_of_port(stream, device, port, "active");
				fprintf(stream, "%d;;;0;1", !strcmp(port->state, "ACTIVE"));
			}
			if (port->rate_mbps.known) {
				print_label_of_port(stream, device, port, "mbps");
				if (has_rate(port))
					fprintf(stream, "%" PRId64 ";;;0", port->rate_mbps.value);
				else
					fputc('U', stream);
			}
		}
	}
}

/* "subject: message"; NULL without memory. */
static char *plain_finding(const struct finding *finding)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return NULL;
	print_plain(stream, finding->subject);
	fputs(": ", stream);
	print_plain(stream, finding->message);
	fclose(stream);
	return text;
}

/* The worst come first; `used`: characters in front of them. */
static void print_worst(FILE *stream, const struct report *report, size_t used)
{
	enum { TEXT_LIMIT = 1000, ROOM_FOR_REST = 24 };
	uint32_t more = 0;
	bool first = true;
	list_each(finding, &report->findings) {
		if (finding->severity < SEVERITY_WARNING)
			continue;
		autofree char *text = more ? NULL : plain_finding(finding);
		size_t length = text ? strlen(text) + 2 : 0;
		if (!text || used + length > TEXT_LIMIT - ROOM_FOR_REST) {
			more++;
			continue;
		}
		fprintf(stream, "%s%s", first ? ": " : "; ", text);
		used += length;
		first = false;
	}
	if (more)
		fprintf(stream, "%sand %u more", first ? ": " : "; ", more);
}

enum monitor_status monitor_print(FILE *stream, const struct host *host, const struct report *report, uint32_t left_out)
{
	static const char *const words[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };
	struct finding_counts counts = findings_count(report);
	enum monitor_status status = status_of(&counts);
	int used = fprintf(stream, "RDMA %s - %" PRId64 " error%s, %" PRId64 " warning%s, %u device%s", words[status],
	        counts.errors.value, plural(counts.errors.value), counts.warnings.value, plural(counts.warnings.value),
	        host->devices.count, plural(host->devices.count));
	if (left_out)
		used += fprintf(stream, ", %u finding%s left out by the options", left_out, plural(left_out));
	print_worst(stream, report, used > 0 ? (size_t)used : 0);
	fprintf(stream, " | errors=%" PRId64 ";;0 warnings=%" PRId64 ";0 infos=%" PRId64 " devices=%u not_collected=%u",
	        counts.errors.value, counts.warnings.value, counts.infos.value, host->devices.count,
	        report->not_collected.count);
	print_ports(stream, host);
	fputc('\n', stream);
	return status;
}

enum monitor_status monitor_print_unknown(FILE *stream, const char *reason)
{
	fputs("RDMA UNKNOWN - ", stream);
	print_plain(stream, reason);
	fputc('\n', stream);
	return MONITOR_UNKNOWN;
}

/* ---- Prometheus text format 0.0.4 ---- */

static void print_label(FILE *stream, const char *name, const char *value, bool last)
{
	autofree char *clean = utf8_clean(value ? value : "");
	fprintf(stream, "%s=\"", name);
	for (const char *at = clean ? clean : ""; *at; at++) {
		if (*at == '\n')
			fputs("\\n", stream);
		else if (*at == '"' || *at == '\\')
			fprintf(stream, "\\%c", *at);
		else
			fputc(*at, stream);
	}
	fputs(last ? "\"" : "\",", stream);
}

static void print_head(FILE *stream, const char *name, const char *help)
{
	fprintf(stream, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void print_findings(FILE *stream, const struct report *report)
{
	print_head(stream, "rdmadiag_findings", "Findings of rdmadiag check, by id, severity and subject.");
	for (uint32_t i = 0; i < report->findings.count; i++) {
		const struct finding *finding = report->findings.items[i];
		const struct finding *before = i ? report->findings.items[i - 1] : NULL;
		/* The selection is sorted by subject and id: a series must not appear twice. */
		if (before && !strcmp(before->id, finding->id) && !strcmp(before->subject, finding->subject))
			continue;
		fputs("rdmadiag_findings{", stream);
		print_label(stream, "id", finding->id, false);
		print_label(stream, "severity", severity_names[finding->severity], false);
		print_label(stream, "subject", finding->subject, true);
		fputs("} 1\n", stream);
	}
}

static void print_port_metric(FILE *stream, const struct host *host, const char *name, const char *help,
        bool (*value)(const struct port *port, double *out))
{
	print_head(stream, name, help);
	list_each(device, &host->devices) {
		list_each(port, &device->ports) {
			double number;
			if (!value(port, &number))
				continue;
			fprintf(stream, "%s{", name);
			print_label(stream, "device", device->name, false);
			fprintf(stream, "port=\"%" PRId64 "\"} %.10g\n", port->number.value, number);
		}
	}
}

static bool port_active(const struct port *port, double *out)
{
	*out = port_is_active(port);
	return port->state;
}

static bool port_rate(const struct port *port, double *out)
{
	*out = (double)port->rate_mbps.value * 1e6;
	return has_rate(port);
}

static bool port_mtu(const struct port *port, double *out)
{
	*out = (double)port->active_mtu.value;
	return port->active_mtu.known;
}

static void print_bond_members(FILE *stream, const struct host *host)
{
	print_head(stream, "rdmadiag_bond_member_active", "Does the member of the bond carry traffic.");
	list_each(netdev, &host->netdevs) {
		if (!netdev->bond)
			continue;
		list_each(member, &netdev->bond->members) {
			if (member->active == FLAG_UNKNOWN)
				continue;
			fputs("rdmadiag_bond_member_active{", stream);
			print_label(stream, "bond", netdev->name, false);
			print_label(stream, "member", member->name, true);
			fprintf(stream, "} %d\n", member->active == FLAG_YES);
		}
	}
}

static void print_metrics(FILE *stream, const struct host *host, const struct report *report)
{
	struct finding_counts counts = findings_count(report);
	print_head(stream, "rdmadiag_info", "The rdmadiag that wrote this.");
	fputs("rdmadiag_info{", stream);
	print_label(stream, "version", RDMADIAG_VERSION, true);
	fputs("} 1\n", stream);
	/* A file that nobody writes any more looks like one of a healthy node otherwise. */
	print_head(stream, "rdmadiag_last_run_timestamp_seconds", "When it was written, in seconds since 1970.");
	fprintf(stream, "rdmadiag_last_run_timestamp_seconds %" PRId64 "\n", (int64_t)time(NULL));
	print_head(stream, "rdmadiag_devices", "RDMA devices.");
	fprintf(stream, "rdmadiag_devices %u\n", host->devices.count);
	print_head(stream, "rdmadiag_not_collected", "Facts that could not be collected.");
	fprintf(stream, "rdmadiag_not_collected %u\n", report->not_collected.count);
	print_head(stream, "rdmadiag_findings_by_severity", "Findings by severity.");
	fprintf(stream,
	        "rdmadiag_findings_by_severity{severity=\"error\"} %" PRId64 "\n"
	        "rdmadiag_findings_by_severity{severity=\"warning\"} %" PRId64 "\n"
	        "rdmadiag_findings_by_severity{severity=\"info\"} %" PRId64 "\n",
	        counts.errors.value, counts.warnings.value, counts.infos.value);
	print_findings(stream, report);
	print_port_metric(stream, host, "rdmadiag_port_active", "Is the port in state ACTIVE.", port_active);
	print_port_metric(
	        stream, host, "rdmadiag_port_rate_bits_per_second", "Rate of a port that is not down.", port_rate);
	print_port_metric(stream, host, "rdmadiag_port_active_mtu_bytes", "Active path MTU of the port.", port_mtu);
	print_bond_members(stream, host);
}

int prometheus_write(const char *path, const struct host *host, const struct report *report, struct error *error)
{
	autofree char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return error_set(error, -ENOMEM, "%s", path);
	print_metrics(stream, host, report);
	bool failed = ferror(stream);
	if (fclose(stream) || failed)
		return error_set(error, -ENOMEM, "%s", path);
	if (!strcmp(path, "-"))
		return fwrite(text, 1, length, stdout) == length ? 0 : error_set(error, -EIO, "standard output");
	/* Its temporary name does not end in .prom: the textfile collector of node_exporter must not take it. */
	struct file_replacement replacement;
	int result = file_replace_open(path, &replacement, error);
	if (result)
		return result;
	result = file_write_all(replacement.fd, text, length);
	if (!result)
		return file_replace_commit(&replacement, 0644, error);
	file_replace_abort(&replacement);
	return error_set(error, result, "%s", path);
}
