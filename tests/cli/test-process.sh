#!/bin/bash
# SPDX-License-Identifier: MIT
# The process that a caller hands over: streams that are closed or full, limits, pipes that nobody reads, signals. What
# was asked for is done, or one message says why not, and nothing is left behind.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir/tmp
mkdir "$TMPDIR"
cd "$dir" || exit 1
"$here/../machines/make-snapshot" several-surprises machine || exit 1
"$RDMADIAG" topo -j --from machine >topo.json || exit 1
sed 's/"ACTIVE"/"DOWN"/' topo.json >other.json
cp "$here/../evidence/plain-12-alone.json" failed.json

# ---- standard output that takes nothing: one line says so, whatever the command
commands=("topo --from machine" "topo -j --from machine" "gid --from machine" "gid -j --from machine" "gid --explain --from machine"
	"check --from machine" "check -j --from machine" "check --nagios --from machine" "compare topo.json other.json"
	"probe --judge failed.json" "report --stdout --from machine" "compare topo.json topo.json" "explain wc:12" "schema topo" "--help" "probe --drill list")
for command in "${commands[@]}"; do
	# shellcheck disable=SC2086
	errors=$({ "$RDMADIAG" $command >/dev/full; } 2>&1)
	is "$?" 3 "$command on a full disk"
	is "$errors" "rdmadiag: standard output: No space left on device" "$command: says so, once"
	# shellcheck disable=SC2086
	errors=$({ "$RDMADIAG" $command >&-; } 2>&1)
	is "$?" 3 "$command without standard output"
	is "$errors" "rdmadiag: standard output: Bad file descriptor" "$command: says that, once"
done

# ---- what a probe came to is in the exit status, of a recorded one too
"$RDMADIAG" probe --judge "$here/../evidence/setup-no-such-port.json" >/dev/null 2>&1
is "$?" 3 "a probe that found no port"
"$RDMADIAG" probe --judge failed.json >/dev/null 2>&1
is "$?" 1 "a probe that failed"
"$RDMADIAG" probe --judge "$here/../evidence/ok-loopback.json" >/dev/null 2>&1
is "$?" 0 "a probe that went well"

# ---- a stream that is closed is not the number of the next file
{ "$RDMADIAG" report --from machine -o closed.tar -j <&- >&- 2>&-; }
ok "a report without any standard stream is whole" python3 -c "import json,sys; json.load(sys.stdin)[\"devices\"][0]" <<<"$(tar xOf closed.tar rdmadiag-report/report/topo.json)"
# shellcheck disable=SC2016
sh -c 'exec "$0" gid --watch --from "$1" <&- >&- 2>&-' "$RDMADIAG" machine
is "$?" 2 "wrong usage without any standard stream"

# ---- limits
# the thread sanitizer writes a file of its own before the program begins
limited() {
	bash -c 'ulimit -f "$1"; shift; exec "$@"' - "$@"
}
if [ -n "${RDMADIAG_SANITIZED-}" ] && ! limited 0 "$RDMADIAG" --version >/dev/null 2>&1; then
	skip "files that may not grow" "the sanitizer needs one"
else
	for command in "topo --from machine" "topo -j --from machine"; do
		# shellcheck disable=SC2086
		limited 0 "$RDMADIAG" $command >large 2>errors
		is "$?" 3 "$command: a file that may not grow"
		# what was said goes to a file of the same limit: nothing of it can be looked at
	done
	echo precious >drawing.svg
	limited 1 "$RDMADIAG" topo --from machine --svg drawing.svg >/dev/null
	is "$?" 3 "a drawing that has no room"
	is "$(cat drawing.svg)" precious "does not cost the old one"
	errors=$(limited 0 "$RDMADIAG" report --from machine -o limited.tar.gz 2>&1)
	is "$?" 3 "report: files that may not grow"
	like "$errors" "File too large" "says so"
	not_ok "there is no report" test -e limited.tar.gz
	is "$(ls -A "$TMPDIR")" "" "nor a temporary file"
fi
for files in 4 6 7; do
	errors=$(bash -c 'ulimit -n "$1"; shift; exec "$@"' - $files "$RDMADIAG" report --from machine -o few.tar.gz 2>&1)
	is "$?" 3 "report with $files descriptors"
	like "$errors" "Too many open files" "is told what is short"
	is "$(ls -A "$TMPDIR")" "" "and leaves nothing"
done

# ---- nobody reads
# shellcheck disable=SC2317
reader_gone() {
	local status
	{ "$RDMADIAG" report --from machine --stdout 2>errors; echo $? >status; } | :
	status=$(cat status)
	[ "$status" = 3 ] && grep -q "standard output: Broken pipe" errors
}
ok "a report that nobody reads ends with a message" reader_gone
is "$(ls -A "$TMPDIR")" "" "and leaves no temporary file"

# ---- what a report that was killed left there
mkdir -m 700 "$TMPDIR/rdmadiag.killed" "$TMPDIR/rdmadiag.locked" "$TMPDIR/rdmadiag.recent"
mkdir "$TMPDIR/rdmadiag.killed/raw" "$TMPDIR/rdmadiag.others-name" "$TMPDIR/rdmadiag.shared"
touch "$TMPDIR/rdmadiag.killed/raw/file"
touch -d '1 hour ago' "$TMPDIR"/rdmadiag.{killed,locked,others-name,shared}
exec 7<"$TMPDIR/rdmadiag.locked"
flock 7
"$RDMADIAG" report --from machine -o after.tar.gz >/dev/null
is "$(cd "$TMPDIR" && echo *)" "rdmadiag.locked rdmadiag.others-name rdmadiag.recent rdmadiag.shared" \
	"the next one removes it, and nothing that is in use, just made, or of somebody else"
exec 7<&-
rm -r "$TMPDIR"/rdmadiag.*

# ---- capabilities of a user namespace of one's own do not lift limits of the host
if unshare -Ur true 2>/dev/null; then
	unshare -Ur "$RDMADIAG" topo -j >inner.json 2>/dev/null
	ok "the root of a user namespace may not lock more memory for it" \
		python3 -c "import json; p = json.load(open('inner.json'))['process']; exit(p['cap_ipc_lock'] or p['cap_net_admin'] or p['cap_sys_admin'])"
else
	skip "the root of a user namespace may not lock more memory for it" "no user namespaces here"
fi

# ---- signals while a report is made
for signal in TERM HUP QUIT ALRM USR1; do
	(trap - "$signal"; exec "$RDMADIAG" report --from machine -o signalled.tar.gz) >/dev/null 2>&1 &
	pid=$!
	until [ -n "$(ls -A "$TMPDIR")" ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
	kill -s "$signal" "$pid" 2>/dev/null
	wait "$pid"
	status=$?
	if [ "$status" = 0 ]; then
		skip "SIG$signal" "it was done before"
	else
		is "$status" 130 "SIG$signal ends a report"
		not_ok "SIG$signal: no archive" test -e signalled.tar.gz
	fi
	is "$(ls -A "$TMPDIR")" "" "SIG$signal: no temporary file"
	rm -f signalled.tar.gz
done
(trap "" HUP; exec "$RDMADIAG" report --from machine -o kept.tar.gz) >/dev/null 2>&1 &
pid=$!
until [ -n "$(ls -A "$TMPDIR")" ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
kill -s HUP "$pid" 2>/dev/null
wait "$pid"
is "$?" 0 "SIGHUP that is ignored (nohup) ends nothing"
ok "the report is there" test -s kept.tar.gz
done_testing
