#!/bin/sh
# SPDX-License-Identifier: MIT
here=$(dirname "$0")
exec "$here/suite" two "$here"/two/long/*.sh
