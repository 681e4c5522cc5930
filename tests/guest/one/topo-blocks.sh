#!/bin/bash
# SPDX-License-Identifier: MIT
# An attribute whose read never returns costs its own row only. A pipe without a writer blocks as a driver would.
. tests/guest/lib.sh
. tests/guest/topo-lib.sh

dummies d0 d1
rxe_add rxe0 d0
rxe_add rxe1 d1
mount -t tmpfs none /mnt
mkfifo /mnt/pipe
mount --bind /mnt/pipe /sys/class/infiniband/rxe0/ports/1/rate

export RDMADIAG_CALL_TIMEOUT_MS=2500
topo
is "$status" 0 "topo ends"
holds "what blocked is unknown" "port('rxe0')['rate_gbps'] is None"
holds "and named, with what was read" \
	"'ports/1/rate' in missing('files', 'rxe0')['reason'] and '2500 ms' in missing('files', 'rxe0')['reason']"
holds "other kinds of facts of that device stay" "port('rxe0')['state'] == 'ACTIVE' and names('rxe0', 'port') == ['d0']"
holds "the other device is whole" \
	"port('rxe1')['rate_gbps'] and port('rxe1')['active_mtu'] and not missing('rate_gbps', 'rxe1/1')"
is "$(pgrep -c rdmadiag)" 0 "no process is left"

# Interrupted while it waits for the writer of the pipe: what was known is printed.
export RDMADIAG_CALL_TIMEOUT_MS=60000
env --default-signal=INT "$RDMADIAG" topo -j >"$OUT/interrupted.json" &
waits=$!
for _ in $(seq 300); do
	grep -qs wait_for_partner /proc/[0-9]*/task/*/wchan && break
	sleep 0.1
done
kill -INT "$waits"
wait "$waits"
is $? 130 "SIGINT: status 130"
document=$(cat "$OUT/interrupted.json")
holds "what was known is printed" "dev('rxe0') and dev('rxe1') and missing('everything after this', 'host')"
is "$(pgrep -c rdmadiag)" 0 "and no process is left"

export RDMADIAG_TIMEOUT_MS=500
topo
is "$status" 0 "the overall deadline ends it too"
holds "and is told" "'500 ms' in missing('everything after this', 'host')['reason']"
umount /sys/class/infiniband/rxe0/ports/1/rate
umount /mnt
done_testing
