/* SPDX-License-Identifier: MIT */
/* Stacks of netdevs: which stand on which, and which of them belong to one. */
#include "source/join_parts.h"

#include <errno.h>
#include <stdlib.h>

static int by_name(const void *a, const void *b)
{
	return natural_compare((*(struct netdev *const *)a)->name, (*(struct netdev *const *)b)->name);
}

void join_sort_netdevs(struct list *netdevs)
{
	sort_pointers(netdevs->items, netdevs->count, by_name);
}

static void put_on(struct arena *arena, struct netdev *upper, struct netdev *lower)
{
	if (!list_add_existing(arena, &upper->lowers, lower))
		list_add_existing(arena, &lower->uppers, upper);
}

/* What sysfs says of kinds that stand on several netdevs; `told` is the one that is known already. */
static void put_on_named(struct host *host, struct netdev *netdev, const struct netdev *told)
{
	for (uint32_t i = 0; i < netdev->lower_names.count; i++) {
		struct netdev *lower = host_netdev_by_name(host, netdev->lower_names.items[i]);
		if (lower && lower != netdev && lower != told && !netdev_is_member(lower, netdev))
			put_on(host->arena, netdev, lower);
	}
}

void join_stacks(struct host *host)
{
	list_each(netdev, &host->netdevs)
		netdev->uppers.count = netdev->lowers.count = 0;
	list_each(netdev, &host->netdevs) {
		struct netdev *master = host_master(host, netdev), *lower = host_lower(host, netdev);
		if (master && master != netdev)
			put_on(host->arena, master, netdev);
		/* What is both a master and stacked by a link of its own is told once. */
		if (lower && lower != netdev && !netdev_is_member(lower, netdev))
			put_on(host->arena, netdev, lower);
		if (netdev->kind == LINK_OTHER)
			put_on_named(host, netdev, lower);
	}
	list_each(netdev, &host->netdevs) {
		join_sort_netdevs((struct list *)&netdev->uppers);
		join_sort_netdevs((struct list *)&netdev->lowers);
	}
}

bool join_spreads(const struct netdev *netdev)
{
	return netdev->kind == LINK_BOND || netdev->kind == LINK_TEAM;
}

bool join_take_relation(struct host *host)
{
	enum { LIMIT = 1 << 16 };
	return ++host->related <= LIMIT;
}

static bool add_above(struct host *host, struct netdev *netdev, struct netdev_list *list)
{
	if (netdev->above_visit == host->visits)
		return true;
	netdev->above_visit = host->visits;
	return join_take_relation(host) && !list_add_existing(host->arena, list, netdev);
}

static bool add_below(struct host *host, struct netdev *netdev, struct netdev_list *list)
{
	if (netdev->below_visit == host->visits)
		return true;
	netdev->below_visit = host->visits;
	return join_take_relation(host) && !list_add_existing(host->arena, list, netdev);
}

static bool add_lowers(struct host *host, const struct netdev *netdev, struct netdev_list *list)
{
	bool fits = true;
	for (uint32_t i = 0; fits && i < netdev->lowers.count; i++)
		fits = add_below(host, netdev->lowers.items[i], list);
	return fits;
}

int join_related(struct host *host, struct netdev *netdev, struct netdev_list *above, struct netdev_list *below)
{
	*above = *below = (struct netdev_list){ 0 };
	host->visits++;
	bool fits = add_above(host, netdev, above) && add_below(host, netdev, below);
	for (uint32_t i = 0; fits && i < above->count; i++)
		for (uint32_t j = 0; fits && j < above->items[i]->uppers.count; j++)
			fits = add_above(host, above->items[i]->uppers.items[j], above);
	for (uint32_t i = 1; fits && i < above->count; i++)
		if (join_spreads(above->items[i]))
			fits = add_lowers(host, above->items[i], below);
	for (uint32_t i = 0; fits && i < below->count; i++)
		fits = add_lowers(host, below->items[i], below);
	return fits ? 0 : -ENOSPC;
}
