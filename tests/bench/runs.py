# SPDX-License-Identifier: MIT
"""Interleaved runs of several commands; used by inside.py and startup.py."""
import statistics
import subprocess

KEYS = ("seconds", "cpu", "kib", "faults")


def measure(programs, command):
    """One run, by the program measure."""
    said = subprocess.run([f"{programs}/measure", *command], check=True, capture_output=True, text=True).stdout.split()
    return {**dict(zip(KEYS, map(float, said))), "status": int(said[-1])}


def interleaved(programs, commands, rounds):
    """Medians of each command, and all its exit statuses; what else the machine does falls on all of them."""
    runs = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(measure(programs, command))
    return {name: {**{key: statistics.median(run[key] for run in some) for key in KEYS},
                   "statuses": sorted({run["status"] for run in some})} for name, some in runs.items()}
