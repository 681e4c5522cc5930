#!/bin/bash
# SPDX-License-Identifier: MIT
# --buffer-node all: every node is measured as often, and nothing is claimed that is not above the noise. Times of a
# guest are noise: only the rules are tested here.
. tests/guest/lib.sh
. tests/guest/probe-lib.sh
probe_setup

probe -d rxe0 --buffer-node all --count 30 --size 64,16K --timeout 20000
[ "$status" -le 1 ]
is $? 0 "the comparison ends"
holds "the request says what was asked for, the first run was on the adapter's node" \
	"d['request']['buffer_node'] == 'all' and e['buffer']['requested_node'] == 0"
holds "both nodes, both sizes, both metrics, six runs each" \
	"sorted((p['node'], p['bytes'], p['metric'], len(p['runs'])) for p in e['placements']) == sorted((n, b, m, 6) for n in (0, 1) for b in (64, 16384) for m in ('latency', 'throughput'))"
holds "each compares node 1 with the adapter's" \
	"len(e['placement_comparisons']) == 4 and all((c['node'], c['base_node']) == (1, 0) for c in e['placement_comparisons'])"
holds "nothing is claimed below the noise or within chance" \
	"all(c['differs'] is (abs(c['difference_ppm']) > c['noise_ppm'] and c['chance_ppm'] < 50000) for c in e['placement_comparisons'] if abs(abs(c['difference_ppm']) - c['noise_ppm']) > 2)"
holds "what on-demand paging would be compared with is not there, with the reason" "e['local']['odp'] is False and missing('placements.odp')"

probe -d rxe0 --registration odp
is "$status" 1 "on-demand paging on a device without: status"
holds "on-demand paging on a device without: the step that fails" "resource('local', 'ibv_reg_mr') not in (0, None) and not o"
no_objects_left "nothing is left in the kernel"
done_testing
