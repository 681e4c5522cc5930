# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tests: builds the device, and prints TAP.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -n "${O:-}" ]; then
	export MLX5EMU_BUILD=$O/mlx5emu
else
	export MLX5EMU_BUILD=${MLX5EMU_BUILD:-$here/../../build/mlx5emu}
fi
mkdir -p "$MLX5EMU_BUILD"
(flock 9 && make -s -C "$here" O="$MLX5EMU_BUILD" all test-programs >&2) 9>"$MLX5EMU_BUILD/.lock" || exit 1
# for those who source this
# shellcheck disable=SC2034
traffic=$MLX5EMU_BUILD/mlx5emu-traffic run=$here/run
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
tests=0 failures=0

# ok STATUS NAME [FILE]: one test; FILE is shown when it failed
ok() {
	tests=$((tests + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tests - $2"
		return
	fi
	failures=$((failures + 1))
	echo "not ok $tests - $2"
	[ -z "${3:-}" ] || sed 's/^/# /' "$3" | head -40
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests - $1 # skip $2"
}

# has FILE KEY=VALUE...: all of them, as words; KEY~REGEX for a pattern
has() {
	local file=$1 word
	shift
	for word; do
		case $word in
		*~*) grep -Eq "(^| )${word%%~*}=(${word#*~})( |\$)" "$file" || { echo "missing: $word" >>"$file"; return 1; } ;;
		*) tr ' ' '\n' <"$file" | grep -Fxq -- "$word" || { echo "missing: $word" >>"$file"; return 1; } ;;
		esac
	done
}

# run_has NAME "RUN OPTIONS" "COMMAND" KEY=VALUE...
run_has() {
	local name=$1 options=$2 command=$3
	shift 3
	# word splitting is wanted
	# shellcheck disable=SC2086
	timeout 60 "$run" $options -- $command >"$scratch/out" 2>&1
	echo "status=$?" >>"$scratch/out"
	has "$scratch/out" "$@"
	ok $? "$name" "$scratch/out"
}

# meanwhile NAME COMMAND...: one test, its status; some run at once, for most of such a run is waiting
running=() names=()
meanwhile() {
	names+=("$1")
	shift
	[ "${#running[@]}" -lt 4 ] || wait "${running[${#running[@]} - 4]}"
	"$@" >"$scratch/meanwhile.${#running[@]}" 2>&1 &
	running+=($!)
}

# the tests begun with `meanwhile`, in their order
settle() {
	local i status
	for i in "${!running[@]}"; do
		wait "${running[i]}"
		status=$?
		ok $status "${names[i]}" "$scratch/meanwhile.$i"
	done
	running=() names=()
}

finish() {
	settle
	echo "1..$tests"
	[ "$failures" -eq 0 ]
	exit
}
