#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace-valid.py TRACE DOCUMENT: is TRACE in the Trace Event format, and does it show what the probe's DOCUMENT has?

Asynchronous events nest: what begins inside another one of the same category and id ends before it does.
"""
import json
import sys

KEYS = {"ph": str, "name": str, "pid": int, "tid": int, "ts": (int, float)}
PHASES = {"X": {"dur"}, "b": {"cat", "id"}, "e": {"cat", "id"}, "i": {"s"}, "M": {"args"}}


def check(condition, *words):
    if not condition:
        sys.exit(" ".join(str(word) for word in words))


def check_event(event):
    for key, kind in KEYS.items():
        check(isinstance(event.get(key), kind), "no", key, "in", event)
    check(event["ph"] in PHASES, "unknown phase", event)
    check(PHASES[event["ph"]] <= set(event), "keys are missing in", event)
    check(event["ts"] >= 0 and event.get("dur", 0) >= 0, "negative time", event)
    check(event["ph"] != "i" or event["s"] in "gpt", "scope of", event)
    check(event["ph"] != "M" or event["name"] in ("process_name", "thread_name"), "metadata", event)


def check_nesting(events):
    stacks = {}
    for event in events:
        if event["ph"] not in "be":
            continue
        stack = stacks.setdefault((event["cat"], event["id"]), [])
        if event["ph"] == "b":
            check(not stack or stack[-1]["ts"] <= event["ts"], "begins before what it is in", event)
            stack.append(event)
        else:
            check(stack and stack[-1]["name"] == event["name"], "ends what did not begin", event)
            check(stack.pop()["ts"] <= event["ts"], "ends before it began", event)
    for stack in stacks.values():
        check(not stack, "does not end", stack)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        document = json.load(file)
    events = trace["traceEvents"]
    check(isinstance(events, list) and events, "no events")
    check(trace["displayTimeUnit"] in ("ms", "ns"), "displayTimeUnit")
    for event in events:
        check_event(event)
    check_nesting(events)
    evidence = document["evidence"]
    posted = [o for o in evidence["operations"] if o["post_call_ns"] is not None]
    begun = {e["id"]: e["ts"] for e in reversed(events) if e["ph"] == "b" and e["name"].split()[0] == o_name(posted)}
    for operation in posted:
        args = next(e for e in events if e["ph"] == "b" and e["id"] == operation["wr_id"] and "args" in e)["args"]
        check(args.get("bytes") == operation["bytes"], "bytes of", operation["wr_id"], args)
        check(args.get("qpn") == operation["qpn"], "queue pair of", operation["wr_id"], args)
        check(abs(begun[operation["wr_id"]] * 1000 - operation["post_call_ns"]) < 1, "begin of", operation["wr_id"])
    steps = [s for s in evidence["resources"] + evidence["transitions"] if s["start_ns"] is not None]
    shown = [e for e in events if e["ph"] == "X" and e["tid"] == 1]
    check(len(steps) == len(shown), len(steps), "set-up steps,", len(shown), "shown")


def o_name(operations):
    return operations[0]["opcode"] if operations else None


main()
