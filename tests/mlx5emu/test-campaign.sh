#!/bin/bash
# SPDX-License-Identifier: MIT
# A small campaign of random faults, and that a campaign notices verdicts that are wrong. The large one: make campaign.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
export RDMADIAG
if [ ! -x "$RDMADIAG" ]; then
	echo "1..0 # SKIP no rdmadiag, build it first"
	exit 0
fi

"$here/campaign" -n 30 -s "${SEED:-1}" --json "$scratch/result" >"$scratch/out" 2>&1
ok $? "30 random faults: nothing confirmed is wrong, and the guilty layer is always left" "$scratch/out"
python3 - "$scratch/result" >"$scratch/out" 2>&1 <<-'END'
	import json, sys
	result = json.load(open(sys.argv[1]))
	assert result["runs"] == 30 == sum(result["outcomes"].values()), result
	assert result["wrong_confirmed"] == 0 and not result["problems"], result["problems"]
	assert sum(cell["runs"] for cell in result["confusion"]) == 30, result["confusion"]
	assert any(cell["guilty"] != "none" for cell in result["confusion"]), "no fault struck at all"
	assert result["runs_with_device"] > 0, "the device was never seen"
END
ok $? "its JSON" "$scratch/out"

# the same program with another verdict: named with certainty whatever happened, or with nothing left
wrong() {
	cat >"$scratch/wrong" <<-END
		#!/bin/bash
		"$RDMADIAG" "\$@" | python3 -c '
		import json, sys
		document = json.load(sys.stdin)
		document["verdict"].update($1)
		print(json.dumps(document))'
	END
	chmod +x "$scratch/wrong"
	! RDMADIAG=$scratch/wrong "$here/campaign" -n 6 -s 1 >"$scratch/out" 2>&1 && grep -q "$2" "$scratch/out"
}
wrong '{"outcome": "stalled", "layer": "kernel", "confidence": "confirmed", "candidates": ["kernel"]}' "confirmed verdicts are wrong"
ok $? "a wrong confirmed verdict fails it" "$scratch/out"
wrong '{"outcome": "stalled", "layer": "undetermined", "confidence": "none", "candidates": ["application"]}' "is not among layer and candidates"
ok $? "a guilty layer that is ruled out fails it" "$scratch/out"
wrong '{"outcome": "ok", "layer": "none", "confidence": "confirmed", "candidates": []}' "went wrong in another way"
ok $? "a failure that is called a success fails it" "$scratch/out"

! grep -rlE 'mlx5emu|#include .*tests/' "$here/../../lib" "$here/../../cmd" >"$scratch/out"
ok $? "the program knows nothing of the software device" "$scratch/out"
finish
