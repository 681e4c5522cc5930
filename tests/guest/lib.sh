# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh - for scripts that run in the guest: . tests/guest/lib.sh
# Speaks TAP on standard output: every check prints "ok N - DESCRIPTION" or "not ok …", done_testing prints the plan and
# leaves with 1 when a check failed.

tap_count=0
tap_failed=0
tap_errors=

# ---- TAP

diag() {
	printf '%s\n' "$*" | sed 's/^/# /' >&2
}

pass() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	return 1
}

# skip DESCRIPTION REASON
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# ok DESCRIPTION COMMAND... - the command succeeds
ok() {
	local description=$1
	shift
	if "$@"; then
		pass "$description"
	else
		fail "$description" || diag "status $? of: $*"
	fi
}

# not_ok DESCRIPTION COMMAND... - the command fails
not_ok() {
	local description=$1
	shift
	if "$@"; then
		fail "$description" || diag "succeeded: $*"
	else
		pass "$description"
	fi
}

# is GOT EXPECTED DESCRIPTION
is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3" || diag "     got: $1"$'\n'"expected: $2"
	fi
}

# isnt GOT UNEXPECTED DESCRIPTION
isnt() {
	if [ "$1" != "$2" ]; then
		pass "$3"
	else
		fail "$3" || diag "got: $1"
	fi
}

# like GOT PATTERN DESCRIPTION - an extended regular expression, of which some line is an instance
like() {
	if grep -Eq -- "$2" <<<"$1"; then
		pass "$3"
	else
		fail "$3" || diag "     got: $1"$'\n'"no match: $2"
	fi
}

# unlike GOT PATTERN DESCRIPTION
unlike() {
	if grep -Eq -- "$2" <<<"$1"; then
		fail "$3" || diag "  got: $1"$'\n'"match: $2"
	else
		pass "$3"
	fi
}

# status_is EXPECTED DESCRIPTION COMMAND... - exit status; the output is left in $output, its errors in $errors
status_is() {
	local expected=$1 description=$2 got
	shift 2
	run_captured "$@"
	got=$?
	if [ "$got" = "$expected" ]; then
		pass "$description"
	else
		fail "$description" || diag "status $got, not $expected: $*"$'\n'"$output"$'\n'"$errors"
	fi
}

# run_captured COMMAND... - sets $output and $errors, returns its status
run_captured() {
	local status
	[ -n "$tap_errors" ] || tap_errors=$(mktemp)
	# shellcheck disable=SC2034
	output=$("$@" 2>"$tap_errors")
	status=$?
	# shellcheck disable=SC2034
	errors=$(<"$tap_errors")
	return "$status"
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

done_testing() {
	[ -z "$tap_errors" ] || rm -f "$tap_errors"
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}

# ---- time

# wait_for SECONDS COMMAND... - until the command succeeds
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# ---- modules and NICs

modules() {
	local name
	for name in "$@"; do
		modprobe "$name" || { diag "modprobe $name failed"; return 1; }
	done
}

# dummies NAME... - netdevs without hardware behind them, up
dummies() {
	local name
	modules dummy
	for name in "$@"; do
		ip link add "$name" type dummy
		ip link set "$name" up
	done
}

# The layouts number their NICs in the last byte of the MAC, 0x10 up; ethN comes in any order.
name_nics() {
	local net mac
	modules e1000e virtio_net vmxnet3
	for net in /sys/class/net/eth*; do
		[ -e "$net/device" ] || continue
		read -r mac <"$net/address"
		ip link set "${net##*/}" name "nic$((0x${mac##*:} - 0x10))"
	done
}

has_carrier() {
	[ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]
}

# wait_carrier NIC...
wait_carrier() {
	local nic
	for nic in "$@"; do
		wait_for 20 has_carrier "$nic" || { diag "$nic has no carrier"; return 1; }
	done
}

mac_of() {
	cat "/sys/class/net/$1/address"
}

# One namespace takes packets to its own addresses for local ones. Asking the local table only about what came in from a
# wire makes them leave.
wire_rules() {
	local nic
	for nic in "$@"; do
		ip rule add pref 10 iif "$nic" lookup local
	done
	ip rule show | grep -q '^100:.*lookup main' && return
	ip rule add pref 100 lookup main
	ip rule add pref 200 lookup local
	# the kernel's own and one that was added in its place may both be there
	while ip rule del pref 0 2>/dev/null; do :; done
}

addresses_are_settled() {
	[ -z "$(ip -6 addr show tentative)" ]
}

wire_arp() {
	local nic
	for nic in all "$@"; do
		echo 1 >"/proc/sys/net/ipv4/conf/$nic/accept_local"
		echo 0 >"/proc/sys/net/ipv4/conf/$nic/rp_filter"
		echo 1 >"/proc/sys/net/ipv4/conf/$nic/arp_ignore"
		echo 2 >"/proc/sys/net/ipv4/conf/$nic/arp_announce"
	done
}

# selfwire A ADDRESS_A B ADDRESS_B - two NICs that are wired to each other talk over the wire though they live in one
# namespace; IPv4 addresses of one /24
selfwire() {
	local a=$1 address_a=$2 b=$3 address_b=$4
	wire_arp "$a" "$b"
	ip link set "$a" up
	ip link set "$b" up
	ip addr add "$address_a/24" dev "$a" noprefixroute
	ip addr add "$address_b/24" dev "$b" noprefixroute
	wire_rules "$a" "$b"
	ip route add "$address_b/32" dev "$a" src "$address_a" table main
	ip route add "$address_a/32" dev "$b" src "$address_b" table main
	ip neigh replace "$address_b" dev "$a" lladdr "$(mac_of "$b")" nud permanent
	ip neigh replace "$address_a" dev "$b" lladdr "$(mac_of "$a")" nud permanent
}

# bond_add NAME MODE NIC... - up, with fast LACP and a short miimon
bond_add() {
	local name=$1 mode=$2 nic
	local -a extra=()
	shift 2
	modules bonding
	[ "$mode" = 802.3ad ] && extra=(lacp_rate fast)
	ip link add "$name" type bond mode "$mode" miimon 50 "${extra[@]}" || return
	for nic in "$@"; do
		ip link set "$nic" down
		ip link set "$nic" master "$name" || return
	done
	ip link set "$name" up
}

# carries BOND NIC - of an active-backup bond
carries() {
	[ "$(cat "/sys/class/net/$1/bonding/active_slave")" = "$2" ]
}

# bond_ready NAME - LACP has found its partner
has_partner() {
	grep -q 'Partner Mac Address: 02' "/proc/net/bonding/$1"
}

bond_ready() {
	wait_for 30 has_partner "$1"
}

# ---- RDMA devices

# rxe_add NAME NETDEV
rxe_add() {
	modules ib_uverbs rdma_rxe
	rdma link add "$1" type rxe netdev "$2" || return
	wait_for 10 test -e "/sys/class/infiniband/$1/ports/1/gids/0"
}

rxe_del() {
	rdma link delete "$1"
}

# siw_add NAME NETDEV - needs run -m siw; the port takes its state from the carrier of this moment
siw_add() {
	modules ib_uverbs siw
	rdma link add "$1" type siw netdev "$2" || return
	wait_for 10 test -e "/sys/class/infiniband/$1/ports/1/gids/0"
}

# gid_index DEVICE ADDRESS - index of the GID of an IPv4 address; waits for it to appear
gid_index() {
	local file end=$((SECONDS + 10)) gid
	# shellcheck disable=SC2086
	gid=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' ${2//./ })
	until file=$(grep -lx "$gid" "/sys/class/infiniband/$1/ports/1/gids/"* 2>/dev/null); do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
	basename "$(head -n 1 <<<"$file")"
}

# gids_follow DEVICE NETDEV|ADDRESS... - until the table is what the addresses make of it
gids_follow() {
	local said
	said=$(python3 tests/guest/gids-follow "$@" 2>&1) || { diag "GIDs of $1: $said"; return 1; }
}

# flows DEVICE - until a soft-RoCE device is sending many packets
sent_more_than() {
	[ "$(cat "/sys/class/infiniband/$1/ports/1/hw_counters/sent_pkts")" -gt "$2" ]
}

flows() {
	wait_for 20 sent_more_than "$1" $(($(cat "/sys/class/infiniband/$1/ports/1/hw_counters/sent_pkts") + 100))
}

# what processes hold: the kernel's own objects carry no pid
user_objects() {
	local kind
	for kind in ctx pd cq qp mr cm_id srq; do
		rdma resource show "$kind" 2>/dev/null | grep ' pid ' | sed "s/^/$kind: /"
	done
	return 0
}

no_user_objects() {
	[ -z "$(user_objects)" ]
}

# no_objects_left DESCRIPTION - the kernel may take a moment to tear down what a process held
no_objects_left() {
	if wait_for 5 no_user_objects; then
		pass "$1"
	else
		fail "$1" || diag "$(user_objects)"
	fi
}

# ---- users

# as_user COMMAND... - as an ordinary user
as_user() {
	HOME=/home/user USER=user LOGNAME=user setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all -- "$@"
}
