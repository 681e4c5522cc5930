#!/bin/bash
# SPDX-License-Identifier: MIT
# topo of an iWARP device, and of an RDMA device with a true PCI parent.
. tests/guest/lib.sh
. tests/guest/topo-lib.sh
name_nics
ip link set nic0 up
ip link set nic1 up
ok "carrier" wait_carrier nic0 nic1
ok "siw on nic0" siw_add siw0 nic0
ok "rxe on nic1" rxe_add rxe1 nic1
topo
is "$status" 0 "topo ends well"
holds "iWARP" "dev('siw0')['transport'] == 'iwarp' and port('siw0')['transport'] == 'iwarp'"
holds "on an Ethernet link" "port('siw0')['link_layer'] == 'Ethernet'"
holds "made in software, without a PCI parent" \
	"dev('siw0')['driver'] == 'siw' and dev('siw0')['software'] is True and dev('siw0')['pci'] is None"
holds "its netdev, and where that is" \
	"names('siw0', 'port') == ['nic0'] and net('siw0', 'nic0')['pci_address'] == '0000:21:00.0' and net('siw0', 'nic0')['numa_node'] == 0"
holds "the other one has the NIC's function" "dev('rxe1')['pci']['address'] == '0000:41:00.0'"
holds "its node, package and CPUs" \
	"(dev('rxe1')['pci']['numa_node'], dev('rxe1')['pci']['package'], dev('rxe1')['pci']['local_cpus']) == (1, 1, '2-3')"
holds "its path begins at a root port" \
	"[h['kind'] for h in dev('rxe1')['pci']['path']][::len(dev('rxe1')['pci']['path']) - 1] == ['root-port', 'endpoint']"
holds "links of known speed" "all(h['speed_gts'] and h['width'] for h in dev('rxe1')['pci']['path'][-1:])"
holds "a soft device is no function of an adapter" "dev('rxe1')['function']['kind'] is None and dev('rxe1')['software'] is True"
holds "nothing is unexplained" "[e for e in d['not_collected'] if e['subject'] in ('siw0', 'siw0/1', 'rxe1', 'rxe1/1')] == []"
document=$(taskset -c 0 "$RDMADIAG" topo -j)
holds "a process on node 0 is far from it" "finding('process-on-another-node', 'rxe1')"
holds "and near to the other" "not finding('process-on-another-node', 'siw0')"
text=$("$RDMADIAG" topo)
like "$text" 'siw0/1 +iwarp +ACTIVE' "text: iWARP"
like "$text" 'rxe1/1 .* nic1 +up +1 +1 2-3 +0000:41:00.0' "text: the place of the device"
rdma link delete siw0
rxe_del rxe1
done_testing
