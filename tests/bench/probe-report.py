#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what tracing costs, from the runs of probe-inside.sh, and judges the ratios of medians against the goals.

usage: probe-report.py PROBE.txt
"""
import statistics
import sys


def main():
    runs = {}
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            name, *value = line.split()
            if value:
                runs.setdefault(name, []).append(int(value[0]) / 1e3)
    print("\na write of 64 bytes over the wire, one at a time\n")
    print(f"| {'way':15} | {'runs':>4} | {'median us':>9} | {'least us':>9} | {'most us':>9} |")
    print(f"| {'-' * 15} | {'-' * 3}: | {'-' * 8}: | {'-' * 8}: | {'-' * 8}: |")
    for name, times in runs.items():
        print(f"| {name:15} | {len(times):4} | {statistics.median(times):9.1f} | {min(times):9.1f} | {max(times):9.1f} |")

    # Neighbours in time: what else the machine does falls on both.
    def ratio(a, b):
        return statistics.median(x / y for x, y in zip(runs[a], runs[b]))

    print("\nmedians of the ratios of runs beside each other\n")
    for name, value, goal in (("post to consumed, traced / untraced", ratio("traced", "untraced"), 1.10),
                              ("post to consumed, traced / message of ib_write_bw -t 1", ratio("traced", "ib_write_bw"), 1.15)):
        print(f"{'met   ' if value <= goal else 'missed'} {name}: {value:.3f} (goal {goal})")


main()
