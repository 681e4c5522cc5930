/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as an origin. An archive is read when it is opened; of a directory names are read when it is entered and
 * contents when they are asked for. What is found wrong then is damage, which ends the command (origin_damage()).
 */
#include "base/cleanup.h"
#include "model/gid.h"
#include "model/gpu.h"
#include "model/health.h"
#include "model/host.h"
#include "origin/directory.h"
#include "origin/format.h"
#include "origin/private.h"
#include "origin/remarks.h"
#include "json/json.h"
#include "source/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct snapshot {
	struct origin origin;
	struct tree *tree;
	struct directory directory; /* without a descriptor everything is in memory */
	struct remarks_file errors, names;
	char *path; /* as given, for messages */
};

static struct snapshot *snapshot(struct origin *origin)
{
	return (struct snapshot *)origin;
}

/* ---- contents ---- */

static ssize_t read_disk(const struct snapshot *self, const struct node *node, char *buffer, size_t size)
{
	autoclose int fd = directory_open(&self->directory, node);
	if (fd < 0)
		return fd;
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
	if (!result)
		result = tree_open(snapshot(origin)->tree, node);
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

static int snapshot_mad(struct origin *origin, struct mad_request *request)
{
	char path[PATH_MAX];
	autofree char *data = NULL;
	size_t length = 0;
	if (!mad_path(request, path, sizeof(path)))
		return -ENOENT;
	int result = load(snapshot(origin), path, &data, &length);
	if (!result && length != MAD_SIZE)
		return -EBADMSG;
	if (!result)
		memcpy(request->reply, data, MAD_SIZE);
	return result;
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
	struct error wrong = { 0 };
	result = *root ? record_from_json(record, *root, arena, data, &wrong) : -EINVAL;
	return wrong.code ? error_say(error, wrong.code, "%s: %s", path, wrong.text) : result;
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

static int recorded_failure(json_object *root, const char *action, struct error *error)
{
	json_object *failure, *code = NULL, *text = NULL;
	if (!json_object_object_get_ex(root, SNAPSHOT_FAILURE, &failure) || !failure)
		return 0;
	json_object_object_get_ex(failure, "errno", &code);
	json_object_object_get_ex(failure, "text", &text);
	int number = json_object_get_int(code);
	if (number < 1 || number > 4095)
		number = EIO;
	if (!json_object_is_type(text, json_type_string))
		return error_set(error, -number, "%s", action);
	return error_say(error, -number, "%s", json_object_get_string(text));
}

static int snapshot_verbs(struct origin *origin, struct arena *arena, const char *device,
        const struct verbs_question *question, struct verbs_answer *answer, struct error *error)
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
		result = recorded_failure(root, "opening the device", error);
	drop_unwanted(answer, question->want);
	return result;
}

/* What a library or this process answered then, or how it failed (`action`). `missing`: of a snapshot without it. */
static int read_answer(struct origin *origin, const char *path, const struct record *record, struct arena *arena,
        void *answer, const char *action, const char *missing, struct error *error)
{
	autocall(put_json) json_object *root = NULL;
	int result = read_record(snapshot(origin), path, record, arena, answer, &root, error);
	if (result == -ENOENT && missing)
		return error_say(error, result, "%s", missing);
	return result ? result : recorded_failure(root, action, error);
}

static int snapshot_process(
        struct origin *origin, struct arena *arena, struct process_facts *facts, struct error *error)
{
	return read_answer(origin, SNAPSHOT_PROCESS, &process_record, arena, facts, "this process", NULL, error);
}

static int snapshot_settings(
        struct origin *origin, struct arena *arena, struct gid_settings *settings, struct error *error)
{
	autocall(put_json) json_object *root = NULL;
	return read_record(snapshot(origin), SNAPSHOT_SETTINGS, &gid_settings_record, arena, settings, &root, error);
}

static int snapshot_cuda(struct origin *origin, struct arena *arena, struct cuda_answer *answer, struct error *error)
{
	return read_answer(origin, SNAPSHOT_CUDA, &cuda_record, arena, answer, "libcuda",
	        "the snapshot holds no answer of libcuda", error);
}

static int snapshot_filters(
        struct origin *origin, struct arena *arena, struct filter_answer *answer, struct error *error)
{
	return read_answer(origin, SNAPSHOT_FILTERS, &filter_answer_record, arena, answer, "packet filters",
	        "the snapshot holds no rules of packet filters", error);
}

static int snapshot_packages(
        struct origin *origin, struct arena *arena, struct package_list *packages, struct error *error)
{
	autocall(put_json) json_object *root = NULL;
	struct package_answer answer = { 0 };
	int result =
	        read_record(snapshot(origin), SNAPSHOT_HWLOC, &package_answer_record, arena, &answer, &root, error);
	if (result == -ENOENT)
		return -EOPNOTSUPP;
	list_each(package, &answer.packages)
		package->cpus = package->cpus ? package->cpus : "";
	*packages = answer.packages;
	return result ? result : recorded_failure(root, "hwloc", error);
}

static int snapshot_host(struct origin *origin, struct arena *arena, struct host_facts *facts, struct error *error)
{
	autocall(put_json) json_object *root = NULL;
	return read_record(snapshot(origin), SNAPSHOT_HOST, &host_facts_record, arena, facts, &root, error);
}

static int snapshot_damage(const struct origin *origin, struct error *error)
{
	const struct error *damage = &((const struct snapshot *)origin)->directory.damage;
	if (damage->code && error)
		*error = *damage;
	return damage->code;
}

static void snapshot_close(struct origin *origin)
{
	struct snapshot *self = snapshot(origin);
	if (self->errors.stream)
		fclose(self->errors.stream);
	if (self->names.stream)
		fclose(self->names.stream);
	tree_free(self->tree);
	if (self->directory.fd >= 0)
		close(self->directory.fd);
	free(self->path);
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
	.mad = snapshot_mad,
	.verbs = snapshot_verbs,
	.filters = snapshot_filters,
	.packages = snapshot_packages,
	.process = snapshot_process,
	.settings = snapshot_settings,
	.cuda = snapshot_cuda,
	.host = snapshot_host,
	.damage = snapshot_damage,
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
	if (!only && self->directory.fd >= 0)
		return error_say(error, -EINVAL, "%s: not a snapshot: the directory is empty", path);
	if (!only)
		return error_say(error, -EINVAL,
		        "%s: not a snapshot: there is no member in it, which is what libarchive says of an empty "
		        "archive, an empty file and of zeros",
		        path);
	if (!only->next && self->directory.fd < 0 && is_snapshot(self->tree, only)) {
		tree_set_root(self->tree, only);
		return 0;
	}
	return error_say(error, -EINVAL, "%s: not a snapshot: there is neither sys/ nor " SNAPSHOT_HOST " in it", path);
}

/* The tree_read of a directory: its names, then what else is said of them. */
static int read_names(void *context, struct node *node)
{
	struct snapshot *self = context;
	int result = directory_read(&self->directory, node);
	return result ? result : remarks_apply(node);
}

static int open_directory(struct snapshot *self, int fd, const char *path, struct error *error)
{
	self->directory = (struct directory){ .path = self->path, .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0) };
	if (self->directory.fd < 0)
		return error_set(error, -errno, "%s", path);
	self->directory.tree = self->tree = tree_new(SNAPSHOT_ARCHIVE_LIMIT);
	if (!self->tree)
		return error_set(error, -ENOMEM, "%s", path);
	tree_read_by(self->tree, read_names, self);
	int result = tree_open(self->tree, tree_root(self->tree));
	return result ? snapshot_damage(&self->origin, error) : 0;
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

static int open_remarks(struct snapshot *self, struct remarks_file *file, struct error *error)
{
	struct node *node;
	file->tree = self->tree;
	if (tree_find(self->tree, file->name, true, &node) || (node->kind == NODE_FILE && node->data && !node->length))
		return 0;
	if (node->kind != NODE_FILE)
		return error_set(error, -EISDIR, "%s: %s", file->path, file->name);
	int fd = node->data ? -1 : directory_open(&self->directory, node);
	file->stream = node->data ? fmemopen((void *)node->data, node->length, "r") : fd < 0 ? NULL : fdopen(fd, "r");
	if (!file->stream)
		return error_set(error, fd < 0 && !node->data ? fd : -errno, "%s: %s", file->path, file->name);
	return remarks_read(file, error);
}

struct origin *origin_snapshot(const char *path, struct error *error)
{
	struct snapshot *self = calloc(1, sizeof(*self));
	char *copy = strdup(path);
	if (!self || !copy) {
		free(self);
		free(copy);
		error_set(error, -ENOMEM, "%s", path);
		return NULL;
	}
	self->path = copy;
	self->origin.ops = &snapshot_ops;
	self->directory.fd = -1;
	self->names = (struct remarks_file){ .path = copy, .name = SNAPSHOT_NAMES };
	self->errors = (struct remarks_file){ .path = copy, .name = SNAPSHOT_ERRORS, .errors = true };
	int result = open_any(self, path, error);
	if (!result)
		result = find_root(self, path, error);
	if (!result)
		result = open_remarks(self, &self->names, error);
	if (!result)
		result = open_remarks(self, &self->errors, error);
	/* What was wrong with the directory is the cause of whatever followed from it. */
	int damage = snapshot_damage(&self->origin, error);
	if (result || damage) {
		snapshot_close(&self->origin);
		return NULL;
	}
	return &self->origin;
}
