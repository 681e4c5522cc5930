#!/bin/bash
# SPDX-License-Identifier: MIT
# The bed itself, from outside: statuses, streams, what the guest sees of this host and what is left of it.
# shellcheck disable=SC2317
here=$(dirname "$(readlink -f "$0")")
repository=$(readlink -f "$here/../..")
# shellcheck source=tests/guest/lib.sh
. "$here/lib.sh"
run=$here/run
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- wrong usage never boots anything
status_is 125 "no script" "$run"
status_is 125 "an unknown layout" "$run" -t five -c true
like "$errors" "no layout five" "is named"
status_is 125 "a deadline that is no number" "$run" -T soon -c true
status_is 125 "a script that is not there" "$run" /nonexistent/script
status_is 125 "an unknown option" "$run" -x -c true
status_is 125 "an unknown accelerator" env ACCEL=magic "$run" -c true

# ---- no boot
echo "this is no kernel" >"$work/kernel"
modules=$("$here/kernel" | sed -n 2p)
status_is 126 "a kernel that cannot boot" env KERNEL="$work/kernel" MODULES="$modules" "$run" -c true
like "$errors" "console log" "the console log is announced"
status_is 126 "KERNEL without MODULES" env KERNEL="$work/kernel" "$run" -c true
like "$errors" "needs MODULES" "says what is missing"

# ---- a script that reports what it sees; it lies outside the repository
mark=.guest-was-here
cat >"$work/script" <<-'END'
	#!/bin/bash
	exec 2>&1
	echo "directory=$PWD"
	echo "arguments=$#:$1:$2"
	echo "variable=$VARIABLE"
	echo "user=$(id -un)"
	echo "kernel=$(uname -r)"
	touch .guest-was-here && echo "overlay=$(ls .guest-was-here)"
	rm README.md VERSION 2>/dev/null; echo "removed=$(ls VERSION 2>/dev/null)"
	echo "interfaces=$(ls /sys/class/net | xargs)"
	echo "routes=$(ip route show table all type unicast | grep -v ' lo ' | xargs)"
	echo "home=$(ls -A /home | xargs)"
	echo "shadow=$(ls /etc/shadow 2>/dev/null)"
	echo "etc=$(ls /etc | xargs)"
	echo "drivers=$(ls /etc/libibverbs.d | grep -c driver)"
	echo "nobody=$(setpriv --reuid nobody --clear-groups id -un)"
	echo "debugfs=$(stat -f -c %T /sys/kernel/debug)"
	echo "configfs=$(stat -f -c %T /sys/kernel/config)"
	echo "lo=$(cat /sys/class/net/lo/flags)"
	echo "hostname=$(hostname)"
	touch "$OUT/../escaped" 2>/dev/null
	echo kept >"$OUT/kept"
	exit 42
END
chmod +x "$work/script"
result() { sed -n "s/^$1=//p" <<<"$output"; }
status_is 42 "the script's status" env OUT="$work/out dir" VARIABLE="a value" \
	"$run" -t one -e VARIABLE "$work/script" "one argument" 'two$'
is "$(result directory)" "$repository" "the repository is the working directory, at its own path"
is "$(result arguments)" '2:one argument:two$' "arguments arrive as they are"
is "$(result variable)" "a value" "so does a variable"
is "$(result user)" root "runs as root"
isnt "$(result kernel)" "$(uname -r)" "in a kernel of its own"
is "$(result overlay)" "$mark" "the repository can be written in the guest"
is "$(result removed)" "" "and files in it removed"
not_ok "this host's does not change" test -e "$repository/$mark"
ok "nor lose a file" test -e "$repository/VERSION"
is "$(result interfaces)" lo "no NIC before its module is loaded"
is "$(result routes)" "" "no route leads anywhere"
is "$(result home)" user "this host's home directories are not there"
is "$(result shadow)" "" "nor its passwords"
unlike "$(result etc)" "ssl|apt|systemd|fstab" "/etc is made for the guest"
isnt "$(result drivers)" 0 "with the drivers of libibverbs"
is "$(result nobody)" nobody "there are ordinary users"
is "$(result debugfs)" debugfs "debugfs is mounted"
is "$(result configfs)" configfs "configfs is mounted"
is "$(result lo)" 0x9 "lo is up"
is "$(result hostname)" guest "it has a name"
is "$(cat "$work/out dir/kept" 2>/dev/null)" kept "what it wrote to \$OUT survives"
is "$(ls "$work")" $'kernel\nout dir\nscript' "and nothing else"

# ---- both streams, whole
"$run" -t one -c 'seq 200000; echo complaint >&2; (sleep 100 &)' >"$work/stdout" 2>"$work/stderr"
is "$?" 0 "success"
ok "standard output is whole and holds nothing else" cmp -s "$work/stdout" <(seq 200000)
is "$(cat "$work/stderr")" complaint "standard error is kept apart"

# ---- ends that are not the script's
status_is 124 "the deadline" "$run" -t one -T 6 -c 'echo before; sleep 1000'
is "$output" before "what came before it is shown"
like "$errors" "no end after 6 s" "the reason is given"
like "$errors" '^\| init: running the script' "and the console log"
status_is 126 "a machine that dies" "$run" -t one -c 'echo c >/proc/sysrq-trigger'
like "$errors" "Kernel panic" "the console log shows why"

# ---- killed from outside
"$run" -t one -c 'echo up; sleep 1000' >"$work/stdout" &
pid=$!
ok "a guest comes up" wait_for 120 grep -q up "$work/stdout"
machine=$(pgrep -P "$pid" qemu)
kill -TERM "$pid"
wait "$pid"
is "$?" 143 "SIGTERM ends the run"
not_ok "and its machine" kill -0 "$machine"
# its temporary directory cannot be removed by itself then
mkdir "$work/killed"
TMPDIR=$work/killed "$run" -t one -c 'echo up; sleep 1000' >"$work/stdout2" 2>/dev/null &
pid=$!
ok "a guest comes up" wait_for 120 grep -q up "$work/stdout2"
machine=$(pgrep -P "$pid" qemu)
{ kill -KILL "$pid" && wait "$pid"; } 2>/dev/null
machine_gone() { ! kill -0 "$machine" 2>/dev/null; }
ok "SIGKILL leaves no machine behind either" wait_for 20 machine_gone

# ---- the cache: a file that was cut short is noticed
mkdir -p "$work/cache/rdmadiag/guest"
entry=$(dirname "$("$here/kernel" | head -n 1)")
cp -r "$entry" "$work/cache/rdmadiag/guest/"
copy=$work/cache/rdmadiag/guest/$(basename "$entry")
is "$(XDG_CACHE_HOME=$work/cache "$here/kernel" | head -n 1)" "$copy/kernel" "a whole entry of the cache is taken"
truncate -s -1 "$copy/kernel"
# without apt-get nothing can be fetched in its place
mkdir "$work/bin"
for program in bash dirname cksum cut find sort sed head cmp mkdir flock touch env; do
	ln -s "$(command -v "$program")" "$work/bin/"
done
status_is 1 "one that was cut short is not" env PATH="$work/bin" XDG_CACHE_HOME="$work/cache" "$here/kernel"
like "$errors" "no apt" "but would be fetched again"
done_testing
