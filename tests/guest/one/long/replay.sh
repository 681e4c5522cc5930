#!/bin/bash
# SPDX-License-Identifier: MIT
# A report and a capture of a real kernel replay as the host was seen live: soft-RoCE on a bond with a VLAN, and on a dummy.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../../lib.sh"

modprobe rdma_rxe
modprobe bonding max_bonds=0
modprobe dummy numdummies=0
modprobe 8021q
ip link add bondc type bond mode active-backup miimon 100
for name in dumc0 dumc1; do
	ip link add "$name" type dummy
	ip link set "$name" master bondc
done
ip link set bondc up
ip link add link bondc name bondc.5 type vlan id 5
ip link set bondc.5 up
ip addr add 192.0.2.1/24 dev bondc
ip addr add 198.51.100.1/24 dev bondc.5
ip link add dumc2 type dummy
ip link set dumc2 up
ip addr add 2001:db8::1/64 dev dumc2 nodad
rdma link add rxec0 type rxe netdev bondc
rdma link add rxec1 type rxe netdev dumc2

nft add table inet fence
nft add chain inet fence hosts '{ type filter hook input priority 0; }'
nft add rule inet fence hosts udp dport 4791 counter drop
exec tests/replay
