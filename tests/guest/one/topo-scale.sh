#!/bin/bash
# SPDX-License-Identifier: MIT
# What topo costs with many soft-RoCE devices: one netlink socket a protocol, and a number of system calls that grows
# with the devices and no faster. Counts are judged; times are printed, because the machine is emulated and shared.
. tests/guest/lib.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000
devices=${DEVICES:-256}
command -v strace >/dev/null || skip_all "no strace"
modules rdma_rxe ib_uverbs dummy

add() { # FROM TO
	local i
	for ((i = $1; i < $2; i++)); do
		echo "link add dum$i type dummy"
		echo "link set dum$i up"
	done | ip -batch -
	for ((i = $1; i < $2; i++)); do
		rdma link add "rxe$i" type rxe netdev "dum$i"
	done
	sleep 2
}

count() { # FILTER ARGS... - lines of strace
	local filter=$1
	shift
	strace -f -qq -e "trace=$filter" -o /tmp/trace "$@" >/dev/null
	wc -l </tmp/trace
}

seconds() {
	local start=$EPOCHREALTIME
	"$@" >/dev/null
	awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }'
}

half=$((devices / 2))
add 0 "$half"
few=$(count all "$RDMADIAG" topo --no-verbs)
few_verbs=$(count all "$RDMADIAG" topo)
add "$half" "$devices"
many=$(count all "$RDMADIAG" topo --no-verbs)
many_verbs=$(count all "$RDMADIAG" topo)
is "$("$RDMADIAG" topo --no-verbs | grep -c '^rxe[0-9]*/1')" "$devices" "all devices are shown"
each=$(awk -v a="$few" -v b="$many" -v n=$((devices - half)) 'BEGIN { printf "%.1f", (b - a) / n }')
each_verbs=$(awk -v a="$few_verbs" -v b="$many_verbs" -v n=$((devices - half)) 'BEGIN { printf "%.1f", (b - a) / n }')
echo "# system calls: topo --no-verbs $many, $each a device; topo $many_verbs, $each_verbs a device"
ok "at most 12 system calls a device ($each)" awk -v e="$each" 'BEGIN { exit e > 12 }'
ok "the rest does not grow with them" test "$few" -lt $((half * 12 + 1000))
sockets=$(count socket "$RDMADIAG" topo --no-verbs)
grep -c NETLINK_RDMA /tmp/trace >/tmp/rdma || true
is "$(cat /tmp/rdma)" 1 "one socket of RDMA netlink"
is "$(grep -c NETLINK_ROUTE /tmp/trace)" 1 "one of rtnetlink"
is "$sockets" 2 "and no other"
peers=$(($(count all rdma link show) + $(count all ip -d link show)))
echo "# system calls: rdma link show and ip -d link show $peers"
if cc -O2 -o /tmp/bare_port tests/bench/bare_port.c -libverbs 2>/dev/null; then
	bare=$(count all /tmp/bare_port)
	ok "topo: at most that and 1.25 times what a bare program needs ($many_verbs, $bare)" \
		test "$many_verbs" -le $((many + bare * 5 / 4))
else
	skip "comparison with a bare program" "no compiler"
fi
for round in 1 2 3; do
	ours=$(seconds "$RDMADIAG" topo --no-verbs)
	rdma=$(seconds rdma link show)
	ip=$(seconds ip -d link show)
	verbs=$(seconds "$RDMADIAG" topo)
	bare=$([ -x /tmp/bare_port ] && seconds /tmp/bare_port || echo 0)
	echo "# round $round: topo --no-verbs $ours s, rdma link show $rdma s, ip -d link show $ip s; topo $verbs s, bare $bare s"
done
for ((i = 0; i < devices; i++)); do
	echo "link delete dum$i"
done | ip -batch -
done_testing
