# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# bash completion of rdmadiag. Commands and options come from --help, so that they are those of the installed version;
# devices and ports come from the kernel.

_rdmadiag_commands() {
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'
}

# _rdmadiag_options PROGRAM [COMMAND]: "-j --json …"
_rdmadiag_options() {
	"$@" --help 2>/dev/null | sed -n 's/^  \{1,6\}\(-[a-zA-Z]\)\{0,1\},\{0,1\} *\(--[a-z-]*\).*/\1 \2/p'
}

# _rdmadiag_snapshot: what --from names on the command line
_rdmadiag_snapshot() {
	local i at
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == --from=?* ]] && printf '%s\n' "${COMP_WORDS[i]#--from=}"
		[ "${COMP_WORDS[i]}" = --from ] || continue
		at=$((i + 1))
		[ "${COMP_WORDS[at]}" = = ] && at=$((at + 1)) # readline breaks words there
		[ "$at" -lt "$COMP_CWORD" ] && printf '%s\n' "${COMP_WORDS[at]}"
	done
}

# _rdmadiag_ports PROGRAM: DEV/PORT of this host, or of a snapshot
_rdmadiag_ports() {
	local port snapshot
	snapshot=$(_rdmadiag_snapshot)
	if [ -n "$snapshot" ]; then
		# readline gives a tilde as it was typed
		"$1" check --prom - --from "${snapshot/#\~\//$HOME/}" 2>/dev/null |
			sed -n 's|^rdmadiag_port_active{device="\([^"]*\)",port="\([0-9]*\)".*|\1/\2|p'
		return
	fi
	for port in "${SYSFS_PATH:-/sys}"/class/infiniband/*/ports/*; do
		[ -e "$port" ] || continue
		port=${port#"${SYSFS_PATH:-/sys}"/class/infiniband/}
		echo "${port/\/ports\//\/}"
	done
}

_rdmadiag_devices() {
	_rdmadiag_ports "$1" | sed 's|/[0-9]*$||' | uniq
}

# _rdmadiag_neighbours PROGRAM: GPUs and NVMe controllers, which topo --matrix has rows of; nothing without that option
_rdmadiag_neighbours() {
	local snapshot
	[[ " ${COMP_WORDS[*]} " =~ \ --(matrix|cuda)\  ]] || return 0
	snapshot=$(_rdmadiag_snapshot)
	"$1" topo --matrix ${snapshot:+--from "${snapshot/#\~\//$HOME/}"} 2>/dev/null | grep -oE '^(GPU|nvme)[0-9]+'
}

# What can be explained; a word without its kind is enough where one is typed already.
_rdmadiag_explained() {
	"$1" explain --list 2>/dev/null | if [[ -n $2 && $2 != *:* ]]; then
		sed -E 'p; /^(vendor|errno):/d; s/^[a-z]+://'
	else
		cat
	fi
}

# The words of an option's argument; fails where it takes none that is known.
_rdmadiag_argument() {
	case $1 in
	--color) echo "auto always never" ;;
	-d | --device | --target-device) _rdmadiag_devices "$2" && _rdmadiag_ports "$2" ;;
	--op) echo "write write-imm send read" ;;
	--api) echo "post wr" ;;
	--wait) echo "poll event" ;;
	--buffer-node) echo "nic all" ;;
	--registration) echo "pinned odp" ;;
	--drill) echo list && "$2" probe --drill list 2>/dev/null | cut -d" " -f1 ;;
	--cqs | --pds) echo "1 2" ;;
	--severity) echo "info warning error" ;;
	--only | --ignore) "$2" explain --list 2>/dev/null | sed -n 's/^finding://p' ;;
	--expect-down) _rdmadiag_ports "$2" ;;
	*) return 1 ;;
	esac
}

# Does the option take an argument of its own? --help shows it behind one blank. _rdmadiag_takes_argument OPTION PROGRAM [COMMAND]
_rdmadiag_takes_argument() {
	[[ $1 == -* ]] && "${@:2}" --help 2>/dev/null | grep -qE -- "^ +(-., )?$1(, --[a-z-]+)? [^ ]"
}

# Names of files that begin so: readline quotes them, and goes on behind a directory.
_rdmadiag_files() {
	[ -n "$2" ] || compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -P "$2" -f -- "$1")
}

_rdmadiag() {
	local program=$1 word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' prefix='' i
	local commands words
	commands=$(_rdmadiag_commands "$program")
	for ((i = 1; i < COMP_CWORD; i++)); do
		grep -qx -- "${COMP_WORDS[i]}" <<<"$commands" && command=${COMP_WORDS[i]} && break
	done
	# "--option=value" is three words to readline, or one where "=" breaks none.
	if [ "$word" = = ]; then
		word=''
	elif [ "$previous" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $word == --*=* ]]; then
		previous=${word%%=*}
		prefix=$previous=
		word=${word#*=}
	fi
	if words=$(_rdmadiag_argument "$previous" "$program"); then
		# a list: what stands in front of its last word stays
		if [[ $previous =~ ^(--only|--ignore)$ && $word == *,* ]]; then
			prefix=$prefix${word%,*},
			word=${word##*,}
		fi
	elif [[ $previous =~ ^(--from|--judge|--diff|--trace|--svg|--prom|-o|--output)$ ]]; then
		_rdmadiag_files "$word" "$prefix"
		return
	elif _rdmadiag_takes_argument "$previous" "$program" ${command:+"$command"}; then
		words=
	elif [[ $word == -* ]]; then
		words=$(_rdmadiag_options "$program" ${command:+"$command"})
	else
		case $command in
		'') words=$commands ;;
		topo) words=$(_rdmadiag_devices "$program" && _rdmadiag_ports "$program" && _rdmadiag_neighbours "$program") ;;
		gid | check) words=$(_rdmadiag_devices "$program" && _rdmadiag_ports "$program") ;;
		compare | capture)
			_rdmadiag_files "$word"
			return
			;;
		explain) words=$(_rdmadiag_explained "$program" "$word") ;;
		schema) words=$("$program" schema --help 2>/dev/null | sed -n 's/.* document: \(.*\)\.$/\1/p' | sed 's/,\| or / /g') ;;
		*) words= ;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "$word")
	# readline takes ":" as the end of a word: what stands in front of it is there already.
	if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
	fi
}

complete -F _rdmadiag rdmadiag
