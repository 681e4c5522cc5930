#!/bin/bash
# SPDX-License-Identifier: MIT
# Lost packets: where they may have been lost, and nobody who is innocent is named.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup
listen

never_confirmed="v['confidence'] != 'confirmed'"

drop input
lossy
is "$status" 1 "all packets dropped on input: status"
holds "all dropped on input: the rule was found, on both sides" \
	"all('rocev2: a rule drops UDP port 4791' in e[side]['filter'] for side in ('local', 'remote')) and 'configuration' in v['candidates']"
holds "all dropped on input: retries were used up" "o[0]['wc_status'] == 12 and o[0]['wc_status_text'] == 'IBV_WC_RETRY_EXC_ERR'"
holds "all dropped on input: a failed WC has nothing but its four fields" \
	"o[0]['source_reusable_ns'] is None and o[0]['vendor_err'] is not None"
holds "all dropped on input: the rule has counted, so it is the likely cause" \
	"v['outcome'] == 'failed' and v['layer'] == 'configuration' and v['confidence'] == 'likely' and any('(UDP 4791) dropped' in text for text in v['because'])"
holds "all dropped on input: TCP and ping pass, and clear nothing" \
	"e['reachability']['tcp_errno'] in (0, 111) and e['reachability']['ping'] and e['reachability']['full_ping'] and any('the RoCE path: that TCP and ping' in text for text in v['not_observed'])"
holds "all dropped on input: route and neighbour of both ends" \
	"all(e[s]['route_errno'] == 0 and e[s]['neighbour'] == 'permanent' for s in ('local', 'remote')) and (e['local']['route_netdev'], e['remote']['route_netdev']) == ('nic0', 'nic2') and e['local']['route_source'] == '$address_a'"
holds "all dropped on input: the peer was asked all the same" \
	"e['remote']['alive'] and e['remote']['qp_state'] == 'RTS' and counter('remote', 'rcvd_pkts') == 0 and counter('local', 'sent_pkts') > 0"
undrop

nft add table inet probe
nft add chain inet probe rocev2 '{ type filter hook input priority 0; }'
nft add rule inet probe rocev2 udp dport 4791 drop
lossy
holds "a rule without a counter: undetermined, and what is known is not asked for again" \
	"v['layer'] == 'undetermined' and 'configuration' in v['candidates'] and not any('whether a' in text and 'firewall' in text for text in v['next_steps'])"
holds "a rule without a counter: what would decide is said" \
	"any('add the word counter' in text for text in v['next_steps']) and any('rule without a counter' in text for text in v['not_observed'])"
undrop

drop output
peer --timeout 1500
is "$status" 1 "all packets dropped on output: status"
# Linux 6.1 tries for ever, on a busy host within the call that posts; 6.12 gives the queue pair up.
if grep -q '"outcome": *"stalled"' "$document"; then
	holds "all dropped on output: stalled, the queue pair still in RTS in two samples" \
		"e['stuck'] or (e['local']['qp_state'] == e['local']['qp_state_first'] == 'RTS' and e['deadline_ns'])"
	holds "all dropped on output: the request is in the queue, no completion is" \
		"o[0]['cqe_arrived_ns'] is None and o[0]['wc_status'] is None and (e['stuck'] or o[0]['wqe_posted_ns'])"
else
	holds "all dropped on output: failed, the queue pair in error" "v['outcome'] == 'failed' and e['local']['qp_state'] == 'ERR'"
	holds "all dropped on output: the request was flushed" "o[0]['wqe_posted_ns'] and o[0]['wc_status'] == 5"
fi
holds "all dropped on output: it is this host" \
	"'configuration' in v['candidates'] and $never_confirmed and (e['stuck'] or (counter('local', 'send_err') > 0 and set(v['candidates']) <= {'configuration', 'kernel'}))"
undrop

drop input iif nic0
lossy
holds "answers dropped: the peer has the payload, we have no answer" \
	"o[0]['wc_status'] == 12 and counter('remote', 'rcvd_pkts') > 0 and o[0]['payload_verified'] is True"
holds "answers dropped: the verdict" "v['outcome'] == 'failed' and v['layer'] == 'configuration' and 'remote-application' not in v['candidates'] and $never_confirmed"
undrop

drop input iif nic2
lossy
holds "requests dropped: the payload did not arrive" "o[0]['wc_status'] == 12 and o[0]['remote_landed_ns'] is None"
holds "requests dropped: the verdict" "v['outcome'] == 'failed' and 'network' in v['candidates'] and $never_confirmed"
undrop

# a rule that is there and drops nothing of ours, and loss that nobody counts
nft add table inet probe
nft add chain inet probe rocev2 '{ type filter hook input priority 0; }'
nft add rule inet probe rocev2 ip saddr 203.0.113.1 udp dport 4791 counter drop
ip rule add pref 5 iif nic2 ipproto udp dport 4791 blackhole
peer
holds "a rule that did not count: it is a candidate, and not the likely cause" \
	"o[0]['wc_status'] == 12 and 'drops UDP port 4791' in e['remote']['filter'] and counter('remote', next(c['name'] for c in e['counters'] if c['side'] == 'remote' and '4791' in c['name'])) == 0 and v['layer'] == 'undetermined' and {'configuration', 'network'} <= set(v['candidates'])"
ip rule del pref 5
undrop

# a rule that somebody adds while the requests are under way
"$RDMADIAG" probe -j -d rxe0 --timeout 6000 --count 60000 --peer "$address_b" >"$document" 2>"$work/errors" &
run=$!
flows rxe0
drop input iif nic2
wait "$run"
holds "a rule of the middle of the run: it is found at the end, and a candidate" \
	"o[-1]['wc_status'] == 12 and 'at the end of the run: nft inet probe rocev2' in e['remote']['filter'] and 'configuration' in v['candidates'] and not any('has no packet filter' in text for text in v['because'])"
undrop

# what tc and BPF programs drop, which no list of rules tells
modprobe -a sch_ingress cls_flower act_gact
tc qdisc add dev nic2 clsact
tc filter add dev nic2 ingress protocol ip flower ip_proto udp dst_port 4791 action drop
lossy
holds "filters of tc on the way in: their queueing discipline has counted what is missing" \
	"o[0]['wc_status'] == 12 and v['layer'] == 'configuration' and v['confidence'] == 'likely' and any('clsact on nic2' in text for text in v['because']) and any('tc -s filter show' in text for text in v['next_steps'])"
tc qdisc del dev nic2 clsact
tc qdisc add dev nic0 clsact
tc filter add dev nic0 egress protocol ip flower ip_proto udp dst_port 4791 action drop
peer --timeout 1500
holds "filters of tc on the way out: they are named" \
	"v['outcome'] in ('stalled', 'failed') and 'configuration' in v['candidates'] and $never_confirmed and any('clsact on nic0' in text for text in v['because'])"
tc qdisc del dev nic0 clsact

modprobe sch_netem
tc qdisc add dev nic0 root netem loss 100%
probe -d rxe0 --target-device rxe2 --timeout 3000
holds "netem on the way out: it is found" "'netem on nic0: loss 100 %' in e['local']['filter'] and v['layer'] in ('configuration', 'undetermined') and $never_confirmed"
tc qdisc replace dev nic0 root netem loss 0% corrupt 100%
probe -d rxe0 --target-device rxe2 --timeout 3000
# One bit of each, and now and then it is one that nobody checks.
holds "netem that damages packets, which nobody counts: it is named" \
	"v['outcome'] in ('failed', 'degraded') and v['layer'] == 'configuration' and v['confidence'] == 'likely' and 'damages packets' in v['summary']"
tc qdisc del dev nic0 root
tc qdisc add dev nic0 root netem delay 150ms
probe -d rxe0 --target-device rxe2 --timeout 10000
holds "netem that only delays: what it holds back is told beside the time that it took" \
	"e['local']['filter'] == 'netem on nic0: delay 150 ms' and v['outcome'] in ('ok', 'degraded') and v['layer'] in ('none', 'configuration') and any('netem of this host holds each packet back for 150 ms' in text for text in v['because'])"
tc qdisc del dev nic0 root
peer
holds "and then all is well again, and no filter is there" "fine() and e['local']['filter'] == e['remote']['filter'] == ''"
unlisten
no_objects_left "nothing is left in the kernel"
done_testing
