#!/bin/bash
# SPDX-License-Identifier: MIT
# Devices that come and go while they are read: each run ends well and is a whole document.
. tests/guest/lib.sh
. tests/guest/topo-lib.sh

dummies d0 d1
rxe_add stays d0

# until the file is there: killed in the middle it might leave a device behind, and its last child might make one later
enough=$(mktemp -u)
stir() {
	until [ -e "$enough" ]; do
		rdma link add comes type rxe netdev d1 2>/dev/null
		rdma link delete comes 2>/dev/null
	done
}
stir &
stirring=$!
good=0
for _ in $(seq 25); do
	topo
	[ "$status" = 0 ] && evaluate topo "dev('stays')" "$document" && good=$((good + 1))
done
touch "$enough"
wait "$stirring"
is "$good" 25 "25 runs end well and show the device that stays"

rxe_del stays
topo
is "$status" 3 "no device: status 3"
like "$errors" 'no RDMA device' "and one line says so"
is "$(wc -l <<<"$errors")" 1 "one line only"
holds "the document is there, with the reason" "d['devices'] == [] and missing('devices', 'host')"
done_testing
