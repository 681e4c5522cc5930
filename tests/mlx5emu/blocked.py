#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""blocked.py COMMAND RESULT WELL WORD - what a command showed while something of it blocked, beside what it shows when all
is well. RESULT and WELL are documents, or the archives of `report`; RESULT.status is the exit status. WORD: of what was
blocked, and must stand in not_collected.
"""

import io
import json
import sys
import tarfile

WELL = "mlx5_0"  # the device that nothing happened to, where the fault is one device's


def documents(path, command):
    """The JSON documents of a result by their commands."""
    with open(path, "rb") as file:
        data = file.read()
    if command != "report":
        return {command: json.loads(data)}
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            name = member.name.rsplit("/", 1)[-1]
            if name in ("topo.json", "gid.json", "check.json", "report.json"):
                found[name.removesuffix(".json")] = json.load(archive.extractfile(member))
    return found


def rows(command, document, whole):
    """What a document says of the device that is well: complete where the fault leaves the device alone."""
    if command == "topo":
        shown = [device for device in document["devices"] if device["name"] == WELL]
        return shown if whole else [(device["name"], [port["number"] for port in device["ports"]]) for device in shown]
    return [entry for entry in document["entries"] if entry["device"] == WELL]


def findings(document):
    return {(finding["id"], finding["subject"]) for finding in document["findings"]}


def missing(document):
    return [f"{entry['what']} {entry['subject']}: {entry['reason']}" for entry in document["not_collected"]]


def judge(command, document, well, word, speaker):
    """None, or what is wrong. SPEAKER: the command that must name what was blocked."""
    if command == "report" and not any("live host" in text for text in document["left_out"]):
        return f"left out is {document['left_out']}"
    whole = word not in (WELL, "netlink")
    if command == "check":
        silent = {("device-not-answering", name) for name in ([word] if word not in (WELL, "netlink") else (WELL, "mlx5_1"))}
        if invented := findings(document) - findings(well) - silent:
            return f"found, and not there when all is well: {sorted(invented)}"
        if word != "netlink" and not findings(document) & silent:
            return f"no word on the silence of {word}"
        given_up = {entry["subject"] for entry in document["not_collected"] if entry["reason"].startswith("did not answer within ")}
        for finding in document["findings"]:
            if finding["id"] == "device-not-answering" and finding["subject"] in given_up and " did not answer within " not in finding["message"]:
                return f"what was given up is not told first: {finding['message']}"
    elif command != "report" and rows(command, document, whole) != rows(command, well, whole):
        return f"{WELL} is shown otherwise: {json.dumps(rows(command, document, whole))[:1500]}"
    told = [text for text in missing(document) if word in text]
    # gid needs little of sysfs, check nothing that only an opened device tells, and a report says it of the whole
    if not told and missing(well) == missing(document) and command == speaker:
        return f"nothing of {word} is missing"
    if any(not entry["reason"] for entry in document["not_collected"]):
        return "something is missing without a reason"
    return None


def main():
    command, result, well, word = sys.argv[1:]
    with open(f"{result}.status", encoding="ascii") as file:
        status = int(file.read())
    if status not in ((0, 1) if command == "check" else (0,)):
        with open(f"{result}.errors", encoding="utf-8", errors="replace") as errors:
            return f"status {status}: {errors.read()[:1000]}"
    found, expected = documents(result, command), documents(well, command)
    if set(found) != set(expected) or not found:
        return f"documents: {sorted(found)}, not {sorted(expected)}"
    speaker = "report" if command == "report" else "topo"
    problems = [judge(name, found[name], expected[name], word, speaker) for name in found]
    return next((f"{name}: {problem}" for name, problem in zip(found, problems) if problem), None)


if __name__ == "__main__":
    sys.exit(main())
