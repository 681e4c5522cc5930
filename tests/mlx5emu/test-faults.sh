#!/bin/bash
# SPDX-License-Identifier: MIT
# Each fault does what it says, and the ground truth names who is guilty. Two devices: what is between them is a network.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh"

two="--device mlx5_0 --device mlx5_1"
pair="$traffic --device mlx5_0 --target-device mlx5_1 --size 3000"

# fault FAULT "TRAFFIC OPTIONS" GUILTY KEY=VALUE...
fault() {
	local spec=$1 more=$2 guilty=$3 kind
	shift 3
	kind=${spec%%[:,]*}
	rm -f "$scratch/log"
	run_has "$abi: $spec" "$two --abi $abi --log $scratch/log --fault $spec" "$pair $more" "$@"
	grep -q "\"kind\":\"$kind\",.*\"guilty\":\"$guilty\"" "$scratch/log"
	ok $? "$abi: $spec in the ground truth: $guilty" "$scratch/log"
}

# device KEY=VALUE...: only where DEVX shows them
device() {
	[ $abi = ioctl ] && echo "$@"
}

for abi in ioctl write; do
	# shellcheck disable=SC2046
	{
		fault doorbell-lost "--wait 600" device completions=0 dbrec=1 cqe_present=0 landed=0 $(device sw=0 hw=0 gap=0)
		fault no-fetch "--wait 600" device completions=0 dbrec=1 cqe_present=0 landed=0 $(device sw=1 hw=0 gap=0)
		fault no-execute "--wait 600" device completions=0 dbrec=1 landed=0 $(device sw=1 hw=0 gap=0)
		fault no-ack,guilty=remote-device "--wait 20 --timeout 20" remote-device completions=0 landed=1 $(device sw=1 hw=1 gap=3)
		fault no-cqe "--wait 600" device completions=0 cqe_present=0 landed=1 $(device sw=1 hw=1 gap=0)
		fault drop "--wait 5000" network completions=1 status=12 vendor=0x81 landed=0 $(device state=6)
		fault drop:resp "--wait 5000" network status=12 vendor=0x81 landed=1
		fault error:13:88 "" remote-application status=10 vendor=0x88 $(device state=6)
		fault error:4:51,after=2 "--count 3" platform completions=3 errors=1 status=4
		fault cq-overrun "--wait 600" device completions=0 local_async=0 local_async=1
	}
done
abi=ioctl
fault late:30ms "" device completions=1 errors=0 landed=1
fault late-cqe:30ms "--count 3" device completions=3 errors=0 landed=1
fault drop:req,count=1 "" network completions=1 errors=0 landed=1
fault drop:req,min=1024 "--wait 5000 --op write" network status=12 landed=0
fault drop:resp,count=1 "--op read --wait 5000" network completions=1 errors=0 landed=1
fault delay:2ms "" network errors=0 landed=1
fault duplicate "--count 3 --op send" network errors=0 received=3 landed=1
fault corrupt:source "" platform errors=0 landed=0
fault corrupt:wire:5 "" network errors=0 landed=0
fault corrupt:target "" remote-device errors=0 landed=0
fault garbled-cqe "--no-poll --wait 50" device cqe_present=1
fault misplaced-cqe "--no-poll --wait 50" device cqe_present=1
fault cqe-twice "--count 1 --no-poll --wait 50" device cqe_present=1
fault interrupt-lost "--events --wait 200" platform completions=0 events=0 cqe_present=1
fault port-down,t=150,port=1 "--count 2000000 --wait 5000" network status=12 local_async=10
fault device-fatal,t=300 "--count 2000000 --wait 500" device local_async=8
fault frozen-qpc "--count 2" device completions=2
fault command-fail:reg_mr:12,guilty=configuration "" configuration status=3
fault fw-hang:modify_qp_rtr:50ms "" device status=3
fault block-ioctl:create_qp:100ms "" kernel errors=0 landed=1
fault block-open:100ms "" kernel errors=0 landed=1
fault devx-fail "" none devx=no landed=1
fault netlink-fail "" none errors=0
run_has "no DEVX" "--no-devx" "$traffic" devx=no errors=0 landed=1
run_has "no netlink: discovery by sysfs" "--no-netlink" "$traffic" errors=0 landed=1

# natural errors, without a fault
run_has "wrong rkey" "" "$traffic --bad-rkey --peer" status=10 vendor=0x88 remote_async=3
run_has "wrong lkey" "" "$traffic --bad-lkey" status=4
run_has "no receive posted" "" "$traffic --op send --no-recv" status=13
run_has "peer died" "" "$traffic --peer --dies --wait 8000" status=12
run_has "CQ overrun by the program" "" "$traffic --overrun --count 20" local_async=0 local_async=1
run_has "not polled" "" "$traffic --no-poll --wait 100" completions=0 cqe_present=1 landed=1

# the same seed strikes the same packets
for i in 1 2; do
	rm -f "$scratch/log$i"
	# shellcheck disable=SC2086
	"$run" $two --seed 7 --log "$scratch/log$i" --fault no-cqe,p=0.3 $traffic --count 10 --wait 100 >/dev/null 2>&1
	grep -o '"kind":.*' "$scratch/log$i" >"$scratch/kinds$i"
done
cmp -s "$scratch/kinds1" "$scratch/kinds2" && [ -s "$scratch/kinds1" ]
ok $? "a seed repeats itself"

# refused FAULT WORDS: status 2, and what is wrong with it in words
refused() {
	"$run" --fault "$1" true 2>"$scratch/err"
	[ $? -eq 2 ] && grep -qF -- "$2" "$scratch/err"
	ok $? "refused: $1" "$scratch/err"
}
refused no-such-thing "'no-such-thing' is no kind of fault"
refused drop:sideways "drop does not take the argument 'sideways', but [req|resp]"
refused no-cqe:1 "but none"
refused command-fail "command-fail needs an argument: CMD[:ERRNO]"
refused late:3parsecs "late does not take the argument '3parsecs', but TIME"
refused no-cqe,colour=red "no selector colour"
refused no-cqe,guilty=nobody "'nobody' is no value of it"
refused no-cqe,after "'after' is no selector"
refused "" "empty"

# each kind stands in the README and in --help
"$MLX5EMU_BUILD/mlx5emu-setup" --faults >"$scratch/kinds"
grep -oE '^  [a-z-]+' "$scratch/kinds" | while read -r kind; do
	grep -qE "^\|.*\b$kind\b.*\|" "$here/README.md" || echo "$kind"
done >"$scratch/out"
[ ! -s "$scratch/out" ] && [ "$(grep -cE '^  [a-z-]+' "$scratch/kinds")" -gt 25 ]
ok $? "each kind of fault is documented" "$scratch/out"

# a schedule in a file: comments and empty lines are none
printf '# first nothing\n\nno-cqe,after=1,count=1\n  # then\nlate:1ms\n' >"$scratch/schedule"
rm -f "$scratch/log"
run_has "--faults FILE" "--faults $scratch/schedule --log $scratch/log" "$traffic --count 3 --wait 200" completions=1
grep -q '"kind":"no-cqe"' "$scratch/log" && grep -q '"kind":"late"' "$scratch/log"
ok $? "… both of them struck" "$scratch/log"
echo no-such-thing >"$scratch/schedule"
"$run" --faults "$scratch/schedule" true 2>"$scratch/err"
[ $? -eq 2 ] && grep -q "bad fault: no-such-thing" "$scratch/err"
ok $? "--faults with a mistake in it" "$scratch/err"
"$run" --faults "$scratch/nowhere" true 2>"$scratch/err"
[ $? -eq 2 ] && grep -q nowhere "$scratch/err"
ok $? "--faults without a file" "$scratch/err"
python3 -c 'import json, sys
for line in open(sys.argv[1]): json.loads(line)' "$scratch/log1" 2>"$scratch/err"
ok $? "the ground truth is JSON lines" "$scratch/err"
finish
