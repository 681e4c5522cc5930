#!/bin/sh
# SPDX-License-Identifier: MIT
here=$(dirname "$0")
SCRIPT_SECONDS=900 GUEST_SECONDS=2300 exec "$here/suite" two "$here"/two/long/*.sh
