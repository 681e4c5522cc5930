#!/bin/bash
# SPDX-License-Identifier: MIT
# Every drill on soft RoCE, in loopback and those of the target with a peer: the verdict that the table wants.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
. tests/drills.sh
probe_setup

# verdict_is DESCRIPTION OUTCOME LAYER CONFIDENCE [FILE] - without a program that would have to start in a slow guest
verdict_is() {
	local got
	got=$(sed -n 's/.*"verdict": *{"outcome": *"\([a-z-]*\)", *"layer": *"\([a-z-]*\)".*"confidence": *"\([a-z]*\)".*/\1 \2 \3/p' "${5:-$document}")
	like "$got" "^$2 $3 ($4)\$" "$1: $2, $3, $4"
}

is "$("$RDMADIAG" probe --drill list | cut -d' ' -f1)" "$(drills_table | cut -d' ' -f1)" "the list has the drills of the table"
probe --drill none
is "$status" 2 "there is no drill of that name: status"

while read -r name outcome layer confidence; do
	probe -d rxe0 --drill "$name"
	is "$status" 1 "$name: status"
	# Linux 6.12 flushes what it could not send, and tells no other status of it.
	case $name,$(grep -o '"wc_status": *[0-9]*' "$document" | head -n 1) in
	bad-lkey,*5 | pd-mismatch,*5) confidence=likely ;;
	esac
	# the verdict is the same when the record does not say which drill it was
	sed "s/\"drill\": *\"$name\"/\"drill\":null/" "$document" >"$work/nameless"
	"$RDMADIAG" probe -j --judge "$work/nameless" >"$work/judged"
	verdict_is "$name" "$outcome" "$layer" "$confidence" "$work/judged"
done < <(drills_table)

probe -d rxe0 --drill mtu --size 64
is "$status" 0 "a drill that cannot show: status"
holds "a drill that cannot show: it is said" \
	"v['outcome'] == 'ok' and any(f['id'] == 'probe-drill-no-effect' and 'mtu' in f['message'] for f in d['findings'])"
like "$("$RDMADIAG" probe -d rxe0 --drill mtu --size 64)" 'had no effect here' "a drill that cannot show: people are told as well"

listen
for name in mr-access qp-access rnr peer-vanishes mtu wrong-qpn wrong-psn; do
	peer --timeout 3000 --drill "$name"
	read -r _ outcome layer confidence < <(drills_table | grep "^$name ")
	verdict_is "$name with a peer" "$outcome" "$layer" "$confidence"
done
peer --timeout 3000 --drill remote-without-local-write
verdict_is "remote-without-local-write with a peer" not-run remote-application confirmed
peer
holds "the listener serves on after all of them" "fine()"
unlisten

probe -d rxe0 --target-device rxe2 --drill early-reuse
verdict_is "early-reuse over the wire" corrupt application likely
no_objects_left "nothing is left in the kernel"
done_testing
