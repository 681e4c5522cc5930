#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults of a real kernel under a probe between two soft RoCE devices, in an order by chance: the layer that was made
# guilty is among layer and candidates, and a confirmed verdict names it. CAMPAIGN_RUNS (8) and SEED (1) may be set.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup
RANDOM=${SEED:-1}

# judged NAME GUILTY - "ok" harmed nobody; otherwise one of the layers in GUILTY (words) must be left
judged() {
	holds "$1: $2" "judged('$2')"
}

# within_host OPTION... - from rxe0 to rxe2 in one process
within_host() {
	probe -d rxe0 --target-device rxe2 --timeout 3000 "$@"
}

hit() {
	local op=(write write send read) size=(64 "64,4096" 9000)
	local options=(--op "${op[RANDOM % 4]}" --size "${size[RANDOM % 3]}" --count $((RANDOM % 3 + 1)))
	case $1 in
	drop-in) drop input; within_host "${options[@]}"; undrop; judged "$1 ${options[*]}" "network configuration" ;;
	drop-out) drop output; within_host "${options[@]}"; undrop; judged "$1 ${options[*]}" "configuration kernel" ;;
	drop-large) drop input meta length gt 1000; within_host "${options[@]}"; undrop
		judged "$1 ${options[*]}" "network configuration" ;;
	drop-answers) drop input ip saddr "$address_b"; within_host "${options[@]}"; undrop
		judged "$1 ${options[*]}" "network configuration" ;;
	link-down)
		(flows rxe0; ip link set nic2 down) &
		within_host "${options[@]}" --count 2000; wait $!
		ip link set nic2 up; wait_carrier nic2; wait_for 10 port_is rxe2 ACTIVE
		ip route replace "$address_a/32" dev nic2 src "$address_b" table main
		ip neigh replace "$address_a" dev nic2 lladdr "$(mac_of nic0)" nud permanent
		index_b=$(gid_index rxe2 "$address_b")
		judged "$1 ${options[*]}" "configuration network" ;;
	gid-gone)
		ip addr del "$address_b/24" dev nic2; gids_follow rxe2 nic2
		within_host -g 1 "${options[@]}"
		ip addr add "$address_b/24" dev nic2 noprefixroute; index_b=$(gid_index rxe2 "$address_b")
		ip route replace "$address_a/32" dev nic2 src "$address_b" table main
		judged "$1 ${options[*]}" "configuration" ;;
	kill-peer)
		listen
		(flows rxe0; kill -KILL "$listener") &
		probe -d rxe0 --timeout 5000 --peer "$address_b" --count 100000 --size 64
		wait $! "$listener" 2>/dev/null
		listener=
		judged "$1" "remote-application" ;;
	esac
}

kinds=(drop-in drop-out drop-large drop-answers link-down gid-gone kill-peer)
# each kind once, then by chance
for kind in "${kinds[@]}"; do hit "$kind"; done
for ((i = ${#kinds[@]}; i < ${CAMPAIGN_RUNS:-8}; i++)); do hit "${kinds[RANDOM % ${#kinds[@]}]}"; done
within_host
holds "and without a fault all is well" "fine()"
done_testing
