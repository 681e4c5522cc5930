# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# watch-lib.sh - a process $pid that runs gid --watch into $log. Sourced by the tests of it.

log=/tmp/watch.log
pid=

# shellcheck disable=SC2317 # called by wait_for
# said PATTERN
said() {
	grep -Eq "$1" "$log"
}

# shellcheck disable=SC2317 # called by wait_for
# The devices are opened for their events after the first look: from then on a change is one.
watching() {
	opens "${1:-1}"
}

# opens N - that many devices are open
# shellcheck disable=SC2317 # called by wait_for
opens() {
	[ "$(find "/proc/$pid/fd" -lname '/dev/infiniband/uverbs*' 2>/dev/null | wc -l)" -eq "$1" ]
}
