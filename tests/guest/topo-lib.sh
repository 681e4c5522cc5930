# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# topo-lib.sh - checks of the document of `rdmadiag topo` in the guest; source lib.sh first.

# shellcheck source=tests/guest/evaluate.sh
. "$(dirname "${BASH_SOURCE[0]}")/evaluate.sh"

# topo [ARGS...] - leaves the document in $document, the exit status in $status, standard error in $errors
topo() {
	run_captured "$RDMADIAG" topo -j "$@"
	status=$?
	# shellcheck disable=SC2154
	document=$output
}

# holds DESCRIPTION EXPRESSION - a Python expression over $document
holds() {
	check topo "$1" "$2" "$document"
}
