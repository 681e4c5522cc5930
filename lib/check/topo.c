/* SPDX-License-Identifier: MIT */
#include "check/topo.h"

void check_topo(const struct host *host, struct report *report)
{
	check_ports(host, report);
	check_links(host, report);
	check_bonds(host, report);
	check_functions(host, report);
	check_pci(host, report);
	check_numa(host, report);
	check_health(host, report);
	report_exhaustion(report);
}
