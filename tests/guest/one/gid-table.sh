#!/bin/bash
# SPDX-License-Identifier: MIT
# The GID table of a soft-RoCE device: what stands in it, what happens to it, and both ways to read it.
. tests/guest/lib.sh
. tests/guest/evaluate.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
# Nothing is given up because the machine below is busy.
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000

# gid FIELD SELECTOR - that field of the entries for which the Python expression SELECTOR of e holds, joined by blanks
gid() {
	value gid "[e['$1'] for e in entries if $2]" "$RDMADIAG" gid -j
}

choice() {
	value gid "choice('$1')['index']" "$RDMADIAG" gid -j --explain
}

entries_of() {
	value gid "[d['tables'], entries]" "$@"
}

modules rdma_rxe ib_uverbs 8021q
ip link set nic0 up
ip link set nic1 up
wait_carrier nic0 nic1
ip addr add 192.0.2.1/24 dev nic0
ip addr add 2001:db8::1/64 dev nic0 nodad
rdma link add rxe0 type rxe netdev nic0
ip link add link nic0 name nic0.10 type vlan id 10
ip link set nic0.10 up
ip addr add 198.51.100.1/24 dev nic0.10
gids_follow rxe0 nic0 nic0.10

# ---- what stands in it

status_is 0 "gid works" "$RDMADIAG" gid
like "$output" '^DEV +PORT +INDEX +GID +IPv4 +VER +DEV ' "the columns of show_gids come first"
like "$output" '^rxe0/1: [0-9]+ of 1024 used, [0-9]+ holes' "counts are shown"
unlike "$output" 'MTU|mtu' "nothing that belongs to topo is called missing"
is "$(gid state 'e["ip"] == "192.0.2.1"')" ok "IPv4: ok"
is "$(gid netdev 'e["ip"] == "192.0.2.1"')" nic0 "IPv4: netdev"
is "$(gid scope 'e["ip"] == "192.0.2.1"')" global "IPv4: scope"
is "$(gid vlan 'e["ip"] == "192.0.2.1"')" None "IPv4: untagged"
is "$(gid state 'e["ip"] == "2001:db8::1"')" ok "IPv6: ok"
is "$(gid scope 'e["index"] == 0')" link-local "the first entry is link-local"
is "$(gid vlan 'e["ip"] == "198.51.100.1"')" 10 "VLAN: id"
is "$(gid netdev 'e["ip"] == "198.51.100.1"')" nic0.10 "VLAN: netdev"
is "$(gid type 'True' | tr -d ' ' | sed 's/RoCEv2//g')" "" "every type is RoCE v2"
ipv4=$(gid index 'e["ip"] == "192.0.2.1"')
isnt "$ipv4" "" "the IPv4 entry has an index"
for consumer in rdmadiag nccl ucx perftest mooncake rdma_cm; do
	is "$(choice $consumer)" "$ipv4" "$consumer takes the untagged IPv4 entry"
done
is "$(NCCL_IB_GID_INDEX=0 choice nccl)" 0 "NCCL_IB_GID_INDEX is honoured"
status_is 0 "a netdev's name stands for its device" "$RDMADIAG" gid nic0
status_is 3 "an unknown device" "$RDMADIAG" gid nonsense
like "$errors" "there are: rxe0" "what exists is named"
status_is 3 "an unknown port" "$RDMADIAG" gid rxe0/2
is "$("$RDMADIAG" gid --all | grep -c '^rxe0 ')" 1024 "--all shows every slot"

# ---- both ways to read it

chmod 600 /dev/infiniband/uverbs0
entries_of "$RDMADIAG" gid -j >/tmp/root
setpriv --reuid 65534 --regid 65534 --clear-groups "$RDMADIAG" gid -j >/tmp/user.json
is $? 0 "an ordinary user without access to uverbs sees the table"
entries_of cat /tmp/user.json >/tmp/user
like "$(cat /tmp/user)" "192.0.2.1.*198.51.100.1" "it is not empty"
is "$(cat /tmp/user)" "$(cat /tmp/root)" "verbs and sysfs give the same table"
chmod 666 /dev/infiniband/uverbs0
if command -v strace >/dev/null; then
	strace -f -qq -e trace=openat,ioctl -o /tmp/trace "$RDMADIAG" gid -j >/dev/null
	is "$(grep -c 'openat.*/ports/1/gids/' /tmp/trace)" 0 "no slot is read from sysfs"
	is "$(grep -c 'openat.*gid_attrs' /tmp/trace)" 0 "no type is read from sysfs"
	is "$(grep -c 'openat.*uverbs0' /tmp/trace)" 1 "the device is opened once"
else
	skip "system calls" "no strace"
fi

# ---- routes

to() {
	value gid "[d['to'][name] for name in ('device', 'port', 'index', 'reason')]" "$RDMADIAG" gid -j --to "$1"
}

like "$(to 192.0.2.9)" "^rxe0 1 $ipv4 through nic0" "--to: a neighbour"
like "$(to 198.51.100.9)" "^rxe0 1 $(gid index 'e["ip"] == "198.51.100.1"') through nic0.10" "--to: through the VLAN"
like "$(to 203.0.113.1)" "^None None None no route" "--to: no route"
ip route add 203.0.113.0/24 via 192.0.2.254
like "$(to 203.0.113.1)" "^rxe0 1 $ipv4 .*router 192.0.2.254" "--to: through a router"
ip addr add 10.20.0.1/24 dev nic1
like "$(to 10.20.0.9)" "^None None None the route goes through nic1, which is no netdev of an RDMA device" "--to: another netdev"
like "$(to fe80::1)" "^None None None a link-local address is on every link" "--to: a link-local address"
like "$(to fe80::1%nic0)" "^rxe0 1 0 through nic0" "--to: a link-local address of a link"
like "$(to 192.0.2.1)" "^rxe0 1 $ipv4 .*loopback" "--to: an own address"
ip neigh replace 192.0.2.77 dev nic0 nud failed
like "$(to 192.0.2.77)" "^None None None the neighbour 192.0.2.77 on nic0 is unresolved" "--to: nobody answers"
ip addr add 192.0.2.100/24 dev nic1
like "$(to 192.0.2.9)" "ARP flux" "--to: two netdevs in one subnet"
like "$("$RDMADIAG" gid)" "gid-same-subnet" "two netdevs in one subnet are a finding"
sysctl -qw net.ipv4.conf.nic0.arp_ignore=1 net.ipv4.conf.nic1.arp_ignore=1
unlike "$(to 192.0.2.9)" "ARP flux" "--to: no ARP flux where arp_ignore is set"
unlike "$("$RDMADIAG" gid)" "gid-same-subnet" "nor is it a finding then"
sysctl -qw net.ipv4.conf.nic0.arp_ignore=0 net.ipv4.conf.nic1.arp_ignore=0
ip addr flush dev nic1
status_is 2 "--to: not an address" "$RDMADIAG" gid --to nonsense
like "$errors" "names of hosts are not resolved" "--to: said so"
ip route add blackhole 203.0.114.0/24
ip route add prohibit 203.0.115.0/24
ip route add unreachable 203.0.116.0/24
like "$(to 203.0.114.1)" "^None None None the route .* of type blackhole" "--to: a blackhole"
like "$(to 203.0.115.1)" "^None None None the route .* of type prohibit" "--to: a prohibited route"
like "$(to 203.0.116.1)" "^None None None the route .* of type unreachable" "--to: an unreachable route"
status_is 0 "--to: that nothing reaches an address is an answer" "$RDMADIAG" gid --to 203.0.114.1
like "$output" "^203.0.114.1: no index reaches it: " "--to: the answer"
like "$(to 0000:0000:0000:0000:0000:ffff:c000:0209)" "^rxe0 1 $ipv4 through nic0" "--to: a GID"
like "$(to ::ffff:192.0.2.9)" "^rxe0 1 $ipv4 through nic0" "--to: a mapped address"
like "$(to 127.0.0.1)" "^None None None 127.0.0.1 is an address of this host, but of no RDMA device" "--to: loopback"
like "$(to 192.0.2.255)" "^None None None .*broadcast" "--to: a broadcast address"
like "$(to 224.0.0.1)" "^None None None .*multicast" "--to: a multicast address"
# Two paths: each has entries of its own.
ip addr add 10.20.0.1/24 dev nic1
ip route add 203.0.117.0/24 nexthop via 192.0.2.254 nexthop via 10.20.0.254
like "$(to 203.0.117.1)" "(^rxe0 1 $ipv4 .*also paths through nic1|^None None None the route goes through nic1|^rxe0 1 $ipv4 .*only from there)" "--to: a route of two paths"
# The main table leads to the other NIC, a rule by source to the RDMA device.
ip route add 203.0.118.0/24 via 10.20.0.254
like "$(to 203.0.118.1)" "^None None None the route goes through nic1" "--to: the other netdev"
ip route add 203.0.118.0/24 via 192.0.2.254 table 100
ip rule add from 192.0.2.1 table 100
like "$(to 203.0.118.1)" "^rxe0 1 $ipv4 through nic0 and the router 192.0.2.254, source 192.0.2.1 .only from there" "--to: a rule by source"
ip rule del from 192.0.2.1 table 100
ip route flush table 100
ip addr flush dev nic1
ip neigh replace 192.0.2.78 dev nic0 lladdr 02:00:00:00:00:78 nud permanent
unlike "$(to 192.0.2.78)" "asked for" "--to: a permanent neighbour"
# A link by its number, a router of the other family, and a VRF: its routes are in a table of its own.
like "$(to "fe80::1%$(cat /sys/class/net/nic0/ifindex)")" "^rxe0 1 0 through nic0" "--to: a link by its ifindex"
ip route add 203.0.119.0/24 via inet6 fe80::fe dev nic0
like "$(to 203.0.119.1)" "^rxe0 1 $ipv4 through nic0 and the router fe80::fe" "--to: an IPv6 router of an IPv4 route"
ip -6 route add 2001:db8:9::/64 via 2001:db8::fe
ipv6=$(gid index 'e["ip"] == "2001:db8::1"')
like "$(to 2001:db8:9::1)" "^rxe0 1 $ipv6 through nic0 and the router 2001:db8::fe, source 2001:db8::1" "--to: an IPv6 router"
if modprobe vrf 2>/dev/null && ip link add vrf1 type vrf table 1001; then
	ip link set vrf1 up
	ip link set nic0 master vrf1
	ip route add 203.0.120.0/24 via 192.0.2.254 table 1001
	gids_follow rxe0 nic0 nic0.10
	wait_carrier nic0 # a VRF takes its members down and up
	like "$(to 203.0.120.1)" "^rxe0 1 [0-9]+ through nic0 and the router 192.0.2.254, source 192.0.2.1" "--to: through a VRF"
	ip link set nic0 nomaster
	ip link delete vrf1
	ip addr replace 2001:db8::1/64 dev nic0 nodad
	gids_follow rxe0 nic0 nic0.10
	wait_carrier nic0
	ipv4=$(gid index 'e["ip"] == "192.0.2.1"')
else
	skip "--to: through a VRF" "the kernel has none"
fi

# ---- what happens to it

"$RDMADIAG" gid -j >/tmp/before
status_is 0 "--diff: nothing changed" "$RDMADIAG" gid --diff /tmp/before
like "$output" "no difference" "--diff says so"
ip addr add 192.0.2.50/24 dev nic0
gids_follow rxe0 nic0 nic0.10
status_is 1 "--diff: an address was added" "$RDMADIAG" gid --diff /tmp/before
like "$output" "^rxe0/1 new: index [0-9]+ is 0000:0000:0000:0000:0000:ffff:c000:0232 \(192.0.2.50\) RoCE" "--diff: new"
"$RDMADIAG" gid -j >/tmp/between
ip addr del 192.0.2.1/24 dev nic0
ip addr add 192.0.2.50/24 dev nic0 2>/dev/null
gids_follow rxe0 nic0 nic0.10
status_is 1 "--diff: an address was removed" "$RDMADIAG" gid --diff /tmp/before
like "$output" "^rxe0/1 gone: 0000:0000:0000:0000:0000:ffff:c000:0201 \(192.0.2.1\) RoCE v2: index $ipv4 " "--diff: gone"
is "$(gid index 'e["ip"] == "192.0.2.1"')" "" "the removed address has no entry"
like "$("$RDMADIAG" gid -j --diff /tmp/before)" '"kind":"gone"' "--diff in JSON"
status_is 3 "--diff: no such file" "$RDMADIAG" gid --diff /nonexistent
echo '{"schema":"rdmadiag.topo"}' >/tmp/wrong
status_is 3 "--diff: another document" "$RDMADIAG" gid --diff /tmp/wrong
sed 's/"version":1,/"version":2,/' /tmp/before >/tmp/newer
status_is 3 "--diff: a document of a newer version" "$RDMADIAG" gid --diff /tmp/newer
like "$errors" "version 2 of the document is not known" "--diff: said so"
sed 's/"size":1024,/"size":256,/' /tmp/before >/tmp/resized
status_is 1 "--diff: a table of another size" "$RDMADIAG" gid --diff /tmp/resized
like "$output" "^rxe0/1 resized: the table had 256 slots and has 1024" "--diff: resized"
# The removed address comes back into another slot when its own is taken.
ip addr add 192.0.2.60/24 dev nic0
ip addr add 192.0.2.1/24 dev nic0
gids_follow rxe0 nic0 nic0.10
status_is 1 "--diff: moved" "$RDMADIAG" gid --diff /tmp/before
like "$output" "^rxe0/1 moved: 0000:0000:0000:0000:0000:ffff:c000:0201 \(192.0.2.1\) RoCE v2: index $ipv4 .*; its GID moved to" "--diff: moved"

ip link set nic0.10 down
ip link set nic0 down
ip link set nic0 address 02:00:00:00:00:99
ip link set nic0 up
wait_carrier nic0
gids_follow rxe0 nic0 nic0.10
like "$(gid state 'e["scope"] == "link-local" and e["vlan"] is None and e["gid"].endswith("ff:fe00:0099")')" '^(ok|duplicate)$' "a new MAC: its GID is good"
states=$(gid state 'e["scope"] == "link-local" and e["vlan"] is None and e["gid"].endswith("ff:fe00:0010")')
diag "entries of the former MAC: ${states:-none}"
case $states in '' | stale) pass "a former MAC: gone or stale" ;; *) fail "a former MAC: $states" ;; esac
ip link set nic0 down
ip link set nic0 name renamed0
ip link set renamed0 up
wait_carrier renamed0
gids_follow rxe0 renamed0 nic0.10
is "$(gid netdev 'e["vlan"] is None' | tr ' ' '\n' | sort -u)" renamed0 "a renamed netdev"
unlike "$(gid state True)" "foreign" "renaming makes nothing foreign"
done_testing
