#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs in the guest: rdmadiag beside what people use today, on N soft-RoCE devices.

Runs are interleaved and only ratios of medians within one run are judged: the machine below is shared and noisy. System
calls are counted in a run of their own.

usage: inside.py BENCH-PROGRAMS COUNT...   (RDMADIAG, OUT in the environment)
"""
import json
import os
import subprocess
import sys

from runs import interleaved

RDMADIAG = os.environ["RDMADIAG"]
OUT = os.environ["OUT"]


def sh(script):
    subprocess.run(["bash", "-ec", script], check=True, stdout=subprocess.DEVNULL)


def grow(have, want):
    """Brings the guest from `have` to `want` dummy netdevs with an address and an rxe device each."""
    links, rdma = [], []
    for i in range(have + 1, want + 1):
        links += [f"link add d{i} type dummy", f"link set d{i} up",
                  f"addr add 10.{i // 250}.{i % 250}.1/24 dev d{i}"]
        rdma.append(f"link add rx{i} type rxe netdev d{i}")
    with open("/tmp/links", "w") as file:
        file.write("\n".join(links) + "\n")
    with open("/tmp/rdma", "w") as file:
        file.write("\n".join(rdma) + "\n")
    sh("modprobe -a dummy rdma_rxe ib_uverbs; ip -batch /tmp/links; rdma -b /tmp/rdma")


def count_calls(command):
    subprocess.run(["strace", "-f", "-c", "-o", "/tmp/calls", *command], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open("/tmp/calls") as file:
        total = [line for line in file if line.rstrip().endswith("total")]
    return int(total[0].split()[3]) if total else None


def compare(programs, commands, repeats):
    results = interleaved(programs, commands, repeats)
    for name, command in commands.items():
        results[name]["calls"] = count_calls(command)
    return results


def main():
    programs, counts = sys.argv[1], [int(count) for count in sys.argv[2:]]
    commands = {
        "rdmadiag topo --no-verbs": [RDMADIAG, "topo", "--no-verbs"],
        "rdmadiag topo": [RDMADIAG, "topo"],
        "rdmadiag gid": [RDMADIAG, "gid"],
        "rdma link show": ["rdma", "link", "show"],
        "ip -d link show": ["ip", "-d", "link", "show"],
        "lstopo --of console": ["lstopo", "--of", "console"],
        "ibv_devinfo -v": ["ibv_devinfo", "-v"],
        "bare list-open-port-close": [f"{programs}/bare_port"],
        "bare list-open-gid-close": [f"{programs}/bare_gid"],
    }
    results, have = {}, 0
    for count in counts:
        grow(have, count)
        have = count
        results[count] = compare(programs, commands, 5)
        with open(f"{OUT}/bench.json", "w") as file: # after each count: a run that is cut off leaves what it has
            json.dump(results, file, indent=1)
        print(f"# measured {count} devices", flush=True)


main()
