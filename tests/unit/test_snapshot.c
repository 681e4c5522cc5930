/* SPDX-License-Identifier: MIT */
/* The snapshot as an origin: links that stay inside, errors, names, and archives of every sort of malice. */
#include "directory_fixture.h"

#include "model/gid.h"
#include "model/host.h"
#include "origin/private.h"
#include "source/verbs.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

static void put_link(const char *path, const char *target)
{
	assert_int_equal(symlink(target, below(path)), 0);
}

static int set_up(void **state)
{
	(void)state;
	return make_root();
}

static int tear_down(void **state)
{
	(void)state;
	return remove_root();
}

static struct origin *open_root(const char *path)
{
	struct error error = { 0 };
	struct origin *origin = origin_snapshot(path, &error);
	if (!origin)
		print_error("%s\n", error.text);
	assert_non_null(origin);
	return origin;
}

static void assert_text(struct origin *origin, const char *path, const char *expected)
{
	char buffer[256];
	ssize_t length = origin_read(origin, path, buffer, sizeof(buffer));
	assert_int_equal(length, (ssize_t)strlen(expected));
	assert_string_equal(buffer, expected);
}

static void assert_read_error(struct origin *origin, const char *path, int error)
{
	char buffer[256];
	assert_int_equal(origin_read(origin, path, buffer, sizeof(buffer)), -error);
	assert_string_equal(buffer, "");
}

/* ---- files and links ---- */

static void files_are_read(void **state)
{
	(void)state;
	put("sys/class/a", "one\n");
	autocall(origin_closep) struct origin *origin = open_root(root);
	assert_string_equal(origin_name(origin), "snapshot");
	assert_text(origin, "sys/class/a", "one\n");
	assert_read_error(origin, "sys/class/b", ENOENT);
	assert_read_error(origin, "sys/class/a/b", ENOTDIR);
	assert_read_error(origin, "sys/class", EISDIR);
	char small[3];
	assert_int_equal(origin_read(origin, "sys/class/a", small, sizeof(small)), 2);
	assert_string_equal(small, "on");
	autofree char *data = NULL;
	size_t length;
	assert_int_equal(origin_read_all(origin, "sys/class/a", &data, &length), 0);
	assert_int_equal(length, 4);
}

static void links_stay_inside(void **state)
{
	(void)state;
	put("sys/devices/x/name", "inside\n");
	put("etc/passwd", "not of this host\n");
	put("sys/class/keep", "");
	put_link("sys/class/x", "../devices/x");
	put_link("sys/class/absolute", "/sys/devices/x");
	put_link("sys/class/up", "../../../../../../../../etc");
	put_link("sys/class/passwd", "/etc/passwd");
	put_link("sys/class/loop", "loop");
	put_link("sys/class/dangling", "nowhere");
	autocall(origin_closep) struct origin *origin = open_root(root);
	assert_text(origin, "sys/class/x/name", "inside\n");
	assert_text(origin, "sys/class/absolute/name", "inside\n");
	assert_text(origin, "sys/class/up/passwd", "not of this host\n");
	assert_text(origin, "sys/class/passwd", "not of this host\n");
	assert_read_error(origin, "sys/class/loop", ELOOP);
	assert_read_error(origin, "sys/class/dangling", ENOENT);
	assert_read_error(origin, "sys/class/../../etc/passwd", EINVAL);
	char buffer[PATH_MAX];
	assert_int_equal(origin_readlink(origin, "sys/class/x", buffer, sizeof(buffer)), 12);
	assert_string_equal(buffer, "../devices/x");
	assert_int_equal(origin_readlink(origin, "sys/class/keep", buffer, sizeof(buffer)), -EINVAL);
	assert_int_equal(origin_realpath(origin, "sys/class/x/name", buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, "sys/devices/x/name");
}

/* Names come from the kernel: what is asked for is a path below the root, with nothing in it that leads elsewhere. */
static void paths_are_clean(void **state)
{
	(void)state;
	static const char *const good[] = { "sys/class/.a", "sys/class/a.", "sys/class/..a", "sys/class/...",
		"sys/class/e.1", "dev/.b/c", "proc/1.2" };
	static const char *const bad[] = { "", "/sys/class", "sys/", "sys//class", "sys/./class", "sys/.", "sys/..",
		"sys/../sys/class/a.", "sys/class/a./..", "etc/passwd", "report" };
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		put(good[i], "text\n");
	put("etc/passwd", "not of this host\n");
	autocall(origin_closep) struct origin *origin = open_root(root);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_text(origin, good[i], "text\n");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_read_error(origin, bad[i], EINVAL);
}

/* A link that appears in the directory after it was opened is not followed out of it either. */
static void late_links_are_refused(void **state)
{
	(void)state;
	put("sys/class/a", "one\n");
	put("sys/real/b", "two\n");
	autocall(origin_closep) struct origin *origin = open_root(root);
	assert_text(origin, "sys/class/a", "one\n"); /* names are read when a directory is entered */
	assert_text(origin, "sys/real/b", "two\n");
	assert_int_equal(unlink(below("sys/class/a")), 0);
	put_link("sys/class/a", "/etc/hostname");
	char moved[PATH_MAX];
	snprintf(moved, sizeof(moved), "%s/sys/moved", root);
	assert_int_equal(rename(below("sys/real"), moved), 0);
	put_link("sys/real", "/etc");
	assert_read_error(origin, "sys/class/a", ELOOP);
	assert_read_error(origin, "sys/real/b", ELOOP);
	assert_int_equal(unlink(below("sys/class/a")), 0);
	assert_int_equal(mkfifo(below("sys/class/a"), 0666), 0);
	assert_read_error(origin, "sys/class/a", EINVAL);
}

static void lists_are_in_natural_order(void **state)
{
	(void)state;
	put("sys/class/m/mlx5_10/a", "");
	put("sys/class/m/mlx5_9", "");
	put("names", "sys/class/m/mlx5_11\nsys/class/m/mlx5_9\n# a comment\n");
	autocall(origin_closep) struct origin *origin = open_root(root);
	struct arena *arena = test_arena();
	struct strings names;
	assert_int_equal(origin_list(origin, arena, "sys/class/m", &names), 0);
	assert_int_equal(names.count, 3);
	assert_string_equal(names.items[0], "mlx5_9");
	assert_string_equal(names.items[1], "mlx5_10");
	assert_string_equal(names.items[2], "mlx5_11");
	assert_read_error(origin, "sys/class/m/mlx5_11", ENODATA);
	assert_int_equal(origin_list(origin, arena, "sys/class/m/mlx5_11", &names), -ENODATA);
	assert_int_equal(origin_list(origin, arena, "sys/class/m/mlx5_9", &names), -ENOTDIR);
	assert_int_equal(origin_list(origin, arena, "sys/none", &names), -ENOENT);
	arena_free(arena);
}

/* Entering a directory while the lines are read makes lines that spoke of it before be read again. */
static void names_of_directories_within_each_other(void **state)
{
	(void)state;
	put("sys/a/b/c/file", "");
	put("names", "sys/one\nsys/a/two\nsys/a/b/three\nsys/a/four\nsys/a/b/c/five\nsys/a/b/c/six\nsys/a/b/c/seven\n");
	autocall(origin_closep) struct origin *origin = open_root(root);
	struct arena *arena = test_arena();
	struct strings names;
	assert_int_equal(origin_list(origin, arena, "sys/a/b/c", &names), 0);
	assert_int_equal(names.count, 4);
	assert_int_equal(origin_list(origin, arena, "sys/a/b", &names), 0);
	assert_int_equal(names.count, 2);
	assert_int_equal(origin_list(origin, arena, "sys/a", &names), 0);
	assert_int_equal(names.count, 3);
	arena_free(arena);
}

static void errors_are_answers(void **state)
{
	(void)state;
	put("sys/devices/x/rate", "never seen\n");
	put("sys/class/keep", "");
	put_link("sys/class/x", "../devices/x");
	put("names", "sys/class/gone\n");
	put("errors", "22 sys/class/x/rate\n13 sys/kernel/debug\n2 sys/class/gone\n2 sys/class/never\n95 "
	              "sys/devices/x/new\n");
	autocall(origin_closep) struct origin *origin = open_root(root);
	struct arena *arena = test_arena();
	struct strings names;
	assert_read_error(origin, "sys/class/x/rate", EINVAL);
	assert_read_error(origin, "sys/devices/x/rate", EINVAL);
	assert_read_error(origin, "sys/devices/x/new", EOPNOTSUPP);
	assert_read_error(origin, "sys/kernel/debug/mlx5", EACCES);
	assert_int_equal(origin_list(origin, arena, "sys/kernel/debug", &names), -EACCES);
	assert_read_error(origin, "sys/class/gone", ENOENT);
	assert_int_equal(origin_list(origin, arena, "sys/class", &names), 0);
	assert_true(strings_contain(&names, "gone"));
	assert_false(strings_contain(&names, "never"));
	assert_int_equal(origin_access(origin, "sys/class/x/rate"), -EINVAL);
	arena_free(arena);
}

/* ---- device nodes, netlink, verbs, facts ---- */

/* As a worker leaves them that had been told to leave a device alone. */
static void what_was_given_up_is_told(void **state)
{
	(void)state;
	put("sys/class/infiniband/keep", "");
	put_link("sys/class/infiniband/x", "../../devices/x");
	put("sys/devices/y/rate", "100\n");
	put("names", "sys/devices/x\n");
	put("errors", "2 sys/devices/x/tc/1/traffic_class\n110 sys/devices/y\n110 sys/devices/x/board\n");
	autocall(origin_closep) struct origin *origin = open_root(root);
	assert_read_error(origin, "sys/class/infiniband/x/board", ETIMEDOUT);
	assert_text(origin, "sys/devices/y/rate", "100\n");
	assert_read_error(origin, "sys/devices/y/state", ETIMEDOUT);
	struct strings names;
	autocall(arena_freep) struct arena *arena = arena_new(1 << 16);
	assert_int_equal(origin_list(origin, arena, "sys/devices/y", &names), -ETIMEDOUT);
}

static void device_nodes_hold_an_errno(void **state)
{
	(void)state;
	put("sys/a", "");
	put("dev/infiniband/uverbs0", "0\n");
	put("dev/infiniband/uverbs1", "13\n");
	put("dev/infiniband/uverbs2", "what\n");
	autocall(origin_closep) struct origin *origin = open_root(root);
	assert_int_equal(origin_access(origin, "dev/infiniband/uverbs0"), 0);
	assert_int_equal(origin_access(origin, "dev/infiniband/uverbs1"), -EACCES);
	assert_int_equal(origin_access(origin, "dev/infiniband/uverbs2"), -EBADMSG);
	assert_int_equal(origin_access(origin, "dev/infiniband/uverbs3"), -ENOENT);
}

static int exchange(struct origin *origin, const char *name, struct nl_request *request)
{
	*request = (struct nl_request){ .name = name };
	return origin_netlink(origin, NETLINK_RDMA, request, 1);
}

static void netlink_is_replayed(void **state)
{
	(void)state;
	put("sys/a", "");
	put("netlink/rdma/dev", "reply");
	put("errors", "1 netlink/rdma/sys\n");
	put("secret", "outside");
	autocall(origin_closep) struct origin *origin = open_root(root);
	struct nl_request request;
	assert_int_equal(exchange(origin, "dev", &request), 0);
	assert_int_equal(request.error, 0);
	assert_int_equal(request.length, 5);
	assert_memory_equal(request.reply, "reply", 5);
	nl_requests_free(&request, 1);
	assert_int_equal(exchange(origin, "sys", &request), -EPERM);
	assert_int_equal(request.error, -EPERM);
	assert_int_equal(exchange(origin, "port.0", &request), -ENOENT);
	struct nl_request both[] = { { .name = "port.0" }, { .name = "dev" } };
	assert_int_equal(origin_netlink(origin, NETLINK_RDMA, both, 2), 0);
	assert_int_equal(both[0].error, -ENOENT);
	assert_int_equal(both[1].error, 0);
	nl_requests_free(both, 2);
}

static int is_next(void *data, struct verbs_call *call)
{
	struct verbs_call **next = data;
	assert_ptr_equal(call, *next);
	(*next)++;
	return 0;
}

static void verbs_are_replayed(void **state)
{
	(void)state;
	put("sys/a", "");
	put("verbs/mlx5_0.json",
	        "{\"provider\":\"mlx5\",\"port_count\":1,\"ports\":[{\"number\":1,\"active_mtu\":4096}],"
	        "\"gids\":[{\"port\":1,\"index\":3,\"type\":2,\"ifindex\":4}]}");
	put("verbs/mlx5_1.json", "{\"error\":{\"errno\":13,\"text\":\"mlx5_1: opening: no\"}}");
	put("verbs/mlx5_2.json", "{\"ports\":7}");
	put("verbs/mlx5_3.json", "{");
	autocall(origin_closep) struct origin *origin = open_root(root);
	struct arena *arena = test_arena();
	const struct verbs_question ports = { .want = VERBS_PORTS }, gids = { .want = VERBS_GIDS };
	struct verbs_call calls[] = {
		{ "mlx5_0", .question = ports },
		{ "mlx5_0", .question = gids },
		{ "mlx5_1", .question = ports },
		{ "mlx5_2", .question = ports },
		{ "mlx5_3", .question = ports },
		{ "mlx5_4", .question = ports },
	};
	struct verbs_call *next = calls;
	assert_int_equal(origin_verbs(origin, arena, calls, ARRAY_SIZE(calls), is_next, &next), 0);
	assert_ptr_equal(next, calls + ARRAY_SIZE(calls));
	assert_int_equal(calls[0].result, 0);
	assert_int_equal(calls[0].answer.ports.count, 1);
	assert_int_equal(calls[0].answer.gids.count, 0);
	assert_true(num_is(calls[0].answer.ports.items[0]->active_mtu, 4096));
	assert_int_equal(calls[1].result, 0);
	assert_int_equal(calls[1].answer.gids.count, 1);
	assert_int_equal(calls[1].answer.ports.count, 0);
	assert_int_equal(calls[2].result, -EACCES);
	assert_string_equal(calls[2].error.text, "mlx5_1: opening: no");
	assert_int_equal(calls[3].result, -EINVAL);
	assert_int_equal(calls[4].result, -EINVAL);
	assert_int_equal(calls[5].result, -ENOENT);
	arena_free(arena);
}

static void facts_are_replayed(void **state)
{
	(void)state;
	put("host.json", "{\"hostname\":\"n\",\"kernel\":\"6.1\"}");
	autocall(origin_closep) struct origin *origin = open_root(root);
	struct arena *arena = test_arena();
	struct host_facts host = { 0 };
	struct process_facts process = { 0 };
	assert_int_equal(origin_host(origin, arena, &host, NULL), 0);
	assert_string_equal(host.hostname, "n");
	assert_null(host.architecture);
	assert_int_equal(origin_process(origin, arena, &process, NULL), -ENOENT);
	arena_free(arena);
}

/* ---- what is recorded ---- */

/* Of umad0, by its port; the adapter of umad1 refuses, and umad2 is not for this process. */
static int adapter_mad(struct origin *origin, struct mad_request *request)
{
	(void)origin;
	if (strcmp(request->node, "umad0") != 0)
		return strcmp(request->node, "umad1") ? -EACCES : -EOPNOTSUPP;
	memset(request->reply, (int)request->modifier, MAD_SIZE);
	return 0;
}

static void close_nothing(struct origin *origin)
{
	(void)origin;
}

static void ask_adapters(struct origin *origin)
{
	struct mad_request request = { .node = "umad0", .attribute = 0x17, .modifier = 0x42 };
	assert_int_equal(origin_mad(origin, &request), 0);
	assert_int_equal(request.reply[MAD_SIZE - 1], 0x42);
	request.modifier = 0x43;
	assert_int_equal(origin_mad(origin, &request), 0);
	assert_int_equal(request.reply[0], 0x43);
	request.node = "umad1";
	assert_int_equal(origin_mad(origin, &request), -EOPNOTSUPP);
	request.node = "umad2";
	assert_int_equal(origin_mad(origin, &request), -EACCES);
}

static void answers_of_adapters_are_recorded(void **state)
{
	(void)state;
	static const struct origin_ops ops = { .name = "live", .mad = adapter_mad, .close = close_nothing };
	struct origin adapters = { .ops = &ops };
	struct error error = { 0 };
	assert_int_equal(origin_record(&adapters, root, &error), 0);
	ask_adapters(&adapters);
	assert_int_equal(origin_record_result(&adapters, &error), 0);
	origin_close(&adapters);
	put("host.json", "{}");
	autocall(origin_closep) struct origin *origin = open_root(root);
	ask_adapters(origin);
	struct mad_request other = { .node = "umad0", .attribute = 0x18, .modifier = 0x42 };
	assert_int_equal(origin_mad(origin, &other), -ENOENT);
	other.node = "../umad0";
	assert_int_equal(origin_mad(origin, &other), -ENOENT);
	put("umad/umad0.0018.00000042", "short");
	autocall(origin_closep) struct origin *damaged = open_root(root);
	other.node = "umad0";
	assert_int_equal(origin_mad(damaged, &other), -EBADMSG);
}

/* hwloc, and what consumers of GIDs were told: an answer, an error, and what is damaged. */
static void answers_of_libraries_are_replayed(void **state)
{
	(void)state;
	put("host.json", "{}");
	put("hwloc.json", "{\"packages\":[{\"id\":1,\"cpus\":\"0-3\"},{\"id\":2,\"cpus\":null}]}");
	put("settings.json", "{\"variables\":[\"UCX_IB_GID_INDEX=3\"],\"nccl_conf\":[\"NCCL_IB_GID_INDEX=2\"]}");
	autocall(origin_closep) struct origin *origin = open_root(root);
	struct arena *arena = test_arena();
	struct package_list packages = { 0 };
	struct gid_settings settings = { 0 };
	struct error error = { 0 };
	assert_int_equal(origin_packages(origin, arena, &packages, &error), 0);
	assert_int_equal(packages.count, 2);
	assert_true(num_is(packages.items[0]->id, 1));
	assert_string_equal(packages.items[0]->cpus, "0-3");
	assert_string_equal(packages.items[1]->cpus, "");
	assert_int_equal(origin_settings(origin, arena, &settings, &error), 0);
	assert_int_equal(settings.variables.count, 1);
	assert_string_equal(settings.variables.items[0], "UCX_IB_GID_INDEX=3");
	assert_string_equal(settings.nccl_conf.items[0], "NCCL_IB_GID_INDEX=2");
	put("hwloc.json", "{\"packages\":[],\"error\":{\"errno\":65,\"text\":\"libhwloc: none\"}}");
	assert_int_equal(origin_packages(origin, arena, &packages, &error), -ENOPKG);
	assert_string_equal(error.text, "libhwloc: none");
	put("settings.json", "{\"variables\":[null],\"nccl_conf\":[]}");
	assert_int_equal(origin_settings(origin, arena, &settings, &error), -EINVAL);
	put("hwloc.json", "[]");
	assert_int_equal(origin_packages(origin, arena, &packages, &error), -EINVAL);
	arena_free(arena);
}

/* ---- what is no snapshot ---- */

static void assert_refused(const char *path, const char *why)
{
	struct error error = { 0 };
	struct origin *origin = origin_snapshot(path, &error);
	if (origin || !strstr(error.text, why))
		print_error("expected \"%s\": %s\n", why, origin ? "opened" : error.text);
	assert_null(origin);
	assert_non_null(strstr(error.text, why));
	assert_true(error.code < 0);
}

static void mistakes_are_named(void **state)
{
	(void)state;
	assert_refused(below("none"), "No such file");
	assert_refused(root, "is empty");
	put("readme", "text\n");
	assert_refused(root, "neither sys/ nor host.json");
	assert_refused(below("readme"), "not a snapshot");
	put("sys/a", "");
	put("errors", "EINVAL sys/a\n");
	assert_refused(root, "errors: \"EINVAL sys/a\"");
	put("errors", "0 sys/a\n");
	assert_refused(root, "errors");
	put("errors", "22 sys/../../etc\n");
	assert_refused(root, "cannot hold");
	put("errors", "");
	assert_int_equal(mkfifo(below("fifo"), 0666), 0);
	assert_refused(root, "fifo: is neither");
	assert_refused(below("fifo"), "neither a directory nor an archive");
}

/* What is below the root is looked at when it is asked for; nothing that it says is taken for the host's answer. */
static void damage_is_told(void **state)
{
	(void)state;
	put("sys/class/a", "");
	put("sys/devices/b", "");
	assert_int_equal(mkfifo(below("sys/class/fifo"), 0666), 0);
	autocall(origin_closep) struct origin *origin = open_root(root);
	struct error error = { 0 };
	assert_text(origin, "sys/devices/b", "");
	assert_int_equal(origin_damage(origin, &error), 0);
	assert_read_error(origin, "sys/class/a", EINVAL);
	assert_int_equal(origin_damage(origin, &error), -EINVAL);
	assert_non_null(strstr(error.text, "sys/class/fifo: is neither"));
}

/* Lines about one directory need not follow each other, and later ones win. */
static void errors_in_any_order(void **state)
{
	(void)state;
	put("sys/a/x", "");
	put("sys/b/x", "");
	put_link("sys/c", "a");
	put("errors", "5 sys/a/x\n5 sys/b/x\n# between\n22 sys/c/y\n\n13 sys/b/z\n95 sys/a/x\n22 sys/a//w/\n13 sys/d");
	autocall(origin_closep) struct origin *origin = open_root(root);
	assert_read_error(origin, "sys/a/x", EOPNOTSUPP);
	assert_read_error(origin, "sys/a/y", EINVAL);
	assert_read_error(origin, "sys/a/w", EINVAL);
	assert_read_error(origin, "sys/b/x", EIO);
	assert_read_error(origin, "sys/b/z", EACCES);
	assert_read_error(origin, "sys/d", EACCES);
}

/* ---- archives ---- */

struct member {
	const char *name;
	mode_t type;
	const char *content; /* of a file; of a link its target */
	const char *hardlink;
	size_t size; /* 0: that of the content */
};

static void add_member(struct archive *archive, const struct member *member)
{
	struct archive_entry *entry = archive_entry_new();
	size_t length = member->content ? strlen(member->content) : 0;
	archive_entry_set_pathname(entry, member->name);
	archive_entry_set_filetype(entry, member->type);
	archive_entry_set_perm(entry, 0644);
	if (member->type == AE_IFLNK)
		archive_entry_set_symlink(entry, member->content);
	if (member->hardlink)
		archive_entry_set_hardlink(entry, member->hardlink);
	bool has_data = member->type == AE_IFREG && !member->hardlink;
	archive_entry_set_size(entry, has_data ? (int64_t)(member->size ? member->size : length) : 0);
	assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
	if (has_data && length)
		assert_int_equal(archive_write_data(archive, member->content, length), length);
	archive_entry_free(entry);
}

static const char *pack(const struct member *members, size_t count, bool compressed)
{
	struct archive *archive = archive_write_new();
	archive_write_set_format_pax_restricted(archive);
	if (compressed)
		archive_write_add_filter_gzip(archive);
	assert_int_equal(archive_write_open_filename(archive, below("a.tar")), ARCHIVE_OK);
	for (size_t i = 0; i < count; i++)
		add_member(archive, &members[i]);
	assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
	archive_write_free(archive);
	return below("a.tar");
}

#define PACK(...)                                                                                                      \
	pack((const struct member[]){ __VA_ARGS__ },                                                                   \
	        sizeof((const struct member[]){ __VA_ARGS__ }) / sizeof(struct member), false)
#define FILE_(name_, content_)                                                                                         \
	{                                                                                                              \
		.name = (name_), .type = AE_IFREG, .content = (content_)                                               \
	}
#define LINK_(name_, target_)                                                                                          \
	{                                                                                                              \
		.name = (name_), .type = AE_IFLNK, .content = (target_)                                                \
	}

static void archives_are_read(void **state)
{
	(void)state;
	autocall(origin_closep) struct origin *origin = open_root(PACK(FILE_("./sys/devices/x/name", "inside\n"),
	        LINK_("./sys/class/x", "../devices/x"), LINK_("./sys/class/out", "/../../etc/passwd"),
	        { .name = "sys/hard", .type = AE_IFREG, .hardlink = "sys/devices/x/name" },
	        FILE_("errors", "22 sys/class/x/rate\n")));
	assert_text(origin, "sys/class/x/name", "inside\n");
	assert_text(origin, "sys/hard", "inside\n");
	assert_read_error(origin, "sys/class/out", ENOENT);
	assert_read_error(origin, "sys/devices/x/rate", EINVAL);
}

static void archives_of_a_directory_are_read(void **state)
{
	(void)state;
	autocall(origin_closep) struct origin *origin = open_root(PACK(FILE_("capture/sys/a", "one\n"),
	        LINK_("capture/sys/b", "/sys/a"), LINK_("capture/sys/c", "../../sys/a")));
	assert_text(origin, "sys/a", "one\n");
	assert_text(origin, "sys/b", "one\n");
	assert_text(origin, "sys/c", "one\n");
	char buffer[PATH_MAX];
	assert_int_equal(origin_realpath(origin, "sys/b", buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, "sys/a");
}

static void later_members_replace_earlier_ones(void **state)
{
	(void)state;
	autocall(origin_closep) struct origin *origin =
	        open_root(PACK(FILE_("sys/a", "one\n"), FILE_("sys/a", "two\n")));
	assert_text(origin, "sys/a", "two\n");
}

static void hostile_archives_are_refused(void **state)
{
	(void)state;
	assert_refused(PACK(FILE_("sys/a", ""), FILE_("../escape", "x")), "a name with \"..\"");
	assert_refused(PACK(FILE_("sys/a", ""), FILE_("sys/../../escape", "x")), "a name with \"..\"");
	assert_refused(PACK(FILE_("/sys/a", "")), "an absolute name");
	assert_refused(PACK(LINK_("sys/class", "/etc"), FILE_("sys/class/a", "x")), "lies below");
	assert_refused(PACK(FILE_("sys/a", ""), FILE_("sys/a/b", "x")), "lies below");
	assert_refused(PACK(FILE_("sys/a", ""), { .name = "sys/pipe", .type = AE_IFIFO }), "neither a file");
	assert_refused(PACK(FILE_("sys/a", ""), { .name = "sys/null", .type = AE_IFCHR }), "neither a file");
	assert_refused(PACK(FILE_("sys/a", ""), { .name = "sys/h", .type = AE_IFREG, .hardlink = "etc/passwd" }),
	        "a hard link to what is not in the archive");
	assert_refused(
	        PACK(FILE_("sys/a", ""),
	                FILE_("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
	                      "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/b",
	                        "x")),
	        "more than");
	assert_int_equal(access(below("escape"), F_OK), -1);
}

/* 300 MiB of zeros in some hundred KiB. */
static void bombs_are_refused(void **state)
{
	(void)state;
	enum { CHUNK = 60 << 20 };
	char *zeros = malloc(CHUNK + 1);
	assert_non_null(zeros);
	memset(zeros, '0', CHUNK);
	zeros[CHUNK] = '\0';
	struct member members[] = { FILE_("sys/a", zeros), FILE_("sys/b", zeros), FILE_("sys/c", zeros),
		FILE_("sys/d", zeros), FILE_("sys/e", zeros) };
	assert_refused(pack(members, ARRAY_SIZE(members), true), "more than 256 MiB");
	free(zeros);
}

static void cut(const char *path, off_t length)
{
	assert_int_equal(truncate(path, length), 0);
}

static void truncated_archives_are_refused(void **state)
{
	(void)state;
	struct member members[] = { FILE_("sys/a", "one\n"), FILE_("sys/b", "two\n"), FILE_("sys/c", "three\n") };
	for (off_t length = 0; length < 6 * 512; length += 256) {
		cut(pack(members, ARRAY_SIZE(members), false), length);
		assert_refused(below("a.tar"), "snapshot");
	}
	struct stat status;
	assert_int_equal(stat(pack(members, ARRAY_SIZE(members), true), &status), 0);
	for (off_t length = 0; length < status.st_size; length += 7) {
		cut(pack(members, ARRAY_SIZE(members), true), length);
		assert_refused(below("a.tar"), "snapshot");
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(files_are_read),
		TEST(links_stay_inside),
		TEST(paths_are_clean),
		TEST(late_links_are_refused),
		TEST(lists_are_in_natural_order),
		TEST(names_of_directories_within_each_other),
		TEST(errors_are_answers),
		TEST(what_was_given_up_is_told),
		TEST(device_nodes_hold_an_errno),
		TEST(netlink_is_replayed),
		TEST(verbs_are_replayed),
		TEST(facts_are_replayed),
		TEST(answers_of_adapters_are_recorded),
		TEST(answers_of_libraries_are_replayed),
		TEST(mistakes_are_named),
		TEST(damage_is_told),
		TEST(errors_in_any_order),
		TEST(archives_are_read),
		TEST(archives_of_a_directory_are_read),
		TEST(later_members_replace_earlier_ones),
		TEST(hostile_archives_are_refused),
		TEST(bombs_are_refused),
		TEST(truncated_archives_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
