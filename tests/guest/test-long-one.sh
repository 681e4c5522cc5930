#!/bin/sh
# SPDX-License-Identifier: MIT
here=$(dirname "$0")
exec "$here/suite" one "$here"/one/long/*.sh
