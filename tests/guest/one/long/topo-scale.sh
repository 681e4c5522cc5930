#!/bin/bash
# SPDX-License-Identifier: MIT
# What topo costs with many soft-RoCE devices: one netlink socket a protocol, and a number of system calls that grows
# with the devices and no faster. Counts are judged; times are printed, because the machine is emulated and shared.
. tests/guest/lib.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000
devices=${DEVICES:-64} # 256 take minutes under strace on a busy machine
command -v strace >/dev/null || skip_all "no strace"
modules rdma_rxe ib_uverbs dummy

add() { # FROM TO
	local i
	for ((i = $1; i < $2; i++)); do
		echo "link add dum$i type dummy"
		echo "link set dum$i up"
	done | ip -batch -
	for ((i = $1; i < $2; i++)); do
		echo "link add rxe$i type rxe netdev dum$i"
	done >/tmp/links
	rdma -b /tmp/links
}

# Nothing is given up while strace slows it down.
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=240000

# On one CPU: waking up tracer and traced across emulated CPUs takes most of the time. Netlink messages are not decoded:
# for each, strace has the kernel look for a module that tells the protocol. A call that another thread's interrupts has
# two lines.
count() { # ARGS... - system calls, which are left in /tmp/trace
	taskset -c 0 strace -f -qq -e raw=sendmsg,sendto,recvmsg,recvmmsg -o /tmp/trace "$@" >/tmp/said
	grep -vc ' resumed>' /tmp/trace
}

seconds() {
	local start=$EPOCHREALTIME
	"$@" >/dev/null
	awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }'
}

quarter=$((devices / 4))
add 0 "$quarter"
few=$(count "$RDMADIAG" topo --no-verbs)
add "$quarter" "$devices"
many=$(count "$RDMADIAG" topo --no-verbs)
is "$(grep -c '^rxe[0-9]*/1' /tmp/said)" "$devices" "all devices are shown"
is "$(grep -c 'socket(.*NETLINK_RDMA' /tmp/trace)" 1 "one socket of RDMA netlink"
is "$(grep -c 'socket(.*NETLINK_ROUTE' /tmp/trace)" 1 "one of rtnetlink"
is "$(grep -c 'socket(' /tmp/trace)" 2 "and no other"
each=$(awk -v a="$few" -v b="$many" -v n=$((devices - quarter)) 'BEGIN { printf "%.1f", (b - a) / n }')
echo "# system calls: topo --no-verbs $many, $each a device"
ok "at most 12 system calls a device ($each)" awk -v e="$each" 'BEGIN { exit e > 12 }'
ok "and as many for each of the first ones" test "$few" -le $((quarter * 12 + 1000))
many_verbs=$(count "$RDMADIAG" topo)
if cc -O2 -o /tmp/bare_port tests/bench/bare_port.c -libverbs 2>/dev/null; then
	bare=$(count /tmp/bare_port)
	echo "# system calls: topo $many_verbs, the bare program $bare"
	ok "topo: at most that and 1.25 times what a bare program needs" test "$many_verbs" -le $((many + bare * 5 / 4))
	verbs=$(seconds "$RDMADIAG" topo)
	bare=$(seconds /tmp/bare_port)
	echo "# topo $verbs s, the bare program $bare s"
else
	skip "comparison with a bare program" "no compiler"
fi
ours=$(seconds "$RDMADIAG" topo --no-verbs)
rdma=$(seconds rdma link show)
ip=$(seconds ip -d link show)
echo "# topo --no-verbs $ours s, rdma link show $rdma s, ip -d link show $ip s"
for ((i = 0; i < devices; i++)); do
	echo "link delete dum$i"
done | ip -batch -
done_testing
