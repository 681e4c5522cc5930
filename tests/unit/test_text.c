/* SPDX-License-Identifier: MIT */
/* Formats: numbers, natural order, GUIDs and GIDs, the kernel's CPU lists. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/text.h"

#include <errno.h>

static void numbers_fill_the_text(void **state)
{
	(void)state;
	int64_t value = 7;
	assert_int_equal(parse_number("42\n", 10, &value), 0);
	assert_int_equal(value, 42);
	assert_int_equal(parse_number("-1", 10, &value), 0);
	assert_int_equal(value, -1);
	assert_int_equal(parse_number("0x15b3", 0, &value), 0);
	assert_int_equal(value, 0x15b3);
	assert_int_equal(parse_number("", 10, &value), -EINVAL);
	assert_int_equal(parse_number("8 GT/s", 10, &value), -EINVAL);
	assert_int_equal(parse_number("99999999999999999999", 10, &value), -ERANGE);
	assert_int_equal(value, 0x15b3);
	assert_false(parse_num("N/A (no PMA)", 10).known);
	assert_false(parse_num(NULL, 10).known);
	assert_true(num_is(parse_num("0", 10), 0));
}

static void lists_have_whole_words(void **state)
{
	(void)state;
	assert_true(text_lists("mlx5_1,mlx5_10", "mlx5_10", ","));
	assert_true(text_lists("mlx5_1:2,mlx5_10", "mlx5_1", ":,"));
	assert_false(text_lists("mlx5_1:2,mlx5_10", "mlx5_1", ","));
	assert_false(text_lists("mlx5_10", "mlx5_1", ","));
	assert_false(text_lists("mlx5_1", "mlx5_10", ","));
	assert_false(text_lists("", "mlx5_1", ","));
}

static void names_sort_by_the_value_of_their_digits(void **state)
{
	(void)state;
	assert_true(natural_compare("mlx5_2", "mlx5_10") < 0);
	assert_true(natural_compare("mlx5_10", "mlx5_2") > 0);
	assert_true(natural_compare("mlx5_2", "mlx5_2") == 0);
	assert_true(natural_compare("bnxt_re0", "mlx5_0") < 0);
	assert_true(natural_compare("mlx5_1", "mlx5_1_dma") < 0);
	assert_true(natural_compare("ibP9p1", "ibP57247p0s2") < 0);
	assert_true(natural_compare("x18446744073709551617", "x18446744073709551616") > 0);
	const char *names[] = { "irdma10", "irdma9", "irdma1" };
	qsort(names, 3, sizeof(*names), natural_compare_pointers);
	assert_string_equal(names[0], "irdma1");
	assert_string_equal(names[2], "irdma10");
}

static void guids_have_four_groups(void **state)
{
	(void)state;
	char text[GUID_TEXT_SIZE];
	uint64_t guid;
	format_guid(UINT64_C(0x506b4b0300a1b2c3), text);
	assert_string_equal(text, "506b:4b03:00a1:b2c3");
	assert_int_equal(parse_guid("506b:4b03:00a1:b2c3\n", &guid), 0);
	assert_true(guid == UINT64_C(0x506b4b0300a1b2c3));
	assert_int_equal(parse_guid("506b:4b03:00a1", &guid), -EINVAL);
	assert_int_equal(parse_guid("506b:4b03:00a1:b2c3:1", &guid), -EINVAL);
}

static void gids_have_eight_full_groups(void **state)
{
	(void)state;
	uint8_t gid[16];
	char text[GID_TEXT_SIZE];
	assert_int_equal(parse_gid("0000:0000:0000:0000:0000:ffff:c000:0206\n", gid), 0);
	assert_int_equal(gid[12], 192);
	format_gid(gid, text);
	assert_string_equal(text, "0000:0000:0000:0000:0000:ffff:c000:0206");
	assert_int_equal(parse_gid("::ffff:192.0.2.6", gid), 0);
	format_gid(gid, text);
	assert_string_equal(text, "0000:0000:0000:0000:0000:ffff:c000:0206");
	assert_false(gid_is_zero(gid));
	assert_int_equal(parse_gid("::", gid), 0);
	assert_true(gid_is_zero(gid));
	assert_int_equal(parse_gid("not a gid", gid), -EINVAL);
	assert_int_equal(parse_gid("", gid), -EINVAL);
}

static void cpu_lists_are_the_kernels(void **state)
{
	(void)state;
	struct cpuset set, all;
	assert_int_equal(cpuset_parse("0-3,8,64-65\n", &set), 0);
	assert_true(cpuset_has(&set, 3));
	assert_false(cpuset_has(&set, 4));
	assert_true(cpuset_has(&set, 65));
	assert_false(cpuset_has(&set, 4000));
	assert_int_equal(cpuset_parse("0-127", &all), 0);
	assert_true(cpuset_is_subset(&set, &all));
	assert_false(cpuset_is_subset(&all, &set));
	assert_true(cpuset_intersects(&all, &set));
	cpuset_free(&set);
	assert_int_equal(cpuset_parse("\n", &set), 0); /* a node without CPUs */
	assert_true(cpuset_is_subset(&set, &all));
	assert_false(cpuset_intersects(&set, &all));
	cpuset_free(&set);
	cpuset_free(&all);
	static const char *const wrong[] = { "3-1", "a", "1-", "1;2", "-1", "99999999", "0-4000000000" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(cpuset_parse(wrong[i], &set), -EINVAL);
}

static void blanks_at_the_end_go(void **state)
{
	(void)state;
	char text[] = "  4: ACTIVE \n";
	assert_string_equal(trim_end(text), "  4: ACTIVE");
	char blank[] = "\n";
	assert_string_equal(trim_end(blank), "");
}

static void texts_are_joined_until_there_is_no_room(void **state)
{
	(void)state;
	char out[8], digits[NUMBER_TEXT_SIZE];
	assert_int_equal(text_join(out, sizeof(out), "rx", text_number(17, digits), "/", "1"), 0);
	assert_string_equal(out, "rx17/1");
	assert_int_equal(text_join(out, sizeof(out), "seven", "ch"), 0); /* just fits */
	assert_string_equal(out, "sevench");
	assert_int_equal(text_join(out, sizeof(out), "seven", "chr", "x"), -ENAMETOOLONG);
	assert_string_equal(out, "sevench");
	assert_int_equal(text_join(out, sizeof(out), ""), 0);
	assert_string_equal(out, "");
	assert_string_equal(text_number(0, digits), "0");
	assert_string_equal(text_number(UINT64_MAX, digits), "18446744073709551615");
}

static void pointers_are_sorted_in_order_or_not(void **state)
{
	(void)state;
	const char *in_order[] = { "rx1", "rx2", "rx10" }, *mixed[] = { "rx10", "rx2", "rx1", "rx2" };
	sort_pointers(in_order, 3, natural_compare_pointers);
	assert_string_equal(in_order[2], "rx10");
	sort_pointers(mixed, 4, natural_compare_pointers);
	assert_string_equal(mixed[0], "rx1");
	assert_string_equal(mixed[2], "rx2");
	assert_string_equal(mixed[3], "rx10");
	sort_pointers(NULL, 0, natural_compare_pointers);
}

static const char *meant(const char *typed)
{
	static const char *const words[] = { "topo", "gid", "port-down", "port-flapping", "matrix", "report", "check" };
	static struct nearest nearest;
	nearest = (struct nearest){ .typed = typed };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		nearest_try(&nearest, words[i], NULL);
	return nearest_text(&nearest);
}

static void a_word_that_is_near_is_meant(void **state)
{
	(void)state;
	assert_string_equal(meant("tpo"), "; is it topo?");
	assert_string_equal(meant("tpoo"), "; is it topo?");
	assert_string_equal(meant("topology"), "; is it topo?");
	assert_string_equal(meant("GIDS"), "; is it gid?");
	assert_string_equal(meant("matix"), "; is it matrix?");
	assert_string_equal(meant("port"), "; is it port-down, port-flapping, report?");
	assert_string_equal(meant("port-dwon"), "; is it port-down?");
	assert_string_equal(meant("frobnicate"), "");
	assert_string_equal(meant("ab"), "");
	assert_string_equal(meant(""), "");
	assert_string_equal(meant("a-very-long-word-that-nobody-can-have-meant-to-type"), "");
}

static void texts_are_appended_as_far_as_they_fit(void **state)
{
	(void)state;
	char text[10] = "";
	assert_int_equal(text_append(text, sizeof(text), "%s", "nccl"), 0);
	assert_int_equal(text_append(text, sizeof(text), ", %d", 7), 0);
	assert_string_equal(text, "nccl, 7");
	assert_int_equal(text_append(text, sizeof(text), "%s", "ab"), 0);
	assert_string_equal(text, "nccl, 7ab"); /* to the last byte */
	assert_int_equal(text_append(text, sizeof(text), "%s", ""), 0);
	assert_int_equal(text_append(text, sizeof(text), "%s", "c"), -ENAMETOOLONG);
	assert_string_equal(text, "nccl, 7ab");
	text[6] = '\0';
	assert_int_equal(text_append(text, sizeof(text), "%s", "12345"), -ENAMETOOLONG);
	assert_string_equal(text, "nccl, 123");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_appended_as_far_as_they_fit),
		cmocka_unit_test(numbers_fill_the_text),
		cmocka_unit_test(lists_have_whole_words),
		cmocka_unit_test(names_sort_by_the_value_of_their_digits),
		cmocka_unit_test(guids_have_four_groups),
		cmocka_unit_test(gids_have_eight_full_groups),
		cmocka_unit_test(cpu_lists_are_the_kernels),
		cmocka_unit_test(blanks_at_the_end_go),
		cmocka_unit_test(texts_are_joined_until_there_is_no_room),
		cmocka_unit_test(pointers_are_sorted_in_order_or_not),
		cmocka_unit_test(a_word_that_is_near_is_meant),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
