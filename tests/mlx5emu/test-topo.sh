#!/bin/bash
# SPDX-License-Identifier: MIT
# rdmadiag topo and gid on software devices: the values that these devices have, and what becomes of blocked sources.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
if [ ! -x "$RDMADIAG" ]; then
	echo "1..0 # SKIP no rdmadiag, build it first"
	exit 0
fi

# document "RUN OPTIONS" COMMAND...: JSON into $scratch/document
document() {
	# word splitting is wanted
	# shellcheck disable=SC2086
	timeout 60 "$run" $1 "$RDMADIAG" "${@:2}" -j >"$scratch/document" 2>"$scratch/errors"
	status=$?
}

# holds NAME EXPRESSION: Python over the document d, its first device x and that one's first port p
holds() {
	python3 - "$scratch/document" "$2" >"$scratch/out" 2>&1 <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		x = (d.get("devices") or [None])[0]
		p = x and x["ports"][0]
		if not eval(f"({sys.argv[2]})"):
		    sys.exit(json.dumps(x or d)[:3000])
	END
	ok $? "$1" "$scratch/out"
}

document "--device mlx5_0:numa=1 --device mlx5_1:link=ib:ports=2" topo
ok $status "topo" "$scratch/errors"
holds "nothing is missing" 'd["not_collected"] == []'
holds "two devices, by name" '[y["name"] for y in d["devices"]] == ["mlx5_0", "mlx5_1"]'
holds "driver, firmware and board" '(x["driver"], x["software"], x["fw_version"], x["board_id"]) ==
	("mlx5_core", False, "28.39.1004", "MT_0000000838")'
holds "GUIDs" 'x["node_guid"] == "0c42:a103:00e0:a1b2" and d["devices"][1]["node_guid"] != x["node_guid"]'
holds "it can be opened" 'x["uverbs"] == {"path": "/dev/infiniband/uverbs0", "accessible": True, "reason": None}'
holds "NUMA node" 'x["pci"]["numa_node"] == 1 and x["pci"]["package"] == 1'
holds "PCI path" '[(h["address"], h["kind"]) for h in x["pci"]["path"]] == [("0000:10:01.0", "root-port"),
	("0000:11:00.0", "switch-upstream"), ("0000:12:00.0", "switch-downstream"), ("0000:13:00.0", "endpoint")]'
holds "PCI link" '(x["pci"]["path"][3]["speed_gts"], x["pci"]["path"][3]["width"]) == (16, 16)'
holds "RoCE port" '(p["transport"], p["link_layer"], p["state"], p["physical_state"], p["rate_gbps"], p["active_mtu"],
	p["max_mtu"], p["lid"]) == ("roce", "Ethernet", "ACTIVE", "LINK_UP", 200, 1024, 4096, None)'
holds "its netdev" '[(n["name"], n["ifindex"], n["relation"], n["source"]) for n in p["netdevs"]] == [("lo", 1, "port", "netlink")]'
holds "InfiniBand ports" '[(q["transport"], q["active_mtu"], q["lid"], q["sm_lid"], q["netdevs"]) for q in d["devices"][1]["ports"]]
	== [("infiniband", 4096, 6, 1, []), ("infiniband", 4096, 7, 1, [])]'

document "--no-netlink" topo
holds "by sysfs where there is no rdma netlink" 'x["name"] == "mlx5_0" and p["netdevs"][0]["source"] == "sysfs"'
document "--abi write" topo
holds "a kernel with write commands only" 'p["max_mtu"] == 4096 and d["not_collected"] == []'
document "--device mlx5_0 --device mlx5_1 --fault block-netlink:port_get" topo
holds "an rdma netlink request that blocks: the ports by sysfs" \
	'[y["ports"][0]["state"] for y in d["devices"]] == ["ACTIVE", "ACTIVE"]'
holds "… and it is said" 'any("netlink" in m["what"] and "did not answer" in m["reason"] for m in d["not_collected"])'
document "--device mlx5_0 --device mlx5_1 --fault block-sysfs:*/mlx5_1/ports/1/rate" topo
holds "a sysfs file that blocks costs one device" 'p["rate_gbps"] == 200 and any("mlx5_1" in m["subject"] for m in d["not_collected"])'
document "--device mlx5_0 --device mlx5_1 --fault block-ioctl,dev=mlx5_1" topo
holds "a device that blocks commands costs its own row" 'p["max_mtu"] == 4096 and d["devices"][1]["ports"][0]["max_mtu"] is None'
document "--fault netlink-fail" topo
holds "rdma netlink that is refused: by sysfs" 'x["name"] == "mlx5_0" and p["state"] == "ACTIVE"'
document "--fault port-down,t=0" topo
ok $status "a port that goes down under it" "$scratch/errors"

document "--device mlx5_0 --device mlx5_1:link=ib" gid
ok $status "gid" "$scratch/errors"
holds "tables" '[(t["device"], t["size"], t["used"], t["holes"]) for t in d["tables"]] == [("mlx5_0", 32, 6, 0), ("mlx5_1", 32, 1, 0)]'
holds "types" '[e["type"] for e in d["entries"]] == ["RoCE v1", "RoCE v2"] * 3 + ["IB"]'
holds "addresses" '[e["ip"] for e in d["entries"][2:6]] == ["127.0.0.1"] * 2 + ["::1"] * 2'
holds "netdev and state" 'all((e["netdev"], e["ifindex"], e["state"]) == ("lo", 1, "ok") for e in d["entries"][:6])'
holds "the InfiniBand row" '(d["entries"][6]["gid"], d["entries"][6]["netdev"], d["entries"][6]["scope"]) ==
	("fe80:0000:0000:0000:0c42:a103:00e0:a2b3", None, "ib-subnet")'
document "--device mlx5_0:gid=198.51.100.7" gid --explain
holds "an address that no netdev has is stale" '[e["state"] for e in d["entries"] if e["ip"] == "198.51.100.7"] == ["stale"] * 2'
holds "… and not advised" '[c["index"] for c in d["choices"] if c["consumer"] == "rdmadiag"][0] not in
	[e["index"] for e in d["entries"] if e["ip"] == "198.51.100.7"]'
printf 'NCCL_IB_GID_INDEX=1\n' >"$scratch/.nccl.conf"
HOME=$scratch document "" gid --explain
holds "NCCL's file in the home directory is read" '[c["index"] for c in d["choices"] if c["consumer"] == "nccl"] == [1] and
	"NCCL_IB_GID_INDEX=1" in [c["reason"] for c in d["choices"] if c["consumer"] == "nccl"][0]'
if unshare -rn true 2>/dev/null; then
	document "--netns --device mlx5_0 --device mlx5_1" gid --explain
	holds "veth pairs: the RoCE v2 GID of the IPv4 address is advised" '[[e for e in d["entries"] if e["device"] == c["device"]
		and e["index"] == c["index"]][0]["ip"] for c in d["choices"] if c["consumer"] == "rdmadiag"] == ["10.77.0.1", "10.77.1.1"]'
	document "--netns" topo
	holds "… and the netdev is theirs" 'p["netdevs"][0]["name"] == "ens1np0" and p["netdevs"][0]["operstate"] == "up"'
else
	skip "veth pairs" "unshare is not permitted"
	skip "… and the netdev is theirs" "unshare is not permitted"
fi
finish
