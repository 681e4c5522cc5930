#!/bin/bash
# SPDX-License-Identifier: MIT
# Peers that are absent, or die at the worst moment.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup

peer
is "$status" 3 "nobody listens: status"
holds "nobody listens: connection refused" "control('connect') == 111 and v['outcome'] == 'not-run' and not e['resources']"
like "$errors" 'refused' "nobody listens: standard error says it"

# through TYPE [OPTION...] - the listener is killed when that message comes by
through() {
	local at=$1 port
	shift
	listen
	rm -f "$work/proxy"
	python3 tests/guest/probe-proxy.py --kill "$listener" --at "$at" "$@" "$address_b" 18517 >"$work/proxy" &
	proxy=$!
	wait_for 10 test -s "$work/proxy"
	port=$(cat "$work/proxy")
	probe -d rxe0 --peer "127.0.0.1:$port"
	kill -KILL "$proxy" "$listener" 2>/dev/null
	wait "$proxy" "$listener" 2>/dev/null
	listener=
}

through ready
is "$status" 1 "peer killed before READY: status"
holds "peer killed before READY: the step that was lost, nothing was posted" \
	"control('exchange') == 0 and control('ready') == 104 and not o and e['remote']['alive'] is False"
holds "peer killed before READY: the verdict" "v['outcome'] == 'not-run' and v['layer'] in ('remote-application', 'undetermined')"

through pong --repeat 8 --mute
is "$status" 1 "peer killed while clocks are compared: status"
holds "peer killed while clocks are compared: nothing was posted" "not o and v['outcome'] in ('not-run', 'failed')"

through "done"
is "$status" 1 "peer killed before OK: status"
holds "peer killed before OK: the data path had done its part" \
	"all(x['wc_status'] == 0 for x in o) and control('done') == 0 and control('ok') == 104"
holds "peer killed before OK: the verdict" "v['outcome'] != 'ok' and (v['layer'] == 'remote-application' or e['tcp']['retransmits'] and 'remote-application' in v['candidates'])"

# during: the listener's process is stopped for good while requests are under way
listen
probe -d rxe0 --peer "$address_b" --count 1000000 --size 64 &
running=$!
flows rxe0
kill -KILL "$listener"
wait "$running"
wait "$listener" 2>/dev/null
holds "peer killed during: the first that failed is listed" "o[-1]['wc_status'] == 12 and e['operations_failed'] == 1"
holds "peer killed during: it is gone, and that is what the verdict says" \
	"e['remote']['alive'] is False and v['outcome'] == 'failed' and (v['layer'] == 'remote-application' or 'remote-application' in v['candidates'])"

no_objects_left "nothing is left in the kernel"
done_testing
