#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What starting the tool costs beside an empty program with the same libraries, on this host and not in the guest.

usage: startup.py BENCH-PROGRAMS RDMADIAG [ROUNDS]; leaves with 1 when the goal of 2 ms is missed
"""
import json
import sys

from runs import interleaved


def main():
    programs, tool, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 101
    results = interleaved(programs, {"tool": [tool, "--version"], "empty": [f"{programs}/empty"]}, rounds)
    with open(f"{programs}/startup.json", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    more = {key: (results["tool"][key] - results["empty"][key]) * 1e3 for key in ("seconds", "cpu")}
    met = more["seconds"] <= 2
    print(f"{'met   ' if met else 'missed'} --version beside an empty program with the same libraries: "
          f"{more['seconds']:.2f} ms more, {more['cpu']:.2f} ms of CPU (goal 2)")
    return not met


sys.exit(main())
