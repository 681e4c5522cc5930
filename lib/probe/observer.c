/* SPDX-License-Identifier: MIT */
#include "probe/observer.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct observer_ops *const all[] = { &observe_mlx5, &observe_rxe, &observe_siw };

void observer_init(struct observer *observer, struct ibv_context *context, const char *driver)
{
	*observer = (struct observer){ 0 };
	/* For benchmarks: what a run costs without anybody looking. */
	if (getenv("RDMADIAG_NO_OBSERVER")) {
		snprintf(observer->reason, sizeof(observer->reason), "switched off by RDMADIAG_NO_OBSERVER");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(all) && !observer->ops; i++)
		if (all[i]->matches(context, driver))
			observer->ops = all[i];
	if (!observer->ops)
		snprintf(observer->reason, sizeof(observer->reason), "the layout of %s queues is not known here",
		        driver ? driver : "this provider's");
}

void observer_close(struct observer *observer)
{
	if (observer->ops)
		observer->ops->close(observer);
	observer->ops = NULL;
}

void observer_give_up(struct observer *observer, const char *reason, ...)
{
	if (!observer->ops)
		return;
	va_list args;
	va_start(args, reason);
	vsnprintf(observer->reason, sizeof(observer->reason), reason, args);
	va_end(args);
	observer_close(observer);
}

/* The implementation has filled `reason`. */
static void check(struct observer *observer, int result)
{
	if (result)
		observer_close(observer);
}

void observer_before(struct observer *observer)
{
	if (observer->ops)
		check(observer, observer->ops->before(observer));
}

void observer_after_cq(struct observer *observer, struct ibv_cq *cq)
{
	if (observer->ops)
		check(observer, observer->ops->after_cq(observer, cq));
}

void observer_after_qp(struct observer *observer, struct ibv_qp *qp)
{
	if (observer->ops)
		check(observer, observer->ops->after_qp(observer, qp));
}
