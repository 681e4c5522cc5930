#!/bin/bash
# SPDX-License-Identifier: MIT
# A listener under 10,000 connections of peers that are none: it stays as small as it is, and serves a good one afterwards.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
if [ ! -x "$RDMADIAG" ]; then
	echo "1..0 # SKIP no rdmadiag, build it first"
	exit 0
fi
port=$((20000 + $$ % 10000))
fabric=hostile$$

# listening: the process itself, once it says so
listening() {
	for _ in $(seq 200); do
		if grep -q '^rdmadiag: listening' "$scratch/errors" 2>/dev/null; then
			cut -d ' ' -f 1 "/proc/$runner/task/$runner/children"
			return
		fi
		sleep 0.05
	done
}

"$run" --fabric $fabric --host far --device mlx5_1 \
	"$RDMADIAG" probe -d mlx5_1 --listen=127.0.0.1:$port --keep -j >"$scratch/documents" 2>"$scratch/errors" &
runner=$!
listener=$(listening)
[ -n "$listener" ]
ok $? "a listener" "$scratch/errors"

timeout 100 python3 "$here/hostile_peers.py" "$listener" $port 10000 >"$scratch/flood" 2>&1
sed 's/^/# /' "$scratch/flood"
has "$scratch/flood" connections=10000
ok $? "10,000 connections of garbage, half messages and fields beyond all bounds" "$scratch/flood"
has "$scratch/flood" bounded=yes
ok $? "memory and descriptors are bounded" "$scratch/flood"
has "$scratch/flood" descriptors_left=0 children_left=0
ok $? "nothing of them is left" "$scratch/flood"

timeout 60 "$run" --fabric $fabric --host near "$RDMADIAG" probe -d mlx5_0 --peer 127.0.0.1:$port -j \
	>"$scratch/good" 2>"$scratch/good.errors"
ok $? "a good peer is served afterwards" "$scratch/good.errors"
python3 -c 'import json, sys; v = json.load(open(sys.argv[1]))["verdict"]; sys.exit((v["outcome"], v["confidence"]) != ("ok", "confirmed"))' \
	"$scratch/good" 2>>"$scratch/good.errors"
ok $? "… with an ok verdict" "$scratch/good.errors"

kill -TERM $runner 2>/dev/null
wait $runner
for words in 'went away again' 'bytes announced' 'invalid\|unexpected\|nesting\|JSON' 'asks for something that no probe does' \
	'does not describe a queue pair' 'version 2 of the protocol'; do
	grep -q "$words" "$scratch/errors"
	ok $? "it said of some: $words" "$scratch/errors"
done
# A peer that leaves or babbles is at fault; nothing of this host may be named for it.
python3 - "$scratch/documents" >"$scratch/verdicts" 2>&1 <<-'PY'
	import json, sys
	text, at, verdicts = open(sys.argv[1]).read(), 0, []
	while text[at:].strip():
	    document, at = json.JSONDecoder().raw_decode(text, at)
	    at += len(text[at:]) - len(text[at:].lstrip())
	    verdicts.append(document["verdict"])
	good = [v for v in verdicts if v["outcome"] == "ok"]
	wrong = [v for v in verdicts if v["confidence"] == "confirmed" and v["layer"] not in ("none", "remote-application", "application")]
	print("documents", len(verdicts), "ok", len(good), json.dumps(wrong)[:2000])
	for v in verdicts:
	    print(v["outcome"], v["layer"], v["confidence"], v["summary"])
	sys.exit(len(good) != 1 or len(verdicts) < 10 or bool(wrong))
PY
ok $? "each served peer has its document, the good one the only ok" "$scratch/verdicts"
grep -q 'Sanitizer\|runtime error' "$scratch/errors"
[ $? -eq 1 ]
ok $? "no error of memory" "$scratch/errors"
grep -v '^rdmadiag: ' "$scratch/errors" >"$scratch/strange"
[ ! -s "$scratch/strange" ]
ok $? "every message is rdmadiag's" "$scratch/strange"
finish
