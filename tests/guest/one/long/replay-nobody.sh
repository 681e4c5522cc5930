#!/bin/bash
# SPDX-License-Identifier: MIT
# Without root, a report and a capture have less, and replay as that user sees the host live.
# shellcheck source=tests/guest/lib.sh
. "$(dirname "$0")/../../lib.sh"

modprobe rdma_rxe
dummies dumn0
ip addr add 192.0.2.1/24 dev dumn0
rxe_add rxen0 dumn0
exec tests/replay setpriv --reuid 65534 --regid 65534 --clear-groups
