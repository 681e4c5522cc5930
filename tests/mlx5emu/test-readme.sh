#!/bin/bash
# SPDX-License-Identifier: MIT
# What the README names for a host without RDMA devices does what it says there.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/guest/lib.sh
. "$here/../guest/lib.sh"
RDMADIAG=$(readlink -f "$RDMADIAG")
[ -z "${O:-}" ] || MLX5EMU_BUILD=$O/mlx5emu
MLX5EMU_BUILD=$(realpath -m "${MLX5EMU_BUILD:-$here/../../build/mlx5emu}")
export MLX5EMU_BUILD
mkdir -p "$MLX5EMU_BUILD"
(flock 9 && make -s -C "$here" O="$MLX5EMU_BUILD" all >&2) 9>"$MLX5EMU_BUILD/.lock" || exit 1
cd "$here/../.." || exit
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The README's line with these words, without its comment, for the program under test and in a folder of our own.
line() { # PATTERN
	grep -m 1 -- "$1" README.md | sed "s/ *#.*//; s|build/rdmadiag|$RDMADIAG|g; s|/tmp/hgx|$scratch/hgx|g; s|--fabric ab|--fabric readme$$|; s|--listen 127.0.0.1|&:0|"
}

line '^tests/machines/make-snapshot' >"$scratch/make"
status_is 0 "make-snapshot" bash "$scratch/make"
line 'topo --from /tmp' >"$scratch/topo"
status_is 0 "topo of it" bash "$scratch/topo"
like "$output" "^mlx5_[0-9]*/1 " "shows its devices"
line '--fault no-cqe' >"$scratch/fault"
status_is 1 "a probe with a fault" bash "$scratch/fault"
like "$output" "^Verdict: stalled" "stalls"

line '--host target' >"$scratch/target"
timeout 60 bash "$scratch/target" >"$scratch/listen" 2>&1 &
for _ in $(seq 300); do
	grep -q 'listening on' "$scratch/listen" && break
	sleep 0.1
done
port=$(sed -n 's/.*listening on 127.0.0.1:\([0-9]*\).*/\1/p' "$scratch/listen")
line '--host initiator' | sed "s/--peer 127.0.0.1/&:$port/" >"$scratch/initiator"
status_is 0 "two ends" timeout 60 bash "$scratch/initiator"
like "$output" "^Verdict: ok" "the initiator says that all went well"
wait $!
is "$?" 0 "and the target ends"
like "$(tests/mlx5emu/run --help)" "run --fabric ab --host target rdmadiag probe --listen" "run --help tells of two ends"
done_testing
