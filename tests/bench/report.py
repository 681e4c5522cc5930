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

    rdma, ip, lstopo = "rdma link show", "ip -d link show", "lstopo --of console"
    quick, port, gids = "rdmadiag topo --no-verbs", "bare list-open-port-close", "bare list-open-gid-close"

    def sum_of(key, *names, verbs=0):
        return sum(rows[name][key] for name in names) + verbs * rows[port][key]

    def judge(name, goal, own, *peers, verbs=0):
        """Wall time is judged; CPU time stands beside it, because the machine below is shared."""
        ratio, cpu = (rows[own][key] / sum_of(key, *peers, verbs=verbs) for key in ("seconds", "cpu"))
        print(f"{'met   ' if ratio <= goal else 'missed'} {name}: {ratio:.2f}, of CPU time {cpu:.2f} (goal {goal})")

    print(f"\nratios of medians at {most} devices\n")
    judge("topo --no-verbs / (rdma + ip + lstopo)", 0.2, quick, rdma, ip, lstopo)
    judge("topo --no-verbs / (rdma + ip)", 1, quick, rdma, ip)
    judge("topo --no-verbs / rdma link show", 1, quick, rdma)
    judge("topo / (topo --no-verbs + 1.25 bare verbs program)", 1, "rdmadiag topo", quick, verbs=1.25)
    judge("gid / bare GID program", 1.25, "rdmadiag gid", gids)
    judge("gid / ibv_devinfo -v", 0.125, "rdmadiag gid", "ibv_devinfo -v")
    if most > least:
        name = quick
        calls = (rows[name]["calls"] - first[name]["calls"]) / (most - least)
        memory = (rows[name]["kib"] - first[name]["kib"]) / (most - least)
        print(f"{'met   ' if calls <= 12 else 'missed'} topo --no-verbs, system calls a device: {calls:.1f} (goal 12)")
        print(f"{'met   ' if memory < 16 else 'missed'} topo --no-verbs, KiB a device: {memory:.1f} (goal 16)")


main()
