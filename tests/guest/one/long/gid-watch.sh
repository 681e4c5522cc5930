#!/bin/bash
# SPDX-License-Identifier: MIT
# gid --watch: a line for each change, and a clean end.
. tests/guest/lib.sh
. tests/guest/watch-lib.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
# Nothing is given up because the machine below is busy.
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000

# shellcheck disable=SC2317 # called by wait_for
is_gone() {
	! kill -0 "$pid" 2>/dev/null
}

modules rdma_rxe ib_uverbs dummy
ip link set nic0 up
wait_carrier nic0
rxe_add rxe0 nic0
gids_follow rxe0 nic0

# Job control, so that the background process does not ignore SIGINT.
set -m
for how in text json; do
	flag=
	[ $how = json ] && flag=-j
	# shellcheck disable=SC2086
	"$RDMADIAG" gid --watch $flag >$log 2>/tmp/watch.err &
	pid=$!
	ok "$how: the device is followed" wait_for 60 watching
	ip addr add 192.0.2.1/24 dev nic0
	if [ $how = text ]; then
		ok "$how: a new address" wait_for 60 said 'rxe0/1 new: index [0-9]+ is 0000:0000:0000:0000:0000:ffff:c000:0201 \(192.0.2.1\) RoCE v2'
	else
		ok "$how: a new address" wait_for 60 said '"kind":"new","gid":"0000:0000:0000:0000:0000:ffff:c000:0201"'
	fi
	ip addr del 192.0.2.1/24 dev nic0
	if [ $how = text ]; then
		ok "$how: a removed address" wait_for 60 said 'rxe0/1 gone: 0000:0000:0000:0000:0000:ffff:c000:0201'
	else
		ok "$how: a removed address" wait_for 60 said '"kind":"gone","gid":"0000:0000:0000:0000:0000:ffff:c000:0201"'
	fi
	ip link set nic0 down
	ok "$how: an event of the device" wait_for 60 said 'event.*port'
	ip link set nic0 up
	wait_carrier nic0
	rdma link add rxe1 type rxe netdev nic1
	ok "$how: a new device" wait_for 60 said 'rxe1'
	ok "$how: the new device is followed too" wait_for 60 watching 2
	rdma link delete rxe1
	ok "$how: the device that is gone is let go" wait_for 60 watching 1
	# Far more announcements than the socket holds, none of which the table needs.
	for ((i = 0; i < 400; i++)); do
		echo "link add load$i type dummy"
		echo "link delete load$i"
	done | ip -batch -
	ip addr add 192.0.2.3/24 dev nic0
	ok "$how: an address after a burst of announcements" wait_for 60 said '0000:0000:0000:0000:0000:ffff:c000:0203'
	ip addr del 192.0.2.3/24 dev nic0
	gids_follow rxe0 nic0
	kill -INT $pid
	wait $pid
	is $? 130 "$how: SIGINT ends it with 130"
	sed 's/^/# /' $log
	is "$(cat /tmp/watch.err)" "" "$how: nothing on standard error"
	if [ $how = json ]; then
		ok "$how: every line is a document" python3 -c 'import json, sys; [json.loads(l)["time"] for l in open(sys.argv[1])]' $log
	fi
done

# A reader that goes away ends it, even when nothing changes.
mkfifo /tmp/watch.pipe
"$RDMADIAG" gid --watch >/tmp/watch.pipe 2>/tmp/watch.err &
pid=$!
exec 7</tmp/watch.pipe
ok "a pipe: the device is followed" wait_for 60 watching
exec 7<&-
ok "a pipe that nobody reads any more ends it" wait_for 30 is_gone
wait $pid
is $? 0 "a pipe: the status"
is "$(cat /tmp/watch.err)" "" "a pipe: nothing on standard error"
status_is 2 "--watch and --diff exclude each other" "$RDMADIAG" gid --watch --diff /tmp/x
done_testing
