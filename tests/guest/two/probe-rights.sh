#!/bin/bash
# SPDX-License-Identifier: MIT
# What an ordinary user may do, and what the probe says when the kernel does not let it.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup
chmod 777 "$work"

chmod 666 /dev/infiniband/uverbs*
as_user "$RDMADIAG" probe -j -d rxe0 >"$document"
is $? 0 "an ordinary user can probe"
holds "an ordinary user: the verdict" "v['outcome'] == 'ok' and e['observers']['wqe'] == 'rxe-ring'"
holds "an ordinary user: filters are not told, with the reason" "e['local']['filter'] is None and missing('filter')"

(ulimit -l 0 && as_user "$RDMADIAG" probe -j -d rxe0) >"$document" 2>"$work/errors"
holds "nothing may be locked: the kernel has another errno for it, and the limit is named" \
	"v['outcome'] == 'not-run' and v['layer'] == 'configuration' and v['confidence'] == 'confirmed' and any('RLIMIT_MEMLOCK is 0' in text for text in v['because']) and any('raise memlock' in text for text in v['next_steps'])"
(ulimit -l 64 && as_user unshare -Ur "$RDMADIAG" probe -j -d rxe0 --size 256K) >"$document" 2>"$work/errors"
holds "root of a user namespace of its own: the limit binds it all the same" \
	"v['outcome'] == 'not-run' and v['layer'] == 'configuration' and e['local']['may_lock_memory'] is False and any('RLIMIT_MEMLOCK is 65536' in text for text in v['because'])"
(ulimit -n 5 && "$RDMADIAG" probe -j -d rxe0) >"$document" 2>"$work/errors"
holds "hardly any files: it is not the kernel that lacks RDMA" \
	"v['outcome'] == 'not-run' and 'configuration' in v['candidates'] and not any('no RDMA support' in text for text in v['because']) and any('too many open files' in text for text in v['because'])"
(ulimit -l 16 && as_user "$RDMADIAG" probe -j -d rxe0 --size 256K) >"$document" 2>"$work/errors"
is $? 1 "memlock too small: status"
holds "memlock too small: ENOMEM at ibv_reg_mr" "resource('local', 'ibv_reg_mr') == 12 and v['layer'] == 'configuration' and v['confidence'] == 'confirmed' and e['local']['buffer_bytes'] > 16384"
holds "memlock too small: the limits are there" "e['local']['memlock_soft_bytes'] == 16384"
like "$(cat "$work/errors")" 'ibv_reg_mr' "memlock too small: standard error names the call"

probe -d rxe0 --size 16M
# 8 MiB in Linux 6.1, 2 GiB in 6.12
if grep -q '"max_message_bytes": *8388608,' "$document"; then
	is "$status" 1 "a message beyond the port's limit: status"
	holds "a message beyond the port's limit: refused before it is posted, with the limit" \
		"v['layer'] == 'application' and v['outcome'] == 'not-run' and not o and e['local']['max_message_bytes'] == 8388608"
	like "$errors" 'max_msg_sz' "a message beyond the port's limit: standard error names it"
else
	holds "a large message that the port takes: it arrived" "v['outcome'] in ('ok', 'degraded') and all(x['wc_status'] == 0 for x in o)"
fi

chmod 600 /dev/infiniband/uverbs*
as_user "$RDMADIAG" probe -j -d rxe0 >"$document" 2>"$work/errors"
is $? 3 "uverbs not permitted: status"
holds "uverbs not permitted: configuration" "v['outcome'] == 'not-run' and v['layer'] == 'configuration'"
holds "uverbs not permitted: the errno of the node, which libibverbs hides" "resource('local', 'ibv_open_device') == 13"
like "$(cat "$work/errors")" 'rxe0: ibv_open_device: /dev/infiniband/uverbs[0-9]+: Permission denied' "uverbs not permitted: standard error names the node"
like "$(as_user "$RDMADIAG" probe -d rxe0 2>/dev/null | tr "\n" " ")" 'Verdict: not-run, layer configuration \(confirmed\).*/dev/infiniband/uverbs.*Next' \
	"uverbs not permitted: the verdict is in the text, with what to do"
as_user "$RDMADIAG" check --probe -j >"$work/check.out" 2>/dev/null
check topo "uverbs not permitted: check --probe knows as much" \
	"[(m['subject'], m['errno']) for m in d['not_collected'] if m['what'] == 'probe' and '/dev/infiniband/uverbs' in m['reason']] == [('rxe0/1', 13), ('rxe2/1', 13)]" "$work/check.out"
probe -d rxe7
is "$status" 3 "no such device: status"
like "$errors" 'rxe0, rxe2' "no such device: the message names those that are there"
probe -d rxe0/9
is "$status" 3 "no such port: status"
like "$errors" 'rxe0 has no port 9' "no such port: the message names it"
holds "no such port: the document says so" "resource('local', 'find-device') == 22 and v['outcome'] == 'not-run'"
probe -d rxe0 --target-device nosuch
is "$status" 3 "no such target device: status"
like "$errors" "is called 'nosuch'; there are: rxe0, rxe2" "no such target device: the message names it and those that are there"
"$RDMADIAG" probe -d rxe0 --buffer-node 7 2>"$work/errors"
is $? 2 "no such NUMA node: wrong usage"
like "$(cat "$work/errors")" 'no NUMA node 7, only 0, 1' "no such NUMA node: the message names it and those that are there"
probe -d rxe0 --peer nosuch.invalid
is "$status" 3 "a name that nobody knows: status"
holds "a name that nobody knows: it is no unreachable host" \
	"resource('local', 'getaddrinfo') and not e['control'] and v['layer'] in ('configuration', 'undetermined') and v['outcome'] == 'not-run'"
probe -d rxe0 --peer 203.0.113.1
is "$status" 3 "no route to the peer's host: status"
holds "no route to the peer's host: the errno of connect" "control('connect') in (101, 113) and 'configuration' in v['candidates']"
rxe_del rxe0
rxe_del rxe2
probe
is "$status" 3 "no device at all: status"
is "$(wc -l <<<"$errors")" 1 "no device at all: one line says why"
"$RDMADIAG" probe --listen >/dev/null 2>&1
is $? 3 "no device at all: a listener does not start either"
done_testing
