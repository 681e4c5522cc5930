#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One run of `rdmadiag probe` on software mlx5 devices, and what its verdict is worth against the ground truth.

probe_case.py [--outcome WORD,...] [--have PATH=VALUE]... [--run OPTIONS] [PROBE OPTIONS]...

Exits with 0 when the verdict is right and what was asked for holds; prints the run in one line otherwise. $RDMADIAG is
the program, $MLX5EMU_BUILD where the software device is.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 120


class Result:
    """What a run came to: `document`, `guilty` (layers that struck, in order), `kinds`, `status`, `errors`."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.document = None
        self.guilty = []
        self.kinds = []
        self.status = None
        self.errors = ""

    @property
    def verdict(self):
        return self.document["verdict"] if self.document else {}

    @property
    def named(self):
        """Layers that the verdict does not clear."""
        layer = self.verdict.get("layer")
        return ([] if layer in ("undetermined", "none") else [layer]) + list(self.verdict.get("candidates") or [])

    @property
    def device_seen(self):
        """Does the record say how far the device came with a request? After an error nobody asks it."""
        operations = self.document["evidence"]["operations"] if self.document else []
        return any(operation["device_saw_doorbell"] is not None for operation in operations)

    def take_truth(self, path):
        """A device is the adapter here, or the one at the other end: the ground truth knows devices, not roles."""
        far = self.arguments[self.arguments.index("--target-device") + 1] if "--target-device" in self.arguments else None
        try:
            with open(path, encoding="utf-8") as log:
                events = [json.loads(line) for line in log]
        except FileNotFoundError:
            events = []
        for event in events:
            if event["event"] == "fault":
                guilty = event["guilty"]
                if guilty == "device" and event["device"] == far:
                    guilty = "remote-device"
                self.kinds.append(event["kind"])
                if guilty != "none" and guilty not in self.guilty:
                    self.guilty.append(guilty)

    def wrong(self):
        """Why the verdict is wrong, or None. All went well is right whatever struck: nobody was hurt."""
        if self.document is None:
            return "no document"
        layer, confidence = self.verdict["layer"], self.verdict["confidence"]
        if self.verdict["outcome"] == "ok":
            return self.wrong_success()
        if not self.guilty:
            return "something is wrong, and no fault struck"
        if confidence == "confirmed" and layer not in self.guilty:
            return f"confirmed {layer}, and it was {'+'.join(self.guilty)}"
        if not any(guilty in self.named for guilty in self.guilty):
            return f"{'+'.join(self.guilty)} is not among {', '.join(self.named) or 'none'}"
        return None

    def wrong_success(self):
        operations = self.document["evidence"]["operations"]
        if not operations or any(operation["wc_status"] != 0 for operation in operations):
            return "not everything succeeded"
        # a later request of the same place has overwritten it: nobody can tell any more
        seen = [operation["payload_verified"] for operation in operations]
        if False in seen or True not in seen:
            return "no payload was verified, or a wrong one was"
        return None

    def line(self):
        verdict = self.verdict
        return (
            f"{' '.join(self.arguments)}: guilty {'+'.join(self.guilty) or '-'} ({'+'.join(sorted(set(self.kinds))) or '-'}); "
            f"{verdict.get('outcome')} {verdict.get('layer')} {verdict.get('confidence')} "
            f"[{' '.join(verdict.get('candidates') or [])}] {verdict.get('summary')}; "
            f"device {self.document['evidence']['observers']['device'] if self.document else None}; "
            f"status {self.status}{' | ' + self.errors if self.errors else ''}"
        )


def program():
    return os.environ.get("RDMADIAG", os.path.join(HERE, "../../build/rdmadiag"))


def run(run_options, probe_options, seconds=SECONDS):
    with tempfile.TemporaryDirectory() as scratch:
        log = os.path.join(scratch, "truth")
        emulated = [os.path.join(HERE, "run"), "--log", log, *run_options, "--"]
        result = Result([*run_options, "--", *probe_options])
        # a session of its own, so that a run that hangs can be ended with all that it started
        process = subprocess.Popen(
            [*emulated, program(), "probe", "-j", *probe_options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 15)
            output, errors = process.communicate()
        result.status = process.returncode
        result.errors = errors.decode("utf-8", "replace").strip().replace("\n", " / ")
        try:
            result.document = json.loads(output)
            result.document = result.document if "verdict" in result.document else None
        except ValueError:
            pass
        result.take_truth(log)
        return result


def values_at(value, parts):
    """All values at a path; "*" stands for every element of a list."""
    if not parts:
        return [json.dumps(value).strip('"')]
    if isinstance(value, list):
        some = value if parts[0] == "*" else value[int(parts[0]) : int(parts[0]) + 1]
        return [found for element in some for found in values_at(element, parts[1:])]
    return values_at(value[parts[0]], parts[1:]) if isinstance(value, dict) and parts[0] in value else []


def missing(result, wishes):
    for wish in wishes:
        path, _, wanted = wish.partition("=")
        found = values_at(result.document, path.split("."))
        if wanted not in found:
            return f"{path} is {', '.join(found) or 'nothing'}, not {wanted}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outcome", default="")
    parser.add_argument("--have", action="append", default=[])
    parser.add_argument("--run", default="")
    arguments, probe_options = parser.parse_known_args()
    result = run(shlex.split(arguments.run), [option for option in probe_options if option != "--"])
    problem = result.wrong()
    if not problem and arguments.outcome and result.verdict["outcome"] not in arguments.outcome.split(","):
        problem = f"the outcome is not {arguments.outcome}"
    problem = problem or missing(result, arguments.have)
    if problem or os.environ.get("V"):
        print(f"{problem or 'right'}: {result.line()}")
    sys.exit(1 if problem else 0)


if __name__ == "__main__":
    main()
