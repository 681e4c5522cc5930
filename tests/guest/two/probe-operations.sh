#!/bin/bash
# SPDX-License-Identifier: MIT
# How requests are made and completions waited for: every way on its own and together, with nothing lost.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup

# all DESCRIPTION COUNT OPTION... - COUNT requests, all of them done and right. Soft RoCE may send again what a busy
# machine made late.
all() {
	local what=$1 count=$2
	shift 2
	probe -d rxe0 --timeout 20000 "$@"
	holds "$what: all requests are done, the bytes are right" \
		"v['outcome'] in ('ok', 'degraded') and e['operations_posted'] == $count == e['operations_completed'] + e['operations_reclaimed'] and not e['operations_failed'] and not e['foreign_completions'] and all(x['payload_verified'] is not False for x in o)"
}

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

all "several sizes and pieces" 60 --size 1,64,5000 --count 20 --sges 5
all "two completion queues, two domains" 60 --qps 4 --cqs 2 --pds 2 --count 30
holds "two completion queues: not observed, with the reason" "e['observers']['cqe'] is None and missing('observers.cqe')"
all "two domains on one queue" 60 --qps 4 --pds 2 --count 30 --op send
holds "two domains: two local keys" "len({x['lkey'] for x in o}) == 2"
holds "entries asked for and got" "e['local']['cqe'] >= e['local']['cqe_asked'] > 0"

all "by event" 20 --wait event --count 10
holds "by event: armed, told, acknowledged" \
	"e['notification']['armed'] and e['notification']['events'] == e['notification']['acked'] and e['notification']['armings'] > 0"
holds "by event: what was found without one is told apart" \
	"all((x['notified_ns'] is None) == x['found_unnotified'] for x in o)"
holds "by event: events are as many as there were completions to tell of, or more" \
	"e['notification']['events'] - e['notification']['spurious'] <= 20"
all "by event over the wire" 20 --wait event --count 10 --target-device rxe2
holds "by event over the wire: some were told by an event, before they were taken" \
	"any(x['notified_ns'] for x in o) and all(x['notified_ns'] <= x['cqe_consumed_ns'] for x in o if x['notified_ns'])"
all "by event, two queues and one dispatcher" 120 --wait event --count 60 --qps 4 --cqs 2 --batch 3 --signal-every 2

listen
peer --qps 5 --batch 4 --signal-every 3 --count 60 --op send --wait event
holds "peer: all of it together" \
	"v['outcome'] in ('ok', 'degraded') and e['operations_completed'] + e['operations_reclaimed'] == 120 and len(e['remote']['queue_pairs']) == 5"
peer --batch 256 --qps 2 --count 600 --op write-imm
holds "peer: receives for long chains" "v['outcome'] in ('ok', 'degraded') and e['operations_completed'] == 1200"
unlisten
no_objects_left "nothing is left in the kernel"
done_testing
