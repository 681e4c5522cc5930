#!/bin/bash
# SPDX-License-Identifier: MIT
# The probe on iWARP: connected through rdma_cm, in every role, with the right words when it fails.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
name_nics
selfwire nic0 "$address_a" nic2 "$address_b"
wait_carrier nic0 nic2
modules rdma_ucm
siw_add siw0 nic0
siw_add siw2 nic2
wait_for 10 port_is siw0 ACTIVE && wait_for 10 port_is siw2 ACTIVE

probe -d siw0
is "$status" 0 "loopback ends well"
holds "loopback: connected through rdma_cm" \
	"fine() and e['local']['transport'] == 'iwarp' and resource('local', 'rdma_connect') == 0 and resource('remote', 'rdma_listen') == 0 and transition('local', 'RTS') == 0 and transition('local', 'RTR') is None"
no_objects_left "loopback: nothing is left in the kernel"
holds "loopback: the rings of siw were read" \
	"e['observers']['wqe'] == e['observers']['cqe'] == 'siw-ring' and all(x['post_call_ns'] <= x['wqe_posted_ns'] <= x['cqe_arrived_ns'] <= x['cqe_consumed_ns'] for x in o)"
probe -d siw0 --target-device siw2 --count 50 --timeout 20000
holds "two devices, the larger requests not all listed" \
	"fine() and e['operations_completed'] == 100 and e['operations_omitted'] == 36"

"$RDMADIAG" probe -j -d siw2 --listen="$address_b" --keep >"$work/listener.out" 2>"$work/listener.err" &
listener=$!
wait_for 10 grep -q 'listening on' "$work/listener.err"
probe --peer "$address_b" --timeout 20000
holds "peer: the verdict, and the device by the netdev's address" "fine() and e['local']['device'] == 'siw0'"
holds "peer: where the target listened" "e['remote']['cm_address'] == '$address_b' and e['remote']['cm_port'] > 0"
for op in read send; do
	probe -d siw0 --peer "$address_b" --op "$op" --count 20 --timeout 20000
	holds "$op between peers" "fine() and e['operations_completed'] == 40"
done
probe -d siw0 --peer "$address_b" --op write-imm
is "$status" 1 "write-imm, which iWARP does not have: status"
holds "write-imm, which iWARP does not have: said before anything is posted" \
	"v['outcome'] == 'not-run' and v['layer'] == 'application' and resource('local', 'operation') == 95 and not o"

nft add table inet probe
nft add chain inet probe input '{ type filter hook input priority 0; }'
nft add rule inet probe input iif nic2 tcp dport != 18517 counter drop
probe -d siw0 --peer "$address_b"
is "$status" 1 "connections dropped: status"
holds "connections dropped: nothing was posted, and it is no device" \
	"v['outcome'] == 'not-run' and not o and {'configuration', 'network'} <= set(v['candidates']) and not {'device', 'kernel'} & set(v['candidates'])"
nft delete table inet probe
probe -d siw0 --peer "$address_b" --timeout 20000
holds "and then it works again" "fine()"
unlisten
no_objects_left "nothing is left in the kernel"
done_testing
