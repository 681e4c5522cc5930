#!/bin/bash
# SPDX-License-Identifier: MIT
# From inside another network namespace: in shared mode the devices are seen there and their netdevs are not.
. tests/guest/lib.sh
. tests/guest/topo-lib.sh

modules macvlan
ip netns add pod
dummies d0 d1
rxe_add rxe0 d0
rxe_add rxe1 d1
ip link add link d1 name mv1 type macvlan mode bridge
ip link set mv1 netns pod
ip -n pod link set lo up
ip -n pod link set mv1 up
ip -n pod addr add 192.0.2.1/24 dev mv1
gids_follow rxe1 192.0.2.1
outside=$RDMADIAG
inside() {
	RDMADIAG=inside_pod topo "$@"
}
inside_pod() {
	ip netns exec pod "$outside" "$@"
}
inside
is "$status" 0 "topo works in a namespace"
holds "the devices are seen" "[x['name'] for x in d['devices']] == ['rxe0', 'rxe1']"
holds "RDMA devices are shared between namespaces" "d['rdma_netns_mode'] == 'shared'"
holds "a netdev of another namespace is not taken for one of this" "port('rxe0')['netdevs'] == []"
holds "which is said" "'namespace' in finding('port-without-netdev', 'rxe0/1')['message']"
holds "a macvlan whose parent is elsewhere is not the port's netdev" "names('rxe1', 'port') == []"
holds "but is told to stand on it: its GIDs are in the table" "names('rxe1', 'above') == ['mv1']"
inside mv1
holds "and stands for the device" "[x['name'] for x in d['devices']] == ['rxe1']"
inside rxe0/1
holds "one port of one device" "[(x['name'], len(x['ports'])) for x in d['devices']] == [('rxe0', 1)]"
inside rxe0/2
is "$status" 3 "a port that is not there"
like "$errors" "rxe0 has no port 2" "is named"
inside d0
is "$status" 3 "a netdev of another namespace is not known here"
like "$errors" "d0" "and named"
topo
holds "outside they are where they were" "names('rxe0', 'port') == ['d0'] and names('rxe1', 'port') == ['d1']"
holds "a macvlan in another namespace is not listed" "names('rxe1', 'above') == []"
# The same name in both namespaces: what belongs to rxe0 is still only outside.
ip -n pod link add d0 type dummy
inside
holds "a netdev of the same name is another one" "port('rxe0')['netdevs'] == []"
ip netns delete pod
done_testing
