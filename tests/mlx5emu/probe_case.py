#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One run of `rdmadiag probe` on software mlx5 devices, and what its verdict is worth against the ground truth.

probe_case.py [--outcome WORD,...] [--have PATH=VALUE]... [--other PATH=VALUE]... [--run OPTIONS] [--far OPTIONS] [PROBE OPTIONS]...

With --far, which may be empty, a listener on a host of its own with these options is the other end.

Exits with 0 when the verdict is right and what was asked for holds; prints the run in one line otherwise. $RDMADIAG is
the program, $MLX5EMU_BUILD where the software device is.
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 120
LISTENER_SECONDS = 5  # after its peer has ended
TARGET = "mlx5_1"  # the device of a listener
TRIES = 3  # where an "ok" comes late on a busy machine
LATE = ("it worked, but took very long", "it succeeded, but only after the deadline", "its completion was there in time, and was taken too late")
MEMORY_ERROR = re.compile("AddressSanitizer|runtime error:|LeakSanitizer|==[0-9]+==")
wrapper = ()  # in front of the program


class Result:
    """What a run came to: `document`, `guilty` (layers that struck, in order), `kinds`, `status`, `errors`.

    `other` is the document of the listener, where there was one.
    """

    def __init__(self, arguments, far):
        self.arguments = arguments
        self.far = far
        self.document = self.other = None
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

    @property
    def late(self):
        """All went well but for its time, which a busy machine may have taken."""
        return self.verdict.get("outcome") == "degraded" and self.verdict.get("summary", "").startswith(LATE)

    @property
    def blames_load(self):
        """Late where nothing struck: the machine is guilty then, and the verdict leaves it open or names it."""
        load = {"kernel", "configuration"}
        layer = self.verdict["layer"]
        return self.late and self.verdict["confidence"] != "confirmed" and bool(load & set(self.named)) and layer in load | {"undetermined"}

    def blame(self, kind, guilty):
        self.kinds.append(kind)
        if guilty != "none" and guilty not in self.guilty:
            self.guilty.append(guilty)

    def take_truth(self, path):
        """A device is the adapter here, or the one at the other end: the ground truth knows devices, not roles."""
        try:
            with open(path, encoding="utf-8") as log:
                events = [json.loads(line) for line in log]
        except FileNotFoundError:
            events = []
        for event in events:
            if event["event"] == "fault":
                far = event["guilty"] == "device" and event["device"] == self.far
                self.blame(event["kind"], "remote-device" if far else event["guilty"])

    def wrong(self):
        """Why the verdict is wrong, or None. All went well is right whatever struck: nobody was hurt."""
        if MEMORY_ERROR.search(self.errors):
            return "an error of memory"
        if self.document is None:
            return "no document"
        layer, confidence = self.verdict["layer"], self.verdict["confidence"]
        if problem := self.wrong_at_the_other_end():
            return problem
        if self.verdict["outcome"] == "ok":
            return self.wrong_success()
        if not self.guilty and "--drill" in self.arguments:
            return None if "application" in self.named else "a drill is the program's own mistake, and that is not named"
        if not self.guilty:
            # under valgrind it is late, and that is no mistake
            late = wrapper and self.verdict["outcome"] == "degraded"
            return None if late or self.blames_load else "something is wrong, and no fault struck"
        if confidence == "confirmed" and layer not in self.guilty:
            return f"confirmed {layer}, and it was {'+'.join(self.guilty)}"
        if not any(guilty in self.named for guilty in self.guilty):
            return f"{'+'.join(self.guilty)} is not among {', '.join(self.named) or 'none'}"
        return None

    def wrong_at_the_other_end(self):
        """The listener sees little; what it is certain of, and what it leaves open, has to be true all the same."""
        verdict = self.other["verdict"] if self.other else {"outcome": "ok"}
        if verdict["outcome"] == "ok" or (not self.guilty and verdict["confidence"] != "confirmed"):
            return None
        swapped = {"device": "remote-device", "remote-device": "device", "remote-application": "application"}
        guilty = [swapped.get(layer, layer) for layer in self.guilty]
        if verdict["confidence"] == "confirmed" and verdict["layer"] not in guilty:
            return f"confirmed {verdict['layer']} by the listener, and it was {'+'.join(self.guilty) or 'nobody'}"
        named = [verdict["layer"], *(verdict["candidates"] or [])]
        if not any(layer in named for layer in guilty):
            return f"{'+'.join(guilty)}, as the listener calls it, is not among its {', '.join(named)}"
        return None

    def wrong_success(self):
        operations = self.document["evidence"]["operations"]
        if not operations or any(operation["wc_status"] != 0 and operation["signaled"] for operation in operations):
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


@contextlib.contextmanager
def started(run_options, probe_options):
    """A probe on software devices, in a session of its own, so that one that hangs can be ended with all it started."""
    process = subprocess.Popen(
        [os.path.join(HERE, "run"), *run_options, "--", *wrapper, program(), "probe", "-j", *probe_options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
        for pipe in (process.stdout, process.stderr):
            pipe.close()


def ended(process, seconds):
    """Document and errors of a probe, once it ended or had to be ended."""
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        output, errors = process.communicate()
    try:
        document = json.loads(output)
        document = document if "verdict" in document else None
    except ValueError:
        document = None
    return document, errors.decode("utf-8", "replace").strip().replace("\n", " / ")


def run(run_options, probe_options, seconds=SECONDS):
    """Both ends in one process."""
    far = probe_options[probe_options.index("--target-device") + 1] if "--target-device" in probe_options else None
    result = Result([*run_options, "--", *probe_options], far)
    with tempfile.TemporaryDirectory() as scratch:
        log = os.path.join(scratch, "truth")
        with started(["--log", log, *run_options], probe_options) as process:
            result.document, result.errors = ended(process, seconds)
            result.status = process.returncode
        result.take_truth(log)
    return result


def kill_probe(runner):
    """The listener itself; the script that runs it stays. True when there was one."""
    with open(f"/proc/{runner.pid}/task/{runner.pid}/children", encoding="ascii") as file:
        children = [int(pid) for pid in file.read().split()]
    for pid in children:
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"--listen" in file.read():
                    os.kill(pid, signal.SIGKILL)
                    return True
    return False


def run_peers(near, far, probe_options, kill_after=None, seconds=SECONDS):
    """Two hosts: a listener and its peer. `near` and `far`: options of their devices; `kill_after`: of the listener, s."""
    killing = [] if kill_after is None else [f"(listener killed after {kill_after:.2f} s)"]
    result = Result(["peer", *near, "listener", *far, "--", *probe_options, *killing], TARGET)
    with tempfile.TemporaryDirectory() as scratch:
        logs = [os.path.join(scratch, name) for name in ("near", "far")]
        fabric = ["--fabric", os.path.join(scratch, "fabric")]
        right = [*fabric, "--host", "right", "--log", logs[1], *far]
        right += [] if "--device" in far else ["--device", TARGET]
        with started(right, ["-d", TARGET, "--listen=127.0.0.1:0"]) as listener:
            line = listener.stderr.readline().decode("utf-8", "replace")
            if "listening on" not in line:
                result.errors = line
                return result
            address = line.split()[-1]
            left = [*fabric, "--host", "left", "--log", logs[0], *near]
            left += [] if "--device" in near else ["--device", "mlx5_0"]
            with started(left, ["-d", "mlx5_0", "--peer", address, *probe_options]) as peer:
                killed = False
                if kill_after is not None:
                    time.sleep(kill_after)
                    killed = peer.poll() is None and kill_probe(listener)
                result.document, result.errors = ended(peer, seconds)
                result.status = peer.returncode
            if killed:
                result.blame("killed", "remote-application")
            else:
                # a peer that never came to connect leaves it waiting
                result.other, errors = ended(listener, LISTENER_SECONDS)
                result.errors += f" listener: {errors}" if MEMORY_ERROR.search(errors) else ""
        for log in logs:
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


def missing(document, wishes):
    for wish in wishes:
        path, _, wanted = wish.partition("=")
        found = values_at(document, path.split("."))
        if wanted not in found:
            return f"{path} is {', '.join(found) or 'nothing'}, not {wanted}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outcome", default="")
    parser.add_argument("--have", action="append", default=[])
    parser.add_argument("--other", action="append", default=[], help="of the listener's document")
    parser.add_argument("--run", default="")
    parser.add_argument("--far")
    arguments, probe_options = parser.parse_known_args()
    probe_options = [option for option in probe_options if option != "--"]
    outcomes = arguments.outcome.split(",") if arguments.outcome else []
    for _ in range(TRIES):
        if arguments.far is None:
            result = run(shlex.split(arguments.run), probe_options)
        else:
            result = run_peers(shlex.split(arguments.run), shlex.split(arguments.far), probe_options)
        if not result.late or "ok" not in outcomes or "degraded" in outcomes:
            break
    problem = result.wrong()
    if not problem and outcomes and result.verdict["outcome"] not in outcomes:
        problem = f"the outcome is not {arguments.outcome}"
    problem = problem or missing(result.document, arguments.have) or missing(result.other, arguments.other)
    if problem or os.environ.get("V"):
        print(f"{problem or 'right'}: {result.line()}")
    sys.exit(1 if problem else 0)


if __name__ == "__main__":
    main()
