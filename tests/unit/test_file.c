/* SPDX-License-Identifier: MIT */
/* What is written over: complete or not at all, through links, into pipes. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/test-file.XXXXXX";

static int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) && !chdir(directory) ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	static const char *const names[] = { "new", "old", "link", "dangling", "fifo" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	/* fails where a temporary file was left */
	return chdir("/") || rmdir(directory);
}

static int write_words(const char *path, const char *words)
{
	struct error error = { 0 };
	int result = file_write(path, words, strlen(words), &error);
	if (result)
		assert_non_null(strstr(error.text, path));
	assert_int_equal(error.code, result);
	return result;
}

static void assert_holds(const char *path, const char *words)
{
	char *text = NULL;
	size_t length;
	struct error error;
	assert_int_equal(file_read(path, &text, &length, &error), 0);
	assert_string_equal(text, words);
	free(text);
}

/* The buffer grows while a file is read: whatever its size, each byte is there. */
static void test_large(void **state)
{
	(void)state;
	static const size_t sizes[] = { 65533, 65534, 65535, 65536, 65537, 131071, 200001 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *text = malloc(sizes[i] + 1), *read = NULL;
		size_t length = 0;
		struct error error = { 0 };
		assert_non_null(text);
		memset(text, 'x', sizes[i]);
		text[sizes[i] - 1] = 'z';
		text[sizes[i]] = '\0';
		assert_int_equal(file_write("new", text, sizes[i], &error), 0);
		assert_int_equal(file_read("new", &read, &length, &error), 0);
		assert_int_equal(length, sizes[i]);
		assert_string_equal(read, text);
		free(read);
		free(text);
	}
}

static unsigned int mode_of(const char *path)
{
	struct stat status;
	assert_int_equal(lstat(path, &status), 0);
	return status.st_mode & 07777;
}

static void test_new(void **state)
{
	(void)state;
	mode_t mask = umask(027);
	assert_int_equal(write_words("new", "one"), 0);
	umask(mask);
	assert_holds("new", "one");
	assert_int_equal(mode_of("new"), 0640);
}

static void test_old(void **state)
{
	(void)state;
	assert_int_equal(write_words("old", "a longer text"), 0);
	assert_int_equal(chmod("old", 0604), 0);
	assert_int_equal(write_words("old", "short"), 0);
	assert_holds("old", "short");
	assert_int_equal(mode_of("old"), 0604);
}

static void test_link(void **state)
{
	(void)state;
	struct stat status;
	assert_int_equal(write_words("old", "old"), 0);
	assert_int_equal(symlink("old", "link"), 0);
	assert_int_equal(write_words("link", "through the link"), 0);
	assert_holds("old", "through the link");
	assert_int_equal(lstat("link", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(write_words("dangling", "x"), -EINVAL);
}

static void test_no_room(void **state)
{
	(void)state;
	struct rlimit old, none;
	assert_int_equal(write_words("old", "precious"), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	none = old;
	none.rlim_cur = 4;
	setrlimit(RLIMIT_FSIZE, &none);
	int result = write_words("old", "too long for that");
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(result, -EFBIG);
	assert_holds("old", "precious");
}

static void test_others(void **state)
{
	(void)state;
	char text[8] = "";
	assert_int_equal(write_words("/dev/null", "x"), 0);
	assert_int_equal(write_words("/dev/full", "x"), -ENOSPC);
	assert_int_equal(write_words(directory, "x"), -EISDIR);
	assert_int_equal(write_words("no/such/place", "x"), -ENOENT);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(write_words("fifo", "x"), -ENXIO);
	int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(write_words("fifo", "piped"), 0);
	assert_int_equal(read(reader, text, sizeof(text)), 5);
	assert_string_equal(text, "piped");
	close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_others),
	};
	return cmocka_run_group_tests(tests, enter, leave);
}
