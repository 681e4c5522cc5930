#!/bin/bash
# SPDX-License-Identifier: MIT
# zsh completion offers what --help shows, and the kernel's devices and ports; first with what zsh's own functions would be
# given, then at a prompt.
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/guest/lib.sh
. "$here/../guest/lib.sh"
command -v zsh >/dev/null || skip_all "zsh is not here"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/class/infiniband/mlx5_0/ports/"{1,2} "$tree/class/infiniband/rxe0/ports/1" "$tree/bin"
ln -s "$(readlink -f "$RDMADIAG")" "$tree/bin/rdmadiag"
export SYSFS_PATH=$tree PATH=$tree/bin:$PATH
completion=$here/../../completions/_rdmadiag

# In the place of zsh's functions: print what is offered, as far as it begins with the word.
cat >"$tree/functions" <<'ZSH'
offer() { local word; for word; do [[ $word == ${words[CURRENT]}* ]] && print -r -- $word; done }
compadd() {
	[[ $1 == -a ]] && { offer ${(P)2}; return }
	[[ $1 == -- ]] && shift
	offer $@
}
_describe() { offer ${${(P)@[-1]}%%:*} }
_files() { print FILES }
compset() { words[CURRENT]=${words[CURRENT]#${~2}} }
words=("$@") CURRENT=$#
ZSH

# complete_words WORD...: what is offered for the last one
complete_words() {
	zsh -f -c '. "$1"/functions "${@[3,-1]}"; . "$2"' zsh "$tree" "$completion" rdmadiag "$@" 2>&1 | tr '\n' ' ' | sed 's/ $//'
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
is "$(complete_words topo --color=a)" "auto always" "an argument behind ="
is "$(complete_words check --only gid-st)" "gid-stale" "a finding"
is "$(complete_words check --expect-down mlx5_0/)" "mlx5_0/1 mlx5_0/2" "a port that is meant to be down"
is "$(complete_words probe --drill li)" "list" "the list of drills"
like " $(complete_words probe --drill '') " " bad-rkey " "drills"
"$here/../machines/make-snapshot" g22-two-of-256 "$tree/machine" >/dev/null
is "$(complete_words topo --from "$tree/machine" ro)" "$(of_machine)" "devices of a snapshot"
is "$(complete_words --from="$tree/machine" gid ro)" "$(of_machine)" "and with --from in one word"
"$here/../machines/make-snapshot" hgx-eight-gpus "$tree/gpus" >/dev/null
is "$(complete_words topo --from "$tree/gpus" --matrix GPU)" "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7" "GPUs that the matrix has"
is "$(complete_words topo --cuda --from="$tree/gpus" nv)" "nvme0 nvme1" "NVMe controllers"
is "$(complete_words topo --from "$tree/gpus" GPU)" "" "without the matrix none"
is "$(complete_words check --from "$tree/gpus" mlx5_b)" "mlx5_bond_0 mlx5_bond_0/1" "check of a device"
is "$(complete_words check --only gid-none,gid-st)" "gid-stale" "the second of a list"
is "$(complete_words explain port-fl)" "port-flapping" "a finding without its kind"
is "$(complete_words explain platf)" "platform" "a layer"
for option in "gid --to" "check --interval" "probe -g" "probe --qps"; do
	# shellcheck disable=SC2086
	is "$(complete_words $option '')" "" "$option: nothing, no device, is offered for its argument"
done
is "$(complete_words topo --matrix rx)" "rxe0 rxe0/1" "an option without one takes none away"
is "$(complete_words schema c)" "check compare capture" "documents"
is "$(complete_words explain finding:gid-st)" "finding:gid-stale" "what can be explained"
is "$(complete_words check --prom '')" "FILES" "a file"
is "$(complete_words --js)" "--json" "an option before the command"
for command in $("$RDMADIAG" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
	shown=$("$RDMADIAG" "$command" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort | tr '\n' ' ')
	offered=$(complete_words "$command" -- | tr ' ' '\n' | sort | tr '\n' ' ')
	is "$offered" "$shown" "$command: every option that --help shows"
done

# at_prompt KEYS: what is on the command line of a real zsh after these keys
at_prompt() {
	python3 - "$1" "$completion" "$tree" <<'PYTHON'
import os, pty, select, sys, time
keys, completion, tree = sys.argv[1:]
os.makedirs(f"{tree}/zsh", exist_ok=True)
if not os.path.exists(f"{tree}/zsh/_rdmadiag"):
    os.symlink(os.path.realpath(completion), f"{tree}/zsh/_rdmadiag")
pid, terminal = pty.fork()
if not pid:
    os.environ.update(TERM="dumb", ZDOTDIR=tree)
    os.execlp("zsh", "zsh", "-f", "-i")
said = b""


def wait_for(mark):
    global said
    end = time.monotonic() + 20
    while mark not in said and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            try:
                said += os.read(terminal, 65536)
            except OSError:
                break
    before, _, said = said.partition(mark)
    return before


# the marks are not in what is typed, which the terminal shows as well
os.write(terminal, f"fpath=({tree}/zsh $fpath); autoload -Uz compinit; compinit -u -D\n".encode())
os.write(terminal, b"show() { print \"line:${(qqq)BUFFER}:end\" }; zle -N show; bindkey '^X^P' show; print ready''-now\n")
wait_for(b"ready-now")
os.write(terminal, keys.encode() + b"\t\x18\x10")
wait_for(b"line:")
print(wait_for(b":end").decode().strip('"'))
os.write(terminal, b"\x15exit\n")
os.close(terminal)
os.waitpid(pid, 0)
PYTHON
}
is "$(at_prompt 'rdmadiag to')" "rdmadiag topo " "a prompt: a command"
is "$(at_prompt 'rdmadiag topo mlx')" "rdmadiag topo mlx5_0" "a prompt: a device, or one of its ports"
is "$(at_prompt 'rdmadiag check --expect-d')" "rdmadiag check --expect-down " "a prompt: an option"
is "$(at_prompt 'rdmadiag check --only gid-none,gid-st')" "rdmadiag check --only gid-none,gid-stale " "a prompt: the second of a list"
is "$(at_prompt 'rdmadiag explain port-fl')" "rdmadiag explain port-flapping " "a prompt: a finding without its kind"
is "$(at_prompt 'rdmadiag check --only=gid-st')" "rdmadiag check --only=gid-stale " "a prompt: an argument behind ="
done_testing
