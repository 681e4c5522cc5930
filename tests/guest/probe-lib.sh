# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# probe-lib.sh - for tests of the probe in the guest, after lib.sh: two soft RoCE devices that are wired to each other,
# a listener on one of them, and checks on the document.

# shellcheck source=tests/guest/evaluate.sh
. "$(dirname "${BASH_SOURCE[0]}")/evaluate.sh"
RDMADIAG=${RDMADIAG:-build/rdmadiag}
address_a=10.9.0.1
address_b=10.9.0.2
work=$(mktemp -d)
document=$work/document
listener=
status=0

# probe_setup - rxe0 on nic0 with $address_a, rxe2 on nic2 with $address_b, over the wire
probe_setup() {
	name_nics
	selfwire nic0 "$address_a" nic2 "$address_b"
	wait_carrier nic0 nic2
	rxe_add rxe0 nic0
	rxe_add rxe2 nic2
	gid_index rxe0 "$address_a" >/dev/null
	index_b=$(gid_index rxe2 "$address_b")
	wait_for 10 port_is rxe0 ACTIVE && wait_for 10 port_is rxe2 ACTIVE
}

# port_is DEVICE STATE
port_is() {
	grep -q "$2" "/sys/class/infiniband/$1/ports/1/state"
}

# listen [OPTION...] - a listener on rxe2 that keeps on serving; its documents go to $work/listener.out
listen() {
	: >"$work/listener.err"
	"$RDMADIAG" probe -j -d rxe2 -g "$index_b" --listen="$address_b" --keep "$@" >"$work/listener.out" 2>"$work/listener.err" &
	listener=$!
	wait_for 10 grep -q 'listening on' "$work/listener.err"
}

# unlisten - its exit status is left in $listener_status
unlisten() {
	kill -TERM "$listener" 2>/dev/null
	wait "$listener"
	# shellcheck disable=SC2034
	listener_status=$?
	listener=
}

# probe OPTION... - sets $status, $document and $errors
probe() {
	"$RDMADIAG" probe -j "$@" >"$document" 2>"$work/errors"
	status=$?
	# shellcheck disable=SC2034
	errors=$(cat "$work/errors")
}

# peer OPTION... - from rxe0 to the listener. The long deadline lets the ACK timeout be long: a loaded machine makes the
# guest slow, and then nothing should be sent again.
peer() {
	probe -d rxe0 --timeout 20000 --peer "$address_b" "$@"
}

# lossy OPTION... - a peer whose packets get lost: until the retries are used up it takes a share of the deadline
lossy() {
	peer --timeout 6000 "$@"
}

# holds DESCRIPTION EXPRESSION [FILE] - a Python expression over the document of a probe
holds() {
	check probe "$1" "$2" "${3:-$document}"
}

# drop HOOK [MATCH...] - packets of RoCE v2
drop() {
	local hook=$1
	shift
	nft add table inet probe
	nft add chain inet probe rocev2 "{ type filter hook $hook priority 0; }"
	nft add rule inet probe rocev2 "$@" udp dport 4791 counter drop
}

undrop() {
	nft delete table inet probe
}

# all DESCRIPTION COUNT OPTION... - COUNT requests, all of them done and right. Soft RoCE may send again what a busy
# machine made late.
all() {
	local what=$1 count=$2
	shift 2
	probe -d rxe0 --timeout 20000 "$@"
	holds "$what: all requests are done, the bytes are right" \
		"v['outcome'] in ('ok', 'degraded') and e['operations_posted'] == $count == e['operations_completed'] + e['operations_reclaimed'] and not e['operations_failed'] and not e['foreign_completions'] and all(x['payload_verified'] is not False for x in o)"
}
