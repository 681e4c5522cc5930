#!/bin/bash
# SPDX-License-Identifier: MIT
# bash completion offers what --help shows, and the kernel's devices and ports.
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/guest/lib.sh
. "$here/../guest/lib.sh"
# shellcheck source=completions/rdmadiag.bash
. "$here/../../completions/rdmadiag.bash"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/class/infiniband/mlx5_0/ports/"{1,2} "$tree/class/infiniband/rxe0/ports/1"
export SYSFS_PATH=$tree

# complete_words WORD...: what is offered for the last one
complete_words() {
	COMP_WORDS=("$RDMADIAG" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_rdmadiag "$RDMADIAG"
	echo "${COMPREPLY[*]}"
}

of_machine() { "$RDMADIAG" gid -j --from "$tree/machine" | python3 -c 'import json, sys
tables = json.load(sys.stdin)["tables"]
print(*dict.fromkeys(t["device"] for t in tables), *(t["device"] + "/" + str(t["port"]) for t in tables))'; }
is "$(complete_words to)" "topo" "a command"
is "$(complete_words topo mlx)" "mlx5_0 mlx5_0/1 mlx5_0/2" "a device and its ports"
is "$(complete_words topo -j rx)" "rxe0 rxe0/1" "a device after an option"
is "$(complete_words gid mlx5_0/)" "mlx5_0/1 mlx5_0/2" "ports"
is "$(complete_words probe -d rx)" "rxe0 rxe0/1" "a device as argument of an option"
is "$(complete_words topo --color a)" "auto always" "words of an option"
is "$(complete_words topo --color=a)" "--color=auto --color=always" "an argument behind ="
is "$(complete_words topo --color = a)" "auto always" "and as readline breaks it"
is "$(complete_words topo --color =)" "auto always never" "with nothing of it yet"
is "$(complete_words check --only gid-st)" "gid-stale" "a finding"
is "$(complete_words check --expect-down mlx5_0/)" "mlx5_0/1 mlx5_0/2" "a port that is meant to be down"
"$here/../machines/make-snapshot" g22-two-of-256 "$tree/machine" >/dev/null
is "$(complete_words topo --from "$tree/machine" ro)" "$(of_machine)" "devices of a snapshot"
is "$(complete_words --from="$tree/machine" gid ro)" "$(of_machine)" "and with --from in one word"
"$here/../machines/make-snapshot" hgx-eight-gpus "$tree/gpus" >/dev/null
is "$(complete_words topo --from "$tree/gpus" --matrix GPU)" "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7" "GPUs that the matrix has"
is "$(complete_words topo --cuda --from="$tree/gpus" nv)" "nvme0 nvme1" "NVMe controllers"
is "$(complete_words topo --from "$tree/gpus" GPU)" "" "without the matrix none"
is "$(complete_words check --from "$tree/gpus" mlx5_b)" "mlx5_bond_0 mlx5_bond_0/1" "check of a device"
is "$(complete_words check --only gid-none,gid-st)" "gid-none,gid-stale" "the second of a list"
is "$(complete_words explain port-fl)" "port-flapping" "a finding without its kind"
is "$(complete_words explain platf)" "platform" "a layer"
is "$(complete_words topo --from = "$tree/machine" ro)" "$(of_machine)" "and as readline breaks it"
is "$(complete_words schema c)" "check compare capture" "documents"
is "$(COMP_WORDBREAKS=' ' complete_words explain finding:gid-st)" "finding:gid-stale" "what can be explained"
is "$(COMP_WORDBREAKS=' :' complete_words explain finding:gid-st)" "gid-stale" "behind a colon that breaks words"
is "$(complete_words --js)" "--json" "an option before the command"
for option in "gid --to" "check --interval" "probe -g" "probe --qps" "check --interval ="; do
	# shellcheck disable=SC2086
	is "$(complete_words $option '')" "" "$option: nothing, no device, is offered for its argument"
done
is "$(complete_words topo --matrix rx)" "rxe0 rxe0/1" "an option without one takes none away"
is "$(PATH=/usr/bin:/bin complete_words probe --drill wrong-q)" "wrong-qpn" "drills of a program that PATH does not have"
for command in $(_rdmadiag_commands "$RDMADIAG"); do
	shown=$("$RDMADIAG" "$command" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort | tr '\n' ' ')
	offered=$(complete_words "$command" -- | tr ' ' '\n' | sort | tr '\n' ' ')
	is "$offered" "$shown" "$command: every option that --help shows"
done

# At a prompt: what readline makes of the names of files.
mkdir -p "$tree/files/a node/sys" "$tree/files/snapshots"
cat >"$tree/rdmadiag" <<END
#!/bin/sh
for word; do [ "\$word" = --help ] && exec "$(readlink -f "$RDMADIAG")" "\$@"; done
printf '<%s>' "\$@" >"$tree/typed"
END
chmod +x "$tree/rdmadiag"
# at_prompt KEYS: what the program gets for them
at_prompt() {
	rm -f "$tree/typed"
	python3 - "$here/../../completions/rdmadiag.bash" "$tree" "$1" <<'END'
import os, pty, select, sys, time
completion, tree, keys = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.chdir(tree + "/files")
    os.environ.update(PATH=tree + ":" + os.environ["PATH"], TERM="dumb", PS1="$ ")
    os.execlp("bash", "bash", "--norc", "--noprofile", "-i")
def until_silent():
    while select.select([terminal], [], [], 0.7)[0]:
        try:
            if not os.read(terminal, 65536):
                return
        except OSError:
            return
os.write(terminal, f". {completion}\n".encode())
until_silent()
for part in keys.split("TAB"):
    os.write(terminal, part.encode() + b"\t")
    until_silent()
os.write(terminal, b"\n")
deadline = time.monotonic() + 10
while not os.path.exists(tree + "/typed") and time.monotonic() < deadline:
    until_silent()
os.write(terminal, b"exit\n")
until_silent()
os.close(terminal)
os.waitpid(pid, 0)
END
	cat "$tree/typed"
}
is "$(at_prompt "rdmadiag compare a")" "<compare><a node/>" "a name with a blank is quoted, a directory goes on"
is "$(at_prompt "rdmadiag topo --from snTAB")" "<topo><--from><snapshots/>" "also behind an option"
is "$(at_prompt "rdmadiag topo --from=a")" "<topo><--from=a node/>" "and behind its ="
done_testing
