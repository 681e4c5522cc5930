#!/bin/bash
# SPDX-License-Identifier: MIT
# check: the findings of described machines in one list, filtered, and in the forms that monitoring reads.
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/guest/lib.sh
. "$here/../guest/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for machine in t06-two-aggregators t17-arm-hex-domain t05-lag-2x400 mana; do
	"$here/../machines/make-snapshot" "$machine" "$dir/$machine" >/dev/null
done
arm=$dir/t17-arm-hex-domain

status_is 1 "a warning is found" "$RDMADIAG" check --from "$dir/t06-two-aggregators"
like "$output" '^warning: net:bond0: 1 of 2 members active.*\[bond-member-in-wrong-aggregator\]$' "with object and id"
like "$output" '^1 device checked: 0 errors, 1 warning,' "and counted"
status_is 0 "findings for information only are none" "$RDMADIAG" check --severity warning --from "$dir/t05-lag-2x400"

status_is 0 "--ignore drops findings" "$RDMADIAG" check --ignore bond-member-in-wrong-aggregator --from "$dir/t06-two-aggregators"
like "$("$RDMADIAG" check --only gid-none --from "$dir/mana")" "^1 device checked: 0 errors, 0 warnings, 0 for information; 2 left out by the options$" \
	"how many findings the options keep away is told"
unlike "$("$RDMADIAG" check --from "$dir/mana")" "left out" "and without options none are"
status_is 1 "--only keeps some" "$RDMADIAG" check --only port-down,gid-stale --from "$arm"
is "$(grep -c '^warning' <<<"$output")" 1 "the others are gone"
is "$("$RDMADIAG" check --only ", port-down,, gid-stale " --from "$arm")" "$output" "blanks between them, and commas too many, are none"
status_is 2 "a word that is none of them" "$RDMADIAG" check --only "port-down no-such-finding" --from "$arm"
like "$errors" "there is no finding 'no-such-finding'$" "is told without them"
status_is 0 "a port that is meant to be down" "$RDMADIAG" check --only port-down --expect-down mlx5_0/1 --from "$arm"
status_is 1 "says nothing of another port" "$RDMADIAG" check --only port-down --expect-down mlx5_1/1 --from "$arm"
status_is 3 "a port that is not there" "$RDMADIAG" check --expect-down mlx5_7/1 --from "$arm"
like "$errors" "no port 'mlx5_7/1'" "is named"
status_is 2 "--expect-down: a device without its port" "$RDMADIAG" check --expect-down mlx5_0 --from "$arm"
like "$errors" "'mlx5_0' is no DEV/PORT" "is wrong usage"
machine=$dir/ports-down-for-reasons
"$here/../machines/make-snapshot" ports-down-for-reasons "$machine" >/dev/null
is "$("$RDMADIAG" check --from "$machine" --expect-down ens2f1/1 --expect-down ens1f1/1 | grep -oE '^[a-z]+: [^ ]+')" \
	"error: mlx5_2/1:
warning: mlx5_4/1:" "--expect-down: a netdev stands for its port"
status_is 3 "--expect-down: a port that the netdev's device does not have" "$RDMADIAG" check --expect-down ens2f1/2 --from "$machine"
like "$errors" "there is no port 'ens2f1/2'" "is told"
status_is 1 "--expect-down: a port that is up" "$RDMADIAG" check --expect-down mlx5_bond_0/1 --from "$dir/t06-two-aggregators"
like "$errors" "mlx5_bond_0/1: this port is ACTIVE" "is told"
status_is 2 "an unknown id" "$RDMADIAG" check --ignore no-such-finding --from "$arm"
like "$errors" "no finding 'no-such-finding'" "is named"
status_is 2 "an unknown severity" "$RDMADIAG" check --severity fatal --from "$arm"
is "$("$RDMADIAG" check --severity warn --from "$arm")" "$("$RDMADIAG" check --severity warning --from "$arm")" "warn is warning"
is "$("$RDMADIAG" check --severity inf --from "$arm")" "$("$RDMADIAG" check --from "$arm")" "three letters will do"
status_is 2 "a letter is no severity" "$RDMADIAG" check --severity w --from "$arm"
"$here/../machines/make-snapshot" several-surprises "$dir/several" >/dev/null
counts=$("$RDMADIAG" check --from "$dir/several" | grep ' checked: ')
like "$counts" "for information \(a line with several objects counts for each of them\)$" "a line that counts twice is explained"
unlike "$("$RDMADIAG" check --from "$arm" --only port-down --ignore gid-none)" "counts for each" "where there is none, nothing is"
for machine in several arm; do
	snapshot=$dir/several
	[ $machine = several ] || snapshot=$arm
	for device in no-such mlx5_0/9; do
		topo=$("$RDMADIAG" topo --from "$snapshot" $device 2>&1)
		like "$topo" "(there are: |has no port 9, only )" "$machine, $device: what there is"
		is "$("$RDMADIAG" gid --from "$snapshot" $device 2>&1)" "$topo" "$machine, $device: gid says the same"
	done
done

status_is 1 "--nagios: warning" "$RDMADIAG" check --nagios --from "$arm"
is "$(wc -l <<<"$output")" 1 "one line"
like "$output" '^RDMA WARNING - .* \| errors=0;;0 warnings=[0-9]+;0 .*devices=2' "with performance data"
like "$output" " 'mlx5_0/1_active'=0;;;0;1 'mlx5_0/1_mbps'=U( |$)" "and those of each port, of which one that is down has no rate"
status_is 3 "--nagios: unknown" "$RDMADIAG" check --nagios --from "$dir/none"
like "$output" '^RDMA UNKNOWN - .*No such file' "says why on standard output"
status_is 0 "--nagios: ok" "$RDMADIAG" check --nagios --severity error --from "$arm"

like "$output" "^RDMA OK - 0 errors, 0 warnings, 2 devices, [1-9][0-9]* findings? left out by the options \| " "and what is left out"
unlike "$("$RDMADIAG" check --nagios --from "$arm")" "left out" "without options nothing is"

# More than fits into one line.
for i in $(seq 40); do
	mkdir -p "$dir/many/sys/class/infiniband/mlx5_$i/ports/1"
	echo "1: DOWN" >"$dir/many/sys/class/infiniband/mlx5_$i/ports/1/state"
done
"$RDMADIAG" check --nagios --from "$dir/many" >"$dir/many.txt"
like "$(cat "$dir/many.txt")" '^RDMA [A-Z]* - .*; and [0-9]+ more \| errors=' "--nagios: what does not fit is counted"
text=$(sed 's/ |.*//' "$dir/many.txt")
ok "and the text stays below 1,000 characters" test ${#text} -lt 1000 -a ${#text} -gt 800
told=$(grep -o 'mlx5_[0-9]*[/:0-9]*: ' <<<"$text" | wc -l)
is "$((told + $(sed 's/.* and \([0-9]*\) more$/\1/' <<<"$text")))" \
	"$(sed 's/^[^-]*- \([0-9]*\) errors*, \([0-9]*\) warn.*/\1 + \2/' <<<"$text" | { read -r a _ b; echo $((a + b)); })" "none is lost"
status_is 3 "--nagios: wrong usage is not critical" "$RDMADIAG" check --nagios --only no-such-finding --from "$arm"
is "$output" "RDMA UNKNOWN - wrong usage of rdmadiag check, see its standard error" "and told where a plug-in is read"
status_is 3 "--nagios and JSON" "$RDMADIAG" check --nagios -j --from "$arm"
like "$errors" "nagios and --json" "contradict each other"
status_is 2 "--prom - and JSON" "$RDMADIAG" check --prom - -j --from "$arm"
cd "$dir" || exit
status_is 1 "--prom -: standard output" "$RDMADIAG" check --prom - --from "$arm"
is "$(grep -vc '^\(#\|rdmadiag_\)' <<<"$output")" 0 "has the metrics alone"
like "$output" '^rdmadiag_devices 2$' "of this node"
ok "and no file is called so" test ! -e "$dir/-"
cd "$OLDPWD" || exit

"$RDMADIAG" check --from "$arm" --prom "$dir/x.prom" >/dev/null
like "$(cat "$dir/x.prom")" '^rdmadiag_findings\{id="port-down",severity="warning",subject="mlx5_0/1"\} 1$' "--prom: a finding"
like "$(cat "$dir/x.prom")" '^rdmadiag_port_active\{device="mlx5_0",port="1"\} 0$' "--prom: a port"
unlike "$(cat "$dir/x.prom")" '^rdmadiag_port_rate_bits_per_second\{device="mlx5_0"' "--prom: a port that is down has no rate"
like "$(cat "$dir/x.prom")" "^rdmadiag_info\{version=\"$(cat "$here/../../VERSION")\"\} 1$" "--prom: the version"
like "$("$RDMADIAG" check --from "$dir/t06-two-aggregators" --prom -)" '^rdmadiag_bond_member_active\{bond="bond0",member="[a-z0-9]+"\} 0$' \
	"--prom: a member of a bond that carries nothing"
age=$(($(date +%s) - $(sed -n 's/^rdmadiag_last_run_timestamp_seconds //p' "$dir/x.prom")))
ok "--prom: when it was written" test "$age" -ge 0 -a "$age" -lt 600
is "$(ls "$dir"/x.prom*)" "$dir/x.prom" "--prom: no temporary file is left"
is "$(grep -v '^#' "$dir/x.prom" | sed 's/ [^ ]*$//' | sort | uniq -d)" "" "--prom: no series twice"
status_is 3 "--prom: a folder that is not there" "$RDMADIAG" check --from "$arm" --prom "$dir/none/x.prom"
like "$errors" "none/x.prom: No such file" "is named"

status_is 3 "--prom: a host of which nothing is known" "$RDMADIAG" check --from "$dir/none" --prom "$dir/x.prom"
like "$(cat "$dir/x.prom")" '^rdmadiag_devices 0$' "replaces the metrics of an earlier run"
like "$(cat "$dir/x.prom")" '^rdmadiag_last_run_timestamp_seconds [0-9]{10}' "and says when"
like "$(cat "$dir/x.prom")" '^rdmadiag_not_collected 1$' "and says that something is not known"
mkfifo "$dir/fifo"
status_is 3 "--prom: what is no regular file" "$RDMADIAG" check --from "$arm" --prom "$dir/fifo"
ok "is not replaced" test -p "$dir/fifo"

status_is 2 "--probe: a snapshot" "$RDMADIAG" check --probe --from "$arm"
like "$errors" "a probe needs a live host" "cannot be probed"

# What RDMA into GPU memory needs.
"$here/../machines/make-snapshot" hgx-eight-gpus "$dir/gpus" >/dev/null
gpu=$(readlink -f "$(grep -l '^0x0302' "$dir"/gpus/sys/bus/pci/devices/*/class | head -n 1)")
rm -r "${gpu%/class}/driver"
sed -i /^DRIVER=/d "${gpu%/class}/uevent"
status_is 0 "a GPU without a driver, which is for information" "$RDMADIAG" check --from "$dir/gpus"
like "$output" "^info: pci:[0-9a-f:.]*: GPU0 has no driver: .*\[gpu-without-driver\]" "is named"
unlike "$output" "gpudirect-no-peer-memory" "the others are reached by nvidia_peermem"
rm -r "$dir/gpus/sys/module/nvidia_peermem"
like "$("$RDMADIAG" check --from "$dir/gpus")" "the memory of 7 GPUs as a dma-buf, or not at all; .*\[gpudirect-no" "without it that is said"

# A device whose ports cannot be looked at is not a healthy one.
mkdir -p "$dir/blind/sys/class/infiniband/mlx5_0/ports/1"
status_is 3 "a device of which nothing is known" "$RDMADIAG" check --from "$dir/blind"
like "$errors" "nothing could be checked: no state of the 1 port of 1 device is known" "is no healthy one"
status_is 3 "--nagios: nothing known" "$RDMADIAG" check --nagios --from "$dir/blind"
like "$output" "^RDMA UNKNOWN - nothing could be checked" "is unknown"

# Without a device the document says whose it is, and what else was not collected.
"$here/../machines/make-snapshot" empty-host "$dir/empty" >/dev/null
status_is 3 "no device" "$RDMADIAG" check -j --from "$dir/empty"
is "$(python3 -c 'import json,sys; d=json.loads(sys.stdin.readline()); print(d["host"]["hostname"], d["errors"], any(n["what"] == "findings" for n in d["not_collected"]))' <<<"$output")" \
	"node1 None True" "the host is named"

# Counters that rise while it waits: the sysfs of a described machine, changed meanwhile.
status_is 2 "--interval: a snapshot" "$RDMADIAG" check --interval 1 --from "$arm"
status_is 2 "--interval: no number" "$RDMADIAG" check --interval soon
port=$(readlink -f "$arm/sys/class/infiniband/mlx5_0")/ports/1
mkdir -p "$port/hw_counters"
echo 5 >"$port/hw_counters/local_ack_timeout_err"
echo 7 >"$port/hw_counters/rx_write_requests"
echo 5 >"$port/hw_counters/packet_seq_err"
other=$(readlink -f "$arm/sys/class/infiniband/mlx5_1")/ports/1
mkdir -p "$other/counters"
echo 1 >"$other/counters/link_downed"
SYSFS_PATH=$arm/sys "$RDMADIAG" check --interval 4 -j >"$dir/interval.json" 2>/dev/null &
# the first look is over when it sleeps
for _ in $(seq 100); do
	grep -qs nanosleep "/proc/$!/wchan" && break
	sleep 0.1
done
echo 8 >"$port/hw_counters/local_ack_timeout_err"
echo 9 >"$port/hw_counters/rx_write_requests"
echo 2 >"$other/counters/link_downed"
echo "4: ACTIVE" >"$port/state"
wait $!
rising() { python3 -c 'import json, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    if f["id"] == "counter-rising": print(f["subject"], f["severity"], f["message"], [e["value"] for e in f["evidence"]])' "$1"; }
is "$(rising "$dir/interval.json")" "mlx5_0/1 warning local_ack_timeout_err rose by 3 in 4 s ['5', '8']" \
	"--interval: the counter that rose, and no other"
flapping() { python3 -c 'import json, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    if f["id"] == "port-flapping": print(f["subject"], f["severity"], f["message"], [e["value"] for e in f["evidence"]], end=";")' "$1"; }
is "$(flapping "$dir/interval.json")" "mlx5_0/1 warning the port went from DOWN to ACTIVE while it was looked at ['DOWN', 'ACTIVE'];mlx5_1/1 \
warning link_downed rose by 1 in 4 s: the link went down or came up ['1', '2'];" "--interval: ports that went down or came up"

watched() { SYSFS_PATH=$arm/sys "$RDMADIAG" check --interval 0.1 2>/dev/null | grep '^watched'; }
is "$(watched)" "watched for 0.1 s: 3 counters of errors and congestion, and the states of the ports" \
	"--interval: the text says how much was watched"
rm "$port/hw_counters/packet_seq_err" "$other/counters/link_downed"
is "$(watched)" "watched for 0.1 s: 1 counter of errors and congestion, and the states of the ports" "be it one"

"$RDMADIAG" check -j --from "$arm" >"$dir/check.json"
ok "the document fits its schema" "$here/../schema/validate" "$RDMADIAG" "$dir/check.json"
is "$(python3 -c 'import json,sys; print([f["severity"] for f in json.load(open(sys.argv[1]))["findings"]][0])' "$dir/check.json")" \
	warning "the worst is first"
# What was counted, in all that the described machines make it say.
is "$(grep -rhE '(^|[ (])1 [a-z]+[^s]s( |,|;|\)|$)|(nodes|CPUs) [0-9]+([;(]|, |$)|node [0-9]+[,-][0-9]' "$here/../golden" --include=*.txt |
	grep -v 'index 1 was found first')" "" "one is one, and more are more"
# ---- only of some devices
"$here/../machines/make-snapshot" bonds-in-trouble "$dir/trouble" || exit 1
found_of() { "$RDMADIAG" check -j --from "$dir/trouble" "$@" | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["warnings"], d["infos"], *sorted({f["subject"] for f in d["findings"]}))
'; }
is "$(found_of)" "6 1 bnxt_re0/1 bnxt_re1/1 mlx5_0/1 net:bond0 net:bond1 net:bond2" "all of them"
is "$(found_of mlx5_0)" "2 0 mlx5_0/1 net:bond0" "of a device"
is "$(found_of mlx5_2/1)" "1 0 net:bond1" "of a port"
is "$(found_of mlx5_2 bnxt_re1)" "3 1 bnxt_re1/1 net:bond1 net:bond2" "of two devices"
is "$(found_of bond2)" "3 1 bnxt_re0/1 bnxt_re1/1 net:bond2" "of a netdev that two devices reach"
is "$(found_of mlx5_0 mlx5_0/1)" "2 0 mlx5_0/1 net:bond0" "named twice it is the same"
is "$(found_of --expect-down mlx5_0/1 mlx5_2)" "1 0 net:bond1" "a port that is meant to be down may be of another one"
status_is 0 "a device that nothing is wrong with" "$RDMADIAG" check --only port-down --from "$dir/trouble" mlx5_2
like "$output" "^1 device checked: 0 errors, 0 warnings" "is the only one that counts"
unlike "$output" "of net:ens1f0np0" "of the others not even what is not known is told"
is "$("$RDMADIAG" check --prom - --from "$dir/trouble" mlx5_2 | grep -c '^rdmadiag_port_active{')" 1 "nor are there metrics of them"
like "$("$RDMADIAG" check --nagios --from "$dir/trouble" mlx5_2)" "^RDMA WARNING - 0 errors, 1 warning, 1 device: net:bond1" "nor performance data"
status_is 3 "a device that is not there" "$RDMADIAG" check -j --from "$dir/trouble" mlx5_0 mlx5_9
like "$errors" "is called 'mlx5_9'; is it mlx5_[02]. There are: bnxt_re0" "is named"
is "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["findings"])' <<<"$output")" "[]" "and nothing is said of the others"
status_is 3 "a port that is not there" "$RDMADIAG" check --from "$dir/trouble" mlx5_0/2
like "$errors" "mlx5_0 has no port 2, only 1$" "is named"
status_is 2 "no number of a port" "$RDMADIAG" check --from "$dir/trouble" mlx5_0/x
"$here/../machines/make-snapshot" switchdev-many-ports "$dir/switchdev" || exit 1
ports_of() { "$RDMADIAG" check --prom - --from "$dir/switchdev" "$@" | sed -n 's/^rdmadiag_port_active{device="\(.*\)",port="\(.*\)"}.*/\1\/\2/p' | xargs; }
is "$(ports_of mlx5_0/2 mlx5_2 mlx5_0/4)" "mlx5_0/2 mlx5_0/4 mlx5_2/1" "two ports of a device, and another device"
is "$(ports_of mlx5_0/2 mlx5_0)" "mlx5_0/1 mlx5_0/2 mlx5_0/3 mlx5_0/4" "a port and the whole of its device"
done_testing
