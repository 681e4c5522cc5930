/* SPDX-License-Identifier: MIT */
/*
 * What codes mean: the one set of tables that the verdict and `rdmadiag explain` read.
 *
 * Every entry says in at most three sentences what the code means and what to look at next, which layers it speaks of,
 * and where that is written down. All look-ups return NULL for what is not known; nothing is guessed.
 */
#ifndef RDMADIAG_VERDICT_EXPLAIN_H
#define RDMADIAG_VERDICT_EXPLAIN_H

#include "model/evidence.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of layers, one bit each. */
typedef uint32_t layer_set;
#define LAYER_BIT(layer) (UINT32_C(1) << (layer))

struct explanation {
	const char *meaning;
	layer_set layers; /* that the code alone leaves open; 0: it speaks of none */
	const char *next; /* what to look at next; NULL: nothing to do */
	const char *source;
};

/* enum ibv_wc_status. */
struct wc_explanation {
	int status;
	const char *name; /* IBV_WC_* */
	struct explanation text;
};
const struct wc_explanation *explain_wc(int64_t status);
/* With or without IBV_WC_, in any case. */
const struct wc_explanation *explain_wc_name(const char *name);

/*
 * vendor_err of a failed completion. Only some codes of some providers are known; those that were only seen together
 * with a status say so in `meaning` and speak of no layer.
 */
struct vendor_explanation {
	const char *provider; /* "mlx5", "bnxt_re", "efa" */
	uint32_t code;
	int status; /* the WC status it comes with, -1: any */
	struct explanation text;
};
/* `driver`: kernel driver or provider (mlx5_core, mlx5, bnxt_en …). */
const struct vendor_explanation *explain_vendor(const char *driver, int64_t code);
/* The provider's name in these tables for a driver; NULL for one without a table. */
const char *explain_provider(const char *driver);

/* errno of a set-up step: "ibv_reg_mr", "RTR", "connect" … */
struct errno_explanation {
	const char *step;
	int error;
	struct explanation text;
};
const struct errno_explanation *explain_errno(const char *step, int64_t error);
/* Of steps that have no errno of their own: the one recorded comes closest, and `detail` says what it is. */
bool explain_errno_is_borrowed(const char *step);
/* The step's name in the tables: "reg_mr" and "IBV_REG_MR" are ibv_reg_mr. NULL where there is none. */
const char *explain_step(const char *step);

/* Asynchronous events, by the name without IBV_EVENT_; their number is the index of the table. */
struct event_explanation {
	const char *name;
	struct explanation text;
};
const struct event_explanation *explain_event(const char *name);
const struct event_explanation *explain_event_number(int64_t number);

/* Counters of ports and devices, by their name in rdma netlink, sysfs or ethtool. */
enum counter_kind {
	COUNTER_TRAFFIC,   /* moves with every transfer */
	COUNTER_RETRY,     /* something was sent again or asked for again */
	COUNTER_NOT_READY, /* a receive was missing */
	COUNTER_FILTER,    /* a packet filter or queueing discipline of the host dropped packets */
	COUNTER_REFUSED,   /* a request was refused */
	COUNTER_FLUSH,     /* a consequence of an earlier error */
	COUNTER_CONGESTION,
	COUNTER_LINK,       /* errors of the link below */
	COUNTER_LOCAL_SEND, /* packets that did not leave the host */
	COUNTER_OTHER,
};
struct counter_explanation {
	const char *name;
	enum counter_kind kind;
	struct explanation text;
};
const struct counter_explanation *explain_counter(const char *name);

/* Words of a verdict and of a trace, and of stages also what the document calls their evidence ("cqe_arrived_ns"). */
enum word_kind { WORD_LAYER, WORD_STAGE, WORD_OUTCOME, WORD_CONFIDENCE, WORD_KIND_COUNT };
struct word_explanation {
	const char *name;
	struct explanation text;
};
const struct word_explanation *explain_word(enum word_kind kind, const char *word);

/* For lists of what can be asked for: all entries, in the order of the tables. */
const struct wc_explanation *explain_wc_table(size_t *count);
const struct vendor_explanation *explain_vendor_table(size_t *count);
const struct errno_explanation *explain_errno_table(size_t *count);
const struct event_explanation *explain_event_table(size_t *count);
const struct counter_explanation *explain_counter_table(size_t *count);
const struct word_explanation *explain_word_table(enum word_kind kind, size_t *count);

#endif
