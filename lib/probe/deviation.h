/* SPDX-License-Identifier: MIT */
/* What a run does otherwise than a right program would: the stuff that drills are made of. */
#ifndef RDMADIAG_PROBE_DEVIATION_H
#define RDMADIAG_PROBE_DEVIATION_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing. "Flip" is what the right value is XORed with. */
struct deviation {
	/* requests */
	uint32_t rkey_flip, lkey_flip;
	bool beyond_end;     /* the range ends behind the target's buffer */
	bool never_signaled; /* no request asks for a completion */
	bool reuses_early;   /* writes to the source again as soon as post returned */
	bool gives_up_when_full;
	/* queue pairs */
	uint32_t qpn_flip;  /* in the number that the initiator sends to */
	uint32_t psn_shift; /* of its first packet */
	int target_mtu_steps;
	bool empty_gid;
	/* resources */
	unsigned int target_mr_lacks, target_qp_lacks; /* IBV_ACCESS_* */
	bool buffer_in_other_pd;
	uint32_t cq_entries; /* of the initiator; 0: enough */
	/* the target */
	bool no_receives, target_vanishes;
	/* waiting */
	bool no_polling, loses_completions, arms_late, solicited_only, never_acks;
};

#endif
