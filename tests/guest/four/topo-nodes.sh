#!/bin/bash
# SPDX-License-Identifier: MIT
# Four nodes in two packages: cross-node and cross-package are told apart, switches and odd parents are survived.
. tests/guest/lib.sh
. tests/guest/topo-lib.sh

for i in 0 1 2 3 4 5; do
	ip link set "nic$i" up
done
bond_add bond0 active-backup nic0 nic1
ok "carrier" wait_carrier bond0
for i in 2 3 4 5; do
	rxe_add "rxe$i" "nic$i"
done
rxe_add rxe_bond bond0
topo
is "$status" 0 "topo ends well"
holds "four nodes in two packages" "[n['package'] for n in d['numa_nodes']] == [0, 0, 1, 1]"
holds "distances" "d['numa_nodes'][0]['distances'] == {'0': 10, '1': 12, '2': 20, '3': 20}"
holds "CPUs" "[n['cpus'] for n in d['numa_nodes']] == ['0-1', '2-3', '4-5', '6-7']"
holds "members on two nodes of one package" "finding('bond-members-on-different-nodes', 'net:bond0')"
holds "which is not two packages" "not finding('bond-members-on-different-packages', 'net:bond0')"
holds "behind a switch" "net('rxe2', 'nic2')['numa_node'] == 2 and net('rxe2', 'nic2')['package'] == 1"
holds "virtio: the nearest PCI ancestor" "net('rxe3', 'nic3')['pci_address'] and net('rxe3', 'nic3')['numa_node'] == 2"
holds "vmxnet3" "net('rxe4', 'nic4')['numa_node'] == 3"
holds "no node: unknown, not 0" "net('rxe5', 'nic5')['numa_node'] is None"
address=$(basename "$(readlink -f /sys/class/net/nic5/device)")
holds "with a reason" "'-1' in missing('numa_node', 'pci:$address')['reason']"

document=$(taskset -c 2 "$RDMADIAG" topo -j)
holds "the calling process's CPUs" "d['process']['cpus'] == '2'"
holds "a process far from a device" \
	"'node 1 only' in finding('process-on-another-node', 'rxe2')['message'] and 'node 2' in finding('process-on-another-node', 'rxe2')['message']"
document=$(numactl --membind 0 "$RDMADIAG" topo -j 2>/dev/null || true)
if [ -n "$document" ]; then
	holds "memory policy" "(d['process']['memory_policy'], d['process']['memory_nodes']) == ('bind', '0')"
	holds "memory far from a device" "finding('memory-policy-elsewhere', 'rxe2')"
else
	skip "memory policy" "no numactl in the guest"
fi
# hwloc is a second witness: check asks it, topo does not load it where sysfs tells all.
loads_hwloc() {
	strace -f -qq -e trace=openat -o /tmp/opened "$RDMADIAG" "$@" >/dev/null
	grep -q 'libhwloc.so' /tmp/opened
}
if [ -e /usr/lib/x86_64-linux-gnu/libhwloc.so.15 ] && command -v strace >/dev/null; then
	not_ok "topo does without hwloc" loads_hwloc topo
	ok "check asks it" loads_hwloc check
	document=$("$RDMADIAG" check -j)
	holds "and both agree" "not [f for f in d['findings'] if f['id'] == 'package-sources-disagree']"
	holds "so nothing of it is missing" "not missing('package', 'host')"
	document=$(HWLOC_SYNTHETIC="pack:1 numa:4 pu:2" "$RDMADIAG" check -j)
	holds "where they do not, it is told" \
		"'package 1, hwloc says 0' in finding('package-sources-disagree', 'node:2')['message']"
else
	skip "hwloc as a second witness" "no libhwloc or no strace"
fi
topo rxe2
holds "one device with its findings only" "not [f for f in d['findings'] if f['subject'] == 'net:bond0']"
done_testing
