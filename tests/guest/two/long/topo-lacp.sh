#!/bin/bash
# SPDX-License-Identifier: MIT
# 802.3ad with a partner that speaks LACP: bonds in another namespace at the far ends of veth pairs. Then a member whose
# far end belongs to another bond, as with a cable in the wrong switch.
. tests/guest/lib.sh
. tests/guest/topo-lib.sh

modules veth bonding
ip netns add far
for i in 0 1 2; do
	ip link add "near$i" type veth peer name "far$i" netns far
done
far_bond() { # NAME MAC MEMBER...
	local name=$1 mac=$2 member
	shift 2
	ip -n far link add "$name" address "$mac" type bond mode 802.3ad miimon 50 lacp_rate fast
	for member; do
		ip -n far link set "$member" master "$name"
	done
	ip -n far link set "$name" up
}
far_bond one 02:00:5e:00:00:01 far0 far1
far_bond other 02:00:5e:00:00:02 far2
bond_add bond0 802.3ad near0 near1
ok "LACP finds its partner" bond_ready bond0
rxe_add rxe0 bond0
all_in_sync() {
	topo
	evaluate topo "all(m['in_sync'] and m['active'] for m in net('rxe0', 'bond0')['bond']['members'])" "$document"
}
ok "both members come into sync" wait_for 30 all_in_sync
holds "the partner's MAC of each member" \
	"[m['partner_mac'] for m in net('rxe0', 'bond0')['bond']['members']] == ['02:00:5e:00:00:01'] * 2"
holds "one aggregator, as the kernel says" \
	"{m['aggregator_id'] for m in net('rxe0', 'bond0')['bond']['members']} == {$(cat /sys/class/net/bond0/bonding/ad_aggregator)}"
holds "both are up" "[m['mii_status'] for m in net('rxe0', 'bond0')['bond']['members']] == ['up', 'up']"
holds "no active member is named in this mode" "net('rxe0', 'bond0')['bond']['active_member'] is None"
holds "nothing is found wrong with it" "not [f for f in d['findings'] if f['subject'] == 'net:bond0']"

ip link set near2 down
ip link set near2 master bond0
has_partner_near2() { [ "$(cat /sys/class/net/near2/bonding_slave/ad_partner_oper_port_state)" != 1 ] && ip link show near2 | grep -q LOWER_UP; }
ok "the third member hears the other bond" wait_for 30 has_partner_near2
of_its_own() {
	[ "$(cat /sys/class/net/near2/bonding_slave/ad_aggregator_id)" != "$(cat /sys/class/net/near0/bonding_slave/ad_aggregator_id)" ] &&
		grep -A 25 '^Slave Interface: near2' /proc/net/bonding/bond0 | grep -q 'system mac address: 02:00:5e:00:00:02'
}
ok "and is in an aggregator of its own" wait_for 30 of_its_own
topo
holds "its partner is another one" "member('rxe0', 'bond0', 'near2')['partner_mac'] == '02:00:5e:00:00:02'"
holds "so it is in another aggregator" \
	"member('rxe0', 'bond0', 'near2')['aggregator_id'] == $(cat /sys/class/net/near2/bonding_slave/ad_aggregator_id) != member('rxe0', 'bond0', 'near0')['aggregator_id']"
holds "its link is up all the same" "member('rxe0', 'bond0', 'near2')['mii_status'] == 'up'"
holds "but it carries nothing" "member('rxe0', 'bond0', 'near2')['active'] is False"
holds "the others do" "all(member('rxe0', 'bond0', n)['active'] and member('rxe0', 'bond0', n)['in_sync'] for n in ('near0', 'near1'))"
holds "which is found" \
	"'2 of 3 members active: near2' in finding('bond-member-in-wrong-aggregator', 'net:bond0')['message']"

# The partner goes: its members stay up, and LACP takes them out.
ip -n far link set one down
ip -n far link set far0 up
ip -n far link set far1 up
out_of_sync() {
	topo
	evaluate topo "member('rxe0', 'bond0', 'near0')['in_sync'] is False" "$document"
}
ok "without its partner a member is not in sync" wait_for 30 out_of_sync
rxe_del rxe0
ip netns delete far
done_testing
