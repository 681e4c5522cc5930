/* SPDX-License-Identifier: MIT */
/* A loopback probe of each port that is up, for `check --probe` and `report --probe`. */
#ifndef RDMADIAG_CMD_PROBE_PORTS_H
#define RDMADIAG_CMD_PROBE_PORTS_H

#include "model/evidence.h"
#include "model/host.h"

#include <stdbool.h>

uint32_t count_ports_up(const struct host *host);

/* `subject`: DEV/PORT. What is not 0 ends the visits. */
typedef int (*visit_port)(void *data, const char *subject, const struct port *port);
/* All ports in their order. 0, or what a visit returned. */
int each_port(const struct host *host, visit_port visit, void *data);

/* "layer network (likely)", "layer undetermined (network or device)"; in the arena. */
const char *layer_words(struct arena *arena, const struct verdict *verdict);

#endif
