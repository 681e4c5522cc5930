#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe-holds.py FILE EXPRESSION: exits 0 when the expression holds for the document of a probe in FILE.

The last document of the file counts. In the expression: d the document, e its evidence, v its verdict, o its
operations, s the exit status of the command ($status), and the functions below.
"""
import json
import os
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read().strip()
    if not text:
        sys.exit("no document")
    d = json.loads(text.splitlines()[-1])
    e, v = d["evidence"], d["verdict"]
    o = e["operations"]

    def counter(side, name):
        """Growth of a counter, None where it was not recorded."""
        for c in e["counters"]:
            if c["side"] == side and c["name"] == name:
                return c["after"] - c["before"]
        return None

    def control(name):
        """errno of a step of the control connection, None where it did not end."""
        return next((c["errno"] for c in e["control"] if c["step"] == name), None)

    def transition(side, name):
        return next((t["errno"] for t in e["transitions"] if t["side"] == side and t["to"] == name), None)

    def resource(side, name):
        return next((r["errno"] for r in e["resources"] if r["side"] == side and r["step"] == name), None)

    def missing(what):
        return [n["reason"] for n in d["not_collected"] if n["what"] == what]

    def fine():
        """
        All went well, and the exit status says so too. On a machine that is too busy the guest's packets come late and
        are sent again: then it is degraded, and the counters must show it.
        """
        if v["outcome"] == "degraded":
            return s == 1 and counter("local", "completer_retry_err") > 0
        return (v["outcome"], v["layer"], v["confidence"], s) == ("ok", "none", "confirmed", 0)

    def judged():
        """The layer that was made guilty ($GUILTY: one of these) is left, and a confirmed verdict names no other."""
        guilty = os.environ["GUILTY"].split()
        if v["outcome"] == "ok":
            return all(x["payload_verified"] is not False for x in o)
        named = [v["layer"], *v["candidates"]]
        return any(layer in named for layer in guilty) and (v["confidence"] != "confirmed" or v["layer"] in guilty)

    s = int(os.environ.get("status", "0"))
    names = dict(d=d, e=e, v=v, o=o, s=s, fine=fine, judged=judged, counter=counter, control=control, transition=transition,
                 resource=resource, missing=missing)
    if eval(sys.argv[2], names):  # the expression comes from the test
        return 0
    print("does not hold:", sys.argv[2])
    print("verdict:", json.dumps({k: v[k] for k in ("outcome", "layer", "candidates", "confidence", "summary")}))
    print("because:", json.dumps(v["because"]))
    print("control:", json.dumps([(c["step"], c["errno"], c["detail"]) for c in e["control"]]))
    print("failed:", json.dumps([s for s in e["resources"] + e["transitions"] if s["errno"] != 0]))
    print("operations:", json.dumps([{k: value for k, value in x.items() if value is not None} for x in o[-2:]]))
    print("stuck:", json.dumps(e["stuck"]), "events:", json.dumps(e["async_events"]))
    print("counters:", json.dumps([(c["side"], c["name"], c["before"], c["after"]) for c in e["counters"]]))
    print("local:", json.dumps({k: e["local"][k] for k in ("device", "qp_state", "gid", "port_state_after")}), "status", s)
    print("remote:", json.dumps({k: e["remote"][k] for k in ("alive", "qp_state", "gid", "port_state_after")}))
    print("not_collected:", json.dumps(d["not_collected"]))
    return 1


sys.exit(main())
