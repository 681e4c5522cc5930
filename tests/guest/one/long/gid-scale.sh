#!/bin/bash
# SPDX-License-Identifier: MIT
# 256 soft-RoCE devices with 1024 slots each: one GID-table ioctl a device, and what a bare program needs that does only
# that, in the same run. Counts are judged; times are printed, because the machine below is emulated and shared.
. tests/guest/lib.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
# all_have_addresses - each device has the GID of an IPv4 address: link-local ones come before it
all_have_addresses() {
	[ "$(grep -ls '^0000:0000:0000:0000:0000:ffff:0a' /sys/class/infiniband/rxe*/ports/1/gids/{0,1,2,3} | wc -l)" -ge "$devices" ]
}

devices=${DEVICES:-256}
# Nothing is given up while strace slows it down.
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000

modules rdma_rxe ib_uverbs dummy
for ((i = 0; i < devices; i++)); do
	echo "link add dum$i type dummy"
	echo "link set dum$i up"
	echo "addr add 10.$((i / 200)).$((i % 200)).1/24 dev dum$i"
done | ip -batch -
for ((i = 0; i < devices; i++)); do
	rdma link add "rxe$i" type rxe netdev "dum$i"
done
wait_for 60 all_have_addresses
"$RDMADIAG" gid -j >/tmp/scale.json
is $? 0 "gid works"
is "$(python3 -c 'import json; d = json.load(open("/tmp/scale.json")); print(len(d["tables"]), all(t["used"] >= 1 and t["size"] == 1024 for t in d["tables"]))')" \
	"$devices True" "every table was read"
found=$(python3 -c 'import json; print(len(json.load(open("/tmp/scale.json"))["entries"]))')

seconds() {
	local start=$EPOCHREALTIME
	"$@" >/dev/null
	awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }'
}

calls() {
	taskset -c 0 strace -f -qq -c -o /tmp/count "$@" >/dev/null
	awk '$NF == "total" { print $(NF - 1) ~ /^[0-9]+$/ && NF == 6 ? $4 : $(NF - 1) }' /tmp/count
}

compile() {
	cc -O2 -D_GNU_SOURCE -o /tmp/bare tests/bench/bare_gid.c -libverbs &&
		cc -O2 -D_GNU_SOURCE -shared -fPIC -o /tmp/count.so tests/bench/count-gid-ioctl.c -ldl
}

# Each library costs more than a device does.
if command -v strace >/dev/null; then
	strace -f -qq -e trace=openat -o /tmp/opened "$RDMADIAG" gid -j rxe0 >/dev/null
	for library in libarchive libxml2 libnuma libhwloc; do
		is "$(grep -c "/${library}[.]so.* = [0-9]" /tmp/opened)" 0 "$library is not loaded"
	done
	is "$(grep -c 'modalias' /tmp/opened)" 0 "no driver is matched by what sysfs says"
fi

if compile; then
	rm -f /tmp/ioctls
	COUNT_FILE=/tmp/ioctls LD_PRELOAD=/tmp/count.so "$RDMADIAG" gid -j >/dev/null
	is "$(grep -c table /tmp/ioctls)" "$devices" "one GID-table ioctl a device"
	awk -v n="$devices" 'END { printf "# %.2f uverbs ioctls a device\n", NR / n }' /tmp/ioctls
	is "$(/tmp/bare)" "$devices devices, $found GIDs" "the bare program finds as many entries"
	for round in 1 2; do
		ours=$(seconds "$RDMADIAG" gid -j)
		bare=$(seconds /tmp/bare)
		awk -v r=$round -v a="$ours" -v b="$bare" 'BEGIN { printf "# round %d: gid %.3f s, bare %.3f s, ratio %.2f\n", r, a, b, a / b }'
	done
	if command -v strace >/dev/null; then
		ours=$(calls "$RDMADIAG" gid -j)
		bare=$(calls /tmp/bare)
		echo "# system calls: gid $ours, bare $bare"
		# What the number of devices does not change (libraries, the worker, dumps of links and addresses) has room in it.
		ok "within 1.25 times the system calls of the bare program" test "$ours" -le $((bare * 5 / 4))
	else
		skip "system calls" "no strace"
	fi
else
	skip "comparison with a bare program" "no compiler"
fi
chmod 600 /dev/infiniband/uverbs*
user="setpriv --reuid 65534 --regid 65534 --clear-groups"
# shellcheck disable=SC2086
sysfs=$(seconds $user "$RDMADIAG" gid -j rxe1)
verbs=$(seconds "$RDMADIAG" gid -j rxe1)
echo "# one device: $verbs s through verbs, $sysfs s through sysfs"
chmod 666 /dev/infiniband/uverbs*
for ((i = 0; i < devices; i++)); do
	echo "link delete dum$i"
done | ip -batch -
done_testing
