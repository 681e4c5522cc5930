# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# evaluate.sh - Python expressions over documents, see holds.py. One interpreter serves a whole script, because starting
# one takes a good part of a second in the guest.

coproc EVALUATOR { exec python3 -IS "$(dirname "${BASH_SOURCE[0]}")/holds.py"; }
# the coprocess's own descriptors are closed in pipelines
exec {evaluator_in}<&"${EVALUATOR[0]}" {evaluator_out}>&"${EVALUATOR[1]}"

# evaluate KIND EXPRESSION DOCUMENT - is it true? Its value, or the reason, is left in $evaluated. DOCUMENT is the text
# or an absolute path.
evaluate() {
	evaluated="the evaluator does not answer"
	printf '%s\0' "$1" "$2" "${status:-0}" "$3" >&"$evaluator_out" &&
		IFS= read -r -d '' evaluated <&"$evaluator_in" || return 2
	case $evaluated in
	1*) evaluated=${evaluated#1} ;;
	*) evaluated=${evaluated#0} && return 1 ;;
	esac
}

# check KIND DESCRIPTION EXPRESSION DOCUMENT
check() {
	if evaluate "$1" "$3" "$4"; then
		pass "$2"
	else
		fail "$2" || diag "$evaluated"
	fi
}

# value KIND EXPRESSION COMMAND... - prints the value of an expression over the document that a command writes, the items
# of a list with blanks between them
value() {
	local kind=$1 expression=$2
	shift 2
	if evaluate "$kind" "shown($expression)" "$("$@")"; then
		printf '%s' "$evaluated"
	else
		diag "$evaluated"
		return 1
	fi
}
