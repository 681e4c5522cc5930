#!/bin/bash
# SPDX-License-Identifier: MIT
# A listener survives whatever connects to it.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup

listen
exec 3<>"/dev/tcp/$address_b/18517"
printf 'GET / HTTP/1.0\r\n\r\n' >&3
wait_for 10 grep -q 'bytes announced' "$work/listener.err"
is $? 0 "garbage: refused with a reason"
exec 3>&-
exec 3<>"/dev/tcp/$address_b/18517"
printf '\000\000\000\002{}' >&3
wait_for 10 grep -q 'without a type' "$work/listener.err"
is $? 0 "no message: refused"
exec 3>&-
exec 3<>"/dev/tcp/$address_b/18517"
printf '\000\000' >&3
exec 3>&-
wait_for 10 grep -q 'went away' "$work/listener.err"
is $? 0 "gone in the middle of its first message: noted"

# silent and half a greeting: they wait beside each other, and nobody waits for them
exec 3<>"/dev/tcp/$address_b/18517" 4<>"/dev/tcp/$address_b/18517" 5<>"/dev/tcp/$address_b/18517" 6<>"/dev/tcp/$address_b/18517"
printf '\000\000\001\000{' >&4
peer
holds "beside four idle connections a peer is served" "fine()"
holds "and does not wait for them" "next(c for c in e['control'] if c['step'] == 'exchange')['duration_ns'] < 4e9"
four_gone() {
	[ "$(grep -c 'timed out' "$work/listener.err")" = 4 ]
}
wait_for 10 four_gone
is $? 0 "idle connections are given up after their deadline"
exec 3>&- 4>&- 5>&- 6>&-
# more than there is room for, and all of them stay
python3 -c '
import socket, subprocess, sys
idle = [socket.create_connection((sys.argv[1], 18517)) for _ in range(40)]
sys.exit(subprocess.run(sys.argv[2:]).returncode)' "$address_b" "$RDMADIAG" probe -j -d rxe0 --timeout 20000 --peer "$address_b" >"$document" 2>"$work/errors"
status=$?
holds "a crowd of idle connections: a peer is served" "fine()"
python3 - "$address_b" <<'END'
import json, socket, struct, sys
def send(**message):
    body = json.dumps(message).encode()
    with socket.create_connection((sys.argv[1], 18517)) as s:
        s.sendall(struct.pack("!I", len(body)) + body)
        return b"".join(iter(lambda: s.recv(65536), b""))
end = dict(qpn=1, psn=1, active_mtu=1024, gid="::1")
good = dict(type="hello", protocol=1, op="write", sizes=[64], count=1, timeout_ms=1000, seed=1, endpoint=end)
assert b"version" in send(**{**good, "protocol": 99})
assert b"errno" in send(**{**good, "sizes": [1 << 40]})
assert b"errno" in send(**{**good, "sizes": [64 << 20] * 3})
assert b"errno" in send(**{**good, "count": -1})
assert b"errno" in send(**{**good, "op": 7})
assert b"errno" in send(type="done")
END
is $? 0 "hellos that ask for too much or nonsense are refused with an errno"
peer
holds "after all of that a peer is served" "fine()"

# a second peer while the first one is served
probe -d rxe0 --peer "$address_b" --count 1000000 --size 64 --timeout 20000 &
running=$!
is_serving() {
	rdma resource show qp | grep -q "pid $(pgrep -P "$listener") "
}
wait_for 10 is_serving
"$RDMADIAG" probe -j -d rxe0 --peer "$address_b" >"$work/second" 2>"$work/second.err"
is $? 1 "a second peer at the same time: status"
holds "a second peer at the same time: it hears that the listener is busy" "control('exchange') == 16 and v['outcome'] == 'not-run'" "$work/second"
like "$(cat "$work/second.err")" 'serves another peer' "a second peer at the same time: standard error says it"
kill -INT "$(pgrep -P "$running")"
wait "$running"

# what the listener says when its peer fails
is_told() {
	evaluate probe "e['peer_report'] and ($1)" "$work/listener.out"
}
drop input
peer
undrop
wait_for 10 is_told "e['peer_report']['wc_status'] == 12"
holds "the peer's operation failed: the listener says so" \
	"v['outcome'] == 'failed' and 'network' in v['candidates'] and any('the peer says' in text and 'status 12' in text for text in v['because'])" "$work/listener.out"
peer -g 200
wait_for 10 is_told "e['peer_report']['errno'] == 61"
holds "the peer could not begin: the listener says so" \
	"e['peer_report']['errno'] == 61 and v['outcome'] == 'not-run' and v['layer'] == 'configuration'" "$work/listener.out"
unlisten
is "$listener_status" 130 "and the listener is still there to be ended"

# nobody came
"$RDMADIAG" probe -j -d rxe2 --listen >"$document" 2>"$work/listener.err" &
listener=$!
wait_for 10 grep -q 'listening on' "$work/listener.err"
like "$(cat "$work/listener.err")" "listening on $address_b:18517" "a listener on every address names the one of its device's netdev"
exec 3<>"/dev/tcp/127.0.0.1/18517"
exec 3>&-
unlisten
is "$listener_status" 130 "interrupted before a peer came: status"
holds "interrupted before a peer came: a document" "e['interrupted'] and v['outcome'] == 'not-run' and 'before a peer came' in v['summary']"
# a stale connection does not use up the one service
"$RDMADIAG" probe -j -d rxe2 --listen="$address_b" >"$work/listener.out" 2>"$work/listener.err" &
listener=$!
wait_for 10 grep -q 'listening on' "$work/listener.err"
kill -STOP "$listener"
python3 - "$address_b" <<'END'
import json, socket, struct, sys
end = dict(qpn=1, psn=1, active_mtu=1024, gid="::1")
body = json.dumps(dict(type="hello", protocol=1, op="write", sizes=[64], count=1, timeout_ms=1000, seed=1, endpoint=end)).encode()
with socket.create_connection((sys.argv[1], 18517)) as s:
    s.sendall(struct.pack("!I", len(body)) + body)
END
kill -CONT "$listener"
peer
holds "a peer that went away while it waited is not served instead of the next one" "fine()"
wait "$listener"
is $? 0 "the listener has served its one peer"
no_objects_left "nothing is left in the kernel"
done_testing
