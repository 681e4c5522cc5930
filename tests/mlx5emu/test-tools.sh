#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that know nothing of this device: the distribution's. Between two processes, on both command interfaces.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

PATH=$PATH:/usr/sbin:/sbin

# A server, a client and, on the way, a port that is free: the one before may linger.
cat >"$scratch/pair" <<'END'
#!/bin/bash
port=$1; shift
"$@" -p "$port" >"$SCRATCH/server" 2>&1 &
server=$!
for _ in $(seq 100); do
	grep -q ":$(printf %04X "$port") 00000000:0000 0A" /proc/net/tcp /proc/net/tcp6 && break
	sleep 0.05
done
"$@" -p "$port" 127.0.0.1 && wait $server
END
chmod +x "$scratch/pair"
export SCRATCH=$scratch
# Below the ports that the kernel gives to clients, of which test-hostile.sh makes thousands, and above its own.
port=$((30000 + $$ % 2700))

# works NAME COMMAND...
works() {
	local name=$1
	shift
	timeout 90 "$@" >"$scratch/out" 2>&1
	ok $? "$name" "$scratch/out"
}

missing() {
	command -v "$1" >/dev/null || { skip "$1" "not installed"; return 0; }
	return 1
}

for abi in ioctl write; do
	for program in "ibv_rc_pingpong -g 3 -n 100" "ib_write_lat -x 3 -n 100" "ib_send_bw -x 3 -n 100" \
		"ib_read_lat -x 3 -n 100" "ib_send_lat -x 3 -n 100" "ib_write_bw -x 3 -n 100 -q 2"; do
		missing "${program%% *}" && continue
		port=$((port + 1))
		# shellcheck disable=SC2086
		works "$abi: $program" "$run" --abi $abi "$scratch/pair" $port $program
	done
	works "$abi: ibv_devinfo -v" "$run" --abi $abi ibv_devinfo -v
	grep -q "PORT_ACTIVE" "$scratch/out" && grep -q "GID\[ *3\]" "$scratch/out"
	ok $? "$abi: … shows port and GIDs" "$scratch/out"
done
port=$((port + 1))
works "ib_write_lat over InfiniBand" "$run" --device mlx5_0:link=ib "$scratch/pair" $port ib_write_lat -n 50
port=$((port + 1))
works "ibv_rc_pingpong over InfiniBand, by GID" "$run" --device mlx5_0:link=ib "$scratch/pair" $port ibv_rc_pingpong -g 0 -n 50
port=$((port + 1))
works "ib_send_bw over InfiniBand, by GID" "$run" --device mlx5_0:link=ib "$scratch/pair" $port ib_send_bw -x 0 -n 50
port=$((port + 1))
works "ib_send_bw with events" "$run" "$scratch/pair" $port ib_send_bw -x 3 -n 100 -e
port=$((port + 1))
works "ibv_rc_pingpong with events" "$run" "$scratch/pair" $port ibv_rc_pingpong -g 3 -n 100 -e
works "ibv_devices" "$run" --device mlx5_0 --device mlx5_1 ibv_devices
grep -q mlx5_1 "$scratch/out"
ok $? "… lists both" "$scratch/out"
if ! missing rdma; then
	works "rdma link" "$run" rdma link
	grep -q "mlx5_0/1 state ACTIVE physical_state LINK_UP netdev lo" "$scratch/out"
	ok $? "… with state and netdev" "$scratch/out"
	works "rdma dev" "$run" rdma dev
	works "rdma system" "$run" rdma system
	works "rdma statistic" "$run" rdma statistic show
	grep -q "local_ack_timeout_err 0" "$scratch/out"
	ok $? "… with hardware counters" "$scratch/out"
	cat >"$scratch/look" <<-'END'
		"$TRAFFIC" --peer --no-poll --wait 3000 >/dev/null &
		for _ in $(seq 60); do
			rdma res | grep -q 'qp 2' && break
			sleep 0.05
		done
		rdma res; rdma res show qp; rdma res show cq; rdma res show mr; rdma res show pd
		[ "$(cat "$SYSFS_PATH/class/infiniband/mlx5_0/ports/1/hw_counters/rx_write_requests")" = 1 ] && echo counted
		wait
		rdma res
	END
	TRAFFIC=$traffic works "rdma res" "$run" bash "$scratch/look"
	[ "$(grep -c 'type RC state RTS' "$scratch/out")" -eq 2 ] && grep -q "mr 2" "$scratch/out"
	ok $? "… shows the objects of all processes" "$scratch/out"
	grep -q counted "$scratch/out"
	ok $? "… and counters move in sysfs" "$scratch/out"
	tail -n 1 "$scratch/out" | grep -q "pd 0 cq 0 qp 0 mr 0"
	ok $? "… and none are left" "$scratch/out"
fi
finish
