#!/bin/bash
# SPDX-License-Identifier: MIT
# Every drill on the software device: the same verdicts as on soft RoCE, but where an adapter does otherwise.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/drills.sh
. "$here/../drills.sh"

RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
if [ ! -x "$RDMADIAG" ]; then
	echo "1..0 # SKIP no rdmadiag, build it first"
	exit 0
fi
document=$scratch/document

# drill NAME STATUS EXPRESSION [RUN OPTION...]
drill() {
	local name=$1 wanted=$2 expression=$3
	shift 3
	timeout 60 "$run" "$@" "$RDMADIAG" probe -j --drill "$name" >"$document" 2>"$scratch/out"
	status=$?
	status=$status python3 "$here/../guest/holds.py" probe "$expression and s == $wanted" "$document" >>"$scratch/out" 2>&1
	ok $? "$name: $expression" "$scratch/out"
}

while read -r name outcome layer confidence; do
	case $name in
	drain-before-rearm)
		# arming tells the adapter how far the program came, and it raises the event for what lies behind that
		drill "$name" 0 "v['outcome'] == 'ok' and any(f['id'] == 'probe-drill-no-effect' for f in d['findings'])"
		;;
	*)
		drill "$name" 1 "(v['outcome'], v['layer']) == ('$outcome', '$layer') and v['confidence'] in '$confidence'.split('|')"
		;;
	esac
done < <(drills_table)
# The same order on an adapter that does not look behind: the event is missed, and whose mistake that is shows.
drill drain-before-rearm 1 "(v['outcome'], v['layer'], v['confidence']) == ('stalled', 'application', 'confirmed')" \
	--device mlx5_0:edge
"$run" --device mlx5_0:edge "$RDMADIAG" probe -j --wait event --count 50 --batch 4 --qps 2 >"$document" 2>"$scratch/out"
status=$? python3 "$here/../guest/holds.py" probe "v['outcome'] == 'ok' and s == 0 and len(o) > 0" "$document" >>"$scratch/out" 2>&1
ok $? "there the right order misses nothing" "$scratch/out"

finish
