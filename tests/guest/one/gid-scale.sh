#!/bin/bash
# SPDX-License-Identifier: MIT
# 256 soft-RoCE devices with 1024 slots each: one GID-table ioctl a device, and the time of a bare program that does only
# that, in the same run. Times are printed, not judged: the machine below is emulated and shared.
. tests/guest/lib.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
BARE=${BARE:-${RDMADIAG%/*}/tests/bare-gids}
devices=${DEVICES:-256}

modules rdma_rxe ib_uverbs dummy
for ((i = 0; i < devices; i++)); do
	echo "link add dum$i type dummy"
	echo "link set dum$i up"
	echo "addr add 10.$((i / 200)).$((i % 200)).1/24 dev dum$i"
done | ip -batch -
for ((i = 0; i < devices; i++)); do
	rdma link add "rxe$i" type rxe netdev "dum$i"
done
sleep 2
"$RDMADIAG" gid -j >/tmp/scale.json
is $? 0 "gid works"
is "$(python3 -c 'import json; d = json.load(open("/tmp/scale.json")); print(len(d["tables"]), all(t["used"] >= 1 and t["size"] == 1024 for t in d["tables"]))')" \
	"$devices True" "every table was read"

# The GID-table method is the only ioctl of uverbs that answers with the ids of that object and method; strace does not
# decode it. So calls are counted for each device: what is the same for 8 devices and for all is its cost for one.
if command -v strace >/dev/null; then
	strace -f -qq -c -o /tmp/all.count "$RDMADIAG" gid -j >/dev/null
	strace -f -qq -e trace=ioctl,openat -o /tmp/all.trace "$RDMADIAG" gid -j >/dev/null
	sed 's/^/# /' /tmp/all.count | head -12
	opened=$(grep -c 'openat.*/dev/infiniband/uverbs' /tmp/all.trace)
	ioctls=$(grep -c 'RDMA_VERBS_IOCTL\|ioctl([0-9]*, _IOC.*0x1b' /tmp/all.trace)
	is "$opened" "$devices" "each device is opened once"
	is "$(grep -c 'openat.*/gids/' /tmp/all.trace)" 0 "no slot is read from sysfs"
	echo "# $((ioctls / devices)) uverbs ioctls a device"
	ok "the ioctls of a device do not depend on its 1024 slots" test "$ioctls" -le $((devices * 8))
else
	skip "system calls" "no strace"
fi

seconds() {
	local start=$EPOCHREALTIME
	"$@" >/dev/null
	awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }'
}

if [ -x "$BARE" ]; then
	is "$("$BARE" | tail -1)" "$(python3 -c 'import json; print(len(json.load(open("/tmp/scale.json"))["entries"]))')" \
		"the bare program finds as many entries"
	for round in 1 2 3; do
		ours=$(seconds "$RDMADIAG" gid -j)
		bare=$(seconds "$BARE")
		awk -v r=$round -v a="$ours" -v b="$bare" 'BEGIN { printf "# round %d: gid %.3f s, bare %.3f s, ratio %.2f\n", r, a, b, a / b }'
	done
	chmod 600 /dev/infiniband/uverbs*
	sysfs=$(seconds setpriv --reuid 65534 --regid 65534 --clear-groups "$RDMADIAG" gid -j)
	echo "# through sysfs: $sysfs s"
	chmod 666 /dev/infiniband/uverbs*
else
	skip "comparison with a bare program" "$BARE was not built"
fi
for ((i = 0; i < devices; i++)); do
	echo "link delete dum$i"
done | ip -batch -
done_testing
