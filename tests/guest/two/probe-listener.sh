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
exec 3<>"/dev/tcp/$address_b/18517"
wait_for 10 grep -q 'timed out' "$work/listener.err"
is $? 0 "half open: given up after its deadline"
exec 3>&-
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
unlisten
is "$listener_status" 130 "and the listener is still there to be ended"
no_objects_left "nothing is left in the kernel"
done_testing
