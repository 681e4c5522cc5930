#!/bin/bash
# SPDX-License-Identifier: MIT
# What is stacked on a port's netdev, names that changed, other namespaces, ordinary users.
. tests/guest/lib.sh
. tests/guest/topo-lib.sh

modules dummy 8021q macvlan bridge veth
ip link set nic0 up
ip link add link nic0 name nic0.7 type vlan id 7
ip link add link nic0 name mv0 type macvlan mode bridge
ip link add br0 type bridge
ip link add d0 type dummy
ip link set d0 up
ip link set d0 master br0
ip link add ve0 type veth peer name ve1
ip link set ve0 up
ok "carrier" wait_carrier nic0
rxe_add rxe10 nic0
rxe_add rxe9 d0
rxe_add rxe_ve ve0
topo
is "$status" 0 "topo ends well"
holds "devices in natural order" "[x['name'] for x in d['devices']] == ['rxe9', 'rxe10', 'rxe_ve']"
holds "VLAN and macvlan are above" "names('rxe10', 'above') == ['mv0', 'nic0.7']"
holds "with their kinds" "(net('rxe10', 'nic0.7')['kind'], net('rxe10', 'mv0')['kind']) == ('vlan', 'macvlan')"
holds "the netdev has the PCI function" "net('rxe10', 'nic0')['pci_address'] == '0000:21:00.0' and net('rxe10', 'nic0')['numa_node'] == 0"
holds "a bridge above a port of it" "names('rxe9', 'above') == ['br0'] and names('rxe9', 'below') == []"
holds "the peer of a veth is neither above nor below" "[n['name'] for n in port('rxe_ve')['netdevs']] == ['ve0']"
holds "MTUs from verbs" "port('rxe10')['active_mtu'] == 1024 and port('rxe10')['max_mtu'] == 4096"
holds "driver" "dev('rxe10')['driver'] == 'rdma_rxe'"
holds "netns mode" "d['rdma_netns_mode'] == 'shared'"
holds "nothing is unexplained" "d['not_collected'] == []"

topo --no-verbs
holds "without verbs MTUs are null, with a reason each" \
	"port('rxe10')['active_mtu'] is None and missing('active_mtu', 'rxe10/1') and missing('max_mtu', 'rxe9/1')"

topo nic0
holds "a netdev's name stands for its device" "[x['name'] for x in d['devices']] == ['rxe10']"
topo nic0.7
holds "also that of a VLAN on it" "[x['name'] for x in d['devices']] == ['rxe10']"
topo rxe9
holds "one device by its name" "[x['name'] for x in d['devices']] == ['rxe9']"
topo nothing0
is "$status" 3 "an unknown name"
like "$errors" 'nothing0.*rxe9, rxe10, rxe_ve' "is named, with what exists"

rdma dev set rxe10 name renamed
ip link set nic0 down
ip link set nic0 name wire
ip link set wire up
topo
holds "a renamed device on a renamed netdev" "net('renamed', 'wire')['relation'] == 'port'"

# In another namespace the devices are there (netns mode shared), their netdevs are not.
ip netns add other
ip netns exec other "$RDMADIAG" topo -j >"$OUT/other.json"
document=$(cat "$OUT/other.json")
holds "a netdev of another namespace is not shown" "port('renamed')['netdevs'] == [] and port('rxe9')['netdevs'] == []"
holds "and that is found" "finding('port-without-netdev', 'renamed/1')"
ip link set mv0 netns other
topo
holds "a macvlan that left is not shown" "names('renamed', 'above') == ['nic0.7']"

before=$(user_objects)
run_captured as_user "$RDMADIAG" topo -j
# shellcheck disable=SC2034
document=$output
holds "an ordinary user sees the same devices" "[x['name'] for x in d['devices']] == ['renamed', 'rxe9', 'rxe_ve']"
holds "what needs more rights is told" "any(n['what'] == 'acs' and n['errno'] == 1 for n in d['not_collected'])"
is "$(user_objects)" "$before" "nothing is left open"
no_objects_left "no RDMA object is left"
done_testing
