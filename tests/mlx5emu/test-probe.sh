#!/bin/bash
# SPDX-License-Identifier: MIT
# rdmadiag probe on the software device: each fault against the ground truth. The guilty layer is among layer and
# candidates, and a confirmed verdict names it; with the device's own view, without privilege, and without any view.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

RDMADIAG=${RDMADIAG:-$here/../../build/rdmadiag}
export RDMADIAG
if [ ! -x "$RDMADIAG" ]; then
	echo "1..0 # SKIP no rdmadiag, build it first"
	exit 0
fi
two="--device mlx5_0 --device mlx5_1"
between="-d mlx5_0 --target-device mlx5_1"

# patience OUTCOMES - a stall is waited out; what ends by itself may take its time on a busy machine
patience() {
	case $1 in
	stalled) echo 700 ;;
	*) echo 5000 ;;
	esac
}


# probe NAME OUTCOMES "RUN OPTIONS" "PROBE OPTIONS" [PATH=VALUE]...: what a right verdict has to hold as well
probe() {
	local name=$1 outcomes=$2 run_options=$3 probe_options=$4 wish have=()
	shift 4
	for wish; do have+=(--have "$wish"); done
	# word splitting is wanted
	# shellcheck disable=SC2086
	meanwhile "$name" python3 "$here/probe_case.py" --outcome "$outcomes" --run="$run_options" ${have[@]+"${have[@]}"} -- \
		--timeout "$(patience "$outcomes")" $probe_options
}

# peers NAME OUTCOMES "RUN OPTIONS" "OPTIONS OF THE LISTENER'S RUN" "PROBE OPTIONS" [PATH=VALUE]...: two processes, two hosts;
# listener:PATH=VALUE is of the listener's document
peers() {
	local name=$1 outcomes=$2 run_options=$3 far=$4 probe_options=$5 wish have=()
	shift 5
	for wish; do
		case $wish in
		listener:*) have+=(--other "${wish#listener:}") ;;
		*) have+=(--have "$wish") ;;
		esac
	done
	# shellcheck disable=SC2086
	meanwhile "listener and peer: $name" python3 "$here/probe_case.py" --outcome "$outcomes" --run="$run_options" --far="$far" \
		${have[@]+"${have[@]}"} -- --timeout "$(patience "$outcomes")" $probe_options
}

probe "LAG: the member of the queue pair" ok "--device mlx5_bond_0:lag" "" evidence.local.lag_port=1 \
	evidence.local.lag_active_port=1
probe "LAG: its member is down" ok,degraded "--device mlx5_bond_0:lag --fault member-down:1" "" evidence.local.lag_port=1 \
	evidence.local.lag_active_port=2
probe "loopback on one port: there is another to compare with" ok "$two" "-d mlx5_0" evidence.same_port_loopback=true \
	'evidence.other_ports=["mlx5_1/1"]'
probe "between two ports there is none" ok "$two" "$between" evidence.same_port_loopback=false 'evidence.other_ports=[]'
probe "no LAG" ok "" "" evidence.local.lag_port=null "evidence.lag_members=[]"
m=evidence.lag_members
probe "LAG: each member by itself" ok "--device mlx5_0:lag --device mlx5_1" "$between" $m.0.port=1 $m.0.active_port=1 \
	$m.0.posted=2 $m.0.completed=2 $m.0.payload_verified=true $m.1.port=2 $m.1.active_port=2 $m.1.completed=2
for bad in 1 2; do
	good=$((3 - bad))
	probe "LAG: member $bad loses packets" degraded,failed "--device mlx5_0:lag --device mlx5_1 --fault drop,member=$bad" \
		"$between" $m.$((good - 1)).completed=2 $m.$((bad - 1)).completed=0 $m.$((bad - 1)).wc_status=12 \
		"verdict.summary=member $bad of the LAG does not carry the requests that another member carries" \
		'verdict.candidates=["configuration", "device", "network", "remote-device"]'
done
probe "LAG: a member that only loses large packets" degraded,failed \
	"--device mlx5_0:lag --device mlx5_1 --fault drop:req,member=2,min=1024" "$between --size 64,4K" $m.1.completed=1 $m.1.wc_status=12
probe "LAG: all members lose packets" failed "--device mlx5_0:lag --device mlx5_1 --fault drop" "$between" \
	$m.0.wc_status=12 $m.1.wc_status=12 "verdict.summary=packets were sent by this host and not received by the peer"
probe "LAG without DEVX: not tried" ok "--device mlx5_0:lag --device mlx5_1 --no-devx" "$between" "$m=[]"
"$run" --device mlx5_0:lag --fault drop,member=2 "$RDMADIAG" probe --timeout 5000 >"$scratch/out" 2>&1
grep -Eq '^  member 1  ok, 2 requests, the last in ' "$scratch/out" && grep -q '^  member 2  failed  IBV_WC_RETRY_EXC_ERR' "$scratch/out"
ok $? "LAG: in the text" "$scratch/out"

# the other device has another table: the index that was asked for is of the first
probe "a GID index of one device" ok "$two" "-d mlx5_0 -g 1 --target-device mlx5_1" evidence.local.gid_index=1 \
	evidence.remote.gid_index=3
"$run" "$RDMADIAG" probe -g 20 -j >"$scratch/empty" 2>"$scratch/out"
status=$? python3 "$here/../guest/holds.py" probe \
	"s == 1 and (v['outcome'], v['layer'], v['candidates']) == ('not-run', 'configuration', ['configuration']) and v['because'][0] == 'the local GID is empty: nothing is at index 20' and v['next_steps'][0].startswith('run \`rdmadiag gid\`')" \
	"$scratch/empty" >>"$scratch/out" 2>&1
ok $? "an index with nothing at it" "$scratch/out"
probe "a GID index of both ends" ok "$two" "-d mlx5_0 -g 1" evidence.local.gid_index=1 evidence.remote.gid_index=1

# ---- InfiniBand: by LID, without a GID
ib="--device mlx5_0:link=ib --device mlx5_1:link=ib:ports=2"
probe "InfiniBand by LID" ok "$ib" "-d mlx5_0 --target-device mlx5_1/2" evidence.local.transport=infiniband \
	evidence.local.link_layer=InfiniBand evidence.local.gid_index=null evidence.local.lid=2 evidence.remote.lid=7 \
	evidence.remote.port=2 evidence.local.path_mtu=4096 verdict.confidence=confirmed
probe "InfiniBand with a GID index that was asked for" ok "$ib" "-d mlx5_0 -g 0 --target-device mlx5_1" \
	evidence.local.gid_index=0 evidence.local.gid_type=IB
probe "InfiniBand: packets are lost" failed "$ib --fault drop,guilty=network" "-d mlx5_0 --target-device mlx5_1" \
	verdict.layer=network verdict.confidence=likely 'verdict.candidates=["network", "remote-device"]'
probe "InfiniBand: port down" not-run,failed,stalled "$ib --fault port-down,dev=mlx5_0" "-d mlx5_0 --target-device mlx5_1"

o=evidence.operations s=evidence.device_samples by=evidence.observers.device

# ---- nothing wrong: which way to the device's own view there is
probe "success" ok "" "" $by=devx evidence.observers.wqe=mlx5dv evidence.observers.cqe=mlx5dv verdict.confidence=confirmed \
	$o.0.doorbell_recorded=true $s.0.moment=idle $s.0.qp_state=RTS $s.0.recorded=1 $s.0.taken=1 $s.0.executed=1 \
	$s.0.cq_produced=1 $s.0.cq_recorded=1 $s.0.cq_status=0
probe "success between two devices, unprivileged" ok "$two --unprivileged" "$between" $by=devx
probe "success without DEVX" ok "--no-devx" "" $by=netlink-raw $s.0.taken=1 $s.0.cq_produced=1
probe "success without DEVX and privilege" ok "--no-devx --unprivileged" "" $by=null \
	"not_collected.*.what=observers.device"
probe "success without DEVX and rdma netlink" ok "--no-devx --no-netlink" "" $by=null
probe "success on a kernel with write commands only" ok "--abi write" "" $by=netlink-raw
probe "success: DEVX is refused" ok "--fault devx-fail" "" $by=netlink-raw
for errno in 95 38 22; do
	probe "success: DEVX answers with errno $errno" ok "--fault devx-fail:$errno" "" $by=netlink-raw
	probe "… unprivileged: none, with a reason" ok "--unprivileged --fault devx-fail:$errno" "" $by=null \
		"not_collected.*.what=observers.device" "not_collected.*.errno=1"
done
probe "success: both ways are refused" ok "--fault devx-fail --fault netlink-fail:res_qp_get_raw:1" "" $by=null
probe "success: many requests, the rings go round" ok "" "--count 300" evidence.operations_completed=600
for op in write-imm send read; do
	probe "success: $op" ok "" "--op $op" $by=devx evidence.observers.wqe=mlx5dv
done
for op in write write-imm send read; do
	probe "success: $op by the ibv_wr_* calls" ok "$two" "$between --op $op --api wr --count 20 --batch 4" request.api=wr \
		evidence.operations_completed=40 $o.0.payload_verified=true $o.0.doorbell_recorded=true
done
for op in write send; do
	probe "success: $op by the ibv_wr_* calls, inline" ok "$two" "$between --op $op --api wr --inline --size 64" \
		$o.0.payload_verified=true
	probe "success: $op by the ibv_wr_* calls, inline, in pieces" ok "$two" "$between --op $op --api wr --inline --sges 3 --size 64" \
		$o.0.payload_verified=true
done

# ---- stalls: one for each place, each by each way to the device, and by none
#      stall FAULT SAW EXECUTED ACKNOWLEDGED WRITTEN CANDIDATES
stall() {
	local flags="$o.1.device_saw_doorbell=$2 $o.1.device_executed=$3 $o.1.acknowledged=$4 $o.1.cqe_written=$5"
	# shellcheck disable=SC2086
	{
		probe "DEVX: $1" stalled "$two --unprivileged --fault $1" "$between" $flags "verdict.candidates=$6" $by=devx
		probe "raw: $1" stalled "$two --no-devx --fault $1" "$between" $flags "verdict.candidates=$6" $by=netlink-raw
	}
	probe "no view of the device: $1" stalled "$two --no-devx --unprivileged --fault $1" "$between" \
		$o.1.device_saw_doorbell=null verdict.layer=undetermined verdict.confidence=none
}
stall doorbell-lost,after=1 false false null false '["provider", "platform", "device"]'
stall no-fetch,after=1 true false null false '["platform", "device", "network"]'
stall no-execute,after=1,guilty=platform true false null false '["platform", "device", "network"]'
stall no-cqe,after=1 true true true false '["platform", "device"]'

# the first request: nobody knows what the packet numbers look like at rest
probe "not calibrated: doorbell-lost" stalled "$two --fault doorbell-lost" "$between" $o.0.device_saw_doorbell=false
probe "not calibrated: no-cqe" stalled "$two --fault no-cqe" "$between" $o.0.device_executed=true $o.0.acknowledged=null \
	$o.0.payload_verified=true
# a device that lies about its queues is not believed against the peer's memory
probe "frozen counters" stalled "$two --fault frozen-qpc --fault no-cqe,after=1" "$between" $o.1.payload_verified=true
# counters that stand still because the queue pair broke
probe "completion queue overrun" failed,stalled "$two --fault cq-overrun" "$between" $o.0.device_saw_doorbell=null
probe "late beyond the deadline" stalled,degraded "$two --fault late:2s,after=1" "$between --timeout 700"
probe "completion late beyond the deadline" stalled,degraded "$two --fault late-cqe:2s,after=1" "$between --timeout 700"
# no rule knows it: nobody is named
probe "a completion with a reserved opcode" stalled "$two --fault garbled-cqe,after=1" "$between" verdict.layer=undetermined \
	evidence.foreign_completions=1

probe "… and what lies in memory" stalled "$two --fault garbled-cqe:90,after=1" "$between" \
	evidence.unclaimed_completions.0.opcode=9 evidence.unclaimed_completions.0.known=false \
	evidence.unclaimed_completions.0.taken=true evidence.unclaimed_completions.0.bytes=null
probe "a completion that names another request" stalled "$two --fault misplaced-cqe:2,after=1" "$between" \
	verdict.layer=undetermined evidence.foreign_completions=1 evidence.unclaimed_completions.0.position=3
probe "a completion too many" degraded "$two --fault cqe-twice,count=1" "$between" verdict.layer=undetermined \
	evidence.foreign_completions=1 evidence.unclaimed_completions.0.position=0

# ---- a notification that does not come, also after one that did; the completion is there all the same
for after in 0 1 2; do
	probe "interrupt lost after $after" stalled "$two --fault interrupt-lost,after=$after" "$between --wait event --count 4 --size 64" \
		'verdict.candidates=["kernel", "platform", "device"]' evidence.notification.armed=true \
		"verdict.summary=the completion is there, and the waiting program was not woken" "$s.*.cq_notification=fired"
done
probe "waiting by event: no CQE" stalled "$two --fault no-cqe,after=1" "$between --wait event" \
	'verdict.candidates=["platform", "device"]' "$s.*.cq_notification=armed"

# ---- a listener and its peer
for op in write write-imm send read; do
	peers "$op" ok "" "" "--op $op --count 3" evidence.remote.device=mlx5_1 evidence.remote.alive=true \
		evidence.operations.0.payload_verified=true verdict.confidence=confirmed evidence.local.gid_type="RoCE v2"
done
# the place of an earlier request, whose bytes are there still
peers "lost behind others: the target has nothing of it" failed "--fault drop:req,after=50" "" "--count 100 --size 64" \
	evidence.operations.50.wc_status=12 evidence.operations.50.landed=false evidence.operations.50.payload_verified=null \
	evidence.payloads.0.wrong=0
peers "corrupt at the target: the listener says so too" corrupt "" "--fault corrupt:target" "" \
	listener:verdict.outcome=corrupt listener:verdict.confidence=none listener:evidence.payloads.0.right=0
peers "more is posted than the send queue holds: the listener is told" failed "" "" "--drill sq-full" verdict.layer=application \
	listener:verdict.outcome=failed listener:evidence.peer_report.step=ibv_post_send listener:evidence.peer_report.errno=12 \
	listener:evidence.peer_report.completed=16
peers "kernels with write commands only" ok "--abi write" "--abi write" ""
peers "over InfiniBand by LID" ok "--device mlx5_0:link=ib" "--device mlx5_1:link=ib" "" evidence.local.transport=infiniband \
	evidence.local.gid_index=null evidence.local.lid=6 evidence.local.link_layer=InfiniBand
peers "over InfiniBand by GID" ok "--device mlx5_0:link=ib" "--device mlx5_1:link=ib" "-g 0" evidence.local.gid_index=0 \
	evidence.local.gid_type=IB
peers "no-ack" failed "" "--fault no-ack" "" $o.0.wc_status=12 $o.0.payload_verified=true \
	'listener:verdict.candidates=["configuration", "device", "network", "remote-device"]'
for syndrome in 1 12 13 15; do
	peers "error:$syndrome: the truth is among the listener's candidates" failed "--fault error:$syndrome" "" ""
done
peers "doorbell-lost" stalled "--fault doorbell-lost" "" "" $o.0.device_saw_doorbell=false
peers "the initiator's queue pair is refused" not-run "--fault command-fail:modify_qp_rtr:22" "" "" \
	listener:evidence.peer_report.step=RTR listener:evidence.peer_report.errno=22 \
	"listener:verdict.summary=the peer could not begin: it stopped at RTR"
peers "the listener's set-up fails" not-run "" "--fault command-fail:create_cq:12" ""
peers "LAG: each member" ok "--device mlx5_0:lag" "" "" $m.0.completed=1 $m.1.completed=1 $m.1.active_port=2
peers "LAG: member 2 loses packets" degraded "--device mlx5_0:lag --fault drop,member=2" "" "" $m.0.completed=1 \
	$m.1.wc_status=12 "verdict.summary=member 2 of the LAG does not carry the requests that another member carries"
peers "LAG: the queue pair's own member loses packets" failed "--device mlx5_0:lag --fault drop,member=1" "" "" "$m=[]" \
	"not_collected.*.what=lag_members"

for api in post wr; do
	probe "sq_sig_all, $api" ok "$two" "$between --sq-sig-all --api $api --count 6 --batch 3 --size 64" request.sq_sig_all=true \
		$o.0.signaled=true $o.5.wc_status=0 evidence.operations_completed=6 evidence.observers.wqe=mlx5dv verdict.confidence=confirmed
done

# ---- on-demand paging, where the device offers it
for op in write send read; do
	probe "on-demand paging, $op" ok "--device mlx5_0:odp" "--registration odp --op $op" evidence.local.odp=true \
		request.registration=odp verdict.confidence=confirmed
done
probe "on-demand paging is in the rights" ok "--device mlx5_0:odp" "--registration odp" \
	"evidence.local.mr_access=local-write on-demand"
# ---- the same bytes over TCP
t=evidence.tcp_transfers
peers "the same bytes over TCP go to the peer" ok "" "" "--tcp --size 64,300000 --count 3" $t.0.to_peer=true $t.0.samples=3 \
	$t.0.verified=true $t.1.bytes=300000 $t.1.verified=true verdict.confidence=confirmed
peers "nothing goes over TCP that was not asked for" ok "" "" "--size 64" request.tcp=false $t=[]
probe "the same bytes over TCP stay here without one" ok "$two" "$between --tcp --size 64" $t.0.to_peer=false $t.0.verified=true

# ---- errors, and things that heal
for fault in drop drop:resp no-ack error:15:81; do
	probe "$fault" failed "$two --fault $fault" "$between" $o.0.wc_status=12
done
probe "drop, unprivileged and without DEVX" failed "$two --unprivileged --no-devx --fault drop" "$between"
probe "remote access" failed "$two --fault error:13:88" "$between" $o.0.wc_status=10 $o.0.vendor_err=136
probe "local protection" failed "$two --fault error:4:51" "$between" $o.0.wc_status=4
probe "one packet lost" ok,degraded "$two --fault drop:req,count=1" "$between"
for fault in late late-cqe; do
	probe "$fault: two seconds, and in time" degraded "$two --fault $fault:2s,after=1" "$between" \
		"verdict.summary=it worked, but took very long"
done
probe "late, in time" ok,degraded "$two --fault late:20ms" "$between"
for where in source target wire,guilty=remote-device; do
	probe "corrupt:$where" corrupt "$two --fault corrupt:$where" "$between" verdict.layer=undetermined
done
probe "corrupt, without a completion of its own" corrupt "$two --fault corrupt:target,count=1" \
	"$between --count 2 --size 64 --batch 2 --signal-every 2" $o.0.signaled=false $o.0.payload_verified=false
probe "corrupt, behind the operations that are listed" corrupt "$two --fault corrupt:target,min=65" \
	"$between --count 100" evidence.operations_omitted=136 evidence.payloads.0.wrong=0 evidence.payloads.1.right=0
probe "all of many sizes verified" ok "$two" "$between --count 100" verdict.confidence=confirmed evidence.payloads.1.wrong=0
probe "the payload landed, and no ACK timer expired" stalled "$two --no-devx --unprivileged --fault no-cqe" "$between --timeout 4500" \
	'verdict.candidates=["platform", "device"]'
probe "set-up refused" not-run "--fault command-fail:create_cq:12" ""
"$run" "$RDMADIAG" probe --registration odp -j >"$scratch/without" 2>"$scratch/out"
status=$? python3 "$here/../guest/holds.py" probe \
	"s == 1 and e['local']['odp'] is False and (v['outcome'], v['layer'], v['confidence']) == ('not-run', 'application', 'likely')" \
	"$scratch/without" >>"$scratch/out" 2>&1
ok $? "on-demand paging of a device without" "$scratch/out"
"$run" --device mlx5_0:odp "$RDMADIAG" probe --buffer-node all --size 64 -j >"$scratch/places" 2>"$scratch/out"
python3 - "$scratch/places" <<'END' >>"$scratch/out" 2>&1
import json, sys
d = json.load(open(sys.argv[1]))
e = d["evidence"]
paged = [p for p in e["placements"] if p["registration"] == "odp"]
assert sorted((p["metric"], len(p["runs"])) for p in paged) == [("latency", 6), ("throughput", 6)], e["placements"]
against = [c for c in e["placement_comparisons"] if c["registration"] == "odp"]
assert len(against) == 2 and all(c["node"] == c["base_node"] for c in against), e["placement_comparisons"]
# A node of the described machine that this one does not have is left out, and does not end the comparison.
left_out = [n for n in d["not_collected"] if n["what"] == "placements"]
nodes = {p["node"] for p in e["placements"]}
assert all(n["subject"].startswith("node:") and "left out" in n["reason"] for n in left_out) and 0 in nodes, left_out
END
ok $? "on-demand paging against pinned memory on the same node" "$scratch/out"
finish
