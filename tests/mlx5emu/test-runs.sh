#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the commands expand their own variables
# What `run` promises: runs do not disturb each other, can share a wire, leave nothing behind, need no privilege.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

for i in 1 2 3 4 5 6; do
	fault=
	[ $((i % 2)) = 0 ] && fault="--fault no-cqe"
	# shellcheck disable=SC2086
	timeout 60 "$run" $fault "$traffic" --peer --count 20 --wait 3000 >"$scratch/run$i" 2>&1 &
done
wait
for i in 1 2 3 4 5 6; do
	if [ $((i % 2)) = 0 ]; then has "$scratch/run$i" completions=0 landed=1; else has "$scratch/run$i" completions=20 errors=0; fi
	ok $? "run $i of six at once" "$scratch/run$i"
done

"$run" bash -c 'echo "$MLX5EMU_FABRIC"; exit 42' >"$scratch/dir"
[ $? -eq 42 ] && [ ! -e "$(cat "$scratch/dir")" ]
ok $? "status of the command; the fabric is removed"
"$run" bash -c 'echo "$MLX5EMU_FABRIC" >"$0"; kill -TERM $PPID; exec sleep 10' "$scratch/dir"
[ $? -eq 143 ] && [ ! -e "$(cat "$scratch/dir")" ]
ok $? "also after a signal"
echo hello | "$run" cat | grep -q hello
ok $? "standard input is passed on"

# Two hosts of one fabric, two runs; both are there while either looks.
name=test$$
export scratch
meet() {
	touch "$scratch/at-$1"
	# not for ever: the other may have failed
	for _ in $(seq 1000); do
		[ ! -e "$scratch/at-$2" ] || return
		sleep 0.05
	done
}
export -f meet
timeout 60 "$run" --fabric $name --host left bash -c 'meet left right; rdma dev; ls "$SYSFS_PATH/class/infiniband"; meet left-done right-done' >"$scratch/left" 2>&1 &
timeout 60 "$run" --fabric $name --host right --device mlx5_7 bash -c 'meet right left; rdma dev; echo "$MLX5EMU_FABRIC"; meet right-done left-done' >"$scratch/right" 2>&1
wait
grep -q mlx5_0 "$scratch/left" && ! grep -q mlx5_7 "$scratch/left" && grep -q mlx5_7 "$scratch/right"
ok $? "hosts of a fabric have their own devices" "$scratch/right"
[ ! -e "$(tail -n 1 "$scratch/right")" ]
ok $? "the last one removes a shared fabric"
port=$((10000 + $$ % 10000))
if command -v ibv_rc_pingpong >/dev/null; then
	timeout 60 "$run" --fabric $name --host left ibv_rc_pingpong -g 3 -n 50 -p $port >"$scratch/left" 2>&1 &
	for _ in $(seq 200); do
		grep -qs ":$(printf %04X "$port") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6 && break
		sleep 0.1
	done
	timeout 60 "$run" --fabric $name --host right ibv_rc_pingpong -g 3 -n 50 -p $port 127.0.0.1 >"$scratch/right" 2>&1
	ok $? "two hosts talk" "$scratch/right"
	wait
else
	skip "two hosts talk" "no ibv_rc_pingpong"
fi

if unshare -rn true 2>/dev/null; then
	"$run" --netns ibv_devinfo -v >"$scratch/out" 2>&1
	grep -q "10.77.0.1" "$scratch/out"
	ok $? "a network namespace with a veth pair" "$scratch/out"
else
	skip "a network namespace with a veth pair" "unshare is not permitted"
fi

# Mistakes in its use
"$run" >/dev/null 2>&1
[ $? -eq 2 ]
ok $? "no command: usage"
"$run" --device 'mlx5_0:ports=99' true 2>/dev/null
[ $? -eq 2 ]
ok $? "a bad device is refused"
"$run" --help | grep -q doorbell-lost
ok $? "--help lists the faults"
"$run" --fault 'block-sysfs:*/ports/1/state' bash -c 'echo $$ >"$0"; exec cat "$SYSFS_PATH/class/infiniband/mlx5_0/ports/1/state"' "$scratch/cat" >/dev/null 2>&1 &
pid=$!
blocked=1
for _ in $(seq 200); do
	[ -s "$scratch/cat" ] && grep -qs nanosleep "/proc/$(cat "$scratch/cat")/wchan" && blocked=0 && break
	sleep 0.1
done
ok $blocked "a sysfs read that blocks"
kill -TERM $pid
wait $pid 2>/dev/null

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	# where another user can read it
	mkdir -p "$scratch/build" && chmod 755 "$scratch" "$scratch/build" && cp "$MLX5EMU_BUILD"/mlx5emu-* "$MLX5EMU_BUILD"/libmlx5emu.so "$scratch/build"
	cp "$here/run" "$scratch/run"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all env MLX5EMU_BUILD=$scratch/build"
	$as "$scratch/run" "$scratch/build/mlx5emu-traffic" --peer --count 20 --op send >"$scratch/out" 2>&1
	has "$scratch/out" completions=20 errors=0 received=20
	ok $? "as an ordinary user" "$scratch/out"
else
	skip "as an ordinary user" "only root can become one"
fi
finish
