#!/bin/bash
# SPDX-License-Identifier: MIT
# Interrupted in the middle: what is known is printed, and nothing is left behind.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup

has_queue_pair() {
	rdma resource show qp | grep -q "pid $1 "
}

# interrupt SIGNAL OPTION... - starts a probe that stalls, sends it the signal once it has its queue pair
interrupt() {
	local signal=$1 pid sent
	shift
	sent=$(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts)
	"$RDMADIAG" probe -j "$@" >"$document" 2>"$work/errors" &
	pid=$!
	wait_for 10 eval 'has_queue_pair "$(pgrep -P '"$pid"')"'
	wait_for 20 sent_more_than rxe0 "$sent"
	kill -"$signal" "$pid"
	wait "$pid"
	status=$?
}

listen
drop output
for signal in INT TERM; do
	interrupt "$signal" -d rxe0 --target-device rxe2 --timeout 60000
	is "$status" 130 "SIG$signal while a write is stuck: status"
	holds "SIG$signal while a write is stuck: what is known is printed" \
		"e['interrupted'] is True and len(o) == 1 and o[0]['wqe_posted_ns'] and v['outcome'] != 'ok'"
	no_objects_left "SIG$signal while a write is stuck: nothing is left in the kernel"
done
undrop
drop output udp dport 4791
interrupt INT -d rxe0 --timeout 60000 --peer "$address_b"
is "$status" 130 "SIGINT of an initiator: status"
holds "SIGINT of an initiator: the peer was still asked" "e['interrupted'] is True and e['remote']['alive'] is True"
undrop
peer
holds "the listener goes on after that" "fine()"

# early: nothing was tried yet
early=0
for delay in 0 0.05 0.1 0.15 0.2 0.3 0.4; do
	"$RDMADIAG" probe -j -d rxe0 --count 1000000 --size 64 >"$document" 2>/dev/null &
	pid=$!
	# not before the program runs at all: while it is being loaded a signal ends it
	wait_for 5 grep -q '^SigBlk:.*4002$' "/proc/$pid/status"
	sleep "$delay"
	kill -INT "$pid"
	wait "$pid"
	status=$?
	[ "$status" = 130 ] && evaluate probe "e['interrupted'] is True" "$document" && early=$((early + 1))
done
is "$early" 7 "SIGINT after some milliseconds: status 130 and a document, each time"
no_objects_left "SIGINT after some milliseconds: nothing is left in the kernel"

# the listener in the middle of serving
probe -d rxe0 --peer "$address_b" --count 1000000 --size 64 &
running=$!
wait_for 10 eval 'has_queue_pair "$(pgrep -P '"$listener"')"'
unlisten
is "$listener_status" 130 "SIGTERM of a listener that serves: status"
wait "$running"
holds "and its initiator comes to an end of its own" "v['outcome'] != 'ok' and e['remote']['alive'] is False"
no_objects_left "nothing is left in the kernel"

# killed without a chance: the child goes with its parent
drop output
"$RDMADIAG" probe -j -d rxe0 --target-device rxe2 --timeout 60000 >/dev/null 2>&1 &
pid=$!
wait_for 10 eval 'has_queue_pair "$(pgrep -P '"$pid"')"'
kill -KILL "$pid"
wait "$pid" 2>/dev/null
undrop
no_objects_left "SIGKILL of the parent: nothing is left in the kernel"
done_testing
