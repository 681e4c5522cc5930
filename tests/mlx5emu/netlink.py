#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Talks NETLINK_RDMA with bare sockets, as rdmadiag does: batches, dumps, polling, a fork in between. Prints TAP."""

import os
import select
import socket
import struct
import subprocess
import sys

NETLINK_RDMA = 20
REQUEST, ACK, DUMP = 1, 4, 0x300
GET, PORT_GET, SYS_GET, CHARDEV, STAT_GET = 1, 5, 6, 15, 17
QP_GET, CQ_GET, MR_GET, QP_RAW, CQ_RAW, MR_RAW = 10, 12, 13, 19, 20, 21
DEV_INDEX, DEV_NAME, PORT_INDEX, CHARDEV_TYPE = 1, 2, 3, 69
RES_QP, QP_ENTRY, LQPN, RES_MR, MR_ENTRY, CQN, MRN, RAW = 19, 20, 21, 40, 41, 61, 62, 85
count = 0


def ok(passed, name):
    global count
    count += 1
    print(("ok" if passed else "not ok"), count, "-", name)


def attr(kind, data):
    if isinstance(data, int):
        data = struct.pack("=I", data)
    size = 4 + len(data)
    return struct.pack("=HH", size, kind) + data + b"\0" * (-size % 4)


def request(op, flags, seq, *attrs):
    body = b"".join(attrs)
    return struct.pack("=IHHII", 16 + len(body), (5 << 10) | op, REQUEST | flags, seq, 0) + body


def attributes(data):
    out = {}
    while len(data) >= 4:
        size, kind = struct.unpack("=HH", data[:4])
        if size < 4:
            break
        out.setdefault(kind & 0x3FFF, data[4:size])
        data = data[(size + 3) & ~3 :]
    return out


def receive(sock, want):
    """Messages until every sequence number of want has its end: done, an error or acknowledgement."""
    got, left = {}, set(want)
    while left:
        if not select.select([sock], [], [], 5)[0]:
            raise TimeoutError(left)
        data = sock.recv(1 << 17)
        while len(data) >= 16:
            size, kind, _, seq, _ = struct.unpack("=IHHII", data[:16])
            if kind == 2:
                got.setdefault(seq, []).append(struct.unpack("=i", data[16:20])[0])
                left.discard(seq)
            elif kind == 3:
                left.discard(seq)
            else:
                got.setdefault(seq, []).append(attributes(data[16:size]))
            data = data[(size + 3) & ~3 :]
    return got


def main():
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
    sock.bind((0, 0))
    dev = attr(DEV_INDEX, 0)
    sock.send(
        request(GET, DUMP, 1)
        + request(PORT_GET, ACK, 2, dev, attr(PORT_INDEX, 1))
        + request(PORT_GET, DUMP, 3, dev)
        + request(SYS_GET, ACK, 4)
        + request(CHARDEV, ACK, 5, dev, attr(CHARDEV_TYPE, b"uverbs\0"))
        + request(STAT_GET, ACK, 6, dev, attr(PORT_INDEX, 1))
        + request(QP_GET, DUMP, 7, dev)
        + request(PORT_GET, ACK, 8, dev, attr(PORT_INDEX, 9))
        + request(GET, ACK, 9, attr(DEV_INDEX, 77))
    )
    got = receive(sock, range(1, 10))
    ok([m[DEV_NAME] for m in got[1]] == [b"mlx5_0\0", b"mlx5_1\0"], "nine requests in one send: device dump")
    ok(got[2][0][PORT_INDEX] == b"\1\0\0\0" and got[2][1] == 0, "port")
    ok(len(got[3]) == 2, "dump of a device's ports")
    ok(got[8] == [-22] and got[9] == [-22], "errors for a port and a device that are not there")
    ok(5 in got and 6 in got and 7 in got, "chardev, statistic, QPs")

    pid = os.fork()
    if not pid:
        sock.send(request(GET, DUMP, 20))
        os._exit(0 if len(receive(sock, [20])[20]) == 2 else 1)
    ok(os.waitpid(pid, 0)[1] == 0, "a child asks on its parent's socket")
    sock.sendmsg([request(GET, DUMP, 21), request(SYS_GET, ACK, 22)])
    ok(len(receive(sock, [21, 22])[21]) == 2, "and the parent goes on, with sendmsg")

    many = 2000
    sock.send(b"".join(request(STAT_GET, ACK, 100 + i, dev, attr(PORT_INDEX, 1)) for i in range(many)))
    ok(len(receive(sock, range(100, 100 + many))) == many, "more answers than a socket holds")

    traffic = subprocess.Popen([sys.argv[1], "--no-poll", "--wait", "1500"], stdout=subprocess.DEVNULL)
    for _ in range(200):
        sock.send(request(QP_GET, DUMP, 30, dev))
        table = receive(sock, [30])[30][0]
        if len(table.get(RES_QP, b"")) > 0:
            break
        select.select([], [], [], 0.02)
    qpn = struct.unpack("=I", attributes(attributes(table[RES_QP])[QP_ENTRY])[LQPN])[0]
    sock.send(
        request(QP_RAW, ACK, 31, dev, attr(PORT_INDEX, 1), attr(LQPN, qpn))
        + request(QP_RAW, ACK, 32, dev, attr(LQPN, qpn))
        + request(CQ_RAW, ACK, 33, dev, attr(CQN, 0))
        + request(MR_GET, DUMP, 34, dev)
    )
    got = receive(sock, [31, 32, 33, 34])
    mrn = struct.unpack("=I", attributes(attributes(got[34][0][RES_MR])[MR_ENTRY])[MRN])[0]
    sock.send(request(MR_RAW, ACK, 35, dev, attr(MRN, mrn)) + request(MR_RAW, ACK, 36, dev, attr(MRN, 0xFFFF)))
    got.update(receive(sock, [35, 36]))
    if sys.argv[2] == "refused":
        ok(got[31] == [-1] and got[33] == [-1], "raw contexts are refused without CAP_NET_ADMIN")
        ok(got[35] == [-1], "raw MR too")
    else:
        raw = got[31][0][RAW]
        ok(struct.unpack(">I", raw[16 + 20 + 8 : 16 + 20 + 12])[0] == qpn, "raw QP of another process, by its index")
        ok(got[32] == [-22], "a QP is asked for with its port")
        ok(RAW in got[33][0], "raw CQ without a port")
        sizes, raw = [], got[35][0][RAW]
        while len(raw) >= 4 and raw[:2] != b"\0\0":
            sizes.append(struct.unpack(">H", raw[:2])[0] * 4)
            raw = raw[sizes[-1] :]
        ok(len(sizes) > 1 and not raw, "raw MR: a chain of segments")
        ok(got[36] == [-22] or got[36] == [-2], "no such MR")
    traffic.wait()
    print(f"1..{count}")


if __name__ == "__main__":
    main()
