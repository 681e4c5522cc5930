#!/bin/bash
# SPDX-License-Identifier: MIT
# report: where the archive goes, what is in it, and that nothing is left behind.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$here/../machines/make-snapshot" several-surprises "$dir/machine" || exit 1
run_captured true # what it keeps for all tests lies elsewhere
export TMPDIR=$dir/tmp
mkdir "$TMPDIR" "$dir/none"
cd "$dir" || exit 1

is_archive() { tar -tf "$1" >/dev/null; }

status_is 2 "neither -o nor --stdout" "$RDMADIAG" report
like "$errors" ": -o FILE or --stdout is needed$" "says what is needed"
status_is 2 "both" "$RDMADIAG" report -o a.tar --stdout
like "$errors" ": -o a.tar and --stdout: one of them$" "says that"
status_is 2 "JSON has no place beside the archive" "$RDMADIAG" report -j --stdout
status_is 2 "a snapshot cannot be probed" "$RDMADIAG" report --probe -o a.tar --from machine
status_is 2 "no operand" "$RDMADIAG" report a.tar
for name in q.zip Q.ZIP report.json a.txt; do
	status_is 2 "$name is no name of a tar" "$RDMADIAG" report --from machine -o "$name"
	like "$errors" "-o $name: .* [.]tar[.]gz, .*[.]tar" "and those that are, are named"
done
is "$(ls)" "$(printf 'machine\nnone\ntmp')" "nothing is written"

magic() { head -c 6 "$1" | od -An -tx1 | tr -d ' \n'; }
for suffix in tar.gz:1f8b tgz:1f8b tar.xz:fd377a tar.zst:28b52f tar.bz2:425a68 gz:1f8b xz:fd377a TAR.XZ:fd377a bin:1f8b; do
	status_is 0 "a report named .${suffix%:*}" "$RDMADIAG" report --from machine -o "a.${suffix%:*}"
	like "$(magic "a.${suffix%:*}")" "^${suffix#*:}" "is packed accordingly"
	is "$("$RDMADIAG" topo --from "a.${suffix%:*}")" "$("$RDMADIAG" topo --from machine)" "and replays"
done
like "$output" "^a.bin: report of .* with [0-9]* RDMA devices" "it says what it is"
like "$output" "^left out: kernel messages" "and what is left out"
like "$output" "--redact replaces" "and that it names the node"
is "$(stat -c %a a.tar.gz)" 600 "for its owner only"
echo "an earlier one, which others may read" >again.tar.gz
chmod 644 again.tar.gz
ln again.tar.gz earlier
status_is 0 "an earlier report of that name" "$RDMADIAG" report --from machine -o again.tar.gz
ok "is replaced" is_archive again.tar.gz
is "$(stat -c %a again.tar.gz)" 600 "by one for its owner only"
is "$(cat earlier)" "an earlier one, which others may read" "and not written into"
rm again.tar.gz earlier
"$RDMADIAG" report --from machine --stdout >b.tar.gz
ok "standard output gets the same" cmp <(gzip -dc a.tar.gz | tar -tf - | sort) <(gzip -dc b.tar.gz | tar -tf - | sort)
tar -xf a.tar.gz
for name in topo gid check; do
	ok "$name.txt" test -s "rdmadiag-report/report/$name.txt"
	ok "$name.json is valid" "$here/../schema/validate" "$RDMADIAG" "rdmadiag-report/report/$name.json"
done
ok "report.json is valid" "$here/../schema/validate" "$RDMADIAG" rdmadiag-report/report/report.json
like "$(cat rdmadiag-report/report/report.json)" "\"rdmadiag\": \"$(cat "$here/../../VERSION")\"" "it has the version"
versions() { python3 -c 'import json,sys; v=json.load(open(sys.argv[1]))["versions"]; print([v[k] for k in ("kernel","distribution","libibverbs","rdma_core")])' "$1"; }
is "$(versions rdmadiag-report/report/report.json)" "['6.1.0', None, None, None]" "and nothing of the machine that made it from a snapshot"
unexplained() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); told=[m["what"] for m in d["not_collected"]]; print([k for k,v in d["versions"].items() if (v is None) != (k in told)])' "$1"; }
is "$(unexplained rdmadiag-report/report/report.json)" "[]" "what is not known of them has a reason each"
ids() { python3 -c 'import json,sys; print(sorted((f["id"], f["subject"]) for f in json.load(open(sys.argv[1]))["findings"]))' "$1"; }
is "$(ids rdmadiag-report/report/report.json)" "$(ids rdmadiag-report/report/check.json)" "it has the findings of check"
like "$(ids rdmadiag-report/report/report.json)" "bond-member-in-wrong-aggregator" "which are some"
ok "README.txt" grep -q -- "--from" rdmadiag-report/report/README.txt

# ---- a report of a report has what only the first could collect
echo "mlx5_core 0000:17:00.0: message of 192.0.2.77" >rdmadiag-report/report/kernel.log
"$RDMADIAG" probe -p --judge "$here/../evidence/$(cd "$here/../evidence" && printf '%s\n' *.json | head -n 1)" >rdmadiag-report/report/probe.json
tar -czf again.tar.gz rdmadiag-report
sed -i 's/"distribution": null/"distribution": "Old Linux 7"/; s/"kernel": "6.1.0"/"kernel": "5.4.0-x"/; s/"redacted": false/"redacted": true/' rdmadiag-report/report/report.json
tar -czf again.tar.gz rdmadiag-report
status_is 0 "a report of a report" "$RDMADIAG" report --from again.tar.gz -o second.tar.gz
unlike "$output" "left out: (kernel messages|a probe)" "leaves out neither kernel messages nor probe"
mkdir second third
tar -xf second.tar.gz -C second
like "$output" "identifiers replaced" "says that what it was made from is redacted"
unlike "$output" "--redact replaces them" "and not that it holds all names"
is "$(unexplained second/rdmadiag-report/report/report.json)" "[]" "what is not known has a reason there"
is "$(versions second/rdmadiag-report/report/report.json)" "['5.4.0-x', 'Old Linux 7', None, None]" "the versions are those of the earlier one"
ok "kernel.log is the same" cmp {rdmadiag-report,second/rdmadiag-report}/report/kernel.log
ok "probe.json is the same" cmp {rdmadiag-report,second/rdmadiag-report}/report/probe.json
like "$(cat second/rdmadiag-report/report/probe.txt)" "^Verdict: " "and its text is there"
is "$("$RDMADIAG" probe --from second.tar.gz)" "$(cat second/rdmadiag-report/report/probe.txt)" "probe --from shows it again"
status_is 3 "probe --from a snapshot without a probe" "$RDMADIAG" probe -j --from machine
like "$errors" "machine: holds no probe" "says so"
like "$output" '"schema":"rdmadiag.probe"' "and prints a document"
ok "its report.json is valid" "$here/../schema/validate" "$RDMADIAG" second/rdmadiag-report/report/report.json
"$RDMADIAG" report --redact --from again.tar.gz -o third.tar.gz >/dev/null
tar -xf third.tar.gz -C third
like "$(cat third/rdmadiag-report/report/kernel.log)" "message of [0-9.]+$" "a redacted one has them too"
unlike "$(cat third/rdmadiag-report/report/kernel.log)" "192.0.2.77" "with pseudonyms"
ok "probe.json is valid" "$here/../schema/validate" "$RDMADIAG" third/rdmadiag-report/report/probe.json

# ---- what comes from an archive reaches no terminal as it is
cp -r machine evil
printf '{"hostname":"a\\u001b[2Jb"}' >evil/host.json
mkdir evil/report
printf '{"evidence":{"local":{"device":"\\u001b[31mmlx5_0","port":1}},"request":{}}' >evil/report/probe.json
status_is 0 "a report of a host with a strange name" "$RDMADIAG" report --from evil -o evil.tar
like "$output" "^evil.tar: report of a[?].2Jb with" "its control characters are not printed"
like "$output" "^probe of [?].31mmlx5_0/1: " "nor those of a probe's device"
unlike "$output" $'\x1b' "none is"

# ---- files that cannot be, and files that are there
echo before >there.tar.gz
ln -s there.tar.gz link.tar.gz
status_is 3 "a link is not replaced" "$RDMADIAG" report --from machine -o link.tar.gz
like "$errors" "link.tar.gz: a symbolic link, which is neither followed nor replaced$" "and is named as what it is"
status_is 3 "nor is a directory" "$RDMADIAG" report --from machine -o tmp
like "$errors" "tmp: not a regular file$" "which is named too"
is "$(cat there.tar.gz)" before "what it leads to stays"
status_is 3 "a directory that is not there" "$RDMADIAG" report --from machine -o nowhere/a.tar.gz
like "$errors" "nowhere/a.tar.gz: No such file" "is named"
status_is 3 "a snapshot that is not there" "$RDMADIAG" report --from missing -o there.tar.gz
like "$errors" "missing: No such file" "is named"
is "$(cat there.tar.gz)" before "what was there stays"
status_is 0 "a file is replaced" "$RDMADIAG" report --from machine -o there.tar.gz
ok "by an archive" is_archive there.tar.gz
status_is 3 "no place for temporary files" env TMPDIR="$dir/missing" "$RDMADIAG" report --from machine -o c.tar.gz
like "$errors" "missing \(TMPDIR\): making a temporary directory: No such file" "is named"
# a container with a read-only root; the program may lie below /tmp itself
without_tmp='exec 8<"$0"; mount -t tmpfs -o ro tmpfs /tmp || exit 77; unset TMPDIR; exec /proc/self/fd/8 report --from machine --stdout'
unshare -m sh -c "$without_tmp" "$RDMADIAG" >elsewhere.tar.gz 2>"$dir/errors"
case $? in
77 | 1) skip "a /tmp that cannot be written to" "no mount namespace here" ;;
0) ok "a /tmp that cannot be written to: another directory is taken" is_archive elsewhere.tar.gz ;;
*) fail "a /tmp that cannot be written to: $(<"$dir/errors")" ;;
esac
if [ -n "${RDMADIAG_VALGRIND-}${RDMADIAG_SANITIZED-}" ]; then
	skip "a small stack" "what watches the program needs more"
else
	status_is 0 "a small stack" prlimit --stack=98304 "$RDMADIAG" report --from machine -o stack.tar.gz
fi
status_is 0 "a file system without modes" "$here/../deny-calls" fchmod "$RDMADIAG" report --from machine -o modes.tar.gz
ok "holds the report" is_archive modes.tar.gz
status_is 3 "a full disk" sh -c '"$1" report --from machine --stdout >/dev/full' - "$RDMADIAG"
status_is 0 "with -j there is a document" "$RDMADIAG" report -j --from machine -o d.tar.gz --redact
echo "$output" >d.json
ok "and it is valid" "$here/../schema/validate" "$RDMADIAG" d.json
like "$output" '"redacted":true' "it says that it is redacted"

# ---- names of hosts: none stays, whatever it looks like, and no name hinders
for name in node1 a gpu-07.rack3.example.net mlx5_0 "x y" günther "$(printf 'x%.0s' {1..64})" "$(printf 'y%.0s' {1..70})" \
	"$(printf 'z%.0s' {1..300})"; do
	rm -rf named named.tar.gz
	cp -r machine named.d
	sed -i "s/\"hostname\": *\"[^\"]*\"/\"hostname\": \"$name\"/" named.d/host.json
	status_is 0 "a host called ${name:0:30}" "$RDMADIAG" report --redact --from named.d -o named.tar.gz
	mkdir named && tar -xf named.tar.gz -C named
	unlike "$(cat named/rdmadiag-report/host.json)" "\"$name\"" "is not called that in its report"
	rm -rf named.d
done
for name in localhost ""; do
	cp -r machine named.d
	sed -i "s/\"hostname\": *\"[^\"]*\"/\"hostname\": \"$name\"/" named.d/host.json
	status_is 0 "a host called \"$name\", which names nobody" "$RDMADIAG" report --redact --from named.d -o named.tar.gz
	like "$(tar -xOf named.tar.gz rdmadiag-report/host.json)" "\"hostname\": *\"$name\"" "stays that"
	rm -rf named.d named.tar.gz
done

# ---- a redacted report of a report, and a node without devices
status_is 0 "a report can be redacted later" "$RDMADIAG" report --from a.tar.gz --redact -o e.tar.gz
for command in topo gid check "topo --matrix" "gid --explain"; do
	# word splitting is wanted
	# shellcheck disable=SC2086
	like "$("$RDMADIAG" $command --from e.tar.gz)" "^This report is redacted: .* are pseudonyms\.$" "$command: that names are pseudonyms is told"
	# shellcheck disable=SC2086
	unlike "$("$RDMADIAG" $command --from a.tar.gz)" "pseudonyms" "$command: not of one with the names as they are"
done
is "$("$RDMADIAG" check -j --from e.tar.gz | tail -c 2)" "}" "a document stays one"
unlike "$("$RDMADIAG" check --nagios --from e.tar.gz)" "pseudonyms" "nor is it told to monitoring"
is "$("$RDMADIAG" check -j --from e.tar.gz | grep -o '"id":"[^"]*"' | sort)" \
	"$("$RDMADIAG" check -j --from machine | grep -o '"id":"[^"]*"' | sort)" "with the same findings"
mkdir -p "$dir/none/sys/class" "$dir/none/proc"
status_is 3 "a node without RDMA devices" "$RDMADIAG" report --from none -o f.tar.gz
like "$errors" "no RDMA device" "says so"
ok "and has a report" is_archive f.tar.gz
is "$(ls -A "$TMPDIR")" "" "no temporary file is left"
is "$(find "$dir" -maxdepth 1 -name '*.tar.gz.*')" "" "nor beside the archives"
# ---- the slots of GID tables that hold nothing
"$here/../machines/make-snapshot" g22-two-of-256 "$dir/slots" >/dev/null
"$RDMADIAG" report --from "$dir/slots" -o "$dir/slots.tar" >/dev/null
is "$(tar tf "$dir/slots.tar" | grep -c '/gids/[0-9]')" 4 "only those that hold something are in the archive, of 512"
for command in "gid --all" "gid -j --all" "topo -j" "check -j"; do
	# shellcheck disable=SC2086
	is "$("$RDMADIAG" $command --from "$dir/slots.tar")" "$("$RDMADIAG" $command --from "$dir/slots")" "$command: the same"
done
is "$("$RDMADIAG" gid -j --from "$dir/slots.tar" | python3 -c 'import json, sys; print([(t["size"], t["used"]) for t in json.load(sys.stdin)["tables"]])')" \
	"[(256, 2), (256, 2)]" "and the tables have their sizes"
done_testing
