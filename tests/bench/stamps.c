/* SPDX-License-Identifier: MIT */
/*
 * What one stage of the trace costs on a real queue pair: a look into the rings, a time stamp, and storing both.
 * Usage: stamps LIMIT_NS [DEVICE DRIVER] (the first device, mlx5_core); leaves with 1 when a stage takes longer than
 * that at the median, 0: no limit.
 *
 * The rounds are short, so that the median is that of rounds which nobody interrupted.
 */
#include "base/arena.h"
#include "probe/observer.h"
#include "probe/run.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 501, LOOPS = 2000 };

struct bench {
	struct probe_run *run;
	struct observer observer;
	struct operation operation;
	uint64_t seen;
};

static void stamp(struct bench *bench)
{
	bench->operation.cqe_arrived_ns = num(run_now(bench->run));
}

static void look(struct bench *bench)
{
	struct ring_view view = observer_sample(&bench->observer);
	bench->seen += view.posted + view.completion;
}

static void stage(struct bench *bench)
{
	struct ring_view view = observer_sample(&bench->observer);
	bench->seen += view.posted;
	bench->operation.cqe_arrived_ns = num(run_now(bench->run));
	if (!view.completion)
		bench->operation.cqe_arrived_not_before_ns = bench->operation.cqe_arrived_ns;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double measure(struct bench *bench, const char *name, void (*work)(struct bench *bench))
{
	static double rounds[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		int64_t start = run_now(bench->run);
		for (int loop = 0; loop < LOOPS; loop++)
			work(bench);
		rounds[i] = (double)(run_now(bench->run) - start) / LOOPS;
	}
	qsort(rounds, ROUNDS, sizeof(*rounds), by_value);
	printf("%-28s min %6.1f  median %6.1f  p90 %6.1f ns\n", name, rounds[0], rounds[ROUNDS / 2],
	        rounds[ROUNDS * 9 / 10]);
	return rounds[ROUNDS / 2];
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	while (list && *list && name && strcmp(ibv_get_device_name(*list), name) != 0)
		list++;
	return list && *list ? ibv_open_device(*list) : NULL;
}

/* A CQ and a queue pair with the observer on them; nothing is ever given back: the process ends. */
static bool set_up(struct bench *bench, const char *device, const char *driver)
{
	struct ibv_context *context = open_device(device);
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd)
		return false;
	observer_init(&bench->observer, context, driver);
	observer_before(&bench->observer);
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	if (!cq)
		return false;
	observer_after_cq(&bench->observer, cq);
	struct ibv_qp_init_attr attr = { .send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 } };
	observer_before(&bench->observer);
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);
	if (!qp)
		return false;
	observer_after_qp(&bench->observer, qp);
	return observer_works(&bench->observer);
}

int main(int argc, char **argv)
{
	static struct bench bench;
	double limit = argc > 1 ? atof(argv[1]) : 0;
	struct probe_settings settings;
	settings_init(&settings);
	bench.run = run_new(arena_new((size_t)1 << 20), &settings, NULL);
	if (!bench.run || !set_up(&bench, argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : "mlx5_core")) {
		fprintf(stderr, "stamps: no queue pair that can be observed: %s\n", bench.observer.reason);
		return 2;
	}
	measure(&bench, "time stamp", stamp);
	measure(&bench, "look into the rings", look);
	double whole = measure(&bench, "stage: look, stamp and store", stage);
	return limit > 0 && whole >= limit;
}
