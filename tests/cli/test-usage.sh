#!/bin/bash
# SPDX-License-Identifier: MIT
# The command line itself: help, version, wrong usage, options before and after the command, and what a host without
# RDMA devices gets.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../guest/lib.sh"
here=$(dirname "$0")

status_is 0 "--help" "$RDMADIAG" --help
like "$output" '^Usage: rdmadiag' "shows the usage on standard output"
commands=$(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' <<<"$output")
like "$commands" '^topo$' "lists topo"
like "$commands" '^gid$' "lists gid"
like "$commands" '^probe$' "lists probe"
for command in $commands; do
	status_is 0 "$command --help" "$RDMADIAG" "$command" --help
	like "$output" "^Usage: rdmadiag $command" "$command: help names the command"
	status_is 2 "$command --nonsense" "$RDMADIAG" "$command" --nonsense
	like "$errors" "nonsense" "$command: the wrong option is named"
	is "$output" "" "$command: standard output stays empty"
done
status_is 0 "--version" "$RDMADIAG" --version
is "$output" "rdmadiag $(cat "$(dirname "$0")/../../VERSION")" "prints the version of the one place"

status_is 2 "no command" "$RDMADIAG"
like "$errors" "command is missing" "says so"
status_is 2 "an unknown command" "$RDMADIAG" frobnicate
like "$errors" "'frobnicate' is no command" "is named"
for word in tpo topology; do
	status_is 2 "a command with a slip: $word" "$RDMADIAG" "$word"
	like "$errors" "^rdmadiag: '$word' is no command; is it topo\? 'rdmadiag --help' lists them$" "names the nearest"
done
status_is 2 "help for a command with a slip" "$RDMADIAG" help gids
like "$errors" "'gids' is no command; is it gid\?" "too"
status_is 0 "help" "$RDMADIAG" help
is "$output" "$("$RDMADIAG" --help)" "is --help"
status_is 0 "help of a command" "$RDMADIAG" help topo
is "$output" "$("$RDMADIAG" topo --help)" "is the command's --help"
status_is 2 "an unknown option before the command" "$RDMADIAG" --frobnicate topo
status_is 2 "--color takes three words" "$RDMADIAG" topo --color=pink
like "$errors" "'pink' is none of auto, always, never" "and names them"
status_is 2 "topo takes one device" "$RDMADIAG" topo a b
status_is 2 "gid takes one device" "$RDMADIAG" gid a b
status_is 2 "probe takes no operand" "$RDMADIAG" probe a
status_is 2 "--sq-sig-all leaves nothing to --signal-every" "$RDMADIAG" probe --sq-sig-all --signal-every 3
like "$errors" "--signal-every does not go with it" "says so"
status_is 2 "nor to a drill without completions" "$RDMADIAG" probe --sq-sig-all --drill unsignaled-wait


# What was typed is told without its control characters, and so that a person sees what is wrong with it.
wrong() { # DESCRIPTION PATTERN ARGUMENT...
	local description=$1 pattern=$2
	shift 2
	status_is 2 "$description" "$RDMADIAG" "$@"
	like "$errors" "$pattern" "$description: says so"
	unlike "$errors" $'[\x1b\xff]' "$description: no control characters"
	is "$(wc -l <<<"$errors")" 2 "$description: one line, and where to read on"
}
wrong "an option that is none" "^rdmadiag topo: '--nope' is no option$" topo --nope
wrong "the same before the command" "^rdmadiag: '--nope' is no option$" --nope
wrong "a letter that is none" "^rdmadiag topo: '-x' is no option$" topo -jx
wrong "an option with a slip" "^rdmadiag topo: '--matix' is no option; is it --matrix\?$" topo --matix
wrong "a long option after one dash" "^rdmadiag topo: '-matrix' is no option; is it --matrix\?$" topo -matrix
wrong "the same behind another option" "^rdmadiag topo: '-matrix' is no option; is it --matrix\?$" topo --vfs -matrix
wrong "the -d of probe" "^rdmadiag gid: '-d' is no option; a device stands alone: DEV\[/PORT\]$" gid -d mlx5_0
wrong "where no device is taken" "^rdmadiag capture: '-d' is no option$" capture -d mlx5_0
wrong "an operation with a slip" "'wirte' is none of write, write-imm, send, read; is it write\?$" probe --op wirte
wrong "a severity with a slip" "'warnning' is none of info, warning, error; is it warning\?$" check --severity warnning
wrong "a drill with a slip" "no drill 'rrn'; is it rnr\? --drill list shows" probe --drill rrn
wrong "one that is like none" "no drill 'nope'; --drill list shows" probe --drill nope
wrong "a word with a slip" "'evnt' is neither 'poll' nor 'event'; is it event\?$" probe --wait evnt
wrong "a unit" "^rdmadiag probe: --timeout: '5s': it is in milliseconds, and takes no unit$" probe --timeout 5s
wrong "a finding with a slip" "no finding 'port-dwon'; is it port-down\?$" check --only port-dwon
wrong "the beginning of some findings" "no finding 'qos'; is it qos-[a-z, -]*\?$" check --ignore qos
wrong "two devices for one probe" "^rdmadiag probe: --device: given twice, and a probe takes one$" probe -d a -d b
wrong "two devices for its target" "^rdmadiag probe: --target-device: given twice" probe --target-device a --target-device b
wrong "help of two commands" "^rdmadiag help: more than one command$" help topo gid
wrong "the beginning of several" "'--si' is the beginning of several options" probe --si 3
wrong "an argument that is missing" "^rdmadiag topo: --from needs an argument$" topo --from
wrong "an option for an argument" "^rdmadiag gid: --to needs an argument, and '--from' follows it$" gid --to --from x
wrong "--watch of a snapshot" "^rdmadiag gid: --watch follows this host" gid --watch --from x
wrong "an argument too many" "^rdmadiag gid: --json takes no argument$" gid --json=yes
wrong "control characters in an option" "'--.\[31m' is no option" topo $'--\e[31m'
wrong "control characters in a word" "'.\[31m' is no document" schema $'\e[31m'
wrong "a newline in a word" "'a.b' is none of write" probe --op $'a\nb'
wrong "bytes that are no text" "is no option" topo $'-\xff'
for option in --from --svg; do wrong "$option without a name" "^rdmadiag topo: $option: the name is empty$" topo "$option" ""; done
for option in --judge --trace; do wrong "$option without a name" "^rdmadiag probe: $option: the name is empty$" probe "$option" ""; done
wrong "explain of a snapshot" "^rdmadiag explain: --from: what a code means is the same on every host$" explain --from x wc:12
wrong "the same before the command" "^rdmadiag explain: --from: " --from x explain wc:12
wrong "a schema of a snapshot" "^rdmadiag schema: --from: " schema topo --from x
wrong "compare with --from" "^rdmadiag compare: --from: snapshots and reports are operands" compare --from x a b
wrong "a capture of a snapshot" "^rdmadiag capture: --from: only this host can be captured$" capture --from x d
for number in ' 5' +5 '' 5x 0x; do
	shown=${number/+/[+]} # in a pattern
	wrong "--size '$number'" "'$shown' is no size" probe --size "$number"
	wrong "--count '$number'" "'$shown' is no whole number" probe --count "$number"
	wrong "--interval '$number'" "'$shown' is no number of seconds above 0 and up to 86400" check --interval "$number"
	wrong "port '$number'" "'$shown' is no port number" gid "mlx5_0/$number"
done
for number in -1 0 86401 1e3 inf nan 0x10 1.2.3; do
	wrong "--interval '$number'" "'$number' is no number of seconds" check "--interval=$number"
done
wrong "a document with a slip in it" "^rdmadiag schema: 'topoo' is no document; is it topo[?]$" schema topoo
wrong "a document that is none" "^rdmadiag schema: 'x' is no document: topo, .*report$" schema x
wrong "topo --tree of JSON" "^rdmadiag topo: --tree and --json: one of them$" topo --tree -p
# options that change nothing beside others are told, and do no harm: aside DESCRIPTION PATTERN ARGUMENT...
aside() {
	local description=$1 pattern=$2 said
	shift 2
	said=$(timeout 20 "$RDMADIAG" "$@" 2>&1 >/dev/null)
	isnt $? 2 "$description: is no wrong usage"
	like "$said" "$pattern" "$description: is told"
}
for view in --tree --matrix "--svg /dev/null"; do
	# shellcheck disable=SC2086
	aside "topo --health $view" "^rdmadiag: --health is left aside: the table and --json show it, .* does not" topo --health $view
done
aside "gid --all --to" "^rdmadiag: --all is left aside: the table and --json show empty slots, --to shows no table" \
	gid --all --to 192.0.2.1
aside "gid --all --diff" "--diff shows no table" gid --all --diff x.json
for option in "--peer x" "--size 64" "-d x"; do
	# shellcheck disable=SC2086
	aside "probe --judge $option" "^rdmadiag: --[a-z]+ is left aside: --judge shows a recorded run" probe $option --judge x
done
aside "probe --from --count" "^rdmadiag: --count is left aside: --from shows a recorded run" --from x probe --count 3
for option in "--op read" "--drill rnr" "--timeout 100" --inline; do
	# shellcheck disable=SC2086
	aside "probe --listen $option" \
		"^rdmadiag: --[a-z]+ is left aside: a listener does what the initiator \(--peer\) asks for" \
		probe --listen=192.0.2.1 $option
done
# what --count leaves too few requests for
aside "probe --batch 8" "^rdmadiag: --batch 8: with --count 1 a chain has no more than that" probe --batch 8
aside "probe --signal-every 4" "^rdmadiag: --signal-every 4: with --count 1 each request is the last of its size" \
	probe --signal-every 4
aside "probe --qps 4" "^rdmadiag: --qps 4: with --count 1 only 1 of them gets requests" probe --qps 4
aside "probe --qps 4 of chains" "^rdmadiag: --qps 4: with --count 8 only 2 of them get requests" probe --qps 4 --batch 4 --count 8
for options in "--qps 4 --count 4" "--batch 4 --count 4 --qps 1" "--signal-every 4 --count 2" "--qps 4 --buffer-node all" \
	"--qps 4 --drill rnr" "--batch 4 --listen=192.0.2.1"; do
	# shellcheck disable=SC2086
	unlike "$(timeout 20 "$RDMADIAG" probe $options 2>&1)" "with --count" "probe $options: nothing of that is told"
done
for option in "--listen=18518" "--listen 18518" "--peer 18518" "--listen=0" "--peer 5:18517"; do
	# shellcheck disable=SC2086
	wrong "probe $option" "^rdmadiag probe: --(listen|peer): '[0-9]+' is no (address|host); a port stands behind .*, as in [^ ]*:18518$|:0$|:18517$" \
		probe $option
done
for option in "--drill list" --explain-stages; do
	for other in -j "-d x" "--from x"; do
		# shellcheck disable=SC2086
		wrong "probe $option $other" "^rdmadiag probe: $option goes with nothing else$" probe $option $other
	done
done
wrong "a document without a name" "the name of document 2 is empty" compare a ""
wrong "an address of --listen behind a space" "^rdmadiag probe: --listen: 'y' is no whole number$" probe --listen x:y
wrong "the same behind =" "^rdmadiag probe: --listen: 'y' is no whole number$" probe --listen=x:y
wrong "--judge of a report" "^rdmadiag probe: --judge needs an argument, and '--from' follows it$" probe --judge --from r.tar.gz
wrong "--judge and --from" "one of --from and --judge: --from SNAPSHOT judges" probe --judge x --from y
wrong "an operand behind an address" "^rdmadiag probe: 'more': a probe takes options only" probe --keep --listen :0 more
wrong "standard input twice" "can be read only once" compare - a -
wrong "a directory without a name" "the name of the directory is empty" capture ""
for command in topo gid; do
	for device in "" / /1; do wrong "$command '$device'" "'$device' names no device" "$command" "$device"; done
	for port in "" 0 -1 4294967297 99999999999999999999 x; do
		wrong "$command mlx5_0/$port" "'mlx5_0/$port': '$port' is no port number" "$command" "mlx5_0/$port"
	done
done

status_is 3 "a snapshot that is not there" "$RDMADIAG" --from /nonexistent/snapshot topo
like "$errors" "/nonexistent/snapshot: No such file or directory" "is named"
like "$("$RDMADIAG" -j --from /nonexistent topo 2>/dev/null)" '"schema":"rdmadiag.topo"' "with -j a document is printed"
before=$("$RDMADIAG" -j --from /nonexistent topo 2>/dev/null)
after=$("$RDMADIAG" topo -j --from /nonexistent 2>/dev/null)
is "$before" "$after" "options before and after the command are the same"

status_is 2 "no snapshot comes from standard input" "$RDMADIAG" check --from -
like "$errors" "^rdmadiag: --from: standard input is not read; an archive has to be a file" "says so"
status_is 3 "a file of that name is one" "$RDMADIAG" check --from ./-
like "$errors" "^rdmadiag: ./-: No such file or directory$" "and looked for"

# A tree without RDMA devices, whatever this host has.
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
mkdir -p "$empty/sys/class" "$empty/proc"
for command in topo gid; do
	status_is 3 "$command without RDMA devices" "$RDMADIAG" "$command" --from "$empty"
	is "$(wc -l <<<"$errors")" 1 "$command: one line on standard error"
	like "$errors" "no RDMA device" "$command: says what is missing"
	status_is 3 "$command -j without RDMA devices" "$RDMADIAG" "$command" -j --from "$empty"
	ok "$command: a valid document" python3 -c 'import json,sys; json.loads(sys.argv[1])["not_collected"]' "$output"
done
if [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ]; then
	status_is 3 "probe without RDMA devices" "$RDMADIAG" probe
	like "$errors" "no RDMA device" "says what is missing"
fi
touch "$empty/x.toml" "$empty/x.json"
status_is 3 "the description of a machine" "$RDMADIAG" topo --from "$empty/x.toml"
like "$errors" "x.toml: the description of a machine; tests/machines/make-snapshot makes a snapshot of it$" "leads to its snapshot"
status_is 3 "a document" "$RDMADIAG" report --redact -o "$empty/r.tar" --from "$empty/x.json"
like "$errors" "x.json: a document, not a snapshot; rdmadiag probe --judge reads one of a probe" "leads to who reads it"
# A recorded run has the status that the run itself had.
records=$(dirname "$0")/../evidence
while read -r wanted name; do
	status_is "$wanted" "--judge: $name" "$RDMADIAG" probe --judge "$records/$name.json"
done <<'END'
0 plain-ok
1 plain-12-alone
1 plain-rtr-hangs
1 plain-cq-err-success
3 setup-open-eacces
3 control-refused
3 plain-null-all
END
# What could not be read is null in the document that says so, and as uncertain when that is judged again.
python3 - "$records/plain-ok.json" >"$empty/unreadable.json" <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
document["evidence"]["payloads"] = 5
json.dump(document, sys.stdout)
END
"$RDMADIAG" probe -j --judge "$empty/unreadable.json" >"$empty/again.json"
status_is 0 "--judge of what --judge printed" "$RDMADIAG" probe -j --judge "$empty/again.json"
verdicts=$(python3 -c 'import json,sys
for text in open(sys.argv[1]).read(), sys.argv[2]:
	document = json.loads(text)
	print(document["verdict"]["confidence"], document["verdict"]["not_observed"], document["not_collected"])' "$empty/again.json" "$output")
is "$(sort -u <<<"$verdicts" | wc -l)" 1 "--judge of what --judge printed: the same"
like "$verdicts" "^likely .*unreadable field evidence.payloads: an array expected" "what could not be read is not forgotten"
"$RDMADIAG" --help >/dev/full 2>/dev/null
is "$?" 3 "a full disk is an error"
# Of a described machine with devices, GPUs and no recorded route.
described=$(mktemp -d)
"$here/../machines/make-snapshot" hgx-eight-gpus "$described/node"
wrong_operand() { # DESCRIPTION PATTERN ARGUMENT...
	local description=$1 pattern=$2
	shift 2
	status_is 3 "$description" "$RDMADIAG" "$@" --from "$described/node"
	like "$errors" "$pattern" "$description: says so"
}
wrong_operand "a device with a slip" "is called 'mlx5_O'; is it mlx5_[0-9]\? There are: mlx5_0, " topo mlx5_O
wrong_operand "a port behind a colon" "is called 'mlx5_bond_0:1'; write mlx5_bond_0/1, there are: " gid mlx5_bond_0:1
wrong_operand "one that is like none" "is called 'nope'; there are: " gid nope
wrong_operand "a GPU without the matrix" "^rdmadiag: 'gpu0' is no RDMA device; topo --matrix gpu0 says how near it is to them$" topo gpu0
wrong_operand "a PCI address" "is called '0000:2d:00.0'; that is where mlx5_1 is, there are: mlx5_0, " topo 0000:2d:00.0
wrong_operand "one as lspci shows it" "is called 'DE:00.0'; that is where mlx5_7 is, there are: mlx5_0, " topo DE:00.0
wrong_operand "one of another function" "is called '2d:00.1'; there are: mlx5_0, " topo 2d:00.1
wrong_operand "a row that is none" "^rdmadiag: the matrix has no row 'GPU99'; it has: mlx5_0, .*GPU7, nvme0" topo --matrix GPU99
wrong_operand "a route that was not recorded" "^$" gid --to 192.0.2.200
is "$output" "192.0.2.200: not known: the snapshot holds no lookup of the route to 192.0.2.200" "it is told once"
status_is 0 "a row of the matrix" "$RDMADIAG" topo --matrix gpu0 --from "$described/node"
is "$(grep -c '^\(GPU\|nvme\|mlx5\)[^:]*  ' <<<"$output")" 1 "is the only one"
status_is 0 "an adapter's row" "$RDMADIAG" topo --matrix mlx5_3 --from "$described/node"
is "$(grep -c '^\(GPU\|nvme\|mlx5\)[^:]*  ' <<<"$output")" 1 "is the only one too"
"$RDMADIAG" gid -j --from "$described/node" >"$described/before.json"
# which has nothing yet when it is looked at first
status_is 0 "a document out of a pipe" "$RDMADIAG" gid --from "$described/node" --diff <(sleep 0.2; cat "$described/before.json")
is "$output" "no difference" "is read"
status_is 3 "a pipe that nothing comes out of" "$RDMADIAG" gid --from "$described/node" --diff <(:)
like "$errors" "not a regular file, and nothing writes to it" "is told"
# on_terminal COLUMNS COMMAND... - what a terminal of that width gets
on_terminal() {
	python3 -c 'import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
try:
    while part := os.read(terminal, 65536):
        shown += part
except OSError:  # EIO: the program has ended
    pass
os.waitpid(pid, 0)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))' "$@"
}
# colours [NAME=VALUE...] [-- OPTION...] - how many escape sequences a terminal gets
colours() {
	local -a variables=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do variables+=("$1") && shift; done
	on_terminal 200 env -u NO_COLOR -u TERM "${variables[@]}" "$RDMADIAG" topo --from "$described/node" "${@:2}" | grep -o $'\33\\[' | wc -l
}
# cpus_at COLUMNS - the lines of the table that have a device, and those that go on with its CPUs
cpus_at() {
	on_terminal "$1" env NO_COLOR=1 TERM=xterm "$RDMADIAG" topo --from "$described/node" mlx5_4 | sed '/^$/,$d' | wc -l
}
is "$(cpus_at 200)" 2 "a wide terminal has a line for a device"
is "$(cpus_at 107)" 3 "one that is a little too narrow has its CPUs in two"
is "$(cpus_at 80)" 2 "one that is too narrow all the same has one again"
ok "a terminal gets colours" test "$(colours TERM=xterm)" -gt 0
is "$(colours TERM=dumb)" 0 "a dumb one gets none"
is "$(colours)" 0 "nor one of which nothing is known"
is "$(colours TERM=)" 0 "nor one without a name"
is "$(colours TERM=xterm NO_COLOR=1)" 0 "nor where none are wanted"
ok "but where they are asked for" test "$(colours TERM=dumb NO_COLOR=1 -- --color=always)" -gt 0
rm -rf "$described"
done_testing
