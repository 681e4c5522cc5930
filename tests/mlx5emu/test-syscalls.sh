#!/bin/bash
# SPDX-License-Identifier: MIT
# poll, select, epoll, sendmmsg and recvmmsg on what the device hands out.
# shellcheck source=tests/mlx5emu/tap.sh
. "$(dirname "$0")/tap.sh" >&2

exec timeout 60 "$run" "$MLX5EMU_BUILD/mlx5emu-syscalls"
