#!/bin/bash
# SPDX-License-Identifier: MIT
# Large packets are lost: the two sizes of every run show it, and the verdict speaks of the MTU.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup
listen

never_confirmed="v['confidence'] != 'confirmed'"

# only large packets, by nothing that can be seen here
nft add table netdev probe
nft add chain netdev probe large '{ type filter hook ingress device nic2 priority 0; }'
# of TCP the kernel may have put small segments together already
nft add rule netdev probe large ip protocol != tcp meta length gt 600 drop
peer
holds "large packets of every kind dropped: small ones pass, large ones do not, RDMA and ping alike" \
	"o[0]['wc_status'] == 0 and o[1]['wc_status'] == 12 and e['reachability']['ping'] is True and e['reachability']['full_ping'] is False"
holds "large packets of every kind dropped: the verdict speaks of the MTU" \
	"'MTU' in v['summary'] and {'configuration', 'network'} <= set(v['candidates']) and $never_confirmed"
nft delete table netdev probe

drop input meta length gt 600
lossy
holds "large packets dropped: the small size works, the large one fails" \
	"o[0]['wc_status'] == 0 and o[1]['wc_status'] == 12 and o[1]['bytes'] > 600"
holds "large packets dropped: the verdict speaks of the MTU" \
	"v['outcome'] == 'failed' and any('MTU' in text for text in v['because'] + [v['summary']]) and $never_confirmed"
undrop

peer
holds "and then all is well again" "fine()"
unlisten
no_objects_left "nothing is left in the kernel"
done_testing
