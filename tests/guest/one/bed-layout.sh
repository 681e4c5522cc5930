#!/bin/bash
# SPDX-License-Identifier: MIT
# Layout "one": one node, one package, two NICs at the ends of one wire.
. tests/guest/lib.sh
is "$(find /sys/devices/system/node -name "node[0-9]*" | wc -l)" 1 "one node"
is "$(sort -u /sys/devices/system/cpu/cpu*/topology/physical_package_id)" 0 "one package"
is "$(nproc)" 2 "two CPUs"
for nic in nic0 nic1; do
	is "$(cat "/sys/class/net/$nic/device/numa_node")" 0 "$nic is on node 0"
done
selfwire nic0 192.0.2.1 nic1 192.0.2.2
ok "carrier" wait_carrier nic0 nic1
before=$(cat /sys/class/net/nic1/statistics/rx_packets)
ok "a ping comes back" busybox ping -c 3 -W 5 -I nic0 192.0.2.2
after=$(cat /sys/class/net/nic1/statistics/rx_packets)
ok "and went over the wire" test $((after - before)) -ge 3
done_testing
