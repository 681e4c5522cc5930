#!/bin/bash
# SPDX-License-Identifier: MIT
# Neighbours, tree, drawing and health of a real kernel's PCI tree, NVMe controller, interrupts and netdevs.
. tests/guest/lib.sh
. tests/guest/topo-lib.sh

modules nvme
for i in 0 2 3; do
	ip link set "nic$i" up
	ok "carrier of nic$i" wait_carrier "nic$i"
	rxe_add "rxe$i" "nic$i"
done
nvme_is_there() {
	[ -e /sys/class/nvme/nvme0 ]
}
for _ in $(seq 50); do
	nvme_is_there && break
	sleep 0.2
done
ok "the NVMe controller is there" nvme_is_there

# relation FROM TO: of the matrix
topo --matrix
is "$status" 0 "topo --matrix ends well"
relation="[r['relation'] for x in d['matrix']['devices'] if x['name'] == '%s' for r in x['relations'] if r['name'] == '%s'][0]"
# shellcheck disable=SC2059
between() {
	printf "$relation" "$1" "$2"
}
holds "below one switch" "$(between nic2 nvme0) == 'PIX' and $(between nvme0 nic3) == 'PIX' and $(between nic2 nic3) == 'PIX'"
holds "on different nodes" "$(between nic0 nvme0) == 'SYS'"
holds "the display of the virtual machine is no GPU" "not [x for x in d['matrix']['devices'] if x['kind'] == 'gpu']"
holds "driver and node" "[(x['driver'], x['numa_node']) for x in d['matrix']['devices'] if x['name'] == 'nvme0'] == [('nvme', 2)]"
topo
holds "nothing of it unasked" "d['matrix'] is None and d['health'] is None"
tree=$("$RDMADIAG" topo --tree)
like "$tree" "switch-upstream" "the tree has the switch"
like "$tree" "nvme0" "and the NVMe controller"
like "$tree" "rxe3/1" "and the software device at the function of its netdev"
"$RDMADIAG" topo --svg /tmp/node.svg
ok "a drawing that is well-formed XML" python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' /tmp/node.svg
rm -f /tmp/node.svg

# ---- health

net_health="[x for x in d['health']['netdevs'] if x['name'] == '%s'][0]"
# shellcheck disable=SC2059
netdev() {
	printf "$net_health" "$1"
}
topo --health
is "$status" 0 "topo --health ends well"
holds "carrier changes as in sysfs" "$(netdev nic0)['carrier_changes'] == $(cat /sys/class/net/nic0/carrier_changes)"
holds "no DCB is said to be none" "$(netdev nic0)['qos'] is None and missing('qos', 'net:nic0')['errno'] == 95"
holds "pause of a driver that has it" "$(netdev nic0)['pause'] is not None"
holds "and of one that has not" "$(netdev nic3)['pause'] is None"
holds "counters of sysfs" "[c['value'] for c in $(netdev nic0)['counters'] if c['name'] == 'rx_crc_errors'] == [0]"
virtio=$(basename "$(readlink -f /sys/class/net/nic3/device/..)")
functions="[x for x in d['health']['functions'] if x['address'] == '$virtio'][0]"
holds "the vectors of virtio by their names" "any(i['completion'] for i in ${functions}['interrupts']) and any(not i['completion'] for i in ${functions}['interrupts'])"
holds "as many as msi_irqs and /proc/interrupts have" \
	"len(${functions}['interrupts']) == $(for irq in /sys/bus/pci/devices/"$virtio"/msi_irqs/*; do grep -c "^ *${irq##*/}:" /proc/interrupts; done | grep -c 1)"

# ---- a capture replays all of it

rm -rf /tmp/node
ok "capture" "$RDMADIAG" capture /tmp/node
document=$("$RDMADIAG" topo -j --matrix --health --from /tmp/node)
holds "the matrix replays" "$(between nic2 nvme0) == 'PIX'"
holds "pause replays" "$(netdev nic0)['pause'] is not None"
holds "no DCB replays" "missing('qos', 'net:nic0')['errno'] == 95"
holds "interrupts replay" "any(i['completion'] for i in ${functions}['interrupts'])"
rm -rf /tmp/node
done_testing
