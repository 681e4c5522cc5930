/* SPDX-License-Identifier: MIT */
#include "report/document.h"

static const struct field member_fields[] = {
	FIELD(TEXT, struct report_member, name, "below report/ in the archive"),
	FIELD(TEXT, struct report_member, command, "whose output it is, null: of none"),
	FIELD(NUMBER, struct report_member, status, "exit status of that command"),
};
static RECORD(member_record, report_member, member_fields);

static const struct field probe_fields[] = {
	FIELD(TEXT, struct report_probe, member, "its document, below report/ in the archive"),
	FIELD(TEXT, struct report_probe, port, "DEV/PORT"),
	FIELD(TEXT, struct report_probe, outcome, "how it ended"),
	FIELD(TEXT, struct report_probe, layer, "the layer that has it"),
	FIELD(TEXT, struct report_probe, confidence, "how sure that is"),
	FIELD(TEXT, struct report_probe, summary, "in one sentence"),
};
static RECORD(probe_record, report_probe, probe_fields);

static const struct field report_fields[] = {
	FIELD(TEXT, struct report_document, file, "the archive, null: standard output"),
	FIELD(FLAG, struct report_document, redacted, "identifiers are replaced by pseudonyms"),
	FIELD(NUMBER, struct report_document, devices, "RDMA devices in it"),
	FIELD_OF(INLINE, struct report_document, versions, versions_record, "what ran where"),
	FIELD_OF(RECORDS, struct report_document, members, member_record, "outputs of commands, and more"),
	FIELD_OF(RECORDS, struct report_document, probes, probe_record, "what its probes said, the worst first"),
	FIELD(TEXTS, struct report_document, left_out, "what is not in the archive, and why"),
};
RECORD(report_record, report_document, report_fields);
