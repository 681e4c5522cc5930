#!/bin/bash
# SPDX-License-Identifier: MIT
# Bonds across two nodes: each member has its own PCI path, node, package and CPUs, whichever mode the bond has.
. tests/guest/lib.sh
. tests/guest/topo-lib.sh

modules 8021q
bond_add bond0 active-backup nic0 nic1
ip link add link bond0 name bond0.10 type vlan id 10
ip link set bond0.10 up
ok "the bond has a carrier" wait_carrier bond0
rxe_add rxe_bond bond0
topo
is "$status" 0 "topo ends well"
holds "netlink names the bond as the port's netdev" \
	"net('rxe_bond', 'bond0')['relation'] == 'port' and net('rxe_bond', 'bond0')['source'] == 'netlink'"
holds "the bond has no PCI facts of its own" \
	"all(net('rxe_bond', 'bond0')[k] is None for k in ('pci_address', 'numa_node', 'local_cpus', 'package'))"
holds "mode, and no hash policy in this mode" \
	"net('rxe_bond', 'bond0')['bond']['mode'] == 'active-backup' and net('rxe_bond', 'bond0')['bond']['xmit_hash_policy'] is None"
holds "members have nodes of their own" \
	"[m['numa_node'] for m in net('rxe_bond', 'bond0')['bond']['members']] == [0, 1]"
holds "and packages" "[m['package'] for m in net('rxe_bond', 'bond0')['bond']['members']] == [0, 1]"
holds "and CPUs" "[m['local_cpus'] for m in net('rxe_bond', 'bond0')['bond']['members']] == ['0-1', '2-3']"
holds "and PCI paths through their root ports" \
	"all(m['pci_path'].endswith('/' + m['pci_address']) for m in net('rxe_bond', 'bond0')['bond']['members'])"
active=$(cat /sys/class/net/bond0/bonding/active_slave)
holds "the active member" \
	"[m['name'] for m in net('rxe_bond', 'bond0')['bond']['members'] if m['active']] == ['$active'] == [net('rxe_bond', 'bond0')['bond']['active_member']]"
holds "members are below, the VLAN is above" \
	"names('rxe_bond', 'below') == ['nic0', 'nic1'] and names('rxe_bond', 'above') == ['bond0.10']"
holds "finding: members on different packages" "finding('bond-members-on-different-packages', 'net:bond0')"
holds "finding: members on different adapters is info" \
	"finding('bond-members-on-different-adapters', 'net:bond0')['severity'] == 'info'"
holds "the RDMA device has no PCI parent" "dev('rxe_bond')['pci'] is None and dev('rxe_bond')['software'] is True"

ip link set "$active" down
other=$([ "$active" = nic0 ] && echo nic1 || echo nic0)
ok "failover" wait_for 10 grep -qx "$other" /sys/class/net/bond0/bonding/active_slave
topo
holds "after a failover the other member is active" "member('rxe_bond', 'bond0', '$other')['active'] is True"
holds "and the one that is down is found" "'$active' in finding('bond-member-not-active', 'net:bond0')['message']"
holds "its MII status" "member('rxe_bond', 'bond0', '$active')['mii_status'] == 'down'"

# A device on a member of the bond: netlink names the member, the bond is above it, the other member below.
rxe_del rxe_bond
ip link set "$active" up
rxe_add rxe_slave nic0
topo
holds "a member as the port's netdev" "names('rxe_slave', 'port') == ['nic0']"
holds "its bond is above" "'bond0' in names('rxe_slave', 'above')"
holds "the other member is below" "names('rxe_slave', 'below') == ['nic1']"
holds "the member's RDMA device" "member('rxe_slave', 'bond0', 'nic0')['rdma_devices'] == ['rxe_slave']"
rxe_del rxe_slave
ip link delete bond0

# 802.3ad: two bonds at the ends of two wires are each other's partner where the layout has them; one is enough here,
# without a partner each member has an aggregator of its own.
bond_add bond1 802.3ad nic0 nic1
rxe_add rxe_lacp bond1
ok "LACP: the bond has a carrier" wait_carrier bond1
topo
holds "LACP: mode and hash policy" \
	"net('rxe_lacp', 'bond1')['bond']['mode'] == '802.3ad' and net('rxe_lacp', 'bond1')['bond']['xmit_hash_policy'] == 'layer2'"
holds "LACP: each member has an aggregator" \
	"all(m['aggregator_id'] for m in net('rxe_lacp', 'bond1')['bond']['members'])"
holds "LACP: aggregators as the kernel says" \
	"[m['aggregator_id'] for m in net('rxe_lacp', 'bond1')['bond']['members']] == [$(cat /sys/class/net/nic0/bonding_slave/ad_aggregator_id), $(cat /sys/class/net/nic1/bonding_slave/ad_aggregator_id)]"
holds "LACP: in sync is known" "all(m['in_sync'] in (True, False) for m in net('rxe_lacp', 'bond1')['bond']['members'])"
text=$("$RDMADIAG" topo)
like "$text" 'nic1 .* 1 +1 2-3 +0000:41:00.0' "text: a row for each member with its place"
like "$text" 'bond 802.3ad layer2' "text: the mode"
done_testing
