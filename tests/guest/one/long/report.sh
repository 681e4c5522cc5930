#!/bin/bash
# SPDX-License-Identifier: MIT
# A report of a real kernel: what is in it, and a redacted one holds nothing that names the node.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../../lib.sh"

RDMADIAG=${RDMADIAG:-build/rdmadiag}
modprobe rdma_rxe
modprobe bonding max_bonds=0
modprobe dummy numdummies=0
name=$(hostname)
hostname gpu-node-17.cluster.example.net
ip link add bondr type bond mode active-backup miimon 100
for member in dumr0 dumr1; do
	ip link add "$member" type dummy
	ip link set "$member" master bondr
done
ip link set bondr address 52:54:00:ab:cd:17 up
ip addr add 192.0.2.117/24 dev bondr
ip link add enx525400abcd99 address 52:54:00:ab:cd:99 type dummy
ip link set enx525400abcd99 alias "rack 7 of 192.0.2.99" up
ip addr add 2001:db8:7::99/64 dev enx525400abcd99 nodad
ip addr add 192.0.2.99/24 dev enx525400abcd99
rdma link add rxer0 type rxe netdev bondr
rdma link add rxer1 type rxe netdev enx525400abcd99
echo "rdma: test message of 192.0.2.117 on 52:54:00:ab:cd:17" >/dev/kmsg
echo "something else of this machine" >/dev/kmsg

# What is live and what was redacted are compared: nothing may change between the two.
ok "no address is tentative any more" wait_for 20 addresses_are_settled

dir=$(mktemp -d)
status_is 0 "a report with a probe" "$RDMADIAG" report --probe -o "$dir/plain.tar.gz"
mkdir "$dir/plain" "$dir/redacted"
tar -xzf "$dir/plain.tar.gz" -C "$dir/plain"
documents=$dir/plain/rdmadiag-report/report
like "$(cat "$documents/probe.json")" '"outcome": *"ok"' "the probe"
like "$(cat "$documents/probe.txt")" "Verdict: ok" "and its text"
like "$(cat "$documents/kernel.log")" "test message of 192.0.2.117" "kernel messages about RDMA"
not_ok "and no others" grep -q "something else" "$documents/kernel.log"
like "$(cat "$documents/report.json")" '"rdma_core": *"[0-9]' "the version of rdma-core"
for document in "$documents"/*.json; do
	ok "${document##*/} is valid" tests/schema/validate "$RDMADIAG" "$document"
done

# originals TREE: what of the node is found in texts, names and bytes below it
originals() {
	python3 - "$1" <<'PYTHON'
import os, socket, sys
mac = [bytes.fromhex("525400abcd" + tail) for tail in ("17", "99")]
eui = [bytes((m[0] ^ 2,)) + m[1:3] + b"\xff\xfe" + m[3:] for m in mac]
v4 = [socket.inet_aton(ip) for ip in ("192.0.2.117", "192.0.2.99")]
v6 = socket.inet_pton(socket.AF_INET6, "2001:db8:7::99")
groups = lambda raw: ":".join(raw.hex()[i:i + 4] for i in range(0, len(raw) * 2, 4))
texts = [b"gpu-node-17", b"cluster.example", b"192.0.2.117", b"192.0.2.99", b"2001:db8:7:", b"2001:0db8:0007", b"rack 7"]
texts += [form.encode() for m in mac for form in (m.hex(":"), m.hex("-"), m.hex())]
texts += [form.encode() for e in eui for form in (groups(e), e.hex())] + [groups(b"\xff\xff" + ip).encode() for ip in v4]
binary = mac + eui + [e[::-1] for e in eui] + v4 + [v6, v6[8:] + b"\0"][:1]
for where, _, files in os.walk(sys.argv[1]):
    for name in files:
        path = os.path.join(where, name)
        data = os.readlink(path).encode() if os.path.islink(path) else open(path, "rb").read()
        for found in texts:
            if found in data.lower() or found in path.lower().encode():
                print(path, found.decode())
        for found in binary:
            if found in data:
                print(path, found.hex())
PYTHON
}
like "$(originals "$dir/plain")" "netlink/route/link 525400abcd17" "the search finds what is there"
export NCCL_IB_ADDR_RANGE=192.0.2.117/32 UCX_IB_ROCE_SUBNETS=192.0.2.0/24
status_is 0 "a redacted report with a probe" "$RDMADIAG" report --redact --probe -o "$dir/redacted.tar.gz"
tar -xzf "$dir/redacted.tar.gz" -C "$dir/redacted"
is "$(originals "$dir/redacted" | head -20)" "" "nothing of it is in the redacted one"
ids() { "$RDMADIAG" check -j "$@" | grep -oE '"(id|subject)":"[^"]*"' | sed 's/enx[0-9a-f]*/enx/' | sort; }
is "$(ids --from "$dir/redacted.tar.gz")" "$(ids --probe)" "the same findings, with those of the probes"
choices() { "$RDMADIAG" gid --explain -j "$@" | python3 -c '
import json, sys
for choice in json.load(sys.stdin)["choices"]: print(choice["device"], choice["consumer"], choice["index"])'; }
is "$(choices --from "$dir/redacted.tar.gz")" "$(choices)" "the same choices, by settings that name addresses too"
like "$(choices)" "rxer0 nccl" "which are some"
like "$(cat "$dir/redacted/rdmadiag-report/report/kernel.log")" "test message of" "kernel messages are there"
for document in "$dir/redacted/rdmadiag-report/report"/*.json; do
	ok "${document##*/} is valid" tests/schema/validate "$RDMADIAG" "$document"
done

# Without root: less, and it says what.
chmod 777 "$dir"
status_is 0 "without root" setpriv --reuid 65534 --clear-groups "$RDMADIAG" report -o "$dir/nobody.tar.gz"
like "$("$RDMADIAG" topo --from "$dir/nobody.tar.gz")" rxer0 "the devices are there"

rdma link delete rxer0
rdma link delete rxer1
for link in bondr dumr0 dumr1 enx525400abcd99; do
	ip link delete "$link"
done
hostname "$name"
rm -rf "$dir"
done_testing
