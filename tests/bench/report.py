#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the table of a benchmark and judges its ratios against the goals.

usage: report.py BENCH.json
"""
import json
import sys


def main():
    with open(sys.argv[1]) as file:
        results = {int(count): rows for count, rows in json.load(file).items()}
    for count, rows in results.items():
        print(f"\n{count} devices\n")
        print(f"| {'command':28} | {'ms':>8} | {'CPU ms':>8} | {'MiB':>6} | {'system calls':>12} |")
        print(f"| {'-' * 28} | {'-' * 7}: | {'-' * 7}: | {'-' * 5}: | {'-' * 11}: |")
        for name, row in rows.items():
            print(f"| {name:28} | {row['seconds'] * 1e3:8.1f} | {row['cpu'] * 1e3:8.1f} | {row['kib'] / 1024:6.1f} | "
                  f"{row['calls'] or '-':>12} |")
    most, least = max(results), min(results)
    rows, first = results[most], results[least]

    def seconds(name):
        return rows[name]["seconds"]

    peers = seconds("rdma link show") + seconds("ip -d link show")
    all_peers = peers + seconds("lstopo --of console")
    verbs = seconds("bare list-open-port-close")
    goals = [
        ("topo --no-verbs / (rdma + ip + lstopo)", seconds("rdmadiag topo --no-verbs") / all_peers, 0.2),
        ("topo --no-verbs / rdma link show", seconds("rdmadiag topo --no-verbs") / seconds("rdma link show"), 1),
        ("topo / (rdma + ip + 1.25 bare verbs program)", seconds("rdmadiag topo") / (peers + 1.25 * verbs), 1),
        ("gid / bare GID program", seconds("rdmadiag gid") / seconds("bare list-open-gid-close"), 1.25),
        ("gid / ibv_devinfo -v", seconds("rdmadiag gid") / seconds("ibv_devinfo -v"), 0.125),
    ]
    print(f"\nratios of medians at {most} devices\n")
    for name, ratio, goal in goals:
        print(f"{'met   ' if ratio <= goal else 'missed'} {name}: {ratio:.2f} (goal {goal})")
    if most > least:
        name = "rdmadiag topo --no-verbs"
        calls = (rows[name]["calls"] - first[name]["calls"]) / (most - least)
        memory = (rows[name]["kib"] - first[name]["kib"]) / (most - least)
        print(f"{'met   ' if calls <= 12 else 'missed'} topo --no-verbs, system calls a device: {calls:.1f} (goal 12)")
        print(f"{'met   ' if memory < 16 else 'missed'} topo --no-verbs, KiB a device: {memory:.1f} (goal 16)")


main()
