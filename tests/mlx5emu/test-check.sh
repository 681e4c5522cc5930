#!/bin/bash
# SPDX-License-Identifier: MIT
# check --probe: what a loopback probe of each port says is a finding, or is not known, with the reason.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
if [ ! -x "$RDMADIAG" ]; then
	echo "1..0 # SKIP no rdmadiag, build it first"
	exit 0
fi
document=$scratch/document

only=probe-failed,probe-corrupt,probe-degraded
start=() # what starts the command

# checked NAME STATUS EXPRESSION RUN-OPTION... - of check --probe -j, whose document is "d" in the expression
checked() {
	local name=$1 status=$2 expression=$3 got
	shift 3
	"$run" "$@" "${start[@]}" "$RDMADIAG" check --probe -j --only "$only" >"$document" 2>"$scratch/out"
	got=$?
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
found = [(f["severity"], f["id"], f["subject"]) for f in d["findings"]]
unknown = [(m["subject"], m["reason"]) for m in d["not_collected"] if m["what"] == "probe"]
print(sys.argv[3], "instead of", sys.argv[4], found, unknown)
sys.exit(not (eval(sys.argv[2]) and sys.argv[3] == sys.argv[4]))' "$document" "$expression" "$got" "$status" >>"$scratch/out" 2>&1
	ok $? "$name" "$scratch/out"
	"$here/../schema/validate" "$RDMADIAG" "$document" >"$scratch/out" 2>&1
	ok $? "$name: the document is valid" "$scratch/out"
}

checked "two devices that work" 0 'not found and not unknown' --device mlx5_0 --device mlx5_1
checked "a completion that does not come" 1 'found == [("error", "probe-failed", "mlx5_0/1")] and not unknown' --fault no-cqe
only=probe-failed,probe-corrupt,probe-degraded,probe-ok
checked "which ports were probed" 0 \
	'found == [("info", "probe-ok", "mlx5_0/1"), ("info", "probe-ok", "mlx5_1/1")] and not unknown' \
	--device mlx5_0 --device mlx5_1
only=probe-failed,probe-corrupt,probe-degraded
checked "a completion with an error, on both ports" 1 '[f[2] for f in found] == ["mlx5_0/1", "mlx5_0/2"]' \
	--device mlx5_0:ports=2 --fault error:13:88
# Linux before 5.3, and sandboxes: processes are waited for without a descriptor
start=("$here/../deny-calls" pidfd_open)
if "${start[@]}" true; then
	checked "without pidfd_open" 1 'found == [("error", "probe-failed", "mlx5_0/1")] and not unknown' --fault no-cqe
else
	skip "without pidfd_open" "no such filter here"
fi
start=(python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])')
checked "started by who ignores SIGCHLD" 0 'not found and not unknown'
# what it found is kept, and how the process ended is not made up
if "$here/../deny-calls" wait4 true; then
	timeout 60 "$run" "$here/../deny-calls" wait4 "$RDMADIAG" probe -j >"$document" 2>"$scratch/out"
	ok $? "a probe that may not wait for its process" "$scratch/out"
else
	skip "a probe that may not wait for its process" "no such filter here"
fi
"$run" "$RDMADIAG" gid -j >"$scratch/gids"
# libibverbs leaves out what it has no descriptor for: that is no missing provider, and no missing ib_uverbs
for files in 5 6 7 8 9 10; do
	"$run" bash -c 'for c in "topo" "gid --explain" "check --probe" "probe" "gid --diff $2"; do prlimit --nofile=$0 "$1" $c; done' \
		"$files" "$RDMADIAG" "$scratch/gids" >"$scratch/out" 2>&1
	! grep -E "provider|uverbs-missing|ib_uverbs|likely|confirmed|gone:" "$scratch/out" >"$scratch/wrong"
	ok $? "$files descriptors: nothing is blamed that was not looked at" "$scratch/wrong"
done
TMPDIR=/nonexistent "$run" "$RDMADIAG" check --probe >"$scratch/out" 2>&1
grep -q "^probed: 1 port that is up" "$scratch/out"
ok $? "the probes need no temporary directory" "$scratch/out"
said=$("$run" --fault no-cqe "$RDMADIAG" check --probe --nagios --only probe-failed 2>&1)
[ $? -eq 2 ] && grep -q "^RDMA CRITICAL - .*mlx5_0/1: a loopback probe stalled" <<<"$said"
ok $? "--nagios: it is critical"
finish
