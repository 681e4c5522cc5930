/* SPDX-License-Identifier: MIT */
/* The arena: zeroed, shared with a child, consistent when the writer dies, exhausted without a crash. */
#include "unit.h"

#include "model/report.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct element {
	const char *name;
	int value;
};

typedef LIST(struct element) elements;

static void elements_never_move(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	elements list = { 0 };
	struct element *first = list_add(arena, &list);
	assert_null(first->name);
	first->value = 1;
	for (int i = 2; i <= 1000; i++)
		list_add(arena, &list)->value = i;
	assert_ptr_equal(list.items[0], first);
	assert_int_equal(list.count, 1000);
	int sum = 0;
	list_each(element, &list) {
		if (element->value == 2)
			continue;
		if (element->value == 5)
			break;
		sum += element->value;
	}
	assert_int_equal(sum, 1 + 3 + 4);
	arena_free(arena);
}

static void texts_are_copied(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	struct strings names = { 0 };
	char name[] = "mlx5_0";
	assert_int_equal(strings_add(arena, &names, name), 0);
	name[5] = '1';
	assert_true(strings_contain(&names, "mlx5_0"));
	assert_false(strings_contain(&names, "mlx5_1"));
	assert_string_equal(arena_printf(arena, "%s/%d", "mlx5_0", 1), "mlx5_0/1");
	assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
	assert_null(arena_strdup(arena, NULL));
	arena_free(arena);
}

static void exhaustion_is_an_answer(void **state)
{
	(void)state;
	struct arena *arena = arena_new(4096);
	elements list = { 0 };
	uint32_t added = 0;
	while (list_add(arena, &list))
		added++;
	assert_true(added > 10);
	assert_int_equal(list.count, added);
	assert_null(arena_alloc(arena, SIZE_MAX));
	assert_null(arena_strdup(arena,
	        "a text that finds no room in an arena that has none left for it, nor for any other of "
	        "this size, however small the remainder of the last block may be"));
	arena_free(arena);
}

/* A worker that is killed while it appends leaves a list whose every element was written. */
static void a_killed_writer_leaves_a_consistent_list(void **state)
{
	(void)state;
	struct arena *arena = test_arena();
	elements *list = arena_new_object(arena, elements);
	pid_t child = fork();
	if (!child) {
		for (int i = 1;; i++)
			if (!list_add(arena, list))
				pause();
	}
	while (__atomic_load_n(&list->count, __ATOMIC_ACQUIRE) < 1000)
		usleep(100);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(list->count >= 1000 && list->count <= list->capacity);
	for (uint32_t i = 0; i < list->count; i++)
		assert_non_null(list->items[i]);
	arena_free(arena);
}

/* What sorts and prints findings needs no look whether their texts are there. */
static void findings_have_texts_without_memory(void **state)
{
	(void)state;
	unsigned int nameless = 0;
	char subject[512] = "";
	for (size_t length = 1; length < sizeof(subject); length++) {
		struct arena *arena = arena_new(4096);
		struct report report = { .arena = arena };
		subject[length - 1] = 'x';
		while (report_finding(&report, "gid-none", SEVERITY_INFO, subject, "m"))
			continue;
		list_each(finding, &report.findings) {
			assert_non_null(finding->subject);
			assert_non_null(finding->message);
			nameless += !strcmp(finding->subject, "?");
		}
		arena_free(arena);
	}
	assert_true(nameless > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_never_move),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(exhaustion_is_an_answer),
		cmocka_unit_test(findings_have_texts_without_memory),
		cmocka_unit_test(a_killed_writer_leaves_a_consistent_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
