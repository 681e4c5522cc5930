/* SPDX-License-Identifier: MIT */
/* Three looks at a port's counters: what is kept of them, what stood still without us, and how far apart they are. */
#include "unit.h"

#include "base/cleanup.h"
#include "origin/private.h"
#include "probe/counters.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>

/* ---- a port in sysfs, whose counters are others at each look ---- */

enum { LOOKS = 3, NONE = -1 };

static const struct {
	const char *directory, *name;
	int64_t values[LOOKS]; /* NONE: not there */
} files[] = {
	{ "hw_counters", "out_of_sequence", { 5, 5, 9 } },       /* moved in the run, and had stood still */
	{ "hw_counters", "packet_seq_err", { 5, 6, 9 } },        /* moves all the time */
	{ "hw_counters", "rnr_nak_retry_err", { NONE, 0, 1 } },  /* not seen at the first look */
	{ "hw_counters", "duplicate_request", { 3, 3, 3 } },     /* an error that did not happen */
	{ "hw_counters", "out_of_buffer", { 7, 8, 8 } },         /* happened before the run */
	{ "hw_counters", "local_ack_timeout_err", { 0, 0, 0 } }, /* a timer that never expired is a fact */
	{ "counters", "port_rcv_packets", { 40, 40, 40 } },      /* and so is traffic that there was none of */
	{ "counters", "port_xmit_discards", { 1, 1, 2 } },
	{ "counters", "out_of_sequence", { 100, 200, 300 } }, /* a namesake: hw_counters come first */
};

static const char *lifespan; /* NULL: no such file */
static int look;             /* of the three */
static bool has_counters;

static ssize_t read_file(struct origin *origin, const char *path, char *buffer, size_t size)
{
	(void)origin;
	const char *prefix = "sys/class/infiniband/mlx5_0/ports/1/", *rest = path + strlen(prefix);
	assert_int_equal(strncmp(path, prefix, strlen(prefix)), 0);
	if (!strcmp(rest, "hw_counters/lifespan"))
		return lifespan ? snprintf(buffer, size, "%s\n", lifespan) : -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char file[128];
		snprintf(file, sizeof(file), "%s/%s", files[i].directory, files[i].name);
		if (!strcmp(rest, file))
			return snprintf(buffer, size, "%lld\n", (long long)files[i].values[look]);
	}
	return -ENOENT;
}

static int list_files(struct origin *origin, struct arena *arena, const char *path, struct strings *names)
{
	(void)origin;
	const char *directory = strrchr(path, '/') + 1;
	if (!has_counters)
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(files[i].directory, directory) && files[i].values[look] != NONE)
			assert_int_equal(list_add_existing(arena, names, files[i].name), 0);
	if (lifespan && !strcmp(directory, "hw_counters"))
		assert_int_equal(list_add_existing(arena, names, "lifespan"), 0);
	return 0;
}

static int refuse(struct origin *origin, int protocol, struct nl_request *requests, size_t count)
{
	(void)origin, (void)protocol, (void)requests, (void)count;
	return -EPERM;
}

/* ---- a run of three looks ---- */

struct run {
	struct arena *arena;
	struct probe_run *probe;
	struct counters counters;
	int64_t looked_ns[LOOKS]; /* when each was done */
};

static struct run run_of(const char *device)
{
	static const struct origin_ops ops = {
		.name = "test", .read = read_file, .list = list_files, .netlink = refuse
	};
	static const struct survey survey;
	static struct probe_settings settings;
	static struct origin origin = { .ops = &ops };
	settings_init(&settings);
	struct run run = { .arena = test_arena() };
	run.probe = run_new(run.arena, &settings, &survey);
	assert_non_null(run.probe);
	run_facts(run.probe, SIDE_LOCAL)->device = device;
	run_facts(run.probe, SIDE_LOCAL)->port = num(1);
	void (*const looks[LOOKS])(struct counters *, struct origin *, struct probe_run *, int) = { counters_baseline,
		counters_before, counters_after };
	for (look = 0; look < LOOKS; look++) {
		looks[look](&run.counters, &origin, run.probe, SIDE_LOCAL);
		run.looked_ns[look] = run_now(run.probe);
	}
	return run;
}

static void run_end(struct run *run)
{
	counters_free(&run->counters);
	arena_free(run->arena);
}

static const struct counter_change *change_of(const struct run *run, const char *name)
{
	const struct counter_change *found = NULL;
	list_each(change, &run_evidence(run->probe)->counters) {
		if (strcmp(change->name, name) != 0)
			continue;
		assert_null(found);
		found = change;
	}
	return found;
}

static void assert_change(const struct run *run, const char *name, int64_t before, int64_t after, enum flag quiet)
{
	const struct counter_change *change = change_of(run, name);
	assert_non_null(change);
	assert_int_equal(change->side, SIDE_LOCAL);
	assert_true(num_is(change->before, before) && num_is(change->after, after));
	assert_int_equal(change->quiet, quiet);
}

static void changes_are_kept_with_what_was_before(void **state)
{
	(void)state;
	lifespan = "1";
	has_counters = true;
	struct run run = run_of("mlx5_0");
	assert_change(&run, "out_of_sequence", 5, 9, FLAG_YES);
	assert_change(&run, "packet_seq_err", 6, 9, FLAG_NO);
	assert_change(&run, "rnr_nak_retry_err", 0, 1, FLAG_UNKNOWN);
	assert_change(&run, "local_ack_timeout_err", 0, 0, FLAG_YES);
	assert_change(&run, "port_rcv_packets", 40, 40, FLAG_YES);
	assert_change(&run, "port_xmit_discards", 1, 2, FLAG_YES);
	assert_null(change_of(&run, "duplicate_request"));
	assert_null(change_of(&run, "out_of_buffer"));
	assert_null(change_of(&run, "lifespan"));
	assert_int_equal(run_evidence(run.probe)->counters.count, 6);
	assert_int_equal(run.probe->report.not_collected.count, 0);
	run_end(&run);
}

/* The driver answers with the same values for so long (kernel, rdma_hw_stats, lifespan): no look is of old ones. */
static void looks_are_a_lifespan_apart(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = { { "40", 40 }, { NULL, 10 }, { "-1", 10 }, { "soon", 10 }, { "0", 0 }, { "3600000", 1000 } };
	has_counters = true;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		lifespan = cases[i].text;
		struct run run = run_of("mlx5_0");
		assert_int_equal(run.counters.lifespan_ns, cases[i].ms * 1000000);
		for (int at = 1; at < LOOKS; at++)
			assert_true(run.looked_ns[at] - run.looked_ns[at - 1] >= run.counters.lifespan_ns);
		run_end(&run);
	}
}

static void what_cannot_be_read_is_told(void **state)
{
	(void)state;
	lifespan = NULL;
	has_counters = false;
	struct run run = run_of("mlx5_0");
	assert_int_equal(run_evidence(run.probe)->counters.count, 0);
	assert_true(run.probe->report.not_collected.count > 0);
	assert_string_equal(run.probe->report.not_collected.items[0]->what, "counters");
	assert_string_equal(run.probe->report.not_collected.items[0]->subject, "mlx5_0");
	assert_true(num_is(run.probe->report.not_collected.items[0]->error, ENOENT));
	run_end(&run);
	run = run_of(NULL); /* nothing is known of that end: nothing to look at */
	assert_int_equal(run_evidence(run.probe)->counters.count, 0);
	assert_int_equal(run.probe->report.not_collected.count, 0);
	run_end(&run);
}

/* ---- the answer of rdma netlink ---- */

static void put_counter(struct nlmsghdr *message, const char *name, const uint64_t *value)
{
	struct nlattr *entry = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	if (name)
		mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	if (value)
		mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, *value);
	mnl_attr_nest_end(message, entry);
}

/* One without a name or a value, or beyond what a counter holds is left out; so is a namesake of an earlier one. */
static void netlink_names_them_with_their_values(void **state)
{
	(void)state;
	static struct counter_set set;
	char buffer[1024];
	const uint64_t seven = 7, largest = INT64_MAX, larger = largest + 1;
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	struct nlattr *table = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	put_counter(message, "duplicate_request", &seven);
	put_counter(message, NULL, &seven);
	put_counter(message, "out_of_buffer", NULL);
	put_counter(message, "rx_icrc_encapsulated", &largest);
	put_counter(message, "np_cnp_sent", &larger);
	put_counter(message, "duplicate_request", &largest);
	mnl_attr_nest_end(message, table);
	assert_int_equal(counters_parse(buffer, message->nlmsg_len, &set), 0);
	assert_int_equal(set.count, 2);
	assert_string_equal(set.values[0].name, "duplicate_request");
	assert_int_equal(set.values[0].value, 7);
	assert_string_equal(set.values[1].name, "rx_icrc_encapsulated");
	assert_int_equal(set.values[1].value, INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_kept_with_what_was_before),
		cmocka_unit_test(looks_are_a_lifespan_apart),
		cmocka_unit_test(what_cannot_be_read_is_told),
		cmocka_unit_test(netlink_names_them_with_their_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
