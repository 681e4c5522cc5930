#!/bin/bash
# SPDX-License-Identifier: MIT
# The probe succeeds in every role and with every operation, and says what it saw.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup
listen

probe -d rxe0
is "$status" 0 "loopback ends well"
holds "loopback: the verdict" "fine()"
holds "loopback: says that one port is no network" "e['same_port_loopback'] is True"
holds "loopback: two sizes, the second above the path MTU" \
	"len(o) == 2 and o[0]['bytes'] == 64 and o[1]['bytes'] > e['local']['path_mtu']"
holds "loopback: every stage that can be seen has its time, in order" \
	"all(x['post_call_ns'] <= x['post_return_ns'] <= x['wqe_posted_ns'] <= x['cqe_arrived_ns'] <= x['cqe_consumed_ns'] for x in o)"
holds "loopback: the rings of rxe were read" "e['observers']['wqe'] == e['observers']['cqe'] == 'rxe-ring'"
holds "loopback: what cannot be seen is null, with a reason" \
	"e['observers']['device'] is None and missing('observers.device') and o[0]['device_executed'] is None"
holds "loopback: the scheduler's account, and that the GIDs are where they were" \
	"0 <= e['cpu']['waited_ns'] < e['ended_ns'] and e['local']['gid_kept'] is True and e['remote']['gid_kept'] is True"
holds "loopback: every step has its time and errno" \
	"all(s['errno'] == 0 and s['duration_ns'] >= 0 for s in e['resources'] + e['transitions'])"
holds "loopback: affinity before allocation before registration" \
	"[s['step'] for s in e['resources'] if s['side'] == 'local' and s['step'] in ('numa_run_on_node', 'mmap', 'first-touch', 'ibv_reg_mr')] == ['numa_run_on_node', 'mmap', 'first-touch', 'ibv_reg_mr']"
holds "loopback: the buffer lies on the adapter's node" \
	"e['buffer']['requested_node'] == e['local']['numa_node'] == 0 and e['buffer']['pages_on_node'] == {'0': e['buffer']['pages']}"

probe -d nic0/1
is "$status" 0 "a netdev's name stands for its device"
holds "a netdev's name: the device" "e['local']['device'] == 'rxe0' and d['request']['device'] == 'nic0/1'"

"$RDMADIAG" check --probe -j --only probe-failed,probe-corrupt,probe-ok >"$work/check.out" 2>"$work/check.err"
is "$?" 0 "check --probe: every port carries data"
check topo "check --probe: and each was probed" "[(f['id'], f['subject']) for f in d['findings']] == [('probe-ok', 'rxe0/1'), ('probe-ok', 'rxe2/1')] and not [m for m in d['not_collected'] if m['what'] == 'probe']" "$work/check.out"
ok "check --probe: the document fits its schema" tests/schema/validate "$RDMADIAG" "$work/check.out"

probe -d rxe0 --buffer-node 1
holds "a buffer on another node" "e['buffer']['requested_node'] == 1 and list(e['buffer']['pages_on_node']) == ['1']"

probe -d rxe0 --target-device rxe2 --count 100 --timeout 20000
holds "two devices: the verdict" "fine() and e['same_port_loopback'] is False"
holds "two devices: the first 64 operations are listed, the others counted" \
	"len(o) == 64 and e['operations_omitted'] == 136 and e['operations_completed'] == 200"
holds "two devices: statistics over all of them" \
	"all(s['samples'] == 100 and s['min_ns'] <= s['median_ns'] <= s['p99_ns'] <= s['max_ns'] for s in e['statistics']['stages'] if s['stage'] == 'total')"

probe -d rxe2 --peer "$address_b"
holds "a peer on this host: nothing is said of the network between hosts" \
	"v['outcome'] == 'ok' and any('both ends are on this host' in text for text in v['not_observed'])"

peer
holds "peer: between hosts the network was there" "not any('both ends' in text for text in v['not_observed'])"
holds "peer: the verdict" "fine()"
holds "peer: all steps of the control connection" \
	"[(c['step'], c['errno']) for c in e['control']] == [(s, 0) for s in ('connect', 'exchange', 'ready', 'done', 'ok')]"
holds "peer: the payload landed and was verified, between not yet and then" \
	"all(x['payload_verified'] and x['remote_landed_not_before_ns'] <= x['remote_landed_ns'] for x in o)"
holds "peer: both ends are described" \
	"e['remote']['device'] == 'rxe2' and e['remote']['role'] == 'target' and e['remote']['qp_state'] == 'RTS' and e['remote']['alive'] is True"
holds "peer: its set-up is there, on our clock" \
	"transition('remote', 'RTS') == 0 and all(s['start_ns'] is not None for s in e['resources'] if s['side'] == 'remote')"
holds "peer: clocks were compared" "e['clock']['error_ns'] > 0"
holds "peer: packets were counted on both sides" "counter('local', 'sent_pkts') > 0 and counter('remote', 'rcvd_pkts') > 0"
holds "peer: the control connection is described" "e['tcp']['rtt_us'] is not None and e['tcp']['remote'] == '$address_b:18517'"
holds "peer: the path MTU is the smaller one, the retries fit into the deadline" \
	"e['local']['path_mtu'] == min(e['local']['active_mtu'], e['remote']['active_mtu']) and 4096 * 2 ** e['local']['timeout'] * (e['local']['retry_count'] + 1) < d['request']['timeout_ms'] * 1e6"

probe --peer "$address_b"
holds "peer: without -d the device of the connection's address" "fine() and e['local']['gid'].endswith('0a09:0001')"

for op in read send write-imm; do
	peer --op "$op" --count 40 --size 64,4K,100000
	holds "$op between peers" "fine() and e['operations_completed'] == 120 and o[0]['opcode'] == '$op'"
	probe -d rxe0 --op "$op"
	holds "$op in loopback" "fine()"
done

unlisten
is "$listener_status" 130 "the listener ends when it is told to"
holds "the listener's own document" "e['local']['role'] == 'target' and v['outcome'] == 'ok'" "$work/listener.out"
no_objects_left "nothing is left in the kernel"
done_testing
