/* SPDX-License-Identifier: MIT */
/* JSON that somebody else wrote (--judge, --diff, compare, the peer): any bytes end in a document or an error. */
#include "model/evidence.h"
#include "model/gid.h"
#include "model/host.h"
#include "json/json.h"
#include "verdict/verdict.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As --judge does: what does not fit is left out, and the rest is judged. */
static void judge(json_object *object)
{
	struct arena *arena = arena_new(4 << 20);
	struct report report = { .arena = arena };
	struct probe_document *document = arena_alloc(arena, sizeof(*document));
	struct error error;
	if (!record_from_foreign_json(&recorded_probe_record, object, arena, document, &report, &error))
		verdict_judge(&document->request, &document->evidence, &report, arena, &document->verdict);
	arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct record *const records[] = { &probe_record, &gid_record, &topo_record };
	struct error error;
	json_object *object = json_parse((const char *)data, size, "input", &error);
	for (size_t i = 0; object && i < sizeof(records) / sizeof(*records); i++) {
		struct arena *arena = arena_new(4 << 20);
		void *document = arena_alloc(arena, records[i]->size);
		if (!record_from_json(records[i], object, arena, document, &error)) {
			json_object *again = record_to_json(records[i], document);
			free(json_text(again, true));
			json_object_put(again);
		}
		arena_free(arena);
	}
	if (object)
		judge(object);
	json_object_put(object);
	return 0;
}
