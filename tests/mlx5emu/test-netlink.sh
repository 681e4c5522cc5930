#!/bin/bash
# SPDX-License-Identifier: MIT
# NETLINK_RDMA without a library.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh" >&2

two="--device mlx5_0:ports=2 --device mlx5_1"
# shellcheck disable=SC2086
timeout 60 "$run" $two --privileged python3 "$here/netlink.py" "$traffic" allowed || exit 1
# shellcheck disable=SC2086
exec timeout 60 "$run" $two --unprivileged python3 "$here/netlink.py" "$traffic" refused
