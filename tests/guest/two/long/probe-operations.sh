#!/bin/bash
# SPDX-License-Identifier: MIT
# How requests are made: in chains, unsignaled, inline, by either interface; nothing is lost.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup

all "chains" 80 --batch 8 --count 40
holds "chains: of one call, to one return" "len({x['post_call_ns'] for x in o[:8]}) == 1 and o[8]['post_call_ns'] > o[7]['post_return_ns']"
all "chains that do not come out even" 26 --batch 5 --count 13
for op in write-imm send read; do
	all "chains of $op on three queue pairs" 100 --op "$op" --batch 4 --count 50 --qps 3
	holds "chains of $op: the queue pairs by turns" "len({x['qpn'] for x in o}) == 3 and [x['qpn'] for x in o[:12:4]] == [q['qpn'] for q in e['local']['queue_pairs']]"
done

all "unsignaled requests" 80 --signal-every 4 --count 40
holds "unsignaled requests: three of four are reclaimed by the one behind them" \
	"e['operations_reclaimed'] == 60 and [x['signaled'] for x in o[:4]] == [False, False, False, True] and all(x['reclaimed_ns'] == o[3]['cqe_consumed_ns'] for x in o[:3])"
holds "unsignaled requests: the source is free when the later completion says so" \
	"all(x['source_reusable_ns'] == o[3]['cqe_consumed_ns'] for x in o[:3])"
all "unsignaled requests beyond the chain" 100 --batch 4 --signal-every 9 --count 50 --qps 3
all "the last ones of a run" 14 --signal-every 100 --count 7

all "sq_sig_all" 80 --sq-sig-all --batch 4 --count 40
holds "sq_sig_all: every request completes by itself" \
	"e['operations_reclaimed'] in (0, None) and all(x['signaled'] and x['wc_status'] == 0 for x in o)"

all "a send queue that is too small" 200 --depth 4 --batch 100 --count 100
holds "a send queue that is too small: the rest is posted from bad_wr on" "e['queue_full'] > 0 and e['local']['send_wr'] < 100"
all "a send queue that is too small, ibv_wr" 200 --depth 4 --batch 100 --count 100 --api wr
holds "a send queue that is too small, ibv_wr: smaller pieces" "e['queue_full'] > 0"

all "ibv_wr" 2 --api wr
holds "ibv_wr: an aborted chain leaves nothing in the queue" "resource('local', 'ibv_wr_abort') == 0 and e['observers']['wqe'] == 'rxe-ring'"
for op in write-imm send read; do
	all "ibv_wr: $op" 20 --api wr --op "$op" --count 10 --batch 3 --sges 2
done

all "inline" 1 --inline --size 64
holds "inline: the source is free when post returns" "o[0]['inline'] and o[0]['source_reusable_ns'] == o[0]['post_return_ns'] < o[0]['cqe_consumed_ns']"
all "inline, ibv_wr" 1 --inline --size 64 --api wr
probe -d rxe0 --inline --size 100000
is "$status" 1 "too much inline: status"
holds "too much inline: the step, what was asked for and what there is" \
	"v['layer'] == 'application' and v['confidence'] == 'confirmed' and any(s['step'] == 'ibv_create_qp' and s['errno'] == 22 and s['limit_name'] == 'max_inline_data' and s['asked'] == 100000 and 0 < s['limit'] < 100000 for s in e['resources'])"
no_objects_left "nothing is left in the kernel"
done_testing
