#!/bin/bash
# SPDX-License-Identifier: MIT
# capture and --from: what is replayed is what was seen, and mistakes are named.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The sysfs of a described machine stands for that of this host.
"$here/../machines/make-snapshot" t05-lag-2x400 "$dir/described" || exit 1
export SYSFS_PATH=$dir/described/sys
without_origin() { sed 's/"origin":"[a-z]*"//'; }

status_is 0 "a host is captured" "$RDMADIAG" capture "$dir/capture"
like "$output" "^$dir/capture: snapshot of .* with 1 RDMA devices" "and it says of what"
like "$output" "^left out: .*variables of the programs" "and what is not in it"
for command in "topo -j" "topo --no-verbs -j" "gid -j" "gid --all -j" "check -j"; do
	# shellcheck disable=SC2086
	live=$("$RDMADIAG" $command 2>&1 | without_origin)
	# shellcheck disable=SC2086
	is "$("$RDMADIAG" $command --from "$dir/capture" 2>&1 | without_origin)" "$live" "$command replays as it was live"
	like "$live" mlx5_bond_0 "and has the device"
done
is "$("$RDMADIAG" topo --from "$dir/capture")" "$("$RDMADIAG" topo)" "the text too"
# the usual filter of containers refuses get_mempolicy(2)
policy='{"what":"process.memory_policy","subject":"host","errno":1,"reason":"get_mempolicy: Operation not permitted"}'
refused=$("$here/../deny-calls" get_mempolicy "$RDMADIAG" topo -j 2>&1)
if [ $? -eq 77 ]; then
	skip "a memory policy that may not be asked for" "no system call can be refused here"
else
	like "$refused" '"memory_policy":null' "a memory policy that may not be asked for is unknown"
	like "$refused" "$policy" "and there is the reason"
	"$here/../deny-calls" get_mempolicy "$RDMADIAG" capture "$dir/refused" >/dev/null
	like "$("$RDMADIAG" topo -j --from "$dir/refused")" "$policy" "which a snapshot of that process holds too"
fi
unset SYSFS_PATH

for suffix in tar tar.gz tar.zst tar.xz; do
	(cd "$dir" && tar -caf "snapshot.$suffix" -C capture .)
	is "$("$RDMADIAG" topo -j --from "$dir/snapshot.$suffix")" "$("$RDMADIAG" topo -j --from "$dir/capture")" \
		"the same from a .$suffix"
done
# a kernel before 5.6, and the usual filter of older containers, have no openat2(2)
status_is 0 "without openat2" "$here/../deny-calls" openat2 "$RDMADIAG" topo -j --from "$dir/capture"
is "$output" "$("$RDMADIAG" topo -j --from "$dir/capture")" "the same is read"
# what only links tell: to which function a VF belongs
# Linux before 5.3 lists the CPUs of a package in another file; where neither is there, the package of each CPU tells.
"$here/../machines/make-snapshot" t21-nodes-cross-packages "$dir/packages" || exit 1
"$here/../machines/make-snapshot" hgx-eight-gpus "$dir/gpus" || exit 1
for machine in packages gpus; do
	told=$("$RDMADIAG" topo -j --from "$dir/$machine")
	for list in "$dir/$machine"/sys/devices/system/cpu/cpu*/topology/package_cpus_list; do
		mv "$list" "${list%/*}/core_siblings_list"
	done
	is "$("$RDMADIAG" topo -j --from "$dir/$machine")" "$told" "$machine by the older list of each package's CPUs"
	rm "$dir/$machine"/sys/devices/system/cpu/cpu*/topology/core_siblings_list
	is "$("$RDMADIAG" topo -j --from "$dir/$machine")" "$told" "$machine without lists of each package's CPUs"
done

"$here/../machines/make-snapshot" t33-ib-vfs-without-guids "$dir/vfs" || exit 1
for told in 0:7 9:9; do # VFs are being made or taken away: those that are there count, and those that are announced
	echo ${told%:*} >"$(find "$dir/vfs" -name sriov_numvfs)"
	like "$("$RDMADIAG" topo -j --from "$dir/vfs")" "\"virtual_functions\":${told#*:}," "seven VFs, and sriov_numvfs ${told%:*}"
done
tar -cf "$dir/vfs.tar" -C "$dir" vfs
is "$("$RDMADIAG" topo -j --from "$dir/vfs.tar")" "$("$RDMADIAG" topo -j --from "$dir/vfs")" "links in an archive are whole"
(cd "$dir" && tar -caf one.tar.gz capture)
status_is 0 "an archive of the directory itself" "$RDMADIAG" topo --from "$dir/one.tar.gz"

mkdir -p "$dir/bare/class"
status_is 3 "a host without RDMA devices" env SYSFS_PATH="$dir/bare" "$RDMADIAG" capture -j "$dir/of-bare"
like "$output" '"what":"devices","subject":"host","errno":19' "has a snapshot that says so"
unlike "$(SYSFS_PATH=$dir/described/sys "$RDMADIAG" capture -j "$dir/again")" '"what":"devices"' "and none else does"
status_is 3 "a directory with something in it is not written" "$RDMADIAG" capture "$dir/capture"
like "$errors" "capture: .*new or empty directory" "and it says why"
status_is 3 "with -j there is a document" "$RDMADIAG" capture -j "$dir/capture"
like "$output" '"schema":"rdmadiag.capture"' "also then"
status_is 2 "no directory is wrong usage" "$RDMADIAG" capture
status_is 2 "a snapshot cannot be captured" "$RDMADIAG" capture --from "$dir/capture" "$dir/again"
status_is 3 "a directory that cannot be made" "$RDMADIAG" capture "$dir/none/there"
like "$errors" "none/there: No such file" "is named"

mistake() { # STATUS-IS-3 NAME SNAPSHOT PATTERN
	status_is 3 "$1" timeout 20 "$RDMADIAG" topo --from "$2"
	like "$errors" "$3" "is named"
}
mkdir "$dir/empty" "$dir/other"
touch "$dir/other/readme"
mkfifo "$dir/fifo" "$dir/described/sys/fifo"
head -c 3000 "$dir/snapshot.tar.gz" >"$dir/cut.tar.gz"
head -c 51200 "$dir/snapshot.tar" >"$dir/cut.tar"
: >"$dir/nothing.tar"
mistake "a path that is not there" "$dir/none" "none: No such file"
mistake "an empty directory" "$dir/empty" "empty: not a snapshot: the directory is empty"
truncate -s 8G "$dir/sparse"
mistake "eight GiB of zeros" "$dir/sparse" "sparse: not a snapshot: there is no member in it, .* zeros"
deep=deep/sys/$(printf '1/%.0s' {1..70})
mkdir -p "$dir/$deep"
tar -cf "$dir/deep.tar" -C "$dir/deep" sys
mistake "an archive with very deep directories" "$dir/deep.tar" "deep.tar: .*: directories more than 63 deep"
mistake "a directory of something else" "$dir/other" "other: not a snapshot: there is neither sys/ nor"
mistake "a FIFO" "$dir/fifo" "fifo: not a snapshot"
mistake "a FIFO inside" "$dir/described" "sys/fifo: is neither a file, a directory nor a link"
mistake "a file of something else" "$here/test-capture.sh" "test-capture.sh: not a snapshot"
mistake "an empty file" "$dir/nothing.tar" "nothing.tar: not a snapshot"
mistake "a compressed archive cut short" "$dir/cut.tar.gz" "cut.tar.gz: .*damaged"
mistake "an archive cut short" "$dir/cut.tar" "cut.tar: .*damaged"
status_is 3 "with -j there is a document" "$RDMADIAG" topo -j --from "$dir/none"
like "$output" '"schema":"rdmadiag.topo"' "also then"
# ---- damaged members are told; a document about a host that is not known does not pass for one
"$(dirname "$0")/../machines/make-snapshot" g22-two-of-256 "$dir/damaged"
echo '[]' >"$dir/damaged/host.json"
echo '{"cpus":3}' >"$dir/damaged/process.json"
echo '{' >"$dir/damaged/settings.json"
for command in topo check "gid --explain"; do
	# shellcheck disable=SC2086
	run_captured "$RDMADIAG" $command --from "$dir/damaged"
	like "$output" "  host of host: host.json: document: an object expected" "$command tells of a host.json of the wrong type"
done
like "$("$RDMADIAG" topo --from "$dir/damaged")" "  process of host: process.json: cpus: a string expected" "and of process.json"
like "$("$RDMADIAG" gid --explain --from "$dir/damaged")" "  choices of host: settings.json: not valid JSON" "and of settings.json"
done_testing
