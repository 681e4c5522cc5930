#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317
# siw carries traffic as an iWARP device, and the changed rxe has its NIC's PCI function as parent.
. tests/guest/lib.sh
name_nics
selfwire nic0 192.0.2.1 nic2 192.0.2.2
ok "carrier" wait_carrier nic0 nic2
modules rdma_ucm

ok "siw on nic0" siw_add siw0 nic0
ok "siw on nic2" siw_add siw2 nic2
like "$(ibv_devinfo -d siw0)" "iWARP" "is an iWARP device"
is "$(cat /sys/class/infiniband/siw0/ports/1/state)" "4: ACTIVE" "its port is up, as the NIC had a carrier"
# The server serves one client only: try once, when it listens. It does not count: where it disconnects first, the client
# has not had the end of its last round.
timeout 60 rping -s -a 192.0.2.2 >/dev/null 2>&1 &
server=$!
listens() { rdma resource show cm_id | grep -q LISTEN; }
ok "a server listens" wait_for 20 listens
ok "rping over iWARP" timeout 30 rping -c -a 192.0.2.2 -I 192.0.2.1 -C 5
wait "$server"
no_objects_left "no kernel object is left"
rdma link delete siw0
rdma link delete siw2

ok "rxe on nic1, which is on node 1" rxe_add rxe1 nic1
is "$(readlink -f /sys/class/infiniband/rxe1/device)" "$(readlink -f /sys/class/net/nic1/device)" "the NIC is its parent"
is "$(cat /sys/class/infiniband/rxe1/device/numa_node)" 1 "so it has a node"
done_testing
