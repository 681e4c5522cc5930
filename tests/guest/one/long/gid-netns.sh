#!/bin/bash
# SPDX-License-Identifier: MIT
# Entries of netdevs in other network namespaces, from both sides. Soft-RoCE devices are in all of them.
. tests/guest/lib.sh
. tests/guest/evaluate.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}
# Nothing is given up because the machine below is busy.
export RDMADIAG_CALL_TIMEOUT_MS=60000 RDMADIAG_TIMEOUT_MS=120000

# states NAMESPACE [AS...] - "IP=STATE" of all entries but link-local ones
states() {
	value gid "sorted('%s=%s' % (e['ip'], e['state']) for e in entries if e['scope'] != 'link-local')" \
		ip netns exec "$@" "$RDMADIAG" gid -j
}

advice() {
	value gid "advised() or [None]" ip netns exec "$1" "$RDMADIAG" gid -j --explain
}

modules rdma_rxe ib_uverbs macvlan veth
ip link set nic0 up
wait_carrier nic0
ip netns add pod1
ip netns add pod2
ip netns add empty
ip netns attach host $$
rdma link add rxe0 type rxe netdev nic0
for pod in 1 2; do
	ip link add eth0 link nic0 netns pod$pod type macvlan mode bridge
	ip netns exec pod$pod ip link set lo up
	ip netns exec pod$pod ip addr add 192.0.2.$pod/24 dev eth0
	ip netns exec pod$pod ip link set eth0 up
done
ip addr add 192.0.2.100/24 dev nic0
ip netns exec empty ip link set lo up
gids_follow rxe0 nic0 192.0.2.1 192.0.2.2
"$RDMADIAG" gid | sed 's/^/# /'
ip netns exec pod1 "$RDMADIAG" gid | sed 's/^/# pod1 /'
like " $(states host) " " 192.0.2.100=ok " "the first namespace: its own address"
is "$(states host)" "192.0.2.100=ok 192.0.2.1=foreign-netns 192.0.2.2=foreign-netns" \
	"the first namespace: addresses of pods are foreign, though their netdevs have the index of an own one"
is "$(advice host)" 192.0.2.100 "the first namespace: the advice"
like " $(states pod1) " " 192.0.2.100=foreign-netns " "a pod: the host's address is foreign"
is "$(states pod1)" "192.0.2.100=foreign-netns 192.0.2.1=ok 192.0.2.2=foreign-netns" \
	"a pod: so is another pod's, though its netdev has the same name and index"
run_captured ip netns exec empty "$RDMADIAG" gid
like "$output" "gid-none" "a namespace without a netdev: said so"
unlike "$(states empty)" "=(ok|stale)" "a namespace without a netdev: nothing is its own"
is "$(advice empty)" None "a namespace without a netdev: no advice"
chmod 600 /dev/infiniband/uverbs0
for namespace in host pod1; do
	with=$(states $namespace)
	without=$(states $namespace setpriv --reuid 65534 --regid 65534 --clear-groups)
	is "$without" "$with" "$namespace: verbs and sysfs agree"
done
chmod 666 /dev/infiniband/uverbs0
ip netns delete pod1
ip netns delete pod2
ip netns delete empty
ip netns delete host
done_testing
