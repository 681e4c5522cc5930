#!/bin/bash
# SPDX-License-Identifier: MIT
# compare: what differs, who is the odd one out, and what is no document.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# document HOST FIRMWARE GUID [EXTRA-DEVICE]
document() {
	cat <<-END
	{"schema":"rdmadiag.topo","version":1,"host":{"hostname":"$1","kernel":"6.1"},"devices":[
	 {"name":"mlx5_10","fw_version":"20.39","node_guid":"1:$3","ports":[]},
	 {"name":"mlx5_2","fw_version":"$2","node_guid":"2:$3","ports":[{"number":1,"state":"ACTIVE","active_mtu":4096}]}${4-}],
	 "findings":[],"not_collected":[]}
	END
}
document a 20.39 x >"$dir/a.json"
document b 20.39 y >"$dir/b.json"
document c 20.35 z >"$dir/c.json"

status_is 0 "GUIDs and host names are no difference" "$RDMADIAG" compare "$dir/a.json" "$dir/b.json"
like "$output" "^2 documents, no difference$" "and it says so"
status_is 1 "a different firmware is one" "$RDMADIAG" compare "$dir/a.json" "$dir/b.json" "$dir/c.json"
like "$output" '^devices\[mlx5_2\]\.fw_version$' "named by device, not by position"
like "$output" '"20.39" +a, b$' "the values of the many"
like "$output" '"20.35" +c   <- odd one out$' "and of the odd one"
like "$output" '^c is the odd one out in 1 of them$' "which is named"
status_is 1 "with --json too" "$RDMADIAG" compare --json "$dir/a.json" "$dir/b.json" "$dir/c.json"
is "$(python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["schema"], d["odd_one_out"], len(d["differences"]))' <<<"$output")" \
	"rdmadiag.compare c 1" "the document says the same"
document d 20.39 w ',{"name":"mlx5_3","fw_version":"1","pci":{"numa_node":0,"address":"0000:17:00.0"},"ports":[{"number":1,"state":"DOWN"}]}' >"$dir/d.json"
status_is 1 "a device too many is a difference" "$RDMADIAG" compare "$dir/a.json" "$dir/b.json" "$dir/d.json"
like "$output" '^devices\[mlx5_3\]$' "named once as a whole"
like "$output" '\(not there\) +a, b$' "missing in the others"
is "$(grep -c mlx5_3 <<<"$output")" 1 "and none of its fields once more"
like "$output" '^    \(there: 0000:17:00.0\) +d   <- odd one out$' "what can be told of it is"
document f 20.39 w ',{"name":"mlx5_3","fw_version":"2","pci":null,"ports":[]}' >"$dir/f.json"
status_is 1 "two that have it" "$RDMADIAG" compare "$dir/a.json" "$dir/d.json" "$dir/f.json"
is "$(grep -A2 '^devices.mlx5_3..fw_version' <<<"$output" | tr -s ' \n' ' ')" 'devices[mlx5_3].fw_version "1" d "2" f ' \
	"are compared with each other"
like "$output" '^devices\[mlx5_3\].pci$' "an object that one knows nothing of is a difference"
unlike "$output" 'pci.numa_node' "its members are not"
like "$output" '^devices\[mlx5_3\].ports\[1\]$' "a port too many is another"
like "$output" '^    \(there: state DOWN\) +d$' "which says its state"

# renamed HOST FIRST SECOND: the devices at the two addresses, in their order
renamed() {
	cat <<-END
	{"schema":"rdmadiag.topo","version":1,"host":{"hostname":"$1","kernel":"6.1"},"devices":[
	 {"name":"$2","pci":{"address":"0000:17:00.0"},"ports":[]},{"name":"$3","pci":{"address":"0000:97:00.0"},"ports":[]}],
	 "findings":[],"not_collected":[]}
	END
}
renamed r1 mlx5_0 mlx5_1 >"$dir/r1.json"
renamed r2 mlx5_0 mlx5_1 >"$dir/r2.json"
renamed r3 mlx5_1 mlx5_0 >"$dir/r3.json"
status_is 1 "devices that were found in another order" "$RDMADIAG" compare "$dir/r1.json" "$dir/r2.json" "$dir/r3.json"
like "$output" '^Devices at the same PCI address have other names:$' "are told by their addresses"
like "$output" '^    0000:97:00\.0 is mlx5_0 on r3, mlx5_1 on r1, r2$' "the one"
like "$output" '^    0000:17:00\.0 is mlx5_1 on r3, mlx5_0 on r1, r2$' "and the other"
renamed r4 mlx5_0 mlx5_1 | sed 's/97:00/98:00/' >"$dir/r4.json"
status_is 1 "a device that sits elsewhere" "$RDMADIAG" compare "$dir/r1.json" "$dir/r2.json" "$dir/r4.json"
unlike "$output" 'other names' "has no other name"

# a rack of twelve, eleven of them alike
for node in 01 02 03 04 05 06 07 08 09 10 11; do document "node$node" 20.39 "$node" >"$dir/rack$node.json"; done
document node12 20.35 12 >"$dir/rack12.json"
status_is 1 "a rack" "$RDMADIAG" compare "$dir"/rack*.json
like "$output" '^    "20\.39" +node01, node02, node03 and 8 more$' "of many that are alike three stand for all"
like "$output" '^    "20\.35" +node12   <- odd one out$' "who differs is named"
is "$("$RDMADIAG" compare -j "$dir"/rack*.json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["differences"][0]["values"][0]["documents"]))')" \
	11 "the document has all names"
# host names that do not tell them apart: files do, without the directories that all have
mkdir -p "$dir/x/one" "$dir/x/two"
document same 20.39 x >"$dir/x/one/n.json"
document same 20.35 y >"$dir/x/two/n.json"
status_is 1 "two of one host" "$RDMADIAG" compare "$dir/x/one/n.json" "$dir/x/two/n.json"
like "$output" '^    "20\.35" +two/n\.json$' "are called by what differs in their files' names"

status_is 2 "one document is wrong usage" "$RDMADIAG" compare "$dir/a.json"
status_is 3 "a file that is not there" "$RDMADIAG" compare "$dir/a.json" "$dir/none.json"
like "$errors" "none.json: No such file" "is named"
echo '{"schema":"rdmadiag.gid","version":1}' >"$dir/gid.json"
status_is 3 "documents of two kinds" "$RDMADIAG" compare "$dir/a.json" "$dir/gid.json"
like "$errors" "gid.json is rdmadiag.gid version 1, but .*a.json is rdmadiag.topo" "are told apart"
echo '{"a":1' >"$dir/cut.json"
# as under cron: the first file that is opened gets descriptor 0
status_is 1 "without standard input" sh -c '"$@" <&-' sh "$RDMADIAG" compare "$dir/a.json" "$dir/c.json"
status_is 3 "a document cut short" "$RDMADIAG" compare "$dir/a.json" "$dir/cut.json"
like "$errors" "cut.json: not valid JSON" "is named"
echo '{}' >"$dir/other.json"
status_is 3 "JSON of somebody else" "$RDMADIAG" compare "$dir/other.json" "$dir/a.json"
like "$errors" 'other.json: not a document of rdmadiag' "is named"
document "$(printf 'e\\u001b[2J')" 20.31 v >"$dir/e.json"
"$RDMADIAG" compare "$dir/a.json" "$dir/b.json" "$dir/e.json" >"$dir/out"
unlike "$(cat -v "$dir/out")" '\^\[' "no control character of a document reaches the terminal"
# Lists, names and paths as they may be.
long=$(printf 'x%.0s' $(seq 600))
gid_document() { # HOST ENTRIES [MORE]
	echo "{\"schema\":\"rdmadiag.gid\",\"version\":1,\"host\":{\"hostname\":\"$1\"},\"entries\":$2${3-}}" >"$dir/$1.json"
}
gid_document p '[]'
gid_document q 'null'
gid_document r "[{\"name\":\"$long\",\"value\":1}]"
gid_document s "[{\"name\":\"$long\",\"value\":2}]"
gid_document t '[{"name":"a","value":1},{"name":"a","value":2}]'
gid_document u '[{"name":"a","value":1},{"name":"a","value":3}]'
gid_document v '[]' ',"path":"/dev/infiniband/uverbs0"'
gid_document w '[]' ',"path":"/dev/infiniband/uverbs1"'
gid_document x '[]' ',"findings":[{"id":"i","subject":"net:a","message":"192.0.2.1","evidence":[{"name":"n","value":"1"}]}]'
gid_document y '[]' ',"findings":[{"id":"i","subject":"net:a","message":"192.0.2.2","evidence":[{"name":"n","value":"2"}]}]'
status_is 1 "an empty list is not an unknown one" "$RDMADIAG" compare "$dir/p.json" "$dir/q.json"
like "$output" '^entries$' "and it is named"
status_is 1 "an element too many" "$RDMADIAG" compare "$dir/p.json" "$dir/r.json"
unlike "$output" '^entries$' "is not one more difference of the list"
status_is 1 "a name of 600 letters" "$RDMADIAG" compare "$dir/r.json" "$dir/s.json"
like "$output" "^entries\\[$long\\]\\.value\$" "is compared and shown"
status_is 1 "two elements of one name" "$RDMADIAG" compare "$dir/t.json" "$dir/u.json"
like "$output" '^entries\[a#2\]\.value$' "are told apart"
status_is 0 "and compare equal with themselves" "$RDMADIAG" compare "$dir/t.json" "$dir/t.json"
status_is 1 "paths" "$RDMADIAG" compare "$dir/v.json" "$dir/w.json"
like "$output" '"/dev/infiniband/uverbs0"' "have plain slashes"
status_is 0 "one finding on two nodes speaks of two addresses" "$RDMADIAG" compare "$dir/x.json" "$dir/y.json"
# What a document does not know of an element does not name it: the next key does.
gid_document unnamed "[{\"id\":\"i\",\"subject\":null,\"name\":\"a\",\"value\":1},{\"device\":\"d\",\"port\":null,\"path\":\"/p\",\"value\":1}]"
gid_document unnamed2 "[{\"device\":\"d\",\"port\":null,\"path\":\"/p\",\"value\":2},{\"id\":\"i\",\"subject\":null,\"name\":\"a\",\"value\":2}]"
status_is 1 "elements whose first keys are null" "$RDMADIAG" compare "$dir/unnamed.json" "$dir/unnamed2.json"
is "$(grep '^[a-z]' <<<"$output" | sort | tr '\n' ' ')" 'entries[/p].value entries[a].value ' "are found by the keys that they have"

# A hundred nodes.
for i in $(seq 100); do
	document "n$i" "$([ "$i" = 42 ] && echo 20.35 || echo 20.39)" "$i" >"$dir/n$i.json"
done
status_is 1 "one of a hundred" "$RDMADIAG" compare "$dir"/n[0-9]*.json
like "$output" '"20.35" +n42   <- odd one out$' "is found"
like "$output" '^n42 is the odd one out in 1 of them$' "and named"

# The index that each node is to use, without --explain.
"$(dirname "$0")/../machines/make-snapshot" g32-line-node-a "$dir/g32-line-node-a" >/dev/null
"$RDMADIAG" gid -j --from "$dir/g32-line-node-a" >"$dir/g32-line-node-a.json"
is "$(python3 -c 'import json,sys; print([(c["device"], c["consumer"], c["index"]) for c in json.load(open(sys.argv[1]))["choices"]])' \
	"$dir/g32-line-node-a.json")" "[('mlx5_0', 'rdmadiag', 3)]" "gid has the index to use"
sed 's/"consumer":"rdmadiag","index":3/"consumer":"rdmadiag","index":5/; s/192.0.2.3 on/192.0.2.4 on/' "$dir/g32-line-node-a.json" >"$dir/other.json"
status_is 1 "another index" "$RDMADIAG" compare "$dir/g32-line-node-a.json" "$dir/other.json"
like "$output" '^choices\[mlx5_0/1/rdmadiag\].index$' "is shown"
unlike "$output" 'reason' "its reason, which speaks of addresses, is not"

# What belongs to a device that is not there is no difference of its own.
tables_document() { # HOST MORE-TABLES ENTRIES
	echo '{"schema":"rdmadiag.gid","version":1,"host":{"hostname":"'"$1"'"},"tables":[{"device":"mlx5_0","port":1}'"$2],\"entries\":[$3]}" >"$dir/$1.json"
}
tables_document less '' ''
tables_document more ',{"device":"mlx5_1","port":1,"used":1}' '{"device":"mlx5_1","port":1,"index":0,"type":"RoCE v2"}'
status_is 1 "a port whose table is not there" "$RDMADIAG" compare "$dir/less.json" "$dir/more.json"
is "$(grep '^[a-z]' <<<"$output")" 'tables[mlx5_1/1]' "is told once, without its entries"
tables_document both ',{"device":"mlx5_1","port":1,"used":1}' '{"device":"mlx5_1","port":1,"index":0,"type":"RoCE v2","netdev":"eth\u001b1","vlan":null,"ip":"192.0.2.1"}'
tables_document third ',{"device":"mlx5_1","port":1,"used":1}' '{"device":"mlx5_1","port":1,"index":0,"type":"RoCE v2","netdev":"eth2","vlan":null}'
tables_document none ',{"device":"mlx5_1","port":1,"used":1}' ''
status_is 1 "an entry that one lacks" "$RDMADIAG" compare "$dir/both.json" "$dir/none.json"
is "$(sed -n '/^entries/,/^$/p' <<<"$output" | cat -v)" 'entries[mlx5_1/1/0]
    (there: RoCE v2, netdev eth\u001b1) both
    (not there)                         none' "is called by its type and netdev, an empty VLAN is none, addresses are left out, and nothing controls a terminal"
status_is 1 "one that is of several netdevs" "$RDMADIAG" compare "$dir/both.json" "$dir/third.json" "$dir/none.json"
like "$output" '^    \(there: RoCE v2\) +both, third$' "is called by what all say of it"

# ---- snapshots and reports
machine() { "$(dirname "$0")/../machines/make-snapshot" "$1" "$2" >/dev/null; }
machine mtu-and-firmware "$dir/full"
python3 - "$(dirname "$0")/../machines/mtu-and-firmware.toml" "$dir/less.toml" <<'END'
import sys
text = open(sys.argv[1]).read()
device, after = text.index('[[rdma]]\nname = "mlx5_2"'), text.index('[[rdma]]\nname = "mlx5_bond_0"')
open(sys.argv[2], "w").write(text[:device] + text[after:])
END
machine "$dir/less.toml" "$dir/less"
tar -C "$dir" -cf "$dir/full.tar" full
"$RDMADIAG" report --from "$dir/less" -o "$dir/less.tar.xz" >/dev/null
status_is 0 "a snapshot and an archive of it" "$RDMADIAG" compare "$dir/full" "$dir/full.tar"
status_is 1 "an archive and a report" "$RDMADIAG" compare "$dir/full.tar" "$dir/less.tar.xz"
is "$(grep '^[a-z].*mlx5_2' <<<"$output")" $'devices[mlx5_2]\nfindings[active-mtu-above-netdev/mlx5_2/1]\nfindings[gid-link-local-only/mlx5_2/1]' \
	"the device is missing, once, and so are the findings of check and gid about it"
like "$output" '\(not there\) +.*less.tar.xz$' "the nodes are called by their files where host names are the same"
status_is 0 "an archive on standard input" sh -c '"$0" compare - "$1" <"$2"' "$RDMADIAG" "$dir/full" "$dir/full.tar"
status_is 1 "a report through a pipe" sh -c 'cat "$2" | "$0" compare "$1" -' "$RDMADIAG" "$dir/full" "$dir/less.tar.xz"
like "$output" '[(]not there[)] +-$' "which is called -"
status_is 0 "JSON on standard input" sh -c '"$0" compare "$1" - <"$1"' "$RDMADIAG" "$dir/a.json"
status_is 3 "half an archive there" sh -c 'head -c 3000 "$2" | "$0" compare "$1" -' "$RDMADIAG" "$dir/full" "$dir/less.tar.xz"
like "$errors" "^rdmadiag: standard input: not a snapshot, or a damaged one" "is called what it is"
status_is 3 "half a document there" sh -c 'head -c 30 "$1" | "$0" compare "$1" -' "$RDMADIAG" "$dir/a.json"
like "$errors" "^rdmadiag: standard input: not valid JSON" "is, too"
"$RDMADIAG" report --redact --from "$dir/full" -o "$dir/full-r.tar" >/dev/null
"$RDMADIAG" report --redact --from "$dir/less" -o "$dir/less-r.tar" >/dev/null
status_is 1 "redacted reports" "$RDMADIAG" compare "$dir/full-r.tar" "$dir/less-r.tar"
like "$output" '[(]not there[)] +less-r.tar$' "are called by their files, not by pseudonyms"
machine g32-line-node-a "$dir/a"
machine g32-line-node-b "$dir/b"
status_is 1 "two snapshots" "$RDMADIAG" compare "$dir/a" "$dir/b"
like "$output" '^choices\[mlx5_0/1/rdmadiag\].index$' "GID tables are compared as well"
"$RDMADIAG" gid -j --from "$dir/b" >"$dir/b-gid.json"
status_is 1 "a snapshot and a document" "$RDMADIAG" compare "$dir/a" "$dir/b-gid.json"
unlike "$output" '^(devices|numa_nodes)' "are compared as far as the document goes"
"$RDMADIAG" gid -j --from "$dir/a" >"$dir/a-gid.json"
status_is 0 "a snapshot and its own document" "$RDMADIAG" compare "$dir/a-gid.json" "$dir/a"
"$RDMADIAG" explain -j wc:12 >"$dir/explain.json"
status_is 3 "a snapshot and a document of another kind" "$RDMADIAG" compare "$dir/a" "$dir/explain.json"
like "$errors" "a is a snapshot or report: it compares with .* topo, gid and check, which .*explain.json is not" "is told"
status_is 3 "what is nothing of these" "$RDMADIAG" compare "$dir/a" "$0"
like "$errors" "test-compare.sh: not a snapshot" "is named"
status_is 3 "a directory of other things" "$RDMADIAG" compare "$dir/a" /usr
like "$errors" "/usr: not a snapshot: there is neither sys/ nor host.json" "is named"
head -c 2000 "$dir/less.tar.xz" >"$dir/cut.tar.xz"
status_is 3 "a damaged archive" "$RDMADIAG" compare "$dir/a" "$dir/cut.tar.xz"
like "$errors" "cut.tar.xz: not a snapshot, or a damaged one" "is named"
mkdir "$dir/tmp"
TMPDIR=$dir/tmp "$RDMADIAG" compare "$dir/a" "$dir/b" "$dir/cut.tar.xz" >/dev/null 2>&1
is "$(ls -A "$dir/tmp")" "" "nothing stays in TMPDIR"
# as editors and shells elsewhere write it, or packed
"$RDMADIAG" topo -j --from "$dir/full" >"$dir/plain.json"
{ printf '\xef\xbb\xbf'; cat "$dir/plain.json"; } >"$dir/marked.json"
status_is 0 "a document with a byte order mark" "$RDMADIAG" compare "$dir/plain.json" "$dir/marked.json"
python3 -c 'import sys; print(open(sys.argv[1]).read(), file=open(sys.argv[2], "w", encoding="utf-16"))' "$dir/plain.json" "$dir/wide.json"
status_is 3 "one in UTF-16" "$RDMADIAG" compare "$dir/plain.json" "$dir/wide.json"
like "$errors" "wide.json: not valid JSON: it is UTF-16" "is called so"
gzip <"$dir/plain.json" >"$dir/packed.json"
status_is 3 "one that is packed" "$RDMADIAG" compare "$dir/plain.json" "$dir/packed.json"
like "$errors" "packed.json: not valid JSON: it is packed" "is called so"
# a document that could not be made would differ from all others
for size in 48 52 56 60; do
	prlimit --as=${size}000000 "$RDMADIAG" compare "$dir/full" "$dir/full" >"$dir/short" 2>&1 || ! grep '^devices' "$dir/short" || break
done
ok "where memory is short, nothing is told of devices" [ "$size" = 60 ]
status_is 0 "no directory for temporary files is needed" env TMPDIR="$dir/missing" "$RDMADIAG" compare "$dir/full" "$dir/full"
status_is 3 "but for an archive on standard input" sh -c 'TMPDIR="$1" exec "$0" compare - "$2" <"$3"' \
	"$RDMADIAG" "$dir/missing" "$dir/a" "$dir/less.tar.xz"
like "$errors" "/missing \(TMPDIR\): making a temporary directory: No such file" "which is told with its name"

# ---- quality of service
lossless() { # HOSTNAME DCB TOS FRAMES
	cat >"$dir/$1.toml" <<END
[host]
hostname = "$1"
[[rdma]]
name = "mlx5_0"
pci = "0000:18:00.0"
netdev = "rail0"
default_tos = $3
[[net]]
name = "rail0"
pci = "0000:18:00.0"
addresses = ["10.1.0.1/24"]
dcb = { $2 }
pause = { rx = 0, tx = 0, rx_frames = $4 }
carrier_down = $4
END
	machine "$dir/$1.toml" "$dir/$1"
}
lossless one 'pfc = [3], dscp = { 26 = 3 }' 106 5
lossless two 'pfc = [3], dscp = { 26 = 3 }' 106 9
lossless three 'pfc = []' 0 7
status_is 0 "the same settings" "$RDMADIAG" compare "$dir/one" "$dir/two"
status_is 1 "flow control that one of three lacks" "$RDMADIAG" compare "$dir/one" "$dir/two" "$dir/three"
like "$output" '^health.netdevs\[rail0\].qos.priorities\[3\].pfc' "priorities are compared"
like "$output" '^health.netdevs\[rail0\].qos.dscp.26' "the DSCP map, too"
like "$output" '^health.ports\[mlx5_0/1\].default_tos' "and the type of service"
unlike "$output" 'frames_received|carrier_' "what was counted is not"

mkfifo "$dir/fifo"
status_is 3 "a FIFO" timeout 10 "$RDMADIAG" compare "$dir/a.json" "$dir/fifo"
like "$errors" 'fifo: not a regular file' "does not block"
done_testing
