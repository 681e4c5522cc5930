#!/bin/bash
# SPDX-License-Identifier: MIT
# Every operation, on both command interfaces, within a process and between two.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

clean="completions=3 errors=0 status=0 sw=3 hw=3 dbrec=3 gap=0 state=3"
for abi in ioctl write; do
	want=$clean
	[ $abi = ioctl ] || want="completions=3 errors=0 status=0 dbrec=3 devx=no"
	for op in write write-imm send send-imm read; do
		got=received=0
		case $op in *imm | send) got="received=3 receives_right=1" ;; esac
		# shellcheck disable=SC2086
		run_has "$abi: $op" "--abi $abi" "$traffic --op $op --size 3000 --count 3" $want $got landed=1
		# shellcheck disable=SC2086
		run_has "$abi: $op between processes" "--abi $abi" "$traffic --op $op --size 3000 --count 3 --peer" $want $got \
			landed~1\|-1
	done
	run_has "$abi: atomic" "--abi $abi" "$traffic --op fetch-add --size 8 --count 3" completions=3 errors=0
	run_has "$abi: several SGEs, inline scatter" "--abi $abi" "$traffic --op send --size 20 --sges 3" received=1 \
		receives_right=1 landed=1
	run_has "$abi: read into the CQE" "--abi $abi" "$traffic --op read --size 20 --sig-all" errors=0 landed=1
	run_has "$abi: inline, ibv_wr_*" "--abi $abi" "$traffic --size 100 --inline --new-api" errors=0 landed=1
	run_has "$abi: batches on four QPs" "--abi $abi" \
		"$traffic --op send --size 9000 --count 40 --batch 10 --qps 4 --peer" completions=160 errors=0 received=160 landed=1
	run_has "$abi: the queue wraps" "--abi $abi" "$traffic --count 70000 --batch 100" completions=70000 errors=0 \
		dbrec=$((70000 % 65536))
	run_has "$abi: completion channel" "--abi $abi" "$traffic --events --count 50" completions=50 events=50
done
MLX5_SHUT_UP_BF=1 run_has "doorbells without BlueFlame" "" "$traffic --inline --count 10" completions=10 errors=0
MLX5_CQE_SIZE=128 run_has "CQEs of 128 bytes" "" "$traffic --op send --size 60 --count 5" received=5 receives_right=1 landed=1
run_has "InfiniBand by LID, second port" "--device mlx5_0:link=ib:ports=2" "$traffic --port 2 --peer --size 5000" errors=0 \
	landed=1
run_has "two devices" "--device mlx5_0 --device mlx5_1" \
	"$traffic --device mlx5_1 --target-device mlx5_0 --op send" errors=0 received=1 landed=1
run_has "LAG: a QP's port" "--device mlx5_bond_0:lag" "$traffic --lag 1" lag=1/1 errors=0
run_has "LAG: moved to the other port" "--device mlx5_bond_0:lag --fault member-down:1" "$traffic --lag 1" lag=1/2 errors=0
finish
