#!/bin/bash
# SPDX-License-Identifier: MIT
# Layout "four": sub-NUMA clustering, a PCIe switch, three kinds of NIC, one of them without a node.
. tests/guest/lib.sh
is "$(cat /sys/devices/system/node/node0/distance)" "10 12 20 20" "distances of node 0"
is "$(cat /sys/devices/system/node/node2/distance)" "20 20 10 12" "distances of node 2"
is "$(cat /sys/devices/system/cpu/cpu{0,2,4,6}/topology/physical_package_id | xargs)" "0 0 1 1" "two nodes a package"

# The NIC's PCI function: virtio-net is a child of its own.
pci_of() {
	local path
	path=$(readlink -f "/sys/class/net/$1/device")
	[ -e "$path/numa_node" ] || path=${path%/*}
	echo "$path"
}

for nic in nic0:0:e1000e nic1:1:e1000e nic2:2:e1000e nic3:2:virtio-pci nic4:3:vmxnet3 nic5:-1:e1000e; do
	IFS=: read -r name node driver <<<"$nic"
	is "$(cat "$(pci_of "$name")/numa_node")" "$node" "$name is on node $node"
	is "$(basename "$(readlink -f "$(pci_of "$name")/driver")")" "$driver" "$name is driven by $driver"
done
# root port, the switch's upstream port, its downstream port, the NIC
up2=$(dirname "$(dirname "$(pci_of nic2)")")
up3=$(dirname "$(dirname "$(pci_of nic3)")")
is "$up2" "$up3" "nic2 and nic3 share a switch"
isnt "$(dirname "$(pci_of nic2)")" "$(dirname "$(pci_of nic3)")" "at ports of their own"
for pair in nic0:nic1 nic2:nic3 nic4:nic5; do
	ip link set "${pair%:*}" up
	ip link set "${pair#*:}" up
	ok "carrier of $pair" wait_carrier "${pair%:*}" "${pair#*:}"
done
selfwire nic2 192.0.2.1 nic3 192.0.2.2
ok "e1000e reaches virtio-net" busybox ping -c 2 -W 5 -I nic2 192.0.2.2
selfwire nic4 198.51.100.1 nic5 198.51.100.2
ok "vmxnet3 reaches e1000e" busybox ping -c 2 -W 5 -I nic4 198.51.100.2
done_testing
