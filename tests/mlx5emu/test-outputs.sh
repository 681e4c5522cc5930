#!/bin/bash
# SPDX-License-Identifier: MIT
# What a probe leaves for people: the trace file, statistics, histogram and progress.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
if [ ! -x "$RDMADIAG" ]; then
	echo "1..0 # SKIP no rdmadiag, build it first"
	exit 0
fi
trace=$scratch/trace document=$scratch/document

# traced NAME OPTION... - the trace of that run is valid
traced() {
	local name=$1
	shift
	rm -f "$trace"
	"$run" "$RDMADIAG" probe -j --trace "$trace" "$@" >"$document" 2>"$scratch/out"
	python3 "$here/../trace-valid.py" "$trace" "$document" >>"$scratch/out" 2>&1
	ok $? "trace: $name" "$scratch/out"
}
traced "two requests"
traced "chains, unsignaled, on several queue pairs" --batch 3 --count 20 --qps 2 --signal-every 4
"$run" "$RDMADIAG" probe --batch 8 --count 16 --signal-every 4 >"$scratch/out" 2>&1
grep -qx 'Operations: 32 posted, 8 succeeded, 24 done without a completion of their own, 0 failed, 0 flushed' "$scratch/out"
ok $? "requests that asked for no completion are accounted for" "$scratch/out"
if [ ! -e /sys/devices/system/node/node1 ]; then # the emulator has it, and no memory can come from there
	"$run" "$RDMADIAG" probe --buffer-node all --size 64 >"$scratch/out" 2>&1
	grep -q '^Not compared: a run with the buffer on node 1 (pinned) did not go well' "$scratch/out"
	ok $? "places: the node of which there is no run is named" "$scratch/out"
fi
traced "a request that failed" --drill bad-rkey
traced "a request that did not end" --drill no-poll
traced "requests that were refused" --drill sq-full
traced "nothing posted" --drill remote-without-local-write
"$run" "$RDMADIAG" probe --trace "$scratch/no/such/directory" >/dev/null 2>"$scratch/out"
[ $? -eq 3 ]
ok $? "trace: a file that cannot be written: status 3"
"$RDMADIAG" probe --judge "$document" --trace "$trace" >"$scratch/out" 2>&1
python3 "$here/../trace-valid.py" "$trace" "$document" >>"$scratch/out" 2>&1
ok $? "trace: of a recorded document" "$scratch/out"

"$run" "$RDMADIAG" probe -j --drill mtu >"$document" 2>"$scratch/out"
status=$? python3 "$here/../guest/holds.py" probe \
	"(e['local']['path_mtu'], e['remote']['path_mtu']) == (e['local']['active_mtu'], e['local']['active_mtu'] // 2)" "$document" \
	>>"$scratch/out" 2>&1
ok $? "drill mtu: it is the target that was given a smaller path MTU" "$scratch/out"

# What a full queue took is no part of the failure: it is waited for as long as ever, though a second may have gone by.
"$run" --fault late-cqe:300ms "$RDMADIAG" probe -j --drill sq-full --timeout 5000 >"$document" 2>"$scratch/out"
status=$? python3 "$here/../guest/holds.py" probe \
	"e['operations_completed'] == 16 and [x['wc_status'] for x in o[:17]] == [0] * 16 + [None] and v['confidence'] == 'confirmed'" \
	"$document" >>"$scratch/out" 2>&1
ok $? "a full send queue: what it took is waited for" "$scratch/out"
"$run" --fault no-cqe "$RDMADIAG" probe -j --drill sq-full --timeout 500 >"$document" 2>"$scratch/out"
status=$? python3 "$here/../guest/holds.py" probe \
	"e['operations_completed'] == 0 and v['layer'] == 'undetermined' and 'does not complete' in v['summary']" "$document" \
	>>"$scratch/out" 2>&1
ok $? "a full send queue that nothing leaves: what is in it is the question" "$scratch/out"

"$run" "$RDMADIAG" probe -j --count 300 --size 64,5000 >"$document" 2>"$scratch/out"
python3 - "$document" >>"$scratch/out" 2>&1 <<'END'
import json, sys
e = json.load(open(sys.argv[1]))["evidence"]
total = {s["bytes"]: s for s in e["statistics"]["stages"] if s["stage"] == "total"}
assert set(total) == {64, 5000} and all(s["samples"] == 300 for s in total.values())
for h in e["histograms"]:
    s, b = total[h["bytes"]], h["buckets"]
    assert sum(x["requests"] for x in b) == 300, b
    assert b[0]["from_ns"] == s["min_ns"] and b[-1]["to_ns"] == s["max_ns"] + 1
    assert all(x["to_ns"] == y["from_ns"] for x, y in zip(b, b[1:]))
    assert len(b) <= 18 and sum(x["requests"] for x in b if x["from_ns"] > s["p99_ns"]) <= 3
assert len(e["histograms"]) == 2
END
ok $? "histogram: every request in one range, from the smallest to the largest" "$scratch/out"
"$run" "$RDMADIAG" probe --count 100 --size 64 >"$scratch/out" 2>"$scratch/errors"
grep -q 'bytes: requests that took at least' "$scratch/out" && grep -q '^  total  *64  *100 ' "$scratch/out"
ok $? "histogram and statistics in the text" "$scratch/out"
[ ! -s "$scratch/errors" ]
ok $? "no progress where standard error is no terminal" "$scratch/errors"
# a terminal of its own; late requests make the run long enough
script -qec "$run --fault late:30ms $RDMADIAG probe --count 40 --size 64 >$scratch/out" /dev/null >"$scratch/terminal" 2>&1
grep -aq '[0-9] of 40 requests' "$scratch/terminal" && ! grep -q 'of 40 requests' "$scratch/out"
ok $? "progress on a terminal, and not in the result" "$scratch/terminal"

"$run" "$RDMADIAG" probe -j --tcp --size 64,300000 --count 5 >"$document" 2>"$scratch/out"
python3 - "$document" >>"$scratch/out" 2>&1 <<'END'
import json, sys
t = json.load(open(sys.argv[1]))["evidence"]["tcp_transfers"]
assert [(x["bytes"], x["samples"], x["verified"]) for x in t] == [(64, 5, True), (300000, 5, True)], t
assert all(0 < x["returned_ns"] <= x["received_ns"] <= x["acknowledged_ns"] for x in t), t
END
ok $? "the same bytes over TCP: all arrive, returned before received" "$scratch/out"
[ "$("$RDMADIAG" probe --explain-stages | grep -c '^    TCP: ')" = "$("$RDMADIAG" probe --explain-stages | grep -c '^[a-z]')" ]
ok $? "each stage is explained, beside what TCP does"

# A container has the device of the kernel, and not always the provider library for it.
if [ -d /etc/libibverbs.d ] && unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016
	"$run" unshare -m sh -c 'mount -t tmpfs none /etc/libibverbs.d && exec "$0" probe -j' "$RDMADIAG" >"$document" 2>"$scratch/out"
	[ $? -eq 3 ] && grep -q "libibverbs does not offer the device" "$scratch/out" &&
		grep -q '"outcome":"not-run","layer":"configuration"' "$document" && grep -q '"summary":"[^"]*no provider library for its driver' "$document"
	ok $? "no provider library: the verdict says so" "$document"
else
	skip "no provider library" "no mounts of one's own"
fi

# what stands in the way of a listener is said with the option
"$run" "$RDMADIAG" probe --listen=mlx5_0 >"$scratch/out" 2>&1
grep -q -e '--listen=mlx5_0: no address of this host' "$scratch/out"
ok $? "--listen with a device's name: the message names the option" "$scratch/out"
python3 - "$run" "$RDMADIAG" >"$scratch/out" 2>&1 <<'END'
import socket, subprocess, sys
taken = socket.socket()
taken.bind(("127.0.0.1", 0))
taken.listen()
address = "127.0.0.1:%d" % taken.getsockname()[1]
said = subprocess.run(sys.argv[1:] + ["probe", "--listen=" + address], capture_output=True, text=True)
print(said)
sys.exit(not (said.returncode == 3 and "is in use, by another listener?" in said.stderr and "--listen=127.0.0.1:PORT" in said.stderr))
END
ok $? "--listen on a port in use: another port is offered" "$scratch/out"
"$run" "$RDMADIAG" probe --peer nosuch.invalid >"$scratch/out" 2>/dev/null
grep -q 'getaddrinfo failed: nosuch.invalid: ' "$scratch/out" && ! grep -q 'errno' "$scratch/out"
ok $? "a name that nobody knows: no errno that is not its own" "$scratch/out"
for peer in nosuch.invalid 127.0.0.1:1; do
	"$run" "$RDMADIAG" probe -j --peer "$peer" >"$document" 2>"$scratch/out"
	status=$? python3 "$here/../guest/holds.py" probe "e['tcp'] is None and s == 3" "$document" >>"$scratch/out" 2>&1
	ok $? "--peer $peer: nothing is said of a connection that there never was" "$scratch/out"
done
finish
