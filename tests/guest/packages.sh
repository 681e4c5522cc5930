# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# packages.sh - the distribution's packages as files: fetched and unpacked, never installed. Sourced by what fills the
# cache of the bed.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/rdmadiag/guest
apt_options=()

say() {
	echo "guest: $*" >&2
}

die() {
	say "$*"
	exit 1
}

# what an entry of the cache must consist of, to recognize one that lost a file or was cut short
contents() {
	(cd "$1" && find . -type f ! -name manifest -printf '%s %p\n' | LC_ALL=C sort)
}

is_whole() {
	[ -f "$1/manifest" ] && cmp -s "$1/manifest" <(contents "$1")
}

# One process at a time fills the cache. The lock goes with the process.
lock_cache() {
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
}

# keep WORK NAME - what was made in WORK becomes the entry NAME by a rename, so nobody ever sees a half
keep() {
	contents "$1" >"$1/manifest"
	rm -rf "${cache:?}/$2"
	mv "$1" "$cache/$2"
	# what nobody used for two weeks, and what a killed build left
	find "$cache" -mindepth 1 -maxdepth 1 \
		\( -name 'kernel-*' -mtime +14 -o -name 'extra-*' -mtime +14 -o -name 'tmp.*' -mtime +1 \) -exec rm -rf {} +
}

# Package lists of our own: the host's may be old, naming what the mirror no longer has, and belong to root.
refresh_lists() {
	mkdir -p "$1/state/lists/partial" "$1/archives/partial"
	apt_options=(-o "Dir::State=$1/state" -o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$1")
	apt-get "${apt_options[@]}" -q update || :
}

# fetching WORK COMMAND... - a command that downloads; when it fails, once more with fresh lists
fetching() {
	local work=$1
	shift
	"$@" >"$work/log" 2>&1 && return
	refresh_lists "$work/apt" >>"$work/log" 2>&1
	"$@" >>"$work/log" 2>&1 && return
	tail -n 20 "$work/log" >&2
	return 1
}

# download DIR PACKAGE...
download() {
	(cd "$1" && shift && apt-get "${apt_options[@]}" -q download "$@")
}
