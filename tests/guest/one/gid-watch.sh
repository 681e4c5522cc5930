#!/bin/bash
# SPDX-License-Identifier: MIT
# gid --watch: a line for each change, and a clean end.
. tests/guest/lib.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
# Nothing is given up because the machine below is busy.
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000

log=/tmp/watch.log

# said PATTERN
said() {
	grep -Eq "$1" "$log"
}

# The devices are opened for their events after the first look: from then on a change is one.
watching() {
	find "/proc/$pid/fd" -lname '/dev/infiniband/uverbs*' | grep -q .
}

modules rdma_rxe ib_uverbs
ip link set nic0 up
wait_carrier nic0
rdma link add rxe0 type rxe netdev nic0
sleep 1

# Job control, so that the background process does not ignore SIGINT.
set -m
for how in text json; do
	flag=
	[ $how = json ] && flag=-j
	# shellcheck disable=SC2086
	"$RDMADIAG" gid --watch $flag >$log 2>/tmp/watch.err &
	pid=$!
	wait_for 60 watching
	ip addr add 192.0.2.1/24 dev nic0
	if [ $how = text ]; then
		ok "$how: a new address" wait_for 15 said 'rxe0/1 new: index [0-9]+ is 0000:0000:0000:0000:0000:ffff:c000:0201 RoCE v2'
	else
		ok "$how: a new address" wait_for 15 said '"kind":"new","gid":"0000:0000:0000:0000:0000:ffff:c000:0201"'
	fi
	ip addr del 192.0.2.1/24 dev nic0
	if [ $how = text ]; then
		ok "$how: a removed address" wait_for 15 said 'rxe0/1 gone: 0000:0000:0000:0000:0000:ffff:c000:0201'
	else
		ok "$how: a removed address" wait_for 15 said '"kind":"gone","gid":"0000:0000:0000:0000:0000:ffff:c000:0201"'
	fi
	ip link set nic0 down
	ok "$how: an event of the device" wait_for 15 said 'event.*port'
	ip link set nic0 up
	wait_carrier nic0
	rdma link add rxe1 type rxe netdev nic1
	ok "$how: a new device" wait_for 15 said 'rxe1'
	rdma link delete rxe1
	sleep 1
	kill -INT $pid
	wait $pid
	is $? 130 "$how: SIGINT ends it with 130"
	sed 's/^/# /' $log
	is "$(cat /tmp/watch.err)" "" "$how: nothing on standard error"
	if [ $how = json ]; then
		ok "$how: every line is a document" python3 -c 'import json, sys; [json.loads(l)["time"] for l in open(sys.argv[1])]' $log
	fi
done
status_is 2 "--watch and --diff exclude each other" "$RDMADIAG" gid --watch --diff /tmp/x
done_testing
