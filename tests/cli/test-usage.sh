#!/bin/bash
# SPDX-License-Identifier: MIT
# The command line itself: help, version, wrong usage, options before and after the command, and what a host without
# RDMA devices gets.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"

status_is 0 "--help" "$RDMADIAG" --help
like "$output" '^Usage: rdmadiag' "shows the usage on standard output"
commands=$(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' <<<"$output")
like "$commands" '^topo$' "lists topo"
like "$commands" '^gid$' "lists gid"
like "$commands" '^probe$' "lists probe"
for command in $commands; do
	status_is 0 "$command --help" "$RDMADIAG" "$command" --help
	like "$output" "^Usage: rdmadiag $command" "$command: help names the command"
	status_is 2 "$command --nonsense" "$RDMADIAG" "$command" --nonsense
	like "$errors" "nonsense" "$command: the wrong option is named"
	is "$output" "" "$command: standard output stays empty"
done
status_is 0 "--version" "$RDMADIAG" --version
is "$output" "rdmadiag $(cat "$(dirname "$0")/../../VERSION")" "prints the version of the one place"

status_is 2 "no command" "$RDMADIAG"
like "$errors" "command is missing" "says so"
status_is 2 "an unknown command" "$RDMADIAG" frobnicate
like "$errors" "'frobnicate' is no command" "is named"
status_is 2 "an unknown option before the command" "$RDMADIAG" --frobnicate topo
status_is 2 "--color takes three words" "$RDMADIAG" topo --color=pink
like "$errors" "'pink' is none of auto, always, never" "and names them"
status_is 2 "topo takes one device" "$RDMADIAG" topo a b
status_is 2 "gid takes one device" "$RDMADIAG" gid a b
status_is 2 "probe takes no operand" "$RDMADIAG" probe a
status_is 2 "--sq-sig-all leaves nothing to --signal-every" "$RDMADIAG" probe --sq-sig-all --signal-every 3
like "$errors" "--signal-every does not go with it" "says so"
status_is 2 "nor to a drill without completions" "$RDMADIAG" probe --sq-sig-all --drill unsignaled-wait

status_is 3 "a snapshot that is not there" "$RDMADIAG" --from /nonexistent/snapshot topo
like "$errors" "/nonexistent/snapshot: No such file or directory" "is named"
like "$("$RDMADIAG" -j --from /nonexistent topo 2>/dev/null)" '"schema":"rdmadiag.topo"' "with -j a document is printed"
before=$("$RDMADIAG" -j --from /nonexistent topo 2>/dev/null)
after=$("$RDMADIAG" topo -j --from /nonexistent 2>/dev/null)
is "$before" "$after" "options before and after the command are the same"

# A tree without RDMA devices, whatever this host has.
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
mkdir -p "$empty/sys/class" "$empty/proc"
for command in topo gid; do
	status_is 3 "$command without RDMA devices" "$RDMADIAG" "$command" --from "$empty"
	is "$(wc -l <<<"$errors")" 1 "$command: one line on standard error"
	like "$errors" "no RDMA device" "$command: says what is missing"
	status_is 3 "$command -j without RDMA devices" "$RDMADIAG" "$command" -j --from "$empty"
	ok "$command: a valid document" python3 -c 'import json,sys; json.loads(sys.argv[1])["not_collected"]' "$output"
done
if [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ]; then
	status_is 3 "probe without RDMA devices" "$RDMADIAG" probe
	like "$errors" "no RDMA device" "says what is missing"
fi
# A recorded run has the status that the run itself had.
records=$(dirname "$0")/../evidence
while read -r wanted name; do
	status_is "$wanted" "--judge: $name" "$RDMADIAG" probe --judge "$records/$name.json"
done <<'END'
0 plain-ok
1 plain-12-alone
1 plain-rtr-hangs
1 plain-cq-err-success
3 setup-open-eacces
3 control-refused
3 plain-null-all
END
"$RDMADIAG" --help >/dev/full 2>/dev/null
is "$?" 3 "a full disk is an error"
done_testing
