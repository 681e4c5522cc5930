#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/run-tests must not take anything for a success that is none.
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/guest/lib.sh
. "$here/../guest/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset O

program() {
	cat >"$work/$1.sh"
}

# counts EXPECTED STATUS DESCRIPTION [-j N] NAME... - the last line and the status
counts() {
	local expected=$1 status=$2 description=$3 options=()
	shift 3
	[ "${1-}" != -j ] || { options=(-j "$2") && shift 2; }
	local files=("$@")
	status_is "$status" "$description" "$here/../run-tests" -T 5 "${options[@]}" "${files[@]/#/$work/}"
	is "$(tail -n 1 <<<"$output")" "$expected" "$description: the last line"
}

program good <<<'echo 1..2; echo "ok 1 - a"; echo "ok 2 - b # SKIP no device"'
program bad <<<'echo "ok 1 - a"; echo "not ok 2 - b"; echo "# the reason"; echo 1..2; exit 1'
program died <<<'echo 1..1; echo "ok 1"; echo "last words" >&2; kill -SEGV $$'
program status <<<'echo 1..1; echo "ok 1"; exit 3'
program short <<<'echo 1..3; echo "ok 1"; echo "ok 2"'
program unplanned <<<'echo "ok 1"'
program empty <<<'true'
program none <<<'echo 1..0'
program skipped <<<'echo "1..0 # SKIP no device"'
program groups <<<'echo 1..1; echo "ok 1"; echo 1..2; echo "ok 1"; echo "ok 2"'
program slow <<<'echo 1..1; echo "ok 1"; sleep 100'
program gave_up <<<'echo 1..2; echo "ok 1"; echo "Bail out! no memory"; exit 1'

counts "1 passed, 0 failed, 1 skipped" 0 "success" good.sh
counts "1 passed, 1 failed, 0 skipped" 1 "a failed test" bad.sh
like "$output" "not ok - b" "is named"
like "$output" "the reason" "with its diagnostic"
counts "1 passed, 1 failed, 0 skipped" 1 "a program that dies" died.sh
like "$output" "SIGSEGV" "its signal is named"
like "$output" "last words" "its errors are shown"
counts "1 passed, 1 failed, 0 skipped" 1 "a status without a failed test" status.sh
counts "2 passed, 1 failed, 0 skipped" 1 "fewer tests than planned" short.sh
counts "1 passed, 1 failed, 0 skipped" 1 "no plan" unplanned.sh
counts "0 passed, 1 failed, 0 skipped" 1 "no output" empty.sh
counts "0 passed, 1 failed, 0 skipped" 1 "an empty plan without a reason" none.sh
counts "1 passed, 1 failed, 0 skipped" 1 "past the deadline" slow.sh
like "$output" "ran past its deadline, after test 1" "the test it came to is told"
like "$output" "still running: sleep 100" "and what it hangs in"
counts "1 passed, 1 failed, 0 skipped" 1 "given up" gave_up.sh
counts "3 passed, 0 failed, 0 skipped" 0 "several plans in one stream" groups.sh
counts "0 passed, 1 failed, 0 skipped" 1 "a file that is not there" absent.sh
counts "0 passed, 0 failed, 1 skipped" 1 "nothing but skipped files" skipped.sh
counts "0 passed, 0 failed, 0 skipped" 1 "no file at all"
counts "5 passed, 1 failed, 1 skipped" 1 "sums over files" good.sh bad.sh groups.sh

# side by side: each of the two waits for the other one
for name in first second; do
	program "$name" <<<"touch '$work/$name.up'; for i in {1..40}; do [ -e '$work/first.up' ] && [ -e '$work/second.up' ] && break; sleep 0.1; done
		[ -e '$work/first.up' ] && [ -e '$work/second.up' ] && echo 'ok 1'; echo 1..1"
done
counts "2 passed, 0 failed, 0 skipped" 0 "two at a time" -j 2 first.sh second.sh
rm -f "$work"/*.up
counts "1 passed, 1 failed, 0 skipped" 1 "one at a time" -j 1 first.sh second.sh

# an interruption ends all that run
for name in one two; do
	program "$name" <<<"echo \$\$ >'$work/$name.pid'; echo 1..1; sleep 100"
done
"$here/../run-tests" -j 2 "$work/one.sh" "$work/two.sh" >/dev/null 2>&1 &
runner=$!
both_run() { [ -s "$work/one.pid" ] && [ -s "$work/two.pid" ]; }
ok "both run" wait_for 10 both_run
kill -TERM "$runner"
wait "$runner"
is $? 143 "interrupted: status"
none_is_left() { ! kill -0 "$(cat "$work/one.pid")" 2>/dev/null && ! kill -0 "$(cat "$work/two.pid")" 2>/dev/null; }
ok "interrupted: none is left" none_is_left
done_testing
