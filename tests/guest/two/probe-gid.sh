#!/bin/bash
# SPDX-License-Identifier: MIT
# Wrong GIDs: what the kernel answers to them, and that it is configuration.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup
listen
link_local=$(grep -l '^fe80' /sys/class/infiniband/rxe0/ports/1/gids/* | head -n 1)
link_local=${link_local##*/}
empty=$(grep -l '^0000:0000:0000:0000:0000:0000:0000:0000$' /sys/class/infiniband/rxe0/ports/1/gids/* | sort -V | head -n 1)
empty=${empty##*/}

probe -d rxe0 -g "$empty"
is "$status" 1 "an empty slot in loopback: status"
holds "an empty slot in loopback: ENODATA at RTR" "61 in (transition('local', 'RTR'), transition('remote', 'RTR'))"
holds "an empty slot in loopback: configuration" "v['layer'] == 'configuration' and v['confidence'] == 'confirmed' and not o"
holds "an empty slot has no GID, with a reason" "e['local']['gid'] is None and e['local']['gid_empty'] is True and missing('gid')"

peer -g "$empty"
is "$status" 1 "an empty slot towards a peer: status"
holds "an empty slot towards a peer: ENODATA at RTR" "transition('local', 'RTR') == 61 and v['layer'] == 'configuration'"

peer -g "$link_local"
is "$status" 1 "a link-local GID towards IPv4: status"
holds "a link-local GID towards IPv4: RTR fails here and at the peer" \
	"transition('local', 'RTR') > 0 and transition('remote', 'RTR') > 0"
holds "a link-local GID towards IPv4: both GIDs are there, and it is configuration" \
	"e['local']['gid'].startswith('fe80') and e['remote']['gid'].endswith('0a09:0002') and v['layer'] == 'configuration'"

peer -g 255
is "$status" 1 "an index far away: status"
holds "an index far away: the verdict" "v['layer'] == 'configuration' and not o"
"$RDMADIAG" probe -g 256 2>/dev/null
is $? 2 "an index that no queue pair can carry is a wrong usage"

peer
holds "and the right one works" "fine()"
unlisten

# Without IPv6 the default GID stays, and no route leads from it.
lower=$(cat "/sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/$link_local")
addresses=$(ip -o addr show dev "$lower" scope global | awk '{print $4}')
sysctl -qw "net.ipv6.conf.$lower.disable_ipv6=1"
default=$(grep -l '^fe80' /sys/class/infiniband/rxe0/ports/1/gids/* | head -n 1)
probe -d rxe0 -g "${default##*/}"
holds "without IPv6: ENETUNREACH at RTR" "101 in (transition('local', 'RTR'), transition('remote', 'RTR'))"
like "$("$RDMADIAG" gid rxe0)" "^rxe0 .* fe80:.* $lower has no link-local IPv6 address, and so no route to others" \
	"without IPv6: gid says so"
for address in $addresses; do
	ip addr del "$address" dev "$lower" 2>/dev/null
done
like "$("$RDMADIAG" gid rxe0)" "only link-local GIDs, and $lower has no link-local IPv6 address" \
	"without IPv6 and an address: it is what the port lacks"
no_objects_left "nothing is left in the kernel"
done_testing
