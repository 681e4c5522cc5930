#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that mean harm, or are no peers at all, for a listener of `rdmadiag probe`.

hostile_peers.py PID PORT COUNT

Makes COUNT connections to 127.0.0.1:PORT, several open at any time, each of one of the kinds below. Meanwhile it looks at
the process PID and its children, and prints how they grew, as KEY=VALUE.
"""

import contextlib
import glob
import json
import os
import random
import socket
import struct
import sys
import time

OPEN_AT_ONCE = 48  # three times what the listener lets wait
PATIENCE_S = 0.4  # how long a peer stays that nobody hears
WARM_UP = 0.1  # of the connections: from then on the listener has what it needs

END_POINT = {
    "role": "initiator", "hostname": "x", "device": "mlx5_0", "port": 1, "gid_index": 3, "gid_type": "RoCE v2",
    "gid": "0000:0000:0000:0000:0000:ffff:7f00:0001", "lid": 0, "active_mtu": 1024, "path_mtu": 1024, "qpn": 17, "psn": 1,
    "queue_pairs": [{"qpn": 17, "psn": 1}],
}
HELLO = {
    "type": "hello", "protocol": 2, "tool_version": "1", "op": "write", "sizes": [64], "count": 1, "timeout_ms": 2000,
    "batch": 1, "qps": 1, "signal_every": 1, "drill": None, "seed": 1, "endpoint": END_POINT,
}
HUGE = 1 << 62


def message(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return struct.pack(">I", len(text)) + text


def hello(**changes):
    return message({**HELLO, **changes})


def end_point(**changes):
    return hello(endpoint={**END_POINT, **changes})


# What never becomes a whole first message: the listener itself sends these away.
NO_HELLO = {
    "nothing": b"",
    "half a length": b"\0\0",
    "a length of nothing": struct.pack(">I", 0),
    "a length beyond all": struct.pack(">I", 0xFFFFFFFF) + b"x" * 100,
    "a length just beyond": struct.pack(">I", (32 << 10) + 1) + b"x" * 100,
    "another protocol": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "half a message": hello()[:90],
    "all but a byte": hello()[:-1],
}
# Whole messages: each costs the listener a child.
HELLOS = {
    "no JSON": message(b"\xff" * 3000),
    "JSON without end": message(b'{"a":' * 6000),
    "arrays": message(b"[" * 32000),
    "no object": message([1, 2, 3]),
    "no type": message({"protocol": 2}),
    "another type": message({"type": "evidence", "operations": [{}] * 2000}),
    "another version": hello(protocol=99),
    "no such operation": hello(op="erase"),
    "a count beyond all": hello(count=HUGE),
    "a negative count": hello(count=-1),
    "sizes beyond all": hello(sizes=[HUGE, -1]),
    "thousands of sizes": hello(sizes=[1] * 9000),
    "no sizes": hello(sizes=[]),
    "queue pairs beyond all": hello(qps=HUGE),
    "chains beyond all": hello(batch=HUGE, signal_every=HUGE),
    "a size as text": hello(sizes="x" * 30000),
    "a number of 300 digits": message(json.dumps(HELLO).replace('"seed": 1', '"seed": ' + "9" * 300).encode()),
    "a long text": hello(tool_version="x" * 31000),
    "an end point as text": hello(endpoint="here"),
    "a QP number beyond all": end_point(qpn=1 << 24),
    "a GID that is none": end_point(gid="x" * 20000),
    "more queue pairs than said": end_point(queue_pairs=[{"qpn": 1, "psn": 1}] * 800),
    "an MTU of nothing": end_point(active_mtu=0),
}
# Peers that are served, and then do harm; they leave at once, for each holds the listener.
SERVED = {
    "gone after its hello": hello(),
    "a length beyond all after its hello": hello() + struct.pack(">I", 0xFFFFFFFF),
    "no JSON after its hello": hello() + message(b"}{"),
    "twice": hello() + hello(),
    "the largest buffer": hello(sizes=[1 << 20], count=64),
    "a buffer beyond all": hello(sizes=[1 << 30], count=1000),
    "done before all": hello() + message({"type": "done", "posted": HUGE}),
    "asks at once": hello() + message({"type": "ask", "posted": -1, "report": {"operations": [{"bytes": HUGE}] * 500}}),
}


class Process:
    """What PID and its children have; the children come and go."""

    def __init__(self, pid):
        self.pid = pid
        self.most_kib = self.most_descriptors = 0

    @staticmethod
    def resident(pid):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            return next((int(line.split()[1]) for line in status if line.startswith("VmRSS:")), 0)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def children(self):
        pids = []
        for path in glob.glob(f"/proc/{self.pid}/task/*/children"):
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                pids += file.read().split()
        return pids

    def look(self):
        total = self.resident(self.pid)
        for child in self.children():
            with contextlib.suppress(OSError):
                total += self.resident(child)
        self.most_kib = max(self.most_kib, total)
        self.most_descriptors = max(self.most_descriptors, self.descriptors())


class Peer:
    """A connection, what it says, and how it ends."""

    def __init__(self, port, data, chance):
        self.data = data
        self.slow = chance.random() < 0.2 and data  # a few bytes at a time
        self.resets = chance.random() < 0.3
        self.until = time.monotonic() + chance.choice((0, 0, 0.01, PATIENCE_S))
        self.made = False
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex(("127.0.0.1", port))

    def go_on(self):
        """Is it still there?"""
        try:
            if not self.made and self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                return False
            self.socket.getpeername()
            self.made = True
            if self.data:
                size = 7 if self.slow else len(self.data)
                self.data = self.data[self.socket.send(self.data[:size]):]
        except BlockingIOError:
            pass
        except OSError:
            # not connected yet, or sent away
            return not self.made
        return bool(self.data) or time.monotonic() < self.until

    def leave(self):
        if self.resets:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def choose(number, chance):
    """One in 50 says a whole hello, one in 400 one that is taken; whose turn it is does not depend on chance."""
    kinds = SERVED if number % 400 == 399 else HELLOS if number % 50 == 49 else NO_HELLO
    number //= 400 if kinds is SERVED else 50 if kinds is HELLOS else 1
    if kinds is NO_HELLO and number % 10 == 0:
        return chance.randbytes(chance.randrange(1, 5000))
    return list(kinds.values())[number % len(kinds)]


def flood(process, port, count):
    chance = random.Random(1)
    peers, begun, made, warm = [], 0, 0, None
    while begun < count or peers:
        while begun < count and len(peers) < OPEN_AT_ONCE:
            peers.append(Peer(port, choose(begun, chance), chance))
            begun += 1
        for peer in [peer for peer in peers if not peer.go_on()]:
            peers.remove(peer)
            peer.leave()
            made += peer.made
            begun -= not peer.made
        if made % 20 == 0:
            process.look()
        if made >= count * WARM_UP and warm is None:
            warm = process.most_kib
        time.sleep(0.001)
    return made, process.most_kib - warm


def main():
    pid, port, count = map(int, sys.argv[1:])
    process = Process(pid)
    before = process.descriptors()
    begin = time.monotonic()
    made, growth = flood(process, port, count)
    for _ in range(100):
        if process.descriptors() <= before and not process.children():
            break
        time.sleep(0.1)
    print(f"connections={made} seconds={time.monotonic() - begin:.1f} growth_kib={growth} most_kib={process.most_kib}"
          f" descriptors_before={before} most_descriptors={process.most_descriptors}"
          f" descriptors_left={process.descriptors() - before} children_left={len(process.children())}")
    print(f"bounded={'yes' if growth < 4096 and process.most_descriptors <= before + 24 else 'no'}")


if __name__ == "__main__":
    main()
