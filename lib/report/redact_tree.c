/* SPDX-License-Identifier: MIT */
#include "report/redact_tree.h"

#include "base/cleanup.h"
#include "base/entries.h"
#include "base/file.h"
#include "origin/format.h"
#include "json/json.h"
#include "report/redact_netlink.h"
#include "report/redact_pci.h"
#include "report/redact_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* One walk over the snapshot; without `to` it only notes. */
struct walk {
	struct pseudonyms *pseudonyms;
	int from, to; /* directories; to: -1 */
	struct error *error;
};

/* ---- what a file holds, by its path ---- */

static bool has_name(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	return !strcmp(slash ? slash + 1 : path, name);
}

static bool begins(const char *path, const char *with)
{
	return !strncmp(path, with, strlen(with));
}

/* Nothing in these is structure: the contents are one identifier. */
static bool is_serial(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	return strstr(name, "serial") || strstr(name, "uuid") || !strcmp(name, "vpd") || !strcmp(name, "wwid");
}

/* Versions of four numbers look like addresses. */
static bool is_version(const char *path)
{
	return has_name(path, "fw_ver") || has_name(path, "fw_version") || has_name(path, "version") ||
	       has_name(path, "hw_rev");
}

static char *copy(const char *data, size_t length)
{
	char *copied = malloc(length + 1);
	if (copied) {
		memcpy(copied, data, length);
		copied[length] = '\0';
	}
	return copied;
}

static char *redact_serial(struct pseudonyms *pseudonyms, size_t *new_length, const char *data, size_t length)
{
	uint8_t bytes[8];
	char *text = NULL, *whole = copy(data, length);
	if (whole)
		pseudonym_bytes(pseudonyms, (uint8_t *)whole, length);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = whole && i < length ? (uint8_t)whole[i] : 0;
	free(whole);
	int written = whole ? asprintf(&text, "%02x%02x%02x%02x%02x%02x%02x%02x\n", bytes[0], bytes[1], bytes[2],
	                              bytes[3], bytes[4], bytes[5], bytes[6], bytes[7])
	                    : -1;
	*new_length = written > 0 ? (size_t)written : 0;
	return written < 0 ? NULL : text;
}

static bool names_a_host(const char *name)
{
	return *name && strcmp(name, "localhost") != 0;
}

int redact_note_host(struct pseudonyms *pseudonyms, const char *name)
{
	char first[HOST_NAME_MAX + 1];
	if (!names_a_host(name))
		return 0;
	const char *dot = strchr(name, '.');
	size_t length = dot ? (size_t)(dot - name) : strlen(name);
	int result = pseudonym_word_note(pseudonyms, name, "host-");
	if (!result && length && length < sizeof(first)) {
		memcpy(first, name, length);
		first[length] = '\0';
		if (names_a_host(first))
			result = pseudonym_word_note(pseudonyms, first, "host-");
	}
	if (!result && dot && strchr(dot + 1, '.'))
		result = pseudonym_word_note(pseudonyms, dot + 1, "domain-");
	return result;
}

/* The one file that names the host is read as what it is. */
static char *redact_host(struct pseudonyms *pseudonyms, const char *data, size_t length, size_t *new_length)
{
	struct error error;
	json_object *object = json_parse(data, length, SNAPSHOT_HOST, &error), *name;
	if (!object)
		return redact_text(pseudonyms, WORDS_ALL, data, length, new_length);
	if (json_object_object_get_ex(object, "hostname", &name) && json_object_is_type(name, json_type_string) &&
	        names_a_host(json_object_get_string(name))) {
		const char *text = json_object_get_string(name);
		redact_note_host(pseudonyms, text);
		/* A name that is too long to be one is not noted, and does not stay either. */
		const char *pseudonym = pseudonym_word(pseudonyms, text, strlen(text), false);
		if (json_put_member(object, "hostname", json_object_new_string(pseudonym ? pseudonym : "host"))) {
			json_object_put(object);
			return NULL;
		}
	}
	char *text = json_text(object, true);
	json_object_put(object);
	*new_length = text ? strlen(text) : 0;
	return text;
}

typedef void (*redact_in_place)(struct pseudonyms *pseudonyms, unsigned char *data, size_t length);

static redact_in_place binary_kind(const char *path)
{
	if (begins(path, SNAPSHOT_NETLINK "/rdma/"))
		return redact_netlink_rdma;
	if (begins(path, SNAPSHOT_NETLINK "/route/"))
		return redact_netlink_route;
	if (begins(path, SNAPSHOT_NETLINK "/"))
		return redact_netlink_other;
	return begins(path, "sys/devices/") && has_name(path, "config") ? redact_pci_config : NULL;
}

/* malloc'ed contents; NULL without memory. */
static char *redact_contents(
        struct pseudonyms *pseudonyms, const char *path, const char *data, size_t length, size_t *new_length)
{
	redact_in_place in_place = binary_kind(path);
	bool generic = begins(path, SNAPSHOT_NETLINK "/generic/");
	*new_length = length;
	if (in_place || generic) {
		char *changed = copy(data, length);
		if (changed && generic)
			redact_netlink_generic(pseudonyms, strrchr(path, '/') + 1, (unsigned char *)changed, length);
		else if (changed)
			in_place(pseudonyms, (unsigned char *)changed, length);
		return changed;
	}
	if (!strcmp(path, SNAPSHOT_HOST))
		return redact_host(pseudonyms, data, length, new_length);
	if (is_serial(path))
		return redact_serial(pseudonyms, new_length, data, length);
	if (is_version(path) || begins(path, SNAPSHOT_MAD "/")) /* levels, lanes and weights */
		return copy(data, length);
	if (has_name(path, "phys_switch_id") || has_name(path, "phys_port_id"))
		return redact_digits(pseudonyms, data, length, new_length);
	bool of_paths = !strcmp(path, SNAPSHOT_NAMES) || !strcmp(path, SNAPSHOT_ERRORS);
	bool of_host = has_name(path, "node_desc") || has_name(path, "hostname");
	enum redact_words words = of_paths ? WORDS_NONE : of_host ? WORDS_ALL : WORDS_DISTINCT;
	return redact_text(pseudonyms, words, data, length, new_length);
}

/* ---- files ---- */

static int failed(const struct walk *walk, int code, const char *path)
{
	return error_set(walk->error, code, "redacting %s", path);
}

static int read_file(const struct walk *walk, const char *path, char **data, size_t *length)
{
	autoclose int fd = openat(walk->from, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (status.st_size > SNAPSHOT_FILE_LIMIT)
		return -EFBIG;
	*length = (size_t)status.st_size;
	*data = malloc(*length + 1);
	ssize_t got = *data ? read(fd, *data, *length) : -1;
	if (got != (ssize_t)*length)
		return *data && got < 0 ? -errno : *data ? -EIO : -ENOMEM;
	(*data)[*length] = '\0';
	return 0;
}

static int write_file(const struct walk *walk, const char *path, const char *data, size_t length)
{
	autoclose int fd = openat(walk->to, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* Two names with the same pseudonym cannot be: O_EXCL makes sure that nothing is lost unseen. */
	return fd < 0 ? -errno : file_write_all(fd, data, length);
}

static int redact_file(const struct walk *walk, const char *path, const char *new_path)
{
	autofree char *data = NULL, *changed = NULL;
	size_t length = 0, new_length;
	int result = read_file(walk, path, &data, &length);
	if (result)
		return failed(walk, result, path);
	changed = redact_contents(walk->pseudonyms, path, data, length, &new_length);
	if (!changed || pseudonyms_failed(walk->pseudonyms))
		return failed(walk, -ENOMEM, path);
	result = walk->to < 0 ? 0 : write_file(walk, new_path, changed, new_length);
	return result ? failed(walk, result, path) : 0;
}

static int redact_link(const struct walk *walk, const char *path, const char *new_path)
{
	char target[PATH_MAX];
	size_t new_length;
	ssize_t length = readlinkat(walk->from, path, target, sizeof(target) - 1);
	if (length < 0)
		return failed(walk, -errno, path);
	autofree char *changed = redact_text(walk->pseudonyms, WORDS_NONE, target, (size_t)length, &new_length);
	if (!changed)
		return failed(walk, -ENOMEM, path);
	if (walk->to >= 0 && symlinkat(changed, walk->to, new_path))
		return failed(walk, -errno, path);
	return 0;
}

static int redact_below(const struct walk *walk, const char *path, const char *new_path);

static int redact_entry(const struct walk *walk, const char *path)
{
	struct stat status;
	size_t new_length;
	autofree char *new_path = redact_text(walk->pseudonyms, WORDS_NONE, path, strlen(path), &new_length);
	if (!new_path)
		return failed(walk, -ENOMEM, path);
	if (fstatat(walk->from, path, &status, AT_SYMLINK_NOFOLLOW))
		return failed(walk, -errno, path);
	if (S_ISLNK(status.st_mode))
		return redact_link(walk, path, new_path);
	if (S_ISREG(status.st_mode))
		return redact_file(walk, path, new_path);
	return S_ISDIR(status.st_mode) ? redact_below(walk, path, new_path) : 0;
}

static int redact_below(const struct walk *walk, const char *path, const char *new_path)
{
	if (walk->to >= 0 && *new_path && mkdirat(walk->to, new_path, 0700))
		return failed(walk, -errno, path);
	int fd = openat(walk->from, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		int code = -errno;
		if (fd >= 0)
			close(fd);
		return failed(walk, code, path);
	}
	int result = 0, broken = 0;
	for (const struct dirent *entry; !result && (entry = next_entry(stream, &broken));) {
		char below[PATH_MAX];
		int length = snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "", entry->d_name);
		result = length < 0 || (size_t)length >= sizeof(below) ? failed(walk, -ENAMETOOLONG, path)
		                                                       : redact_entry(walk, below);
	}
	closedir(stream);
	return broken ? failed(walk, broken, path) : result;
}

static int walk_tree(struct pseudonyms *pseudonyms, const char *from, const char *to, struct error *error)
{
	autoclose int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (source < 0)
		return error_set(error, -errno, "%s", from);
	if (to && mkdir(to, 0700))
		return error_set(error, -errno, "%s", to);
	autoclose int target = to ? open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (to && target < 0)
		return error_set(error, -errno, "%s", to);
	struct walk walk = { pseudonyms, source, target, error };
	return redact_below(&walk, "", "");
}

int redact_collect(struct pseudonyms *pseudonyms, const char *from, struct error *error)
{
	return walk_tree(pseudonyms, from, NULL, error);
}

int redact_tree(struct pseudonyms *pseudonyms, const char *from, const char *to, struct error *error)
{
	return walk_tree(pseudonyms, from, to, error);
}
