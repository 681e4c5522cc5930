# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# drills.sh - the drills and the verdicts that they must get, on every device that shows them.
# NAME OUTCOME LAYER CONFIDENCE; a "|" between what is as right.

drills_table() {
	cat <<-'END'
		bad-rkey failed application confirmed
		bad-lkey failed application confirmed
		length failed application confirmed
		mr-access failed remote-application confirmed
		qp-access failed remote-application confirmed
		remote-without-local-write not-run application confirmed
		wrong-qpn failed application likely
		wrong-psn failed application likely
		pd-mismatch failed application confirmed
		rnr failed remote-application likely|confirmed
		no-poll stalled application confirmed
		undispatched stalled application confirmed
		unsignaled-wait stalled application confirmed
		sq-full failed application confirmed
		cq-overrun failed application confirmed
		drain-before-rearm stalled application confirmed
		solicited-only stalled application confirmed
		unacked-events degraded application confirmed
		early-reuse corrupt application likely
		wrong-gid not-run configuration likely|confirmed
		peer-vanishes failed remote-application likely
		mtu failed configuration likely
	END
}
