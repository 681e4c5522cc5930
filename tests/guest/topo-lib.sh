# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# topo-lib.sh - checks of the document of `rdmadiag topo` in the guest; source lib.sh first.

# topo [ARGS...] - leaves the document in $document, the exit status in $status, standard error in $errors
topo() {
	local file
	file=$(mktemp)
	# shellcheck disable=SC2034
	document=$("$RDMADIAG" topo -j "$@" 2>"$file")
	status=$?
	# shellcheck disable=SC2034
	errors=$(cat "$file")
	rm -f "$file"
	return 0
}

# holds DESCRIPTION EXPRESSION - in Python: d document, dev(name), port(name), net(device, name), member(device, bond, name),
# finding(id, subject), missing(what, subject)
holds() {
	local said
	if said=$(python3 -c '
import json, sys
d = json.loads(sys.stdin.read())
def one(items, **wanted):
    found = [i for i in items if all(i[k] == v for k, v in wanted.items())]
    return found[0] if found else None
def dev(name): return one(d["devices"], name=name)
def port(name): return dev(name)["ports"][0]
def net(device, name): return one(port(device)["netdevs"], name=name)
def names(device, relation): return sorted(n["name"] for n in port(device)["netdevs"] if n["relation"] == relation)
def member(device, bond, name): return one(net(device, bond)["bond"]["members"], name=name)
def finding(id, subject): return one(d["findings"], id=id, subject=subject)
def missing(what, subject): return one(d["not_collected"], what=what, subject=subject)
sys.exit(0 if eval(sys.argv[1]) else "is not so")
' "$2" <<<"$document" 2>&1); then
		pass "$1"
	else
		fail "$1" || diag "$2"$'\n'"$said"$'\n'"$(head -c 6000 <<<"$document")"
	fi
}
