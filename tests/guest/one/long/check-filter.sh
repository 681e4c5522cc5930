#!/bin/bash
# SPDX-License-Identifier: MIT
# check: a packet filter of the host that drops the packets of soft-RoCE, live, without root, and in a redacted report.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../../lib.sh"

RDMADIAG=${RDMADIAG:-build/rdmadiag}
dir=$(mktemp -d)
modprobe rdma_rxe
dummies dumf0
ip addr add 192.0.2.1/24 dev dumf0
rxe_add rxef0 dumf0
findings() { "$RDMADIAG" check "$@"; }
unlike "$(findings)" "roce-port-filtered|filters of host" "without a rule there is neither a finding nor a gap"
nft add table inet fence
nft add chain inet fence hosts '{ type filter hook input priority 0; }'
nft add rule inet fence hosts tcp dport 22 counter drop
nft add rule inet fence hosts udp dport 4791 counter accept
unlike "$(findings)" "roce-port-filtered" "nor with one about another port, or one that accepts"
nft add rule inet fence hosts udp dport 4791 counter drop
found="^warning: host: nft inet fence hosts rule [0-9]+ drops packets of UDP port 4791, 0 so far; those of rxef0 pass it.*roce-port-filtered"
like "$(findings)" "$found" "a rule that drops it is found"
like "$("$RDMADIAG" topo --health)" "^nft inet fence hosts rule [0-9]+: drops UDP port 4791, 0 packets so far$" "topo --health shows it"
status_is 0 "a redacted report" "$RDMADIAG" report --redact -o "$dir/report.tar.gz"
like "$(findings --from "$dir/report.tar.gz")" "$found" "has it"
like "$(setpriv --reuid 65534 --clear-groups "$RDMADIAG" check)" "^  filters of host: the rules of nftables: Operation not permitted$" \
	"who may not read the rules is told so"
nft delete table inet fence
modprobe sch_netem
unlike "$(findings)" "netem-on-roce-netdev" "without netem there is no finding of it"
tc qdisc add dev dumf0 root netem delay 20ms loss 5% corrupt 1%
found="^warning: net:dumf0: netem on dumf0: delay 20.0 ms, loss 5 %, corrupt 1 %: packets of rxef0 pass it .netem-on-roce-netdev.$"
like "$(findings)" "$found" "netem on the netdev of soft-RoCE is found"
like "$("$RDMADIAG" topo --health)" "^netem on dumf0: delay 20.0 ms, loss 5 %, corrupt 1 %, 0 packets dropped so far$" "topo --health shows it"
like "$(setpriv --reuid 65534 --clear-groups "$RDMADIAG" check)" "$found" "who may not read the rules of filters is told too"
status_is 0 "a report of it" "$RDMADIAG" report --redact -o "$dir/netem.tar.gz"
like "$(findings --from "$dir/netem.tar.gz")" "netem on [^ ]+: delay 20.0 ms, loss 5 %, corrupt 1 %: packets of [^ ]+ pass it .netem-on-roce-netdev.$" \
	"has it"
dummies dumf1
tc qdisc del dev dumf0 root
unlike "$(findings)" "qdisc-on-roce-netdev" "nor of another discipline"
modprobe sch_tbf
tc qdisc add dev dumf0 root tbf rate 100mbit burst 16kb latency 5ms
like "$(findings)" "^info: net:dumf0: queueing discipline tbf on dumf0: packets of rxef0 pass it, which may be held back or dropped by its limits .qdisc-on-roce-netdev.$" \
	"one that limits the rate is told"
tc qdisc del dev dumf0 root
tc qdisc add dev dumf1 root netem delay 20ms
unlike "$(findings)" "netem-on-roce-netdev" "one on a netdev of no RDMA device is no matter"
rm -rf "$dir"
done_testing
