#!/bin/bash
# SPDX-License-Identifier: MIT
# Layout "two": two packages of one node each, NICs on both, and soft-RoCE that really uses the wire.
# shellcheck disable=SC2317
. tests/guest/lib.sh
is "$(cat /sys/devices/system/node/node0/distance)" "10 20" "distances of node 0"
is "$(cat /sys/devices/system/node/node1/distance)" "20 10" "distances of node 1"
is "$(cat /sys/devices/system/cpu/cpu2/topology/physical_package_id)" 1 "node 1 is a package of its own"
for nic in nic0:0 nic1:1 nic2:0 nic3:1; do
	is "$(cat "/sys/class/net/${nic%:*}/device/numa_node")" "${nic#*:}" "${nic%:*} is on node ${nic#*:}"
done
is "$(cat /sys/class/net/nic1/device/local_cpulist)" 2-3 "CPUs near nic1"

selfwire nic0 192.0.2.1 nic2 192.0.2.2
ok "carrier" wait_carrier nic0 nic2
ok "rxe on nic0" rxe_add rxe0 nic0
ok "rxe on nic2" rxe_add rxe2 nic2
ibv_rc_pingpong -d rxe2 -g "$(gid_index rxe2 192.0.2.2)" -n 100 >/dev/null &
server=$!
holds() { user_objects | grep -q "^qp:.*rxe2"; }
ok "a server's queue pair is seen" wait_for 20 holds
before=$(cat /sys/class/net/nic2/statistics/rx_packets)
# its socket listens a moment later
ping_pong() { ibv_rc_pingpong -d rxe0 -g "$(gid_index rxe0 192.0.2.1)" -n 100 192.0.2.2 >/dev/null; }
ok "ibv_rc_pingpong" wait_for 10 ping_pong
wait "$server"
is "$?" 0 "its server too"
after=$(cat /sys/class/net/nic2/statistics/rx_packets)
ok "it went over the wire" test $((after - before)) -ge 200
no_objects_left "no kernel object is left"
as_user ibv_devinfo -d rxe0 >/dev/null
is "$?" 0 "an ordinary user may open a device"
rxe_del rxe0
rxe_del rxe2

bond_add bond0 802.3ad nic0 nic1
bond_add bond1 802.3ad nic2 nic3
ok "LACP finds its partner across the wires" bond_ready bond0
done_testing
