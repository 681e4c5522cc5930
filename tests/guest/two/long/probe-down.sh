#!/bin/bash
# SPDX-License-Identifier: MIT
# Ports that are down, netdevs and RDMA devices that go away.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup
listen

in_background() {
	"$RDMADIAG" probe -j "$@" >"$document" 2>"$work/errors" &
	running=$!
	flows rxe0
}

# child_of PID
child_of() {
	awk -v parent="$1" '{ sub(/.*\) /, ""); split($0, field, " ") } field[2] == parent { print FILENAME }' /proc/[0-9]*/stat 2>/dev/null |
		sed 's:^/proc/::; s:/stat$::'
}

never_confirmed="v['confidence'] != 'confirmed'"

finish() {
	wait "$running"
	status=$?
}

in_background -d rxe0 --peer "$address_b" --count 1000000 --size 64
ip link set nic2 down
finish
is "$status" 1 "peer's port down during the run: status"
holds "peer's port down during the run: a request did not end well" \
	"o[-1]['wc_status'] != 0 and e['operations_completed'] > 0 and v['outcome'] in ('failed', 'stalled') and v['confidence'] != 'confirmed'"
ip link set nic2 up
wait_carrier nic2
selfwire nic0 "$address_a" nic2 "$address_b" 2>/dev/null
wait_for 10 port_is rxe2 ACTIVE

ip link set nic2 down
probe -d rxe0 --target-device rxe2
holds "the target's netdev is administratively down: it is named, with what to do" \
	"v['outcome'] == 'not-run' and v['layer'] == 'configuration' and any('ip link set nic2 up' in text for text in v['next_steps'])"
ip link set nic2 up
wait_carrier nic2
selfwire nic0 "$address_a" nic2 "$address_b" 2>/dev/null
wait_for 10 port_is rxe2 ACTIVE

in_background -d rxe0 --target-device rxe2 --count 1000000 --size 64
ip link set nic0 down
finish
is "$status" 1 "own port down during the run: status"
holds "own port down during the run: the port's state is seen" \
	"e['local']['port_state_after'] != 'ACTIVE' and e['local']['netdev_up'] is False and v['outcome'] in ('failed', 'stalled')"
holds "own port down during the run: it is this port that is named" "v['layer'] == 'configuration' or 'configuration' in v['candidates']"

probe -d rxe0
isnt "$status" 0 "own port down before the run: status"
holds "own port down before the run: the verdict" "v['outcome'] in ('not-run', 'failed', 'stalled') and 'DOWN' == e['local']['port_state']"
"$RDMADIAG" check --probe -j --only probe-failed,probe-degraded,probe-ok >"$work/check.out" 2>/dev/null
check topo "own port down: check --probe says which port it probed and which not" \
	"[(f['id'], f['subject']) for f in d['findings']] == [('probe-ok', 'rxe2/1')] and [(m['subject'], m['reason']) for m in d['not_collected'] if m['what'] == 'probe'] == [('rxe0/1', 'not probed: the port is DOWN')]" "$work/check.out"
like "$("$RDMADIAG" check --probe 2>&1)" 'rxe0/1.*not probed: the port is DOWN' "own port down: check --probe says so in the text"
ip link set nic0 up
wait_carrier nic0
selfwire nic0 "$address_a" nic2 "$address_b" 2>/dev/null
wait_for 10 port_is rxe0 ACTIVE
unlisten

modules 8021q
ip link add link nic0 name nic0.10 type vlan id 10
ip addr add 10.99.0.1/24 dev nic0.10
ip link set nic0.10 up
on_vlan=$(gid_index rxe0 10.99.0.1)
ip link set nic0 down
wait_for 10 port_is rxe0 DOWN
probe -d rxe0 -g "$on_vlan"
holds "a GID of a VLAN: the port follows the netdev below it, and that one is to be set up" \
	"e['local']['netdev'] == 'nic0.10' and e['local']['port_netdev'] == 'nic0' and e['local']['netdev_up'] is False and v['layer'] == 'configuration' and any('ip link set nic0 up' in text for text in v['next_steps'])"
ip link set nic0 up
wait_carrier nic0
ip link set nic0.10 down
probe -d rxe0 -g "$on_vlan"
holds "a VLAN that is down does not take the port down" \
	"e['local']['netdev_up'] is not False and e['local']['port_state_after'] == 'ACTIVE'"
ip link del nic0.10
selfwire nic0 "$address_a" nic2 "$address_b" 2>/dev/null
wait_for 10 port_is rxe0 ACTIVE

# readdress NIC ADDRESS PEER - an address that was taken away comes back, and its route with it
readdress() {
	ip addr replace "$2/24" dev "$1" noprefixroute
	ip route replace "$3/32" dev "$1" src "$2" table main
}

in_background -d rxe0 --target-device rxe2 --count 1000000 --size 64
ip addr del "$address_b/24" dev nic2
finish
is "$status" 1 "the target's address taken away: status"
holds "the target's address taken away: its GID is not there any more, and that is named" \
	"e['remote']['gid_kept'] is False and e['local']['gid_kept'] and v['layer'] == 'configuration' and v['confidence'] == 'likely' and 'address went away' in v['summary']"
readdress nic2 "$address_b" "$address_a"
index_b=$(gid_index rxe2 "$address_b")

in_background -d rxe0 --target-device rxe2 --count 1000000 --size 64
ip addr del "$address_a/24" dev nic0
finish
is "$status" 1 "the own address taken away: status"
holds "the own address taken away: status 2 of soft RoCE is not taken for a bad request" \
	"e['local']['gid_kept'] is False and v['layer'] == 'configuration' and v['confidence'] == 'likely' and not any('opcode' in text for text in v['next_steps'])"
readdress nic0 "$address_a" "$address_b"
gid_index rxe0 "$address_a" >/dev/null

# the traced process is stopped for good, beyond the requests that the document lists
in_background -d rxe0 --target-device rxe2 --count 1000000 --size 64 --timeout 6000
kill -STOP "$(child_of "$running")"
finish
is "$status" 1 "stopped process: status"
holds "stopped process: it did not come to its end, and that is said" \
	"v['outcome'] == 'stalled' and e['stuck'] and e['operations_omitted'] == e['operations_posted'] - len(o) and 'was stopped' in v['summary'] and $never_confirmed"

# The RDMA device goes away: soft RoCE waits until its last user is gone, so the run ends as it would have, and the
# removal after it.
in_background -d rxe0 --target-device rxe2 --count 3000 --size 64
rdma link delete rxe2 &
removal=$!
finish
wait "$removal"
holds "RDMA device removed during the run: the document is whole" \
	"v['outcome'] in ('ok', 'degraded', 'failed', 'stalled') and e['operations_posted'] > 0 and e['stuck'] is None"
wait_for 20 test ! -e /sys/class/infiniband/rxe2
is $? 0 "RDMA device removed: it is gone, nobody holds it"
no_objects_left "RDMA device removed: nothing is left in the kernel"
probe -d rxe0 --target-device rxe2
is "$status" 3 "RDMA device removed: a run that wants it cannot begin"
holds "RDMA device removed: and says that it is not there" "resource('local', 'find-device') == 19 and not o"
rxe_add rxe2 nic2
wait_for 10 port_is rxe2 ACTIVE

# the netdev is unplugged
in_background -d rxe0 --target-device rxe2 --count 1000000 --size 64
function=$(readlink -f /sys/class/net/nic2/device)
echo 1 >"$function/remove" &
removal=$!
finish
wait "$removal"
isnt "$status" 0 "netdev unplugged during the run: status"
holds "netdev unplugged during the run: the document is whole" "v['outcome'] in ('failed', 'stalled') and v['confidence'] != 'confirmed'"
no_objects_left "netdev unplugged: nothing is left in the kernel"
# the scripts after this one want it back
echo 1 >/sys/bus/pci/rescan
wait_for 20 test -d "$function/net"
is $? 0 "netdev unplugged: nobody holds it, so it can be plugged in again"
done_testing
