/* SPDX-License-Identifier: MIT */
/* Pseudonyms in the files of a snapshot: by what a file is, and whatever stops it is said. */
#include "directory_fixture.h"

#include "base/file.h"
#include "report/redact_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>

static struct arena *arena;
static int entries_left; /* that readdir(3) gives before it fails; negative: it does not */

/* The one of the C library, which can be told to fail. */
struct dirent *readdir(DIR *stream)
{
	struct dirent *(*real)(DIR * stream);
	*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	if (entries_left == 0) {
		errno = EIO;
		return NULL;
	}
	entries_left -= entries_left > 0;
	return real(stream);
}

/* Of the tree with pseudonyms. */
static const char *text_of(const char *path)
{
	autofree char *text = NULL;
	size_t length;
	struct error error;
	char full[PATH_MAX];
	snprintf(full, sizeof(full), "%s/to/%s", root, path);
	assert_int_equal(file_read(full, &text, &length, &error), 0);
	return arena_strdup(arena, text);
}

static void free_pseudonyms(struct pseudonyms **pseudonyms)
{
	pseudonyms_free(*pseudonyms);
}

static int redact(struct error *error)
{
	char from[80], to[80];
	snprintf(from, sizeof(from), "%s/from", root);
	snprintf(to, sizeof(to), "%s/to", root);
	autocall(free_pseudonyms) struct pseudonyms *pseudonyms = pseudonyms_new();
	assert_non_null(pseudonyms);
	int result = redact_collect(pseudonyms, from, error);
	if (result)
		return result;
	assert_int_equal(pseudonyms_settle(pseudonyms), 0);
	return redact_tree(pseudonyms, from, to, error);
}

static void redact_all(void)
{
	struct error error = { 0 };
	int result = redact(&error);
	if (result)
		print_error("%s\n", error.text);
	assert_int_equal(result, 0);
}

static int set_up(void **state)
{
	(void)state;
	arena = test_arena();
	entries_left = -1;
	return make_root();
}

static int tear_down(void **state)
{
	(void)state;
	entries_left = -1;
	arena_free(arena);
	return remove_root();
}

static bool is_hexadecimal(const char *text, size_t digits)
{
	for (size_t i = 0; i < digits; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* Of any length: nothing of its form stays, and equal ones stay equal. */
static void serials(void **state)
{
	(void)state;
	put("from/sys/block/nvme0n1/serial", "S4EVNX0R123456\n");
	put("from/sys/block/nvme0n1/wwid", "eui.0025385b01234567\n");
	put("from/sys/block/nvme1n1/serial", "S4EVNX0R123457\n");
	put("from/sys/block/nvme2n1/serial", "S4EVNX0R123456\n");
	put("from/sys/class/dmi/id/product_uuid", "4c4c4544-0042-3510\n");
	put("from/sys/class/dmi/id/serial", "");
	redact_all();
	static const char *const paths[] = { "sys/block/nvme0n1/serial", "sys/block/nvme0n1/wwid",
		"sys/block/nvme1n1/serial", "sys/class/dmi/id/product_uuid" };
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *text = text_of(paths[i]);
		assert_int_equal(strlen(text), 17);
		assert_true(is_hexadecimal(text, 16));
		assert_int_equal(text[16], '\n');
	}
	assert_string_equal(text_of("sys/block/nvme0n1/serial"), text_of("sys/block/nvme2n1/serial"));
	assert_string_not_equal(text_of("sys/block/nvme0n1/serial"), text_of("sys/block/nvme1n1/serial"));
	assert_null(strstr(text_of("sys/block/nvme0n1/serial"), "S4EV"));
}

/* They tell which netdevs are of one switch, and the kernel made them of its MAC. */
static void switches_and_ports(void **state)
{
	(void)state;
	put("from/sys/class/net/p0/phys_switch_id", "0a1b2c3d4e5f\n");
	put("from/sys/class/net/p1/phys_switch_id", "0a1b2c3d4e5f\n");
	put("from/sys/class/net/p2/phys_switch_id", "0a1b2c3d4e60\n");
	redact_all();
	const char *text = text_of("sys/class/net/p0/phys_switch_id");
	assert_int_equal(strlen(text), 13);
	assert_true(is_hexadecimal(text, 12));
	assert_string_not_equal(text, "0a1b2c3d4e5f\n");
	assert_string_equal(text, text_of("sys/class/net/p1/phys_switch_id"));
	assert_string_not_equal(text, text_of("sys/class/net/p2/phys_switch_id"));
}

/* What looks like an address and is none. */
static void versions_stay(void **state)
{
	(void)state;
	put("from/sys/class/infiniband/mlx5_0/fw_ver", "22.36.10.4\n");
	put("from/sys/class/infiniband/mlx5_0/hca_type", "192.0.2.7\n");
	redact_all();
	assert_string_equal(text_of("sys/class/infiniband/mlx5_0/fw_ver"), "22.36.10.4\n");
	assert_string_not_equal(text_of("sys/class/infiniband/mlx5_0/hca_type"), "192.0.2.7\n");
}

/* Its whole name, its first part, and the rest are names that others have too. */
static void the_name_of_the_host(void **state)
{
	(void)state;
	put("from/host.json", "{ \"hostname\": \"gpu-rack7.cluster.example\", \"kernel\": \"6.1.0\" }");
	put("from/sys/class/infiniband/mlx5_0/node_desc", "gpu-rack7 mlx5_0\n");
	put("from/proc/cmdline", "ip=gpu-rack7.cluster.example search=cluster.example\n");
	redact_all();
	assert_null(strstr(text_of("host.json"), "rack7"));
	assert_null(strstr(text_of("host.json"), "cluster"));
	assert_non_null(strstr(text_of("host.json"), "6.1.0"));
	assert_null(strstr(text_of("sys/class/infiniband/mlx5_0/node_desc"), "rack7"));
	assert_non_null(strstr(text_of("sys/class/infiniband/mlx5_0/node_desc"), " mlx5_0\n"));
	assert_null(strstr(text_of("proc/cmdline"), "rack7"));
	assert_null(strstr(text_of("proc/cmdline"), "cluster"));
}

/* One that no kernel gives, in a file that somebody changed. */
static void a_name_that_is_too_long(void **state)
{
	(void)state;
	char text[400] = "{ \"hostname\": \"";
	memset(text + strlen(text), 'a', 300);
	strcat(text, "\" }");
	put("from/host.json", text);
	redact_all();
	assert_null(strstr(text_of("host.json"), "aaaa"));
}

static void a_host_that_cannot_be_read(void **state)
{
	(void)state;
	put("from/host.json", "{ \"hostname\": \"02:00:5e:00:00:10\"");
	redact_all();
	assert_null(strstr(text_of("host.json"), "02:00:5e:00:00:10"));
}

static void assert_stops(int code, const char *path)
{
	struct error error = { 0 };
	assert_int_equal(redact(&error), code);
	assert_int_equal(error.code, code);
	assert_non_null(strstr(error.text, path));
}

/* Names that were not read might be originals. */
static void a_directory_that_cannot_be_read_to_its_end(void **state)
{
	(void)state;
	put("from/sys/class/infiniband/mlx5_0/fw_ver", "1\n");
	entries_left = 6;
	assert_stops(-EIO, "redacting sys/class");
	entries_left = 0;
	assert_stops(-EIO, "redacting ");
}

static void a_file_that_is_too_large(void **state)
{
	(void)state;
	put("from/sys/large", "");
	assert_int_equal(truncate(below("from/sys/large"), (64 << 20) + 1), 0);
	assert_stops(-EFBIG, "redacting sys/large");
}

static void a_directory_that_is_there_or_not(void **state)
{
	(void)state;
	assert_stops(-ENOENT, "/from");
	put("from/file", "1\n");
	assert_int_equal(mkdir(below("to"), 0700), 0);
	assert_stops(-EEXIST, "/to");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(serials, set_up, tear_down),
		cmocka_unit_test_setup_teardown(switches_and_ports, set_up, tear_down),
		cmocka_unit_test_setup_teardown(versions_stay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_name_of_the_host, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_name_that_is_too_long, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_host_that_cannot_be_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_directory_that_cannot_be_read_to_its_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_is_too_large, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_directory_that_is_there_or_not, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
