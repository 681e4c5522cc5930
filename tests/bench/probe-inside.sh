#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs in the guest: the time of a small write over the wire, post to consumed, with observers, without them, as
# ib_write_bw has it with one request at a time, and half a round of ibv_rc_pingpong (a send). Runs alternate; a line a
# run goes to $OUT/probe.txt. Then what one look into the rings of soft RoCE costs beside a time stamp.
#
# probe-inside.sh ROUNDS COUNT BENCH-PROGRAMS
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
rounds=$1 count=$2 programs=$3 size=64
probe_setup
listen
index_a=$(gid_index rxe0 "$address_a")

# median of "total" in nanoseconds
of_probe() {
	"$@" "$RDMADIAG" probe -j -d rxe0 -g "$index_a" --peer "$address_b" --size $size --count "$count" --timeout 20000 |
		python3 -c 'import json, sys; print(*[s["median_ns"] for s in json.load(sys.stdin)["evidence"]["statistics"]["stages"] if s["stage"] == "total"])'
}

serves() {
	ss -Hltn "sport = :18515" | grep -q .
}

# its message rate, as nanoseconds a message
of_perftest() {
	ib_write_bw -d rxe2 -x "$index_b" -t 1 -s $size -n "$count" >/dev/null 2>&1 &
	local server=$!
	wait_for 10 serves
	ib_write_bw -d rxe0 -x "$index_a" -t 1 -s $size -n "$count" "$address_b" 2>/dev/null |
		awk -v size=$size '$1 == size && NF == 5 && $5 > 0 { printf "%d\n", 1000 / $5 }'
	wait $server
}

pingpongs() {
	ss -Hltn "sport = :18516" | grep -q .
}

of_pingpong() {
	ibv_rc_pingpong -p 18516 -d rxe2 -g "$index_b" -s $size -n "$count" >/dev/null 2>&1 &
	local server=$!
	wait_for 10 pingpongs
	ibv_rc_pingpong -p 18516 -d rxe0 -g "$index_a" -s $size -n "$count" "$address_b" 2>/dev/null |
		awk '$NF == "usec/iter" { printf "%d\n", $(NF - 1) * 500 }'
	wait $server
}

for ((round = 0; round < rounds; round++)); do
	echo "traced $(of_probe env)"
	echo "untraced $(of_probe env RDMADIAG_NO_OBSERVER=1)"
	echo "ib_write_bw $(of_perftest)"
	echo "ibv_rc_pingpong $(of_pingpong)"
done | tee "$OUT/probe.txt"
unlisten
echo "# one stage of the trace on rxe0"
"$programs/stamps" 0 rxe0 rdma_rxe | tee "$OUT/stamps-rxe.txt"
