#!/bin/bash
# SPDX-License-Identifier: MIT
# Queues that are shared, completions that are waited for by event, and all of it with a peer: nothing is lost.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup

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
