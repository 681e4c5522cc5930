#!/bin/bash
# SPDX-License-Identifier: MIT
# make demo: both probes go well, whichever link comes up first.
. tests/guest/lib.sh
# the demonstration is made for a guest that nothing was done in
for nic in nic0 nic1 nic2 nic3; do ip link set "$nic" down; done
run_captured tests/guest/demo --inside
status=$?
# On a busy machine an answer may come so late that the request is sent again, which is told.
late=$(grep -c 'an operation took longer than the ACK timeout' <<<"$output")
is $(($(grep -c '^Verdict: ok ' <<<"$output") + late)) 2 "both of its probes go well, or say that an answer was late" || diag "$output"
is "$status" $((late > 0)) "the demonstration's status is that of its probes"
like "$output" '^\$ rdmadiag probe -d rxe_bond0 --target-device rxe2$' "one of them over the wire"
is "$(cut -d' ' -f1 /sys/class/net/bond0/bonding/primary)" nic0 "over the member whose wire ends at the other device"
rxe_del rxe_bond0
rxe_del rxe2
done_testing
