#!/bin/bash
# SPDX-License-Identifier: MIT
# A report of mlx5 devices, of two ports, of a bond and of InfiniBand, replays as they are seen live.
here=$(cd "$(dirname "$0")" && pwd)
exec timeout 300 "$here/run" --netns --device mlx5_0 --device mlx5_1:ports=2 --device mlx5_2:link=ib "$here/../replay"
