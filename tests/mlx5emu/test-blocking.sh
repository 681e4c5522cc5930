#!/bin/bash
# SPDX-License-Identifier: MIT
# A call of one device that never returns: topo, gid, check and report end all the same, and show the rest.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
if [ ! -x "$RDMADIAG" ]; then
	echo "1..0 # SKIP no rdmadiag, build it first"
	exit 0
fi

# A call is given up after 2 s, a collection after 20 s, a report after 25 s. On a busy machine all takes longer.
limit=60
# The same commands of these devices, with nothing that blocks: what has to be there of the device that is well.
devices="--device mlx5_0 --device mlx5_1"

# result_of NAME FAULT COMMAND: JSON, or the archive of report, into $scratch/NAME; its status into NAME.status
# Called through meanwhile.
# shellcheck disable=SC2317
result_of() {
	local out=$scratch/$1 options="$devices${2:+ --fault $2}" arguments=("$3" -j)
	[ "$3" = report ] && arguments=(report --stdout)
	# word splitting is wanted
	# shellcheck disable=SC2086
	(set -f; timeout -k 5 $limit "$run" $options "$RDMADIAG" "${arguments[@]}") >"$out" 2>"$out.errors"
	echo $? >"$out.status"
}

# judge NAME FAULT COMMAND STRUCK: STRUCK is the word of not_collected that the fault must leave there
# shellcheck disable=SC2317
judge() {
	result_of "$1" "$2" "$3"
	python3 "$here/blocked.py" "$3" "$scratch/$1" "$scratch/well-$3" "$4"
}

for what in topo gid check report; do
	meanwhile "$what with nothing that blocks" result_of "well-$what" "" $what
done
settle
n=0
for what in topo gid check report; do
	for fault in 'block-sysfs:*/mlx5_1/*' block-ioctl,dev=mlx5_1 block-open,dev=mlx5_1 block-netlink:port_get block-netlink; do
		n=$((n + 1))
		case $fault in block-netlink*) struck=netlink ;; *) struck=mlx5_1 ;; esac
		meanwhile "$what ends with $fault, and shows the rest" judge $n "$fault" $what $struck
	done
	meanwhile "$what ends when all files of all devices block" judge all-$what 'block-sysfs:*' $what mlx5_0
done
settle

# Nothing answers, and no call is given up before the whole is: the report ends at its own deadline, and a probe for which
# a device does not open says what it saw until then.
# shellcheck disable=SC2317
report_at_deadline() {
	local archive=$scratch/deadline-$1 report=rdmadiag-report/report
	(
		set -f
		# shellcheck disable=SC2086
		RDMADIAG_CALL_TIMEOUT_MS=$2 RDMADIAG_TIMEOUT_MS=$3 timeout -k 5 $limit "$run" $devices --fault "$4" \
			"$RDMADIAG" report --probe -o "$archive.tar.gz" >"$archive" 2>&1
	)
	tar xzf "$archive.tar.gz" -O $report/report.json $report/probe.json >>"$archive" || return 1
	shift 4
	for text; do
		grep -qF -- "$text" "$archive" || { echo "missing: $text" >>"$archive"; cat "$archive"; return 1; }
	done
}
meanwhile "a report of a host that does not answer at all" report_at_deadline host 60000 3000 'block-sysfs:*' \
	'collecting ended at its deadline of 3000 ms' 'what topo, gid and check say of the live host: it did not answer in time'
meanwhile "a report with a probe that hangs" report_at_deadline probe 500 3000 block-ioctl,dev=mlx5_0 \
	'"interrupted": true' '"step": "ibv_open_device"' '"outcome": "stalled"'
settle

# A sandbox that refuses poll(2) and ppoll(2): nothing is late, and a completion event is not lost.
# shellcheck disable=SC2317
without_poll() {
	local out=$scratch/unpolled.$1 text=$2
	shift 2
	timeout -k 5 $limit "$run" "$here/../deny-calls" poll,ppoll "$RDMADIAG" "$@" >"$out" 2>&1
	[ $? -ne 77 ] || return 0
	grep -q "$text" "$out" && ! grep -q 'deadline\|did not answer' "$out" || { cat "$out"; return 1; }
}
meanwhile "topo without poll(2)" without_poll topo '^mlx5_0/1 .*0000:13:00.0$' topo
meanwhile "a probe without poll(2)" without_poll probe '^Verdict: ok' probe
meanwhile "a probe that waits by event without poll(2)" without_poll event '^Verdict: ok' probe --wait event
settle

# A signal ends the wait at once, unless whoever started the program had it ignored.
# shellcheck disable=SC2317
signalled() {
	local out=$scratch/signalled.$1.$2 pid="" waiter
	# shellcheck disable=SC2016
	RDMADIAG_CALL_TIMEOUT_MS=6000 timeout -k 5 $limit "$run" --fault 'block-sysfs:*/mlx5_0/*' sh -c \
		'[ "$1" = ignored ] && trap "" "$2"; echo $$ >"$3"; exec "$4" topo' sh "$2" "$1" "$out.pid" "$RDMADIAG" >"$out" 2>&1 &
	waiter=$!
	# the worker sleeps in the file that blocks; without one the run is over sooner or later
	until [ -n "$pid" ] && pgrep -P "$pid" >/dev/null; do
		kill -0 $waiter || { echo "ended before a worker was seen"; cat "$out"; return 1; }
		sleep 0.05
		pid=$(cat "$out.pid" 2>/dev/null)
	done
	kill -s "$1" "$pid"
	wait $waiter
	[ $? -eq "$3" ] || { cat "$out"; return 1; }
}
meanwhile "SIGTERM while it waits" signalled TERM default 130
meanwhile "SIGTERM that is ignored" signalled TERM ignored 0
meanwhile "SIGHUP while it waits" signalled HUP default 130
meanwhile "SIGHUP that is ignored" signalled HUP ignored 0
settle

# job_and_worker CONTROL NAME FAULT LIMIT ARGUMENT... - starts the program with a call that takes some time and a limit for
# calls, waits for its worker and gives the pids of both to CONTROL, a function. The output is in $scratch/NAME.
# shellcheck disable=SC2317
job_and_worker() {
	local control=$1 out=$scratch/$2 fault=$3 call_limit=$4 pid="" worker="" waiter
	shift 4
	# shellcheck disable=SC2016
	RDMADIAG_CALL_TIMEOUT_MS=$call_limit timeout -k 5 $limit "$run" --fault "$fault" sh -c \
		'echo $$ >"$1.pid"; out=$1; shift; exec "$@" >"$out"' sh "$out" "$RDMADIAG" "$@" 2>"$out.errors" &
	waiter=$!
	until [ -n "$pid" ] && worker=$(pgrep -P "$pid"); do
		kill -0 $waiter || { echo "ended before a worker was seen"; cat "$out"; return 1; }
		sleep 0.05
		pid=$(cat "$out.pid" 2>/dev/null)
	done
	$control "$pid" "$worker"
	wait $waiter
}

# Job control stops both for longer than a call may take: it had no chance to return, and no device is silent.
# shellcheck disable=SC2317
stop_both() {
	sleep 0.2
	kill -STOP "$1" "$2"
	sleep 3
	kill -CONT "$1" # which runs first, and must not take the time for that of the worker
	sleep 0.5
	kill -CONT "$2"
}
# shellcheck disable=SC2317
stopped() {
	job_and_worker stop_both stopped block-open:800ms 1500 topo -j && grep -q '"active_mtu":1024' "$scratch/stopped" && ! grep -q 'did not' "$scratch/stopped" ||
		{ cat "$scratch/stopped"; return 1; }
}
meanwhile "topo that was stopped and goes on" stopped

# shellcheck disable=SC2317
crash_worker() {
	local asleep=0 # in that call; there no signal is taken before it ends
	while [ $asleep -lt 8 ] && kill -0 "$2"; do
		sleep 0.05
		if grep -q '^State:.S' "/proc/$2/status"; then asleep=$((asleep + 1)); else asleep=0; fi
	done
	kill -SEGV "$2"
}
# shellcheck disable=SC2317
crashed() {
	job_and_worker crash_worker crashed block-open:3s 15000 check && return 1
	grep -q '^error: mlx5_0: not all of the device could be asked: the collecting process died (signal 11) in: ' "$scratch/crashed" &&
		! grep -q 'in time' "$scratch/crashed" || { cat "$scratch/crashed"; return 1; }
}
meanwhile "a process that died when it opened a device is not one that waits" crashed
settle

# What cannot be listed is not known, and not "there is none". Netlink would tell the uverbs device.
set -f
timeout 60 "$run" --no-netlink --fault block-sysfs:class/infiniband_verbs "$RDMADIAG" check -j >"$scratch/document" 2>"$scratch/errors"
set +f
! grep -q 'uverbs-missing' "$scratch/document" && grep -q 'asking for its uverbs device did not answer' "$scratch/document"
ok $? "no list of uverbs devices: whether there is one is not known" "$scratch/document"
timeout 60 "$run" --fault block-netlink --fault block-sysfs:class/infiniband "$RDMADIAG" topo >"$scratch/out" 2>&1
[ $? -eq 3 ] && grep -q 'whether there is an RDMA device is not known' "$scratch/out" && ! grep -q 'no RDMA device' "$scratch/out"
ok $? "no list of devices: whether there is one is not known" "$scratch/out"
finish
