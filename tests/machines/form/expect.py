# SPDX-License-Identifier: MIT
"""What must hold of rdmadiag's output on a described machine, written by hand in the description."""

import fnmatch
import importlib.machinery
import importlib.util
import json
import os
import re
import shlex
import subprocess

# The validator is a program; its name has no suffix to import it by.
SCHEMA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../schema/validate")
loader = importlib.machinery.SourceFileLoader("validate", SCHEMA)
validate = importlib.util.module_from_spec(importlib.util.spec_from_loader("validate", loader))
loader.exec_module(validate)

SELECTORS = ("name", "number", "id", "index", "address", "device", "consumer", "ifindex", "kind")


class Program:
    """Runs rdmadiag on one snapshot; every command line once."""

    def __init__(self, binary, snapshot, substitute=None):
        self.binary, self.snapshot, self.results = binary, snapshot, {}
        self.substitute = substitute or (lambda word: word)
        self.documents = {}

    def run(self, command, *options):
        key = (command, options)
        if key not in self.results:
            words = [self.substitute(word) for word in shlex.split(command)]
            environment = {name: value for name, value in os.environ.items()
                           if not name.startswith(("NCCL_", "UCX_", "MC_"))}
            while words and re.fullmatch(r"[A-Z_0-9]+=.*", words[0]):
                name, _, value = words.pop(0).partition("=")
                environment[name] = value
            arguments = [self.binary, words[0], "--from", self.snapshot, *words[1:], *options]
            self.results[key] = subprocess.run(arguments, capture_output=True, text=True, timeout=60, env=environment,
                                               stdin=subprocess.DEVNULL, check=False)
        return self.results[key]

    def document(self, command):
        """The document, and what of it does not fit its schema."""
        if command not in self.documents:
            result = self.run(command, "-j")
            try:
                document = json.loads(result.stdout)
                schema = validate.schema_of(self.binary, document)
                self.documents[command] = document, next(validate.check(document, schema, schema, "document"), None)
            except ValueError:
                self.documents[command] = None, None
        return self.documents[command]


def matches(item, selector):
    if "=" in selector:
        return all(str(item.get(key)) == value for key, value in (part.split("=", 1) for part in selector.split(",")))
    first = next((item[key] for key in SELECTORS if key in item), None) if isinstance(item, dict) else item
    return str(first) == selector


def look(value, path):
    """The values at `path`: names joined by dots; [X] the entries of a list with that name, number, id, index or
    address; [key=X,key=Y] those with these values; [*] all; [#N] the one at that position."""
    found = [value]
    for name, selector in re.findall(r"([^.\[\]]+)|\[([^\]]*)\]", path):
        following = []
        for item in found:
            if name:
                if isinstance(item, dict) and name in item:
                    following.append(item[name])
            elif selector == "*":
                following += item or []
            elif selector.startswith("#"):
                following += (item or [])[int(selector[1:]):][:1]
            else:
                following += [entry for entry in item or [] if matches(entry, selector)]
        found = following
    return found


def shown(value):
    return json.dumps(value, ensure_ascii=False)


def check_path(expectation, document):
    found = look(document, expectation.path)
    if expectation.count is not None:
        return None if len(found) == expectation.count else f"{len(found)} found, not {expectation.count}"
    if not found:
        return "is not there"
    several = "[*]" in expectation.path
    value = found if several else found[0]
    if "is" in expectation.given:
        wanted = getattr(expectation, "is")
        wanted = None if wanted == "null" else wanted
        return None if value == wanted else f"is {shown(value)}, not {shown(wanted)}"
    if expectation.has is not None:
        return None if expectation.has.lower() in shown(value).lower() else f"{shown(value)} lacks {expectation.has!r}"
    return None


def findings(expectation, document, pattern):
    for finding in document.get("findings", []):
        text = f"{finding.get('message')} {finding.get('advice')}"
        if (fnmatch.fnmatchcase(finding["id"], pattern)
                and expectation.subject in (None, finding["subject"])
                and expectation.severity in (None, finding["severity"])
                and (expectation.message is None or expectation.message.lower() in text.lower())):
            yield finding


def is_missing(expectation, document):
    for entry in document.get("not_collected", []):
        if (fnmatch.fnmatchcase(entry["what"], expectation.missing)
                and expectation.subject in (None, entry["subject"])
                and (expectation.message or "").lower() in (entry["reason"] or "").lower()):
            return True
    return False


def judge(expectation, program):
    """None where it holds, else why not."""
    command = expectation.command
    if expectation.status is not None:
        status = program.run(command).returncode
        if status != expectation.status:
            return f"exit status {status}, not {expectation.status}"
    if expectation.output is not None:
        out = program.run(command).stdout
        if expectation.output.lower() not in out.lower():
            return f"the output lacks {expectation.output!r}"
    needs = (expectation.path, expectation.finding, expectation.no_finding, expectation.missing)
    if all(part is None for part in needs):
        return None
    document, wrong = program.document(command)
    if wrong:
        return f"does not fit its schema: {wrong}"
    if document is None:
        result = program.run(command, "-j")
        return f"no JSON document, exit status {result.returncode}: {result.stderr.strip()[:200]}"
    if expectation.path is not None:
        return check_path(expectation, document)
    if expectation.finding is not None and not any(findings(expectation, document, expectation.finding)):
        return f"no such finding among: {' '.join(f['id'] for f in document.get('findings', [])) or 'none'}"
    if expectation.no_finding is not None:
        for finding in findings(expectation, document, expectation.no_finding):
            return f"finding {finding['id']} of {finding['subject']}: {finding['message']}"
    if expectation.missing is not None and not is_missing(expectation, document):
        return "no such entry of not_collected"
    return None


def describe(expectation):
    parts = [expectation.command]
    for key in ("path", "is", "count", "has", "finding", "no_finding", "missing", "subject", "severity", "message",
                "output", "status"):
        if key in expectation.given:
            parts.append(f"{key}={shown(getattr(expectation, key))}" if key != "path" else expectation.path)
    return " ".join(parts).replace("#", "\\#")
