#!/bin/bash
# SPDX-License-Identifier: MIT
# Drivers that the kernel package lacks. Building them fetches the kernel's source, so it wants EXTRA_MODULES=1.
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/guest/lib.sh
. "$here/lib.sh"
[ -n "${EXTRA_MODULES-}" ] || skip_all "EXTRA_MODULES=1 builds siw and a changed rxe"
EXTRA=siw,rxepci exec "$here/suite" two "$here"/extra/*.sh
