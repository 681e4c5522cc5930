/* SPDX-License-Identifier: MIT */
/* gid --diff: what changed between two tables, and what that means to the user of an index. */
#include "gid_fixture.h"

#include "gid/diff.h"

static const struct gid_change *only_change(struct fixture *before, struct fixture *now)
{
	assert_int_equal(gid_diff(now->host->arena, &before->document, &now->document, NULL, 0), 0);
	assert_int_equal(now->document.changes.count, 1);
	return now->document.changes.items[0];
}

static void a_gid_moves(void **state)
{
	(void)state;
	struct fixture before = fixture_of(TRANSPORT_ROCE, 16), now = fixture_of(TRANSPORT_ROCE, 16);
	add_gid(&before, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	add_gid(&now, 5, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	const struct gid_change *change = only_change(&before, &now);
	assert_string_equal(change->kind, "moved");
	assert_true(num_is(change->from, 3) && num_is(change->to, 5));
	assert_string_equal(change->effect, "index 3 is now empty; its GID moved to 5");
	fixture_free(&before);
	fixture_free(&now);
}

static void a_table_gets_another_size(void **state)
{
	(void)state;
	struct fixture before = fixture_of(TRANSPORT_ROCE, 16), now = fixture_of(TRANSPORT_ROCE, 256);
	assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, NULL, 0), 0);
	assert_int_equal(now.document.changes.count, 0);
	assert_int_equal(now.document.resized.count, 1);
	const struct gid_resize *resize = now.document.resized.items[0];
	assert_string_equal(resize->device, now.device->name);
	assert_true(num_is(resize->from, 16) && num_is(resize->to, 256));
	fixture_free(&before);
	fixture_free(&now);
}

static void a_device_gets_another_name(void **state)
{
	(void)state;
	struct fixture before = fixture_of(TRANSPORT_ROCE, 16), now = fixture_of(TRANSPORT_ROCE, 16);
	now.device->name = "rocep1s0f0";
	now.table->device = now.device->name;
	add_gid(&before, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	add_gid(&now, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, NULL, 0), 0);
	assert_int_equal(now.document.changes.count, 2);
	assert_string_equal(now.document.changes.items[0]->kind, "gone");
	assert_string_equal(now.document.changes.items[0]->effect,
	        "there is no mlx5_0/1 any more; its GID is at index 3 of rocep1s0f0/1 now");
	assert_string_equal(now.document.changes.items[1]->kind, "new");
	fixture_free(&before);
	fixture_free(&now);
}

/* The netdev was made anew with another VLAN: the index is as good as another one. */
static void a_gid_gets_another_vlan(void **state)
{
	(void)state;
	struct fixture before = fixture_of(TRANSPORT_ROCE, 16), now = fixture_of(TRANSPORT_ROCE, 16);
	add_gid(&before, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "data");
	add_gid(&now, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "data");
	now.document.entries.items[0]->vlan = num(200);
	assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, NULL, 0), 0);
	assert_int_equal(now.document.changes.count, 0); /* which one it had is not known */
	before.document.entries.items[0]->vlan = num(100);
	assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, NULL, 0), 0);
	assert_int_equal(now.document.changes.count, 2);
	assert_string_equal(now.document.changes.items[0]->kind, "gone");
	assert_string_equal(now.document.changes.items[0]->effect, "index 3 sends with VLAN 200 now, not 100");
	assert_string_equal(now.document.changes.items[1]->kind, "new");
	fixture_free(&before);
	fixture_free(&now);
}

static void a_device_is_gone(void **state)
{
	(void)state;
	struct fixture before = fixture_of(TRANSPORT_ROCE, 16), now = fixture_of(TRANSPORT_ROCE, 16);
	now.table->device = "mlx5_1";
	add_gid(&before, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	assert_string_equal(only_change(&before, &now)->effect, "there is no mlx5_0/1 any more");
	fixture_free(&before);
	fixture_free(&now);
}

static void what_a_file_holds_twice_is_not_gone(void **state)
{
	(void)state;
	struct fixture before = fixture_of(TRANSPORT_ROCE, 16), now = fixture_of(TRANSPORT_ROCE, 16);
	add_gid(&before, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	add_gid(&before, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	add_gid(&now, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
	assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, NULL, 0), 0);
	assert_int_equal(now.document.changes.count, 0);
	fixture_free(&before);
	fixture_free(&now);
}

/* A table that was not read now, or then, says nothing about its GIDs. */
static void what_was_not_read_is_not_gone(void **state)
{
	(void)state;
	for (int unread = 0; unread < 3; unread++) {
		struct fixture before = fixture_of(TRANSPORT_ROCE, 16), now = fixture_of(TRANSPORT_ROCE, 16);
		if (unread == 0) {
			now.table->used = (struct num){ 0 };
		} else if (unread == 1) {
			now.document.tables.count = 0; /* the ports of the device were not read */
			strings_add(now.host->arena, &now.document.devices, "mlx5_0");
		} else {
			before.table->used = (struct num){ 0 };
		}
		struct fixture *read = unread == 2 ? &now : &before;
		add_gid(read, 3, "192.0.2.1", GID_TYPE_ROCE_V2, "eth0");
		assert_int_equal(gid_diff(now.host->arena, &before.document, &now.document, NULL, 0), 0);
		assert_int_equal(now.document.changes.count, 0);
		assert_int_equal(now.document.uncompared.count, 1);
		assert_string_equal(now.document.uncompared.items[0], "mlx5_0/1");
		fixture_free(&before);
		fixture_free(&now);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gid_moves),
		cmocka_unit_test(a_table_gets_another_size),
		cmocka_unit_test(a_device_gets_another_name),
		cmocka_unit_test(a_gid_gets_another_vlan),
		cmocka_unit_test(a_device_is_gone),
		cmocka_unit_test(what_was_not_read_is_not_gone),
		cmocka_unit_test(what_a_file_holds_twice_is_not_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
