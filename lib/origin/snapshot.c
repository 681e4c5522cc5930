/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as an origin. All names are read when it is opened, from a directory or an archive, so that what is wrong
 * with it is said at once; contents of a directory are read when they are asked for.
 */
#include "base/cleanup.h"
#include "model/host.h"
#include "origin/format.h"
#include "origin/private.h"
#include "render/json.h"
#include "source/verbs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct snapshot {
	struct origin origin;
	struct tree *tree;
	int directory; /* -1: everything is in memory */
};

static struct snapshot *snapshot(struct origin *origin)
{
	return (struct snapshot *)origin;
}

/* ---- reading names from a directory ---- */

struct scan {
	struct tree *tree;
	const char *path; /* of the snapshot, for messages */
	struct error *error;
};

static int wrong_entry(struct scan *scan, const struct node *parent, const char *name, int code, const char *reason)
{
	char where[PATH_MAX];
	if (tree_path(scan->tree, parent, where, sizeof(where)) < 0)
		where[0] = '\0';
	return error_say(scan->error, code, "%s: %s%s%.100s: %s", scan->path, where, *where ? "/" : "", name, reason);
}

static int scan_link(struct scan *scan, int fd, struct node *node)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(fd, node->name, target, sizeof(target) - 1);
	if (length < 0)
		return wrong_entry(scan, node->parent, node->name, -errno, strerror(errno));
	char *copy = tree_alloc(scan->tree, (size_t)length + 1);
	if (!copy)
		return wrong_entry(scan, node->parent, node->name, -ENOMEM, strerror(ENOMEM));
	memcpy(copy, target, (size_t)length);
	node->data = copy;
	node->length = (size_t)length;
	return 0;
}

static unsigned char entry_type(int fd, const struct dirent *entry)
{
	struct stat status;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	return fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ? DT_UNKNOWN
	                                                                : (unsigned char)IFTODT(status.st_mode);
}

static int scan_directory(struct scan *scan, int fd, struct node *parent, int depth);

static int scan_below(struct scan *scan, int fd, struct node *node, int depth)
{
	int below = openat(fd, node->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0)
		return wrong_entry(scan, node->parent, node->name, -errno, strerror(errno));
	return scan_directory(scan, below, node, depth + 1);
}

static int scan_entry(struct scan *scan, int fd, struct node *parent, const struct dirent *entry, int depth)
{
	static const enum node_kind kinds[DT_WHT + 1] = {
		[DT_REG] = NODE_FILE, [DT_DIR] = NODE_DIRECTORY, [DT_LNK] = NODE_LINK
	};
	unsigned char type = entry_type(fd, entry);
	if (type > DT_WHT || kinds[type] == NODE_NAME)
		return wrong_entry(scan, parent, entry->d_name, -EINVAL, "is neither a file, a directory nor a link");
	struct node *node = tree_add(scan->tree, parent, kinds[type], entry->d_name, strlen(entry->d_name));
	if (!node || depth >= TREE_DEPTH_LIMIT)
		return wrong_entry(scan, parent, entry->d_name, -EFBIG, "too many files or too deep for a snapshot");
	if (type == DT_LNK)
		return scan_link(scan, fd, node);
	return type == DT_DIR ? scan_below(scan, fd, node, depth) : 0;
}

/* Takes `fd` over. */
static int scan_directory(struct scan *scan, int fd, struct node *parent, int depth)
{
	DIR *stream = fdopendir(fd);
	if (!stream) {
		int code = errno;
		close(fd);
		return wrong_entry(scan, parent, "", -code, strerror(code));
	}
	int result = 0;
	for (struct dirent *entry; !result && (entry = readdir(stream));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = scan_entry(scan, dirfd(stream), parent, entry, depth);
	closedir(stream);
	return result;
}

/* ---- contents ---- */

/*
 * The path holds no links any more, as far as the tree knows; the kernel makes sure of it (openat2, Linux 5.6), or
 * where a sandbox refuses that call, only of the last part.
 */
static int open_below(int directory, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(directory, path, (int)how.flags);
	return fd < 0 ? -errno : fd;
}

static ssize_t read_disk(const struct snapshot *self, const struct node *node, char *buffer, size_t size)
{
	char path[PATH_MAX];
	if (tree_path(self->tree, node, path, sizeof(path)) < 0)
		return -ENAMETOOLONG;
	autoclose int fd = open_below(self->directory, path);
	if (fd < 0)
		return fd;
	struct stat status;
	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	size_t done = 0;
	while (done < size) {
		ssize_t got = read(fd, buffer + done, size - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* At most `size` bytes of a file. */
static ssize_t read_node(const struct snapshot *self, const struct node *node, char *buffer, size_t size)
{
	if (node->error)
		return -node->error;
	if (node->kind != NODE_FILE)
		return node->kind == NODE_NAME ? -ENODATA : -EISDIR;
	if (!node->data)
		return read_disk(self, node, buffer, size);
	size_t length = node->length < size ? node->length : size;
	memcpy(buffer, node->data, length);
	return (ssize_t)length;
}

/* A whole file into malloc'ed memory, NUL-ended. */
static int load(const struct snapshot *self, const char *path, char **data, size_t *length)
{
	struct node *node;
	int result = tree_find(self->tree, path, true, &node);
	if (result)
		return result;
	for (size_t size = 4096; size <= SNAPSHOT_FILE_LIMIT; size *= 4) {
		char *buffer = malloc(size);
		ssize_t got = buffer ? read_node(self, node, buffer, size) : -ENOMEM;
		if (got >= 0 && (size_t)got < size) {
			buffer[got] = '\0';
			*data = buffer;
			*length = (size_t)got;
			return 0;
		}
		free(buffer);
		if (got < 0)
			return (int)got;
	}
	return -EFBIG;
}

/* ---- errors and names: what a file system cannot hold ---- */

static int damaged(struct error *error, const char *path, const char *file, const char *line, const char *reason)
{
	return error_say(error, -EINVAL, "%s: %s: \"%.*s\": %s", path, file, (int)strcspn(line, "\n"), line, reason);
}

/* "22 sys/class/infiniband/mlx5_0/ports/1/rate" */
static int apply_error(struct snapshot *self, const char *path, char *line, struct error *error)
{
	char *rest;
	long code = strtol(line, &rest, 10);
	if (rest == line || *rest != ' ' || code < 1 || code > 4095)
		return damaged(error, path, SNAPSHOT_ERRORS, line, "expected an errno, a blank and a path");
	/* That something is not there says only that a name which was listed led nowhere. */
	struct node *node;
	int result = code == ENOENT ? tree_find(self->tree, rest + 1, false, &node)
	                            : tree_make(self->tree, rest + 1, NODE_NAME, true, &node);
	if (result == -ENOENT || result == -ENOTDIR)
		return 0;
	if (result)
		return damaged(error, path, SNAPSHOT_ERRORS, line, "a path that the snapshot cannot hold");
	node->error = (int)code;
	return 0;
}

static int apply_name(struct snapshot *self, const char *path, char *line, struct error *error)
{
	struct node *node;
	if (tree_make(self->tree, line, NODE_NAME, true, &node))
		return damaged(error, path, SNAPSHOT_NAMES, line, "a path that the snapshot cannot hold");
	return 0;
}

static int each_line(struct snapshot *self, const char *path, const char *file,
        int (*apply)(struct snapshot *self, const char *path, char *line, struct error *error), struct error *error)
{
	autofree char *data = NULL;
	size_t length;
	int result = load(self, file, &data, &length);
	if (result == -ENOENT)
		return 0;
	if (result)
		return error_set(error, result, "%s: %s", path, file);
	char *state = NULL;
	for (char *line = strtok_r(data, "\n", &state); line && !result; line = strtok_r(NULL, "\n", &state))
		if (*line != '#')
			result = apply(self, path, line, error);
	return result;
}

/* ---- what origin.h asks for ---- */

static ssize_t snapshot_read(struct origin *origin, const char *path, char *buffer, size_t size)
{
	struct node *node;
	int result = tree_find(snapshot(origin)->tree, path, true, &node);
	return result ? result : read_node(snapshot(origin), node, buffer, size - 1);
}

static int snapshot_list(struct origin *origin, struct arena *arena, const char *path, struct strings *names)
{
	struct node *node;
	int result = tree_find(snapshot(origin)->tree, path, true, &node);
	if (!result && node->error)
		result = -node->error;
	if (!result && node->kind != NODE_DIRECTORY)
		result = node->kind == NODE_NAME ? -ENODATA : -ENOTDIR;
	for (struct node *child = result ? NULL : node->children; child && !result; child = child->next)
		result = strings_add(arena, names, child->name);
	return result;
}

static ssize_t snapshot_readlink(struct origin *origin, const char *path, char *buffer, size_t size)
{
	struct node *node;
	int result = tree_find(snapshot(origin)->tree, path, false, &node);
	if (result)
		return result;
	if (node->kind != NODE_LINK)
		return node->error ? -node->error : -EINVAL;
	size_t length = node->length < size - 1 ? node->length : size - 1;
	memcpy(buffer, node->data, length);
	buffer[length] = '\0';
	return (ssize_t)length;
}

static int snapshot_realpath(struct origin *origin, const char *path, char *buffer, size_t size)
{
	struct node *node;
	int result = tree_find(snapshot(origin)->tree, path, true, &node);
	if (result)
		return result;
	int length = tree_path(snapshot(origin)->tree, node, buffer, size);
	return length < 0 ? length : 0;
}

/* Device nodes are files that hold the errno of access(2). */
static int snapshot_access(struct origin *origin, const char *path)
{
	struct node *node;
	int result = tree_find(snapshot(origin)->tree, path, true, &node);
	if (result || node->error)
		return result ? result : -node->error;
	if (strncmp(path, "dev/", 4) != 0 || node->kind != NODE_FILE)
		return 0;
	char text[16];
	ssize_t length = read_node(snapshot(origin), node, text, sizeof(text) - 1);
	if (length < 0)
		return (int)length;
	text[length] = '\0';
	int64_t code;
	return parse_number(text, 10, &code) || code < 0 || code > 4095 ? -EBADMSG : -(int)code;
}

static int answer(struct snapshot *self, int protocol, struct nl_request *request)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), SNAPSHOT_NETLINK "/%s/%s", protocol_name(protocol), request->name);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	char *data;
	int result = load(self, path, &data, &request->length);
	if (!result)
		request->reply = (unsigned char *)data;
	return result;
}

static int snapshot_netlink(struct origin *origin, int protocol, struct nl_request *requests, size_t count)
{
	bool answered = false;
	for (size_t i = 0; i < count; i++) {
		requests[i].reply = NULL;
		requests[i].length = 0;
		requests[i].error = answer(snapshot(origin), protocol, &requests[i]);
		answered |= !requests[i].error;
	}
	return answered ? 0 : requests[0].error;
}

static void put_json(json_object **object)
{
	json_object_put(*object);
}

/* A JSON file of the snapshot into a struct. */
static int read_record(const struct snapshot *self, const char *path, const struct record *record, struct arena *arena,
        void *data, json_object **root, struct error *error)
{
	autofree char *text = NULL;
	size_t length;
	int result = load(self, path, &text, &length);
	if (result)
		return error_set(error, result, "%s", path);
	*root = json_parse(text, length, path, error);
	return *root ? record_from_json(record, *root, arena, data, error) : -EINVAL;
}

/* What was not asked is not told, as an opened device would. */
static void drop_unwanted(struct verbs_answer *answer, unsigned int want)
{
	if (!(want & VERBS_GIDS)) {
		answer->gids.count = 0;
		answer->gid_error = (struct num){ 0 };
	}
	if (!(want & VERBS_PORTS)) {
		answer->ports.count = 0;
		answer->max_message_bytes = (struct num){ 0 };
	}
}

static int recorded_failure(json_object *root, struct error *error)
{
	json_object *failure, *code = NULL, *text = NULL;
	if (!json_object_object_get_ex(root, SNAPSHOT_VERBS_ERROR, &failure) || !failure)
		return 0;
	json_object_object_get_ex(failure, "errno", &code);
	json_object_object_get_ex(failure, "text", &text);
	int number = json_object_get_int(code);
	if (number < 1 || number > 4095)
		number = EIO;
	if (!json_object_is_type(text, json_type_string))
		return error_set(error, -number, "opening the device");
	return error_say(error, -number, "%s", json_object_get_string(text));
}

static int snapshot_verbs(struct origin *origin, struct arena *arena, const char *device, unsigned int want,
        struct verbs_answer *answer, struct error *error)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), SNAPSHOT_VERBS "/%s.json", device);
	if (length < 0 || (size_t)length >= sizeof(path))
		return error_set(error, -ENAMETOOLONG, "%s", device);
	autocall(put_json) json_object *root = NULL;
	int result = read_record(snapshot(origin), path, &verbs_record, arena, answer, &root, error);
	if (result == -ENOENT)
		return error_say(error, result, "%s: the snapshot holds no answers of verbs for it", device);
	if (!result)
		result = recorded_failure(root, error);
	drop_unwanted(answer, want);
	return result;
}

static int snapshot_process(struct origin *origin, struct arena *arena, struct process_facts *facts)
{
	autocall(put_json) json_object *root = NULL;
	return read_record(snapshot(origin), SNAPSHOT_PROCESS, &process_record, arena, facts, &root, NULL);
}

static int snapshot_host(struct origin *origin, struct arena *arena, struct host_facts *facts)
{
	autocall(put_json) json_object *root = NULL;
	return read_record(snapshot(origin), SNAPSHOT_HOST, &host_facts_record, arena, facts, &root, NULL);
}

static void snapshot_close(struct origin *origin)
{
	struct snapshot *self = snapshot(origin);
	tree_free(self->tree);
	if (self->directory >= 0)
		close(self->directory);
	free(self);
}

static const struct origin_ops snapshot_ops = {
	.name = "snapshot",
	.read = snapshot_read,
	.list = snapshot_list,
	.readlink = snapshot_readlink,
	.realpath = snapshot_realpath,
	.access = snapshot_access,
	.netlink = snapshot_netlink,
	.verbs = snapshot_verbs,
	.process = snapshot_process,
	.host = snapshot_host,
	.close = snapshot_close,
};

/* ---- opening ---- */

static bool has(const struct tree *tree, const struct node *node, const char *name)
{
	return tree_child(tree, node, name, strlen(name));
}

static bool is_snapshot(const struct tree *tree, const struct node *node)
{
	return node->kind == NODE_DIRECTORY && (has(tree, node, "sys") || has(tree, node, SNAPSHOT_HOST));
}

/* An archive of the directory itself has everything one level down. */
static int find_root(struct snapshot *self, const char *path, struct error *error)
{
	struct node *root = tree_root(self->tree), *only = root->children;
	if (is_snapshot(self->tree, root))
		return 0;
	if (!only)
		return error_say(error, -EINVAL, "%s: not a snapshot: it is empty", path);
	if (!only->next && self->directory < 0 && is_snapshot(self->tree, only)) {
		tree_set_root(self->tree, only);
		return 0;
	}
	return error_say(error, -EINVAL, "%s: not a snapshot: there is neither sys/ nor " SNAPSHOT_HOST " in it", path);
}

static int open_directory(struct snapshot *self, int fd, const char *path, struct error *error)
{
	self->tree = tree_new(SNAPSHOT_ARCHIVE_LIMIT);
	self->directory = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (!self->tree || self->directory < 0 || again < 0) {
		if (again >= 0)
			close(again);
		return error_set(error, -ENOMEM, "%s", path);
	}
	struct scan scan = { .tree = self->tree, .path = path, .error = error };
	return scan_directory(&scan, again, tree_root(self->tree), 0);
}

static int open_archive(struct snapshot *self, int fd, const char *path, struct error *error)
{
	/* Twice: names and a hostile archive's waste have to fit besides the contents. */
	self->tree = tree_new(2 * (size_t)SNAPSHOT_ARCHIVE_LIMIT);
	return self->tree ? archive_load(self->tree, fd, path, error) : error_set(error, -ENOMEM, "%s", path);
}

static int open_any(struct snapshot *self, const char *path, struct error *error)
{
	/* O_NONBLOCK: opening a FIFO must not wait for a writer. */
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	if (fd < 0 || fstat(fd, &status))
		return error_set(error, -errno, "%s", path);
	if (S_ISDIR(status.st_mode))
		return open_directory(self, fd, path, error);
	if (S_ISREG(status.st_mode))
		return open_archive(self, fd, path, error);
	return error_say(error, -EINVAL, "%s: not a snapshot: neither a directory nor an archive", path);
}

struct origin *origin_snapshot(const char *path, struct error *error)
{
	struct snapshot *self = calloc(1, sizeof(*self));
	if (!self) {
		error_set(error, -ENOMEM, "%s", path);
		return NULL;
	}
	self->origin.ops = &snapshot_ops;
	self->directory = -1;
	int result = open_any(self, path, error);
	if (!result)
		result = find_root(self, path, error);
	if (!result)
		result = each_line(self, path, SNAPSHOT_NAMES, apply_name, error);
	if (!result)
		result = each_line(self, path, SNAPSHOT_ERRORS, apply_error, error);
	if (result) {
		snapshot_close(&self->origin);
		return NULL;
	}
	return &self->origin;
}
