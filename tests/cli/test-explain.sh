#!/bin/bash
# SPDX-License-Identifier: MIT
# explain: every kind of code, what is not known, and what is no question; every finding that the sources can make is known.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
sources=$(dirname "$0")/../../lib

for query in wc:12 IBV_WC_RETRY_EXC_ERR vendor:mlx5:0x81 errno:RTR:110 errno:RTR:ETIMEDOUT event:CQ_ERR CQ_ERR \
	finding:gid-none counter:out_of_buffer out_of_buffer \
	layer:network network remote-device platform undetermined stage:landed wqe cqe stalled likely; do
	status_is 0 "$query is explained" "$RDMADIAG" explain "$query"
	like "$output" "source: ." "with a source"
done
status_is 0 "json" "$RDMADIAG" explain -j vendor:mlx5:0x81
is "$(python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["schema"], d["kind"], d["number"], d["context"], d["name"])' <<<"$output")" \
	"rdmadiag.explain vendor 129 mlx5 None" "a vendor code has a number and no name"
status_is 0 "a layer" "$RDMADIAG" explain platform
like "$output" '^layer platform$' "is named as one"
like "$output" 'PCIe, IOMMU, NUMA and interrupts' "with what is meant"
status_is 0 "the name of an observer" "$RDMADIAG" explain -j cqe
is "$(python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["kind"], d["name"], d["layers"])' <<<"$output")" \
	"stage completed ['platform', 'device', 'network', 'remote-device']" "is the stage that it sees, with the layers before it"
status_is 2 "a word of two kinds" "$RDMADIAG" explain none
like "$errors" "layer:none or confidence:none" "is told"
status_is 0 "with its kind" "$RDMADIAG" explain confidence:none
# Every layer, outcome and confidence that a verdict may have.
words=$("$RDMADIAG" schema probe | python3 -c '
import json, sys
verdict = json.load(sys.stdin)["$defs"]["verdict"]["properties"]
for kind in ("layer", "outcome", "confidence"):
    for word in verdict[kind]["enum"]:
        if word:
            print(f"{kind}:{word}")')
[ "$(wc -l <<<"$words")" -ge 19 ]; is $? 0 "the schema lists the words of a verdict"
for word in $words; do status_is 0 "$word" "$RDMADIAG" explain "$word"; done
status_is 0 "a finding" "$RDMADIAG" explain port-down
like "$output" '^  severity: warning; error where nobody switched it off' "with its severity, and when it is another one"
status_is 0 "another" "$RDMADIAG" explain provider-missing
like "$output" '^  severity: error$' "that is always an error"
status_is 3 "an unknown word" "$RDMADIAG" explain no-such-word
like "$errors" "explain --list has all" "says where all are listed"
status_is 3 "the middle of a name" "$RDMADIAG" explain flapp
like "$errors" "; is it finding:port-flapping\?$" "is told which has it"
status_is 3 "a word that many have" "$RDMADIAG" explain retry
like "$errors" "counter:rnr_nak_retry_err, .* …\?$" "five of them are told"
# A slip behind the kind is asked about as one of a bare word is.
while read -r typed meant; do
	status_is 3 "$typed, with a slip in it" "$RDMADIAG" explain "$typed"
	like "$errors" "; is it $meant\?$" "is asked about: $meant"
done <<END
wc:IBV_WC_RETRY_EXC wc:IBV_WC_RETRY_EXC_ERR
event:PORT_ER event:PORT_ERR
finding:gid-stal finding:gid-stale
counter:out_of_bufer counter:out_of_buffer
layer:netwrk layer:network
stage:complete stage:completed
outcome:stall outcome:stalled
confidence:likley confidence:likely
errno:reg:12 errno:ibv_reg_mr:12
END
while read -r typed meant; do
	status_is 2 "$typed, without a kind that is one" "$RDMADIAG" explain "$typed"
	like "$errors" "; is it $meant\?$" "is asked about: $meant"
done <<END
mlx5:0x81 vendor:mlx5:0x81
RTR:110 errno:RTR:110
findings:gid-stale finding:gid-stale
END
# What libibverbs calls a code stands in the logs of programs, and in gid --watch.
for text in "transport retry counter exceeded" "WC:Transport retry counter exceeded"; do
	status_is 0 "$text" "$RDMADIAG" explain "${text/WC/wc}"
	like "$output" '^wc 12 IBV_WC_RETRY_EXC_ERR$' "is the status"
done
for text in "port error" "event: port error" event:10; do
	status_is 0 "$text" "$RDMADIAG" explain "$text"
	like "$output" '^event 10 PORT_ERR$' "is the event"
done
status_is 3 "a line of a log" "$RDMADIAG" explain "NET/IB: Got completion from peer with status=12 opcode=129 len=0 vendor err 129"
like "$errors" "^rdmadiag: 'NET/IB: Got .*…' is .*; is it wc:IBV_WC_RETRY_EXC_ERR\?$" "asks whether it is that status"
status_is 3 "what the text names a code" "$RDMADIAG" explain "wc 12"
like "$errors" "; is it wc:12\?$" "is asked about"
status_is 3 "a line that has no code" "$RDMADIAG" explain "mlx5_core 0000:1b:00.0: Port module event: module 0, Cable unplugged"
like "$errors" "explain --list has all" "says where all are listed"
status_is 2 "a text without quotes" "$RDMADIAG" explain transport retry counter exceeded
like "$errors" "stands in quotes" "needs them"
status_is 3 "a code of another vendor is not known" "$RDMADIAG" explain vendor:irdma:0x81
status_is 3 "and the document says so" "$RDMADIAG" explain -j vendor:irdma:0x81
is "$(python3 -c 'import json,sys; d=json.loads(sys.stdin.readline()); print(d["meaning"], len(d["not_collected"]))' <<<"$output")" \
	"None 1" "null with its reason"
for query in 12 ENOMEM nothing:12 errno:RTR vendor:mlx5; do
	status_is 2 "$query is no question" "$RDMADIAG" explain "$query"
done
for kind in $("$RDMADIAG" explain --list | cut -d: -f1 | sort -u); do
	for word in "$kind" "$kind:"; do
		status_is 2 "$word alone" "$RDMADIAG" explain "$word"
		like "$errors" "^rdmadiag explain: '$kind' is a kind: which one of them, as in $kind:[^ ]+[?] --list has all$" "asks which"
	done
	example=$(sed -n 's/.* as in \([^ ]*\)[?].*/\1/p' <<<"$errors")
	status_is 0 "what it names, $example" "$RDMADIAG" explain "$example"
done
status_is 2 "one code at a time" "$RDMADIAG" explain wc:1 wc:2
status_is 2 "one code is needed" "$RDMADIAG" explain

# What a finding is called stands in one literal behind the call that adds it.
mapfile -t ids < <(python3 - "$sources" <<'END'
import pathlib, re, sys
ids = set()
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.c")):
    for call in re.finditer(r"\b(?:report_finding|check_add)\(([^;]*?);", path.read_text(), re.S):
        ids.update(re.findall(r'"([a-z][a-z0-9]*(?:-[a-z0-9]+)+)"', call.group(1)))
print("\n".join(sorted(ids)))
END
)
[ "${#ids[@]}" -ge 10 ]; is $? 0 "findings were found in the sources"
unknown=
for id in "${ids[@]}"; do
	"$RDMADIAG" explain "finding:$id" >/dev/null 2>&1 || unknown+=" $id"
done
is "$unknown" "" "every finding can be explained"

# What the list offers is explained, in three sentences at most and with a source.
out=$(mktemp)
trap 'rm -f "$out"' EXIT
listed=$("$RDMADIAG" explain --list)
wrong=''
while read -r query; do
	"$RDMADIAG" explain -j "$query" >"$out" 2>/dev/null || wrong+=" $query"
	python3 -c '
import json, re, sys
document = json.load(open(sys.argv[1]))
text = " ".join(part for part in (document["meaning"], document["next"]) if part)
sys.exit(not document["source"] or len(re.findall(r"[.?!](?= |$)", re.sub(r"\b(e\.g|i\.e)\.", "", text))) > 4)' "$out" || wrong+=" $query(text)"
done <<<"$listed"
is "$wrong" "" "everything that --list offers"
here=$(dirname "$(readlink -f "$0")")
ok "rdmadiag-findings(7) is what the table says" cmp <("$here/../../tools/findings-manual" "$RDMADIAG") "$here/../../man/rdmadiag-findings.7"
status_is 2 "--list goes alone" "$RDMADIAG" explain --list wc:12
like "$("$RDMADIAG" explain finding:netem-on-roce-netdev)" "tc -s qdisc show" "where to look at netem is told"
like "$("$RDMADIAG" explain finding:roce-port-filtered)" "nft -a list ruleset" "and at packet filters"
done_testing
