#!/bin/bash
# SPDX-License-Identifier: MIT
# A capture of a real kernel replays as the host was seen live: soft-RoCE on a bond with a VLAN, and on a dummy.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../../lib.sh"

RDMADIAG=${RDMADIAG:-build/rdmadiag}
modprobe rdma_rxe
modprobe bonding max_bonds=0
modprobe dummy numdummies=0
modprobe 8021q
ip link add bondc type bond mode active-backup miimon 100
for name in dumc0 dumc1; do
	ip link add "$name" type dummy
	ip link set "$name" master bondc
done
ip link set bondc up
ip link add link bondc name bondc.5 type vlan id 5
ip link set bondc.5 up
ip addr add 192.0.2.1/24 dev bondc
ip addr add 198.51.100.1/24 dev bondc.5
ip link add dumc2 type dummy
ip link set dumc2 up
ip addr add 2001:db8::1/64 dev dumc2 nodad
rdma link add rxec0 type rxe netdev bondc
rdma link add rxec1 type rxe netdev dumc2

# What is live and what was captured are compared: nothing may change between the two.
ok "no address is tentative any more" wait_for 20 addresses_are_settled

dir=$(mktemp -d)
without_origin() { sed 's/"origin":"[a-z]*"//'; }
status_is 0 "the guest is captured" "$RDMADIAG" capture "$dir/capture"
like "$output" "with 2 RDMA devices" "both devices"
tar -czf "$dir/capture.tar.gz" -C "$dir" capture
for command in "topo -j" "topo --no-verbs -j" "topo" "gid -j" "gid --all -j" "gid --explain"; do
	# shellcheck disable=SC2086
	live=$("$RDMADIAG" $command 2>&1 | without_origin)
	like "$live" rxec0 "$command shows the device"
	# shellcheck disable=SC2086
	is "$("$RDMADIAG" $command --from "$dir/capture" 2>&1 | without_origin)" "$live" "and replays the same"
	# shellcheck disable=SC2086
	is "$("$RDMADIAG" $command --from "$dir/capture.tar.gz" 2>&1 | without_origin)" "$live" "from an archive too"
done

rdma link delete rxec0
rdma link delete rxec1
ip link delete bondc.5
ip link delete bondc
for name in dumc0 dumc1 dumc2; do
	ip link delete "$name"
done
rm -rf "$dir"
done_testing
