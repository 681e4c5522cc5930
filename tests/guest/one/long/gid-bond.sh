#!/bin/bash
# SPDX-License-Identifier: MIT
# GIDs of a soft-RoCE device on an active-backup bond, before and after a failover.
. tests/guest/lib.sh
. tests/guest/evaluate.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
# Nothing is given up because the machine below is busy.
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000

show() {
	"$RDMADIAG" gid | sed 's/^/# /'
}

# field FIELD IP
field() {
	value gid "sorted({str(e['$1']) for e in entries if not '$2' or e['ip'] == '$2'})" "$RDMADIAG" gid -j
}

choice() {
	value gid "advised()" "$RDMADIAG" gid -j --explain "$1"
}

# bond_up [OPTION VALUE]... - bond0 of nic0 and nic1
bond_up() {
	ip link add bond0 type bond mode active-backup miimon 100 "$@"
	ip link set nic0 down
	ip link set nic1 down
	ip link set nic0 master bond0
	ip link set nic1 master bond0
	ip link set bond0 up
	wait_carrier bond0
}

is_active() {
	[ "$(cat /sys/class/net/bond0/bonding/active_slave)" = "$1" ]
}

# Of link-local entries only that of the bond's MAC is good.
mac_decides() {
	"$RDMADIAG" gid -j | python3 -c '
import ipaddress, json, sys
mac = [int(b, 16) for b in open("/sys/class/net/bond0/address").read().split(":")]
own = ipaddress.ip_address(bytes([0xfe, 0x80] + [0] * 6 + [mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe] + mac[3:]))
for e in json.load(sys.stdin)["entries"]:
    if e["scope"] == "link-local" and (e["state"] == "ok") != (ipaddress.ip_address(e["ip"]) == own):
        sys.exit("%s is called %s; the MAC makes %s" % (e["ip"], e["state"], own))'
}

modules rdma_rxe ib_uverbs bonding
for policy in none active; do
	bond_up fail_over_mac $policy
	echo nic0 >/sys/class/net/bond0/bonding/active_slave
	ip addr add 192.0.2.6/24 dev bond0
	rdma link add rxeb type rxe netdev bond0
	gids_follow rxeb bond0
	show
	is "$(field state 192.0.2.6)" ok "fail_over_mac $policy: the address of the bond"
	is "$(field netdev 192.0.2.6)" bond0 "fail_over_mac $policy: its netdev"
	unlike "$(field state '')" stale "fail_over_mac $policy: nothing is stale"
	is "$(choice rxeb)" 192.0.2.6 "fail_over_mac $policy: the advice"
	"$RDMADIAG" gid -j >/tmp/before
	ip link set nic0 down
	wait_for 10 is_active nic1
	gids_follow rxeb bond0
	is "$(cat /sys/class/net/bond0/bonding/active_slave)" nic1 "fail_over_mac $policy: failed over"
	show
	"$RDMADIAG" gid --diff /tmp/before | sed 's/^/# /'
	is "$(field state 192.0.2.6)" ok "fail_over_mac $policy: the address survives the failover"
	is "$(choice rxeb)" 192.0.2.6 "fail_over_mac $policy: so does the advice"
	# fail_over_mac=active gives the bond another MAC: an entry made from the former one is good only while the bond
	# still has that link-local address.
	"$RDMADIAG" gid -j | python3 -c '
import ipaddress, json, subprocess, sys
addresses = {a["local"] for i in json.loads(subprocess.check_output(["ip", "-j", "addr", "show", "bond0"])) for a in i["addr_info"]}
mac = [int(b, 16) for b in open("/sys/class/net/bond0/address").read().split(":")]
own = ipaddress.ip_address(bytes([0xfe, 0x80] + [0] * 6 + [mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe] + mac[3:]))
for e in json.load(sys.stdin)["entries"]:
    good = e["ip"] in addresses or ipaddress.ip_address(e["ip"]) == own
    if e["state"] != ("ok" if good else "stale"):
        sys.exit("%s is called %s; the bond has %s and %s" % (e["ip"], e["state"], addresses, own))'
	is $? 0 "fail_over_mac $policy: states after the failover"
	# Taking the former link-local address away leaves nothing that would make its entry good.
	ip -6 addr flush dev bond0 scope link
	show
	wait_for 10 mac_decides
	is $? 0 "fail_over_mac $policy: without link-local addresses the MAC decides"
	rdma link delete rxeb
	ip link delete bond0
done

# A member's own device: the kernel names the bond in its entries, the port is the member.
bond_up
ip addr add 192.0.2.6/24 dev bond0
rdma link add rxem type rxe netdev nic0
wait_for 10 test -e /sys/class/infiniband/rxem/ports/1/gids/0
gids_follow rxem bond0
show
unlike "$(field state '')" 'stale|foreign|unknown' "a member's own device: entries are joined with the bond"
done_testing
