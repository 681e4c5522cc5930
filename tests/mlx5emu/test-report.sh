#!/bin/bash
# SPDX-License-Identifier: MIT
# report --probe: each port that is up is probed, and what the probes say is told when the report is made, by check and
# probe of it, and by compare.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
[ -x "$RDMADIAG" ] || skip_all "no rdmadiag, build it first"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
three=(--device mlx5_0 --device mlx5_1:ports=2)
stall=(--fault "no-cqe,dev=mlx5_1,port=2")
stalled="stalled, layer undetermined [(]platform or device[)]: the device worked on the request"
emulated() { "$here/run" --netns "$@"; }
# ids ARCHIVE|"" [OPTION...] - findings about probes
ids() {
	"$RDMADIAG" check -j "$@" | python3 -c '
import json, sys
print(*sorted(f["id"] + ":" + f["subject"] for f in json.load(sys.stdin)["findings"] if f["id"].startswith("probe-")))'
}
export -f ids
export RDMADIAG

# ---- one of three ports stalls
status_is 0 "a report with probes" emulated "${three[@]}" "${stall[@]}" "$RDMADIAG" report --probe -o stall.tar
is "$(grep -c '^probe of ' <<<"$output")" 3 "a line for each port"
like "$(grep '^probe of ' <<<"$output" | head -n 1)" "^probe of mlx5_1/2: $stalled" "the worst first"
like "$output" "^probe of mlx5_0/1: ok: " "and those that work"
like "$output" "^probe of mlx5_1/1: ok: " "in their order"
is "$(tar -tf stall.tar | grep -o 'report/probe.*' | sort | tr '\n' ' ')" \
	"report/probe-2.json report/probe-2.txt report/probe-3.json report/probe-3.txt report/probe.json report/probe.txt " \
	"a document and a text of each"
tar -xf stall.tar
ok "report.json is valid" "$here/../schema/validate" "$RDMADIAG" rdmadiag-report/report/report.json
is "$(python3 -c 'import json; print([(p["member"], p["port"], p["outcome"], p["layer"]) for p in json.load(open("rdmadiag-report/report/report.json"))["probes"]])')" \
	"[('probe.json', 'mlx5_1/2', 'stalled', 'undetermined'), ('probe-2.json', 'mlx5_0/1', 'ok', 'none'), ('probe-3.json', 'mlx5_1/1', 'ok', 'none')]" \
	"which has them in short"
like "$(head -n 1 rdmadiag-report/report/probe.txt)" "^Verdict: stalled" "probe.txt is of the worst"

# ---- seen from the archive
status_is 1 "check of the report" "$RDMADIAG" check --from stall.tar
like "$output" "^error: mlx5_1/2: a loopback probe $stalled.* .probe-failed.$" "tells of the probe that stalled"
like "$output" "^    rdmadiag probe --from stall.tar -d mlx5_1/2 shows" "and how to see it"
like "$output" "^the report holds probes of 3 ports$" "and how many there are"
# shellcheck disable=SC2016
is "$(ids --from stall.tar)" "$(emulated "${three[@]}" "${stall[@]}" bash -c 'ids --probe')" "the findings are those of check --probe"
is "$(sed 's/--from REPORT/--from stall.tar/' rdmadiag-report/report/check.txt)" "$output" "and check.txt has them"
status_is 1 "probe --from shows the worst" "$RDMADIAG" probe --from stall.tar
like "$output" "^Verdict: stalled" "with its verdict"
like "$errors" "stall.tar holds 3 probes: mlx5_1/2 .stalled., mlx5_0/1 .ok., mlx5_1/1 .ok.; -d chooses, this is that of mlx5_1/2" \
	"and names the others"
like "$output" "^  - see whether another port has it too: rdmadiag probe -d mlx5_0/1$" "it says what to try next"
like "$output" "^  - and the way between both: rdmadiag probe -d mlx5_1/2 --target-device mlx5_0/1$" "and that"
emulated --no-devx --unprivileged "$RDMADIAG" report --probe -o blind.tar >/dev/null
is "$("$RDMADIAG" probe -p --from blind.tar | sed 's/"origin": "snapshot"/"origin": "live"/')" \
	"$(tar -xOf blind.tar rdmadiag-report/report/probe.json)" "its document is that of the live probe, with its host and what was not observed"
like "$(tar -xOf blind.tar rdmadiag-report/report/probe.json)" "needs CAP_NET_ADMIN" "which is something"
status_is 0 "-d takes another" "$RDMADIAG" probe --from stall.tar -d mlx5_1/1
like "$output" "^  local  mlx5_1/1 " "which it is"
is "$errors" "" "without more words"
status_is 3 "-d with one that is not there" "$RDMADIAG" probe --from stall.tar -d mlx5_2
like "$errors" "holds no probe of 'mlx5_2'; it has those of mlx5_1/2" "is told"
status_is 2 "check --probe needs a live host" "$RDMADIAG" check --probe --from stall.tar
like "$errors" "rdmadiag probe --from stall.tar shows them" "and says where the probes are"

# ---- again, and redacted
status_is 0 "a report of the report, redacted" "$RDMADIAG" report --redact --from stall.tar -o again.tar
is "$(ids --from again.tar)" "$(ids --from stall.tar)" "has all of them"
like "$output" "^probe of mlx5_1/2: $stalled" "and tells them"

# ---- beside one that works
status_is 0 "one that works" emulated "${three[@]}" "$RDMADIAG" report --probe -o fine.tar
is "$(grep -c ': ok: ' <<<"$output")" 3 "does so on all ports"
status_is 0 "compare with another that works" "$RDMADIAG" compare fine.tar fine.tar
status_is 1 "compare with the one that stalls" "$RDMADIAG" compare fine.tar stall.tar
like "$(tr -s ' \n' ' ' <<<"$output")" 'probes\[mlx5_1/2\].outcome "ok" fine.tar "stalled" stall.tar' "shows the outcomes"
like "$(tr -s ' \n' ' ' <<<"$output")" 'probes\[mlx5_1/2\].layer "none" fine.tar "undetermined" stall.tar' "and the layers"
unlike "$output" "mlx5_0|mlx5_1/1|_ns|findings" "and nothing else"
emulated "${three[@]}" "$RDMADIAG" report -o none.tar >/dev/null
status_is 1 "compare with one without probes" "$RDMADIAG" compare none.tar fine.tar
like "$output" '^probes\[mlx5_1/2\]$' "says that they are not there"

# ---- what is probed, and what is not
status_is 0 "check --probe counts" emulated "${three[@]}" "$RDMADIAG" check --probe
like "$output" "^probed: 3 ports that are up$" "the ports that are up"
status_is 0 "one whose probe cannot be made" emulated "${three[@]}" --fault command-fail:get_context:12,dev=mlx5_0 "$RDMADIAG" check --probe
like "$output" "^probed: 2 of 3 ports that are up$" "is not counted as probed"
like "$output" "^  probe of mlx5_0/1: set-up stopped at ibv_open_device: Cannot allocate memory" "and the reason is told"
status_is 0 "that answer of one device" emulated "${three[@]}" --fault command-fail:get_context:12,dev=mlx5_0 "$RDMADIAG" gid
like "$output" "^mlx5_0/1: 4 of 32 used" "is no lack of memory for all"
# shellcheck disable=SC2016
status_is 0 "a single port" emulated --fault no-cqe bash -c '"$RDMADIAG" report --probe --stdout >one.tar.gz'
like "$errors" "^probe of mlx5_0/1: stalled" "with --stdout the verdict goes to standard error"
unlike "$("$RDMADIAG" probe --from one.tar.gz)" "another port|target-device" "without another port none is recommended"
done_testing
