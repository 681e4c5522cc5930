#!/bin/bash
# SPDX-License-Identifier: MIT
# The device itself under the sanitizers and valgrind.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

plain=$MLX5EMU_BUILD
san=$plain/asan
mkdir -p "$san"
(flock 9 && nice make -s -C "$here" O="$san" all test-programs \
	CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer") 9>"$san/.lock" >&2
ok $? "a build with sanitizers"
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 MLX5EMU_BUILD=$san
for how in "--abi ioctl" "--abi write" "--fault drop,p=0.1" "--fault error:13:88" "--fault late-cqe:2ms" "--fault duplicate" \
	"--fault cq-overrun" "--device mlx5_bond_0:lag" "--device mlx5_0:link=ib"; do
	# shellcheck disable=SC2086
	timeout 100 "$run" $how "$san/mlx5emu-traffic" --peer --op send --size 3000 --count 20 --batch 5 --wait 500 --qps 2 >"$scratch/out" 2>&1
	! grep -Eq "ERROR: |runtime error|AddressSanitizer" "$scratch/out" && grep -q completions= "$scratch/out"
	ok $? "sanitizers: $how" "$scratch/out"
done
MLX5EMU_BUILD=$plain
if command -v valgrind >/dev/null; then
	for op in write send read; do
		timeout 100 "$run" valgrind -q --fair-sched=yes --error-exitcode=9 "$traffic" --op $op --size 3000 --count 5 --wait 20000 >"$scratch/out" 2>&1 &&
			has "$scratch/out" completions=5 errors=0
		ok $? "valgrind: $op" "$scratch/out"
	done
	RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
	for fault in no-cqe,after=9 no-cqe error:13:88; do
		[ -x "$RDMADIAG" ] || { skip "valgrind: probe" "no rdmadiag"; continue; }
		timeout 200 "$run" --fault $fault valgrind -q --fair-sched=yes --error-exitcode=99 "$RDMADIAG" probe --timeout 3000 \
			>"$scratch/out" 2>&1
		[ $? -ne 99 ] && ! grep -q '^==' "$scratch/out" && grep -q '^Verdict: ' "$scratch/out"
		ok $? "valgrind: probe with $fault" "$scratch/out"
	done
else
	skip "valgrind" "not installed"
fi
finish
