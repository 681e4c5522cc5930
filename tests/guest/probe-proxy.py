#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe-proxy.py [--kill PID] [--at TYPE] [--delay SECONDS] TARGET_HOST TARGET_PORT

Stands between the two ends of a probe. Prints the port that it listens on, serves one connection. When a message of TYPE
comes by, it is not passed on: process PID is killed, and the connection is cut (with --mute it stays open and silent).
--repeat N: at the Nth message of that type.
"""
import argparse
import os
import select
import signal
import socket
import struct
import time
import json


def receive(sock, length):
    data = b""
    while len(data) < length:
        part = sock.recv(length - len(data))
        if not part:
            return None
        data += part
    return data


def message(sock):
    head = receive(sock, 4)
    if head is None:
        return None, None
    body = receive(sock, struct.unpack("!I", head)[0])
    return (None, None) if body is None else (head + body, json.loads(body)["type"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kill", type=int)
    parser.add_argument("--at")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--mute", action="store_true")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    args = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    ours, _ = listener.accept()
    theirs = socket.create_connection((args.host, args.port))
    left = args.repeat
    while True:
        for sock in select.select([ours, theirs], [], [])[0]:
            data, kind = message(sock)
            if data is None:
                return
            left -= kind == args.at
            if kind == args.at and left <= 0:
                if args.kill:
                    os.kill(args.kill, signal.SIGKILL)
                if args.mute:
                    time.sleep(60)
                return
            (theirs if sock is ours else ours).sendall(data)


main()
