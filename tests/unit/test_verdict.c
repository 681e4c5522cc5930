/* SPDX-License-Identifier: MIT */
/*
 * The verdict on recorded evidence. Each file of tests/evidence is a probe document with the verdict it must get, and
 * with twins: the same record without the facts that decide, which must then end more carefully.
 */
#include "unit.h"

#include "base/cleanup.h"
#include "model/evidence.h"
#include "json/json.h"
#include "verdict/verdict.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

static json_object *load(const char *path)
{
	autofclose FILE *file = fopen(path, "r");
	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	static char text[1 << 20];
	size_t length = fread(text, 1, sizeof(text), file);
	struct error error = { 0 };
	json_object *object = json_parse(text, length, path, &error);
	if (!object)
		fail_msg("%s", error.text);
	return object;
}

static const char *text_of(json_object *object, const char *key)
{
	json_object *value = json_object_object_get(object, key);
	return value ? json_object_get_string(value) : NULL;
}

/* Everything that the verdict says, in one text. */
static void join_texts(const struct verdict *verdict, char *out, size_t size)
{
	const struct strings *lists[] = { &verdict->because, &verdict->not_observed, &verdict->next_steps };
	size_t used = (size_t)snprintf(out, size, "%s\n", verdict->summary ? verdict->summary : "");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (uint32_t j = 0; j < lists[i]->count && used < size; j++)
			used += (size_t)snprintf(out + used, size - used, "%s\n", lists[i]->items[j]);
}

static void expect_candidates(const char *where, const struct verdict *verdict, json_object *wanted)
{
	char found[512] = "", missing[512] = "";
	for (uint32_t i = 0; i < verdict->candidates.count; i++) {
		strcat(found, i ? " " : "");
		strcat(found, verdict->candidates.items[i]);
	}
	for (size_t i = 0; i < json_object_array_length(wanted); i++) {
		strcat(missing, i ? " " : "");
		strcat(missing, json_object_get_string(json_object_array_get_idx(wanted, i)));
	}
	if (strcmp(found, missing) != 0)
		fail_msg("%s: candidates are %s, expected %s", where, found, missing);
}

static void expect_words(const char *where, const struct verdict *verdict, json_object *says)
{
	static char all[1 << 16];
	join_texts(verdict, all, sizeof(all));
	for (size_t i = 0; says && i < json_object_array_length(says); i++) {
		const char *word = json_object_get_string(json_object_array_get_idx(says, i));
		if (!strstr(all, word))
			fail_msg("%s: does not say \"%s\":\n%s", where, word, all);
	}
}

static void expect_silence(const char *where, const struct verdict *verdict, json_object *words)
{
	static char all[1 << 16];
	join_texts(verdict, all, sizeof(all));
	for (size_t i = 0; words && i < json_object_array_length(words); i++) {
		const char *word = json_object_get_string(json_object_array_get_idx(words, i));
		if (strstr(all, word))
			fail_msg("%s: says \"%s\":\n%s", where, word, all);
	}
}

static void expect_name(const char *where, const char *what, const char *found, const char *wanted)
{
	if (strcmp(found, wanted) != 0)
		fail_msg("%s: %s is %s, expected %s", where, what, found, wanted);
}

static void judge_document(const char *where, json_object *document, json_object *expect)
{
	struct arena *arena = test_arena();
	struct probe_document *probe = arena_new_object(arena, struct probe_document);
	struct report report = { .arena = arena };
	struct error error = { 0 };
	/* Records of this program must fit; those that stand for another program's are read as --judge reads them. */
	bool foreign = json_object_get_boolean(json_object_object_get(document, "foreign"));
	if (foreign ? record_from_foreign_json(&recorded_probe_record, document, arena, probe, &report, &error)
	            : record_from_json(&probe_record, document, arena, probe, &error))
		fail_msg("%s: %s", where, error.text);
	evidence_take_unreadable(&probe->evidence, &report, arena);
	verdict_judge(&probe->request, &probe->evidence, &report, arena, &probe->verdict);
	const struct verdict *verdict = &probe->verdict;
	assert_non_null(verdict->summary);
	assert_true(verdict->because.count > 0);
	/* Who names nobody says what was not seen, and where to look next. */
	if (verdict->layer == LAYER_UNDETERMINED &&
	        (!verdict->candidates.count || !verdict->not_observed.count || !verdict->next_steps.count))
		fail_msg("%s: candidates, what was not seen or a next step is missing", where);
	expect_name(where, "outcome", outcome_names[verdict->outcome], text_of(expect, "outcome"));
	expect_name(where, "layer", layer_names[verdict->layer], text_of(expect, "layer"));
	expect_name(where, "confidence", confidence_names[verdict->confidence], text_of(expect, "confidence"));
	expect_candidates(where, verdict, json_object_object_get(expect, "candidates"));
	expect_words(where, verdict, json_object_object_get(expect, "says"));
	expect_silence(where, verdict, json_object_object_get(expect, "never_says"));
	arena_free(arena);
}

/* Removes "evidence.local.gid" or "evidence.operations.0" from the document; it must have been there. */
static void remove_path(json_object *document, const char *path)
{
	char copy[256];
	snprintf(copy, sizeof(copy), "%s", path);
	json_object *at = document;
	char *rest = copy;
	for (char *part = strsep(&rest, "."); part; part = strsep(&rest, ".")) {
		bool is_array = json_object_is_type(at, json_type_array);
		size_t index = is_array ? (size_t)atoi(part) : 0;
		json_object *next = is_array ? json_object_array_get_idx(at, index) : json_object_object_get(at, part);
		if (!next)
			fail_msg("%s is not in the record", path);
		if (!rest && is_array)
			json_object_array_del_idx(at, index, 1);
		else if (!rest)
			json_object_object_del(at, part);
		at = next;
	}
}

static void judge_twin(const char *name, json_object *document, json_object *twin)
{
	json_object *copy = NULL;
	assert_int_equal(json_object_deep_copy(document, &copy, NULL), 0);
	json_object *paths = json_object_object_get(twin, "remove");
	char where[512];
	snprintf(where, sizeof(where), "%s without %s", name, json_object_to_json_string(paths));
	/* From the end, so that indexes stay right. */
	for (size_t i = json_object_array_length(paths); i-- > 0;)
		remove_path(copy, json_object_get_string(json_object_array_get_idx(paths, i)));
	judge_document(where, copy, json_object_object_get(twin, "expect"));
	json_object_put(copy);
}

static void test_record(void **state)
{
	const char *path = *state;
	json_object *document = load(path), *twins = json_object_object_get(document, "without");
	judge_document(path, document, json_object_object_get(document, "expect"));
	for (size_t i = 0; twins && i < json_object_array_length(twins); i++)
		judge_twin(path, document, json_object_array_get_idx(twins, i));
	json_object_put(document);
}

/* What is confirmed must rest on something that the record can lose: no confirmed failure without a twin. */
static void test_confirmed_has_twin(void **state)
{
	/* The errno itself is the fact: EACCES and EPERM of an open have no other meaning. */
	static const char *const alone[] = { "setup-open-eacces", "setup-open-eperm" };
	json_object *document = load(*state);
	json_object *expect = json_object_object_get(document, "expect");
	bool excused = strcmp(text_of(expect, "layer"), "none") == 0;
	for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
		excused |= strstr(*state, alone[i]) != NULL;
	if (!excused && !strcmp(text_of(expect, "confidence"), "confirmed"))
		assert_non_null(json_object_object_get(document, "without"));
	json_object_put(document);
}

static int is_record(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return dot && !strcmp(dot, ".json");
}

int main(void)
{
	char directory[PATH_MAX];
	snprintf(directory, sizeof(directory), "%s", __FILE__);
	char *slash = strrchr(directory, '/');
	snprintf(slash, sizeof(directory) - (size_t)(slash - directory), "/../evidence");
	struct dirent **entries;
	int count = scandir(directory, &entries, is_record, alphasort);
	if (count < 50) {
		printf("Bail out! %s: %d records\n", directory, count);
		return 1;
	}
	struct CMUnitTest *tests = calloc((size_t)count * 2, sizeof(*tests));
	for (int i = 0; tests && i < count; i++) {
		char *path = NULL;
		if (asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0)
			return 1;
		tests[2 * i] = (struct CMUnitTest){ entries[i]->d_name, test_record, NULL, NULL, path };
		tests[2 * i + 1] = (struct CMUnitTest){ entries[i]->d_name, test_confirmed_has_twin, NULL, NULL, path };
	}
	int failed = tests ? _cmocka_run_group_tests("records", tests, (size_t)count * 2, NULL, NULL) : 1;
	for (int i = 0; i < count; i++) {
		free(tests ? tests[2 * i].initial_state : NULL);
		free(entries[i]);
	}
	free(entries);
	free(tests);
	return failed;
}
