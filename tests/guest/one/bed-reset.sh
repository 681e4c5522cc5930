#!/bin/bash
# SPDX-License-Identifier: MIT
# Each script finds bare NICs and no RDMA device, whatever the one before it left.
. tests/guest/lib.sh
is "$(ls /sys/class/infiniband 2>/dev/null)" "" "no RDMA device"
ok "nic0 is named" test -e /sys/class/net/nic0
is "$(ip -o addr show dev nic0 | grep -c inet)" 0 "nic0 has no address"
done_testing
