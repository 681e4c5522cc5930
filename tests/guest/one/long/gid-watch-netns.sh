#!/bin/bash
# SPDX-License-Identifier: MIT
# gid --watch in the network namespace of a container: its own netdev, and what others do with the table they share.
. tests/guest/lib.sh
. tests/guest/watch-lib.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
# Nothing is given up because the machine below is busy.
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000

gid=0000:0000:0000:0000:0000:ffff:c000

modules rdma_rxe ib_uverbs macvlan
ip link set nic0 up
wait_carrier nic0
ip netns add pod
rdma link add rxe0 type rxe netdev nic0
ip link add net1 link nic0 netns pod type macvlan mode bridge
ip -n pod link set lo up
ip -n pod addr add 192.0.2.1/24 dev net1
ip -n pod link set net1 up
gids_follow rxe0 nic0 192.0.2.1

set -m
ip netns exec pod "$RDMADIAG" gid --watch >$log 2>/tmp/watch.err &
pid=$!
ok "the device is followed" wait_for 60 watching
ip -n pod addr add 192.0.2.2/24 dev net1
ok "an address of its own" wait_for 60 said "rxe0/1 new: index [0-9]+ is $gid:0202 \\(192.0.2.2\\) RoCE v2"
ip addr add 192.0.2.100/24 dev nic0
ok "an address of the host, of which only the device tells" wait_for 60 said "rxe0/1 new: index [0-9]+ is $gid:0264 \\(192.0.2.100\\) RoCE v2"
ip -n pod link set net1 down
ip -n pod link set net1 name roce1
ip -n pod link set roce1 up
ok "another name of its netdev" wait_for 60 said "rxe0/1/gid/[0-9]+ netdev: roce1, was net1"
ip -n pod addr del 192.0.2.2/24 dev roce1
ok "an address that it loses" wait_for 60 said "rxe0/1 gone: $gid:0202"
ip addr del 192.0.2.100/24 dev nic0
ok "an address that the host loses" wait_for 60 said "rxe0/1 gone: $gid:0264"
ip -n pod link delete roce1
ok "its netdev goes" wait_for 60 said "rxe0/1 gone: $gid:0201"
ok "it goes on all the same" kill -0 $pid
kill -INT $pid
wait $pid
is $? 130 "SIGINT ends it with 130"
sed 's/^/# /' $log
is "$(cat /tmp/watch.err)" "" "nothing on standard error"
ip netns delete pod
done_testing
