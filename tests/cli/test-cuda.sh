#!/bin/bash
# SPDX-License-Identifier: MIT
# topo --cuda against a stand-in libcuda, on the sysfs of a described machine.

cd "$(dirname "$0")/../.." || exit 1
. tests/guest/lib.sh
. tests/guest/topo-lib.sh
RDMADIAG=${RDMADIAG:-build/rdmadiag}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests/machines/make-snapshot hgx-eight-gpus "$work/node"
mkdir "$work/lib"
# CC may be several words
# shellcheck disable=SC2086
ok "a stand-in is built" ${CC:-cc} -shared -fPIC -o "$work/lib/libcuda.so.1" tests/cli/stand-in/libcuda.c
export SYSFS_PATH=$work/node/sys
gpu="[x['gpu'] for x in d['matrix']['devices'] if x['name'] == '%s'][0]"
# shellcheck disable=SC2059
gpu() {
	printf "$gpu" "$1"
}

topo --cuda
holds "without a library: a reason, and the matrix all the same" \
	"missing('gpu', 'host')['errno'] == 2 and len([x for x in d['matrix']['devices'] if x['kind'] == 'gpu']) == 8 and $(gpu GPU0) is None"

LD_LIBRARY_PATH=$work/lib topo --cuda
is "$status" 0 "topo --cuda ends well"
holds "by its PCI address, whatever CUDA's order" "$(gpu GPU0)['name'] == 'Stand-in 1' and $(gpu GPU4)['name'] == 'Stand-in 0'"
holds "ordered for all devices: no flush" "$(gpu GPU4)['ordering'] == 'all-devices' and 'no flush needed' in $(gpu GPU4)['reader']"
holds "for the owner" "($(gpu GPU0)['ordering'], $(gpu GPU0)['flush_options']) == ('owner', ['host', 'memops'])"
holds "another device needs a flush then" "'another CUDA device reads the data: cuFlush' in $(gpu GPU0)['reader']"
holds "ordered for nobody, flush by a stream only" "$(gpu GPU1)['ordering'] == 'none' and 'stream wait' in $(gpu GPU1)['reader'] and 'cuFlush' not in $(gpu GPU1)['reader']"
holds "dma-buf" "$(gpu GPU0)['dmabuf_supported'] is True and $(gpu GPU1)['dmabuf_supported'] is False"
holds "no GPUDirect RDMA" "$(gpu GPU2)['rdma_supported'] is False and 'host memory' in $(gpu GPU2)['reader']"
holds "attributes that this CUDA does not have" "$(gpu GPU3)['rdma_supported'] is None and $(gpu GPU3)['reader'] is None"
holds "a GPU that CUDA does not show" "$(gpu GPU7) is None"
like "$(LD_LIBRARY_PATH=$work/lib "$RDMADIAG" topo --cuda)" "no flush needed" "the text says it"

LD_LIBRARY_PATH=$work/lib CUDA_STAND_IN=init topo --cuda
holds "CUDA's own error" "'100' in missing('gpu', 'host')['reason']"
LD_LIBRARY_PATH=$work/lib CUDA_STAND_IN=address topo --cuda
holds "a device that does not tell where it is: a reason" "'device 2 ' in missing('gpu', 'host')['reason'] and $(gpu GPU1) is None"
holds "and what is known of the others" "$(gpu GPU0)['name'] == 'Stand-in 1' and $(gpu GPU2)['rdma_supported'] is False"

# a snapshot has the answer where it was wanted
export LD_LIBRARY_PATH=$work/lib
status_is 0 "a capture with it" "$RDMADIAG" capture --cuda "$work/with"
live=$("$RDMADIAG" topo --cuda)
is "$(env -u LD_LIBRARY_PATH "$RDMADIAG" topo --cuda --from "$work/with")" "$live" "replays what CUDA said"
status_is 0 "a report with it" "$RDMADIAG" report --cuda -o "$work/with.tar"
"$RDMADIAG" report --from "$work/with.tar" -o "$work/again.tar" >/dev/null
is "$(env -u LD_LIBRARY_PATH "$RDMADIAG" topo --cuda --from "$work/again.tar")" "$live" "and a report of it too"
CUDA_STAND_IN=init "$RDMADIAG" capture --cuda "$work/failed" >/dev/null
is "$(env -u LD_LIBRARY_PATH "$RDMADIAG" topo --cuda --from "$work/failed")" "$(CUDA_STAND_IN=init "$RDMADIAG" topo --cuda)" "CUDA's own error is replayed"
CUDA_STAND_IN=address "$RDMADIAG" capture --cuda "$work/part" >/dev/null
is "$(env -u LD_LIBRARY_PATH "$RDMADIAG" topo --cuda --from "$work/part")" "$(CUDA_STAND_IN=address "$RDMADIAG" topo --cuda)" "an answer in part is replayed"
unset LD_LIBRARY_PATH

# never unasked
cat >"$work/never.c" <<-'C'
	#include <stdlib.h>
	__attribute__((constructor)) static void loaded(void) { abort(); }
C
"${CC:-cc}" -shared -fPIC -o "$work/lib/libcuda.so.1" "$work/never.c"
LD_LIBRARY_PATH=$work/lib topo --matrix
is "$status" 0 "the library is not loaded by --matrix"
LD_LIBRARY_PATH=$work/lib topo
is "$status" 0 "nor by topo"
LD_LIBRARY_PATH=$work/lib status_is 0 "nor by a capture" "$RDMADIAG" capture "$work/without"
like "$output" "^left out: what libcuda says" "which says so"
LD_LIBRARY_PATH=$work/lib status_is 0 "nor by a report" "$RDMADIAG" report -o "$work/without.tar"
like "$output" "^left out: what libcuda says" "which says so"
done_testing
