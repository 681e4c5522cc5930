#!/bin/bash
# SPDX-License-Identifier: MIT
# gid --explain beside the programs themselves: the index that perftest prints, the one that UCX logs, and the GID that
# rdma_cm takes.
. tests/guest/lib.sh
. tests/guest/evaluate.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
# Nothing is given up because the machine below is busy.
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000

# choice CONSUMER - index and reason
choice() {
	value gid "[choice('$1')['index'], choice('$1')['reason']]" "$RDMADIAG" gid -j --explain rxe0
}

# ip_of INDEX
ip_of() {
	value gid "[e['ip'] for e in entries if e['index'] == $1]" "$RDMADIAG" gid -j rxe0
}

# perftest_index - of the installed perftest, which prints it before it is connected; both ends on this device
perftest_index() {
	local log=/tmp/perftest.log
	ib_write_bw -d rxe0 -n 5 -s 64 -p 18600 >$log 2>&1 &
	local pid=$!
	wait_for 20 listens 18600
	timeout 60 ib_write_bw -d rxe0 -n 5 -s 64 -p 18600 127.0.0.1 >/tmp/perftest.client 2>&1
	wait $pid
	sed -n 's/^ *GID index *: *\([0-9]*\).*/\1/p' $log | head -n 1
}

# shellcheck disable=SC2317 # called by wait_for
listens() {
	ss -Hltn "sport = :$1" | grep -q .
}

# Up to 6.28 perftest had another rule, which the reason tells where it leads elsewhere.
expected_of_perftest() {
	local text former
	text=$(choice perftest)
	former=$(sed -n 's/.*up to 6.28: \([0-9]*\).*/\1/p' <<<"$text")
	if [ -n "$former" ] && [ -n "$old_perftest" ]; then
		echo "$former"
	else
		echo "${text%% *}"
	fi
}

old_perftest=
version=$(ib_write_bw --version 2>&1 | sed -n 's/.*Version: *6[.]0*\([0-9]*\).*/\1/p')
[ "${version:-99}" -gt 28 ] || old_perftest=yes
diag "perftest 6.${version:-?}"

ucx_minor=
if command -v ucx_info >/dev/null; then
	ucx_minor=$(ucx_info -v | sed -n 's/.*[Vv]ersion:* *1[.]\([0-9]*\).*/\1/p' | head -n 1)
	diag "UCX 1.${ucx_minor:-?}"
fi

compare_perftest() {
	local expected
	expected=$(expected_of_perftest)
	diag "$1: $(choice perftest)"
	is "$(perftest_index)" "$expected" "perftest: $1"
}

# ucx_index - of the installed UCX, which opens every interface of the device to describe it; none: it leaves it out
ucx_index() {
	UCX_LOG_LEVEL=debug timeout 60 ucx_info -d 2>&1 |
		sed -n 's/.*rxe0:1 using gid_index[ =]\([0-9]*\).*/\1/p' | head -n 1 | grep . || echo None
}

# Up to 1.20 UCX had another rule, which the reason tells where it leads elsewhere.
expected_of_ucx() {
	local text former
	text=$(choice ucx)
	former=$(sed -n 's/.*up to 1.20: \([0-9]*\).*/\1/p' <<<"$text")
	if [ -n "$former" ] && [ "$ucx_minor" -le 20 ]; then
		echo "$former"
	else
		echo "${text%% *}"
	fi
}

compare_ucx() {
	[ -n "$ucx_minor" ] || return
	diag "$1: $(choice ucx)"
	is "$(ucx_index)" "$(expected_of_ucx)" "UCX: $1"
}

# cm_listens PID - it has an id of rdma_cm that listens
cm_listens() {
	rdma resource show cm_id | grep -q "state LISTEN.* pid $1 "
}

# cm_source ADDRESS - the GID with which rdma_cm connects to a peer: address that the kernel binds the id to
cm_source() {
	rping -s -a "$1" -C 200000 >/tmp/rping.server 2>&1 &
	local server=$! client
	wait_for 20 cm_listens $server
	rping -c -a "$1" -I "$2" -C 200000 >/tmp/rping.client 2>&1 &
	client=$!
	wait_for 20 cm_connected "$2" && cm_connected "$2" print
	kill $client $server
	wait $client $server 2>/dev/null
}

# Such lines: link rxe0/1 cm-idn 0 lqpn 18 qp-type RC state CONNECT ps TCP pid 770 comm rping src-addr 192.0.2.1:50142 …
cm_connected() {
	rdma resource show cm_id | sed -n "/state CONNECT /s/.*src-addr \\[*$1\\]*:.*/$1/p" | head -n 1 | if [ -n "${2-}" ]; then cat; else grep -q .; fi
}

modules rdma_rxe ib_uverbs rdma_cm rdma_ucm
ip link set lo up
ip link set nic0 up
wait_carrier nic0
rxe_add rxe0 nic0
gids_follow rxe0 nic0
compare_perftest "link-local only"
compare_ucx "link-local only"
while read -r action address description; do
	ip addr "$action" "$address" dev nic0
	gids_follow rxe0 nic0
	compare_perftest "$description" </dev/null
	compare_ucx "$description" </dev/null
done <<-'CHANGES'
	add 2001:db8::1/64 link-local and routable IPv6
	add 169.254.9.9/16 IPv4 link-local
	add 192.0.2.1/24 IPv4 link-local before IPv4
	del 169.254.9.9/16 a hole before IPv4
	add 192.0.2.7/24 a second address in the hole
CHANGES
text=$(choice rdma_cm)
is "$(ip_of "${text%% *}")" 192.0.2.1 "rdma_cm: the first address, whatever its index"
is "$(cm_source 192.0.2.1 192.0.2.1)" 192.0.2.1 "rdma_cm: the kernel connects with that address"
is "$(cm_source 192.0.2.7 192.0.2.7)" 192.0.2.7 "rdma_cm: and with another where the program binds to it"
done_testing
