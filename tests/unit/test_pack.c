/* SPDX-License-Identifier: MIT */
/* Archives as `report` writes them: what is in them, in every packing, and what is said when one cannot be written. */
#include "unit.h"

#include "base/cleanup.h"
#include "origin/origin.h"
#include "report/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/rdmadiag-pack.XXXXXX";
static char tree[64];

static void put(const char *name, const char *text)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", tree, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
	char path[128];
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(tree, sizeof(tree), "%s/tree", root);
	mkdir(tree, 0700);
	snprintf(path, sizeof(path), "%s/sys", tree);
	mkdir(path, 0700);
	put("host.json", "{}\n");
	put("sys/b", "two\n");
	put("sys/a", "one\n");
	snprintf(path, sizeof(path), "%s/sys/link", tree);
	assert_int_equal(symlink("b", path), 0);
	snprintf(path, sizeof(path), "%s/sys/pipe", tree); /* is left out */
	assert_int_equal(mkfifo(path, 0600), 0);
	return 0;
}

static int end(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static int pack(const char *path, int flags, const char *directory, struct error *error)
{
	enum pack_filter filter;
	*error = (struct error){ 0 };
	assert_int_equal(pack_filter_of(path, &filter), 0);
	autoclose int fd = open(path, flags | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	autocall(pack_freep) struct pack *pack = pack_new(fd, path, filter, error);
	if (!pack)
		return error->code;
	int result = pack_add(pack, directory, "top", error);
	return result ? result : pack_finish(pack, error);
}

static size_t read_file(const char *path, char *buffer, size_t size)
{
	autofclose FILE *file = fopen(path, "r");
	assert_non_null(file);
	return fread(buffer, 1, size, file);
}

static void every_packing_replays(void **state)
{
	(void)state;
	static const char *const suffixes[] = { ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".txz", ".tar.zst",
		".tzst" };
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		char path[128], text[16];
		struct error error;
		snprintf(path, sizeof(path), "%s/x%s", root, suffixes[i]);
		if (pack(path, O_WRONLY, tree, &error))
			fail_msg("%s", error.text);
		autocall(origin_closep) struct origin *origin = origin_snapshot(path, &error);
		if (!origin)
			fail_msg("%s: %s", path, error.text);
		assert_int_equal(origin_read(origin, "sys/link", text, sizeof(text)), 4);
		assert_string_equal(text, "two\n");
		assert_int_equal(origin_read(origin, "sys/pipe", text, sizeof(text)), -ENOENT);
	}
}

/* Neither owners nor times nor the order on disk. */
static void equal_trees_give_equal_bytes(void **state)
{
	(void)state;
	static char first[1 << 16], second[1 << 16];
	struct error error;
	char one[64], two[64];
	snprintf(one, sizeof(one), "%s/one.tar.gz", root);
	snprintf(two, sizeof(two), "%s/two.tar.gz", root);
	assert_int_equal(pack(one, O_WRONLY, tree, &error), 0);
	put("sys/a", "one\n"); /* a new time */
	assert_int_equal(pack(two, O_WRONLY, tree, &error), 0);
	size_t length = read_file(one, first, sizeof(first));
	assert_true(length > 0 && length < sizeof(first));
	assert_int_equal(read_file(two, second, sizeof(second)), length);
	assert_memory_equal(first, second, length);
}

static void what_goes_wrong_is_named(void **state)
{
	(void)state;
	enum pack_filter filter;
	struct error error;
	char path[64], none[128];
	assert_int_equal(pack_filter_of("x.zip", &filter), -EINVAL);
	assert_int_equal(pack_filter_of("x", &filter), 0);
	assert_int_equal(filter, PACK_GZIP);
	snprintf(path, sizeof(path), "%s/y.tar", root);
	snprintf(none, sizeof(none), "%s/none", root);
	assert_int_equal(pack(path, O_WRONLY, none, &error), -ENOENT);
	assert_non_null(strstr(error.text, none));
	assert_int_equal(pack(path, O_RDONLY, tree, &error), -EBADF);
	assert_int_equal(error.code, -EBADF);
	assert_non_null(strstr(error.text, path));
}

/* A disk that is full. */
static void a_full_disk_is_named(void **state)
{
	(void)state;
	struct error error = { 0 };
	autoclose int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	autocall(pack_freep) struct pack *pack = pack_new(fd, "full.tar", PACK_NONE, &error);
	int result = pack ? pack_add(pack, tree, "top", &error) : error.code;
	if (!result)
		result = pack_finish(pack, &error);
	assert_int_equal(result, -ENOSPC);
	assert_non_null(strstr(error.text, "full.tar"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packing_replays),
		cmocka_unit_test(equal_trees_give_equal_bytes),
		cmocka_unit_test(what_goes_wrong_is_named),
		cmocka_unit_test(a_full_disk_is_named),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
