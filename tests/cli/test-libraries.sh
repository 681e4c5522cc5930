#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries that few runs need are not loaded by all of them: a function without its line in lib/late/ would bring them
# back unnoticed.
. "$(dirname "$(readlink -f "$0")")/../guest/lib.sh"
RDMADIAG=${RDMADIAG:-build/rdmadiag}
command -v readelf >/dev/null || skip_all "no readelf"
needed=$(readelf -d "$RDMADIAG" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
like "$needed" '^libmnl[.]so' "libmnl is linked"
for library in libarchive libhwloc libibverbs libmlx5 libnuma librdmacm; do
	unlike "$needed" "^${library}[.]so" "$library is not linked"
done
done_testing
