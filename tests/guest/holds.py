#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python expressions over the documents of rdmadiag.

holds.py KIND EXPRESSION FILE: exits 0 when the expression holds for the last document in FILE, else says what there is.
holds.py: serves a script (evaluate.sh): on standard input fields ended by NUL, four a request: KIND, EXPRESSION, the
exit status of the command, and the document or the absolute path of its file. Answers with "1" or "0", the value of the
expression or the reason, and NUL.

KIND says which names an expression may use: see the functions probe, topo and gid.
"""
import json
import os
import sys


def one(items, **wanted):
    """The first item with those values, or None."""
    return next((i for i in items if all(i[k] == v for k, v in wanted.items())), None)


def shown(value):
    """A line of text, which is true whatever the value is; the items of a list with blanks between them."""
    return (" ".join(map(str, value)) if isinstance(value, list) else str(value)) + "\n"


def probe(d, s):
    """d the document, e its evidence, v its verdict, o its operations, s the exit status, and the functions below."""
    e, v = d["evidence"], d["verdict"]
    o = e["operations"]

    def counter(side, name):
        """Growth of a counter, None where it was not recorded."""
        c = one(e["counters"], side=side, name=name)
        return c and c["after"] - c["before"]

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

    def judged(guilty):
        """A layer that was made guilty (one of these words) is left, and a confirmed verdict names no other."""
        guilty = guilty.split()
        if v["outcome"] == "ok":
            return all(x["payload_verified"] is not False for x in o)
        named = [v["layer"], *v["candidates"]]
        return any(layer in named for layer in guilty) and (v["confidence"] != "confirmed" or v["layer"] in guilty)

    return dict(d=d, e=e, v=v, o=o, s=s, fine=fine, judged=judged, counter=counter, control=control,
                transition=transition, resource=resource, missing=missing)


def topo(d, _s):
    """d the document, dev(name), port(name), net(device, name), member(device, bond, name), …: None where there is none."""
    def dev(name): return one(d["devices"], name=name)
    def port(name): return dev(name)["ports"][0]
    def net(device, name): return one(port(device)["netdevs"], name=name)
    def names(device, relation): return sorted(n["name"] for n in port(device)["netdevs"] if n["relation"] == relation)
    def member(device, bond, name): return one(net(device, bond)["bond"]["members"], name=name)
    def finding(id, subject): return one(d["findings"], id=id, subject=subject)
    def missing(what, subject): return one(d["not_collected"], what=what, subject=subject)
    return dict(d=d, dev=dev, port=port, net=net, names=names, member=member, finding=finding, missing=missing)


def gid(d, _s):
    """d the document, entries, choice(consumer), advised(): the IP of rdmadiag's own choice."""
    def choice(consumer): return one(d["choices"], consumer=consumer)
    def advised(): return [e["ip"] for e in d["entries"] if e["index"] == choice("rdmadiag")["index"]]
    return dict(d=d, entries=d["entries"], choice=choice, advised=advised)


def describe_probe(d, s):
    """What somebody wants to know of a run that went another way than the test thought."""
    e, v = d["evidence"], d["verdict"]
    facts = {
        "verdict": {k: v[k] for k in ("outcome", "layer", "candidates", "confidence", "summary")},
        "because": v["because"],
        "control": [(c["step"], c["errno"], c["detail"]) for c in e["control"]],
        "failed": [step for step in e["resources"] + e["transitions"] if step["errno"] != 0],
        "operations": [{k: value for k, value in x.items() if value is not None} for x in e["operations"][-2:]],
        "stuck": e["stuck"],
        "events": e["async_events"],
        "counters": [(c["side"], c["name"], c["before"], c["after"]) for c in e["counters"]],
        "local": {k: e["local"][k] for k in ("device", "qp_state", "gid", "port_state_after")},
        "remote": {k: e["remote"][k] for k in ("alive", "qp_state", "gid", "port_state_after")},
        "status": s,
        "not_collected": d["not_collected"],
    }
    return "\n".join(f"{name}: {json.dumps(value)}" for name, value in facts.items())


def describe(kind, d, s):
    return describe_probe(d, s) if kind is probe else json.dumps(d)[:6000]


KINDS = {"probe": probe, "topo": topo, "gid": gid}


def evaluate(kind, expression, status, text):
    """Is the value true, and the value as text, or what there is instead."""
    if text.startswith("/"):
        with open(text, encoding="utf-8") as file:
            text = file.read()
    if not text.strip():
        return False, "no document"
    d = json.loads(text.strip().splitlines()[-1])
    kind, status = KINDS[kind], int(status)
    value = eval(expression, dict(kind(d, status), shown=shown))  # it comes from the test
    if not value:
        return False, f"does not hold: {expression}\n{describe(kind, d, status)}"
    return True, str(value)


def answer(request):
    try:
        holds, text = evaluate(*(field.decode("utf-8", "replace") for field in request))
    except Exception as error:  # whatever is wrong with an expression is the script's to show
        holds, text = False, f"{type(error).__name__}: {error}: {request[1].decode('utf-8', 'replace')}"
    return f"{'01'[holds]}{text}\0".encode()


def serve():
    pending = b""
    while data := os.read(0, 1 << 20):
        pending += data
        while pending.count(b"\0") >= 4:
            *request, pending = pending.split(b"\0", 4)
            os.write(1, answer(request))


def main():
    if len(sys.argv) == 1:
        serve()
        return 0
    kind, expression, file = sys.argv[1:]
    holds, text = evaluate(kind, expression, os.environ.get("status", "0"), os.path.abspath(file))
    if not holds:
        print(text)
    return 0 if holds else 1


sys.exit(main())
