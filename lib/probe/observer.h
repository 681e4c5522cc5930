/* SPDX-License-Identifier: MIT */
/*
 * Looks into the queues of a QP and its CQ without taking anything out of them: is the work request there, is a
 * completion there? Every provider keeps its rings in memory of the process, in a layout of its own. An observer for
 * one provider turns it into the one view below. It never writes, and where it does not understand what it sees it says
 * "not observable" instead of guessing.
 */
#ifndef RDMADIAG_PROBE_OBSERVER_H
#define RDMADIAG_PROBE_OBSERVER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBSERVER_REASON_SIZE = 160, OBSERVER_LONG_REASON_SIZE = 400, OBSERVER_STATE_WORDS = 32 };

/* One look. */
struct ring_view {
	uint32_t posted; /* grows with what was published to the send queue, modulo a power of two */
	bool completion; /* a CQE lies in the completion queue that ibv_poll_cq() has not taken yet */
	bool unreadable; /* what lies there has a form that is not understood: nothing can be said from now on */
};

struct observer;
struct origin;
struct endpoint_facts;
struct device_sample;
struct completion_entry;

struct observer_ops {
	const char *name; /* as "observers" in the document says it */
	/* Is this its kind of device? `driver`: kernel driver, NULL when unknown. */
	bool (*matches)(struct ibv_context *context, const char *driver);
	/* Before and after the CQ, then before and after the QP is created. 0 or negative errno with a reason. */
	int (*before)(struct observer *observer);
	int (*after_cq)(struct observer *observer, struct ibv_cq *cq);
	int (*after_qp)(struct observer *observer, struct ibv_qp *qp);
	/* The hot path: memory loads only. */
	void (*sample)(const struct observer *observer, struct ring_view *view);
	/*
	 * Is the request that was published behind `before` (a view's `posted`) this one, the first of its chain?
	 * Confirms that the ring is the right one.
	 */
	bool (*holds)(const struct observer *observer, uint32_t before, const struct ibv_send_wr *request);
	/*
	 * What lies in the completion queue, `back` entries before the consumer index: 0 is the next to be taken, 1 the
	 * last that was. Fills all of it but moment and `taken`. False: nothing lies there. NULL: no such view.
	 */
	bool (*entry)(const struct observer *observer, uint32_t back, struct completion_entry *entry);
	bool has_doorbell_record; /* `posted` is what the program tells the device by a record in memory */
	/*
	 * The device's own view of the queues, by whatever way this process may ask it. Slow: commands to the firmware.
	 * Fills all of the sample but its moment. 0, or a negative errno with the reason in words. NULL: there is no
	 * way.
	 */
	int (*inspect)(const struct observer *observer, struct origin *origin, const struct endpoint_facts *facts,
	        uint32_t peer_qpn, struct device_sample *sample, char reason[OBSERVER_LONG_REASON_SIZE]);
	/* Further facts about the connected queue pair, where the provider knows some. May be NULL. */
	void (*describe)(const struct observer *observer, struct endpoint_facts *facts);
	void (*close)(struct observer *observer);
};

struct observer {
	const struct observer_ops *ops; /* NULL: not observable, `reason` says why */
	char reason[OBSERVER_REASON_SIZE];
	bool signals_all; /* the queue pair was made so: its requests are signaled without their flag */
	uint64_t state[OBSERVER_STATE_WORDS]; /* of the implementation */
};

/* Chooses by device; never fails. */
void observer_init(struct observer *observer, struct ibv_context *context, const char *driver);
void observer_before(struct observer *observer);
void observer_after_cq(struct observer *observer, struct ibv_cq *cq);
void observer_after_qp(struct observer *observer, struct ibv_qp *qp);
/* Gives up: from now on nothing is observed, for this reason. */
__attribute__((format(printf, 2, 3))) void observer_give_up(struct observer *observer, const char *reason, ...);
void observer_close(struct observer *observer);

static inline bool observer_works(const struct observer *observer)
{
	return observer->ops;
}

/* Only where observer_works(). */
static inline struct ring_view observer_sample(const struct observer *observer)
{
	struct ring_view view = { 0 };
	observer->ops->sample(observer, &view);
	return view;
}

extern const struct observer_ops observe_rxe, observe_siw, observe_mlx5;

#endif
