/* SPDX-License-Identifier: MIT */
/* Where the interrupts of PCI functions go: msi_irqs of sysfs, the names of proc/interrupts, proc/irq/N. */
#ifndef RDMADIAG_SOURCE_IRQ_H
#define RDMADIAG_SOURCE_IRQ_H

#include "model/host.h"
#include "origin/origin.h"

/* Fills health->functions with those of adapters that the tree shows. 0 or negative errno. */
int irq_read(struct origin *origin, struct host *host, struct health *health);

/* The lines of proc/interrupts that begin with a number; they point into its text. */
struct irq_lines {
	struct irq_line {
		int64_t number;
		const char *text; /* behind "N:" */
	} * items;
	size_t count;
};
/* 0 or -ENOMEM. */
int irq_lines_parse(const char *text, struct irq_lines *lines);
void irq_lines_free(struct irq_lines *lines);
/* The names of the actions of an interrupt; NULL: it is not there, or has none. */
const char *irq_lines_name(const struct irq_lines *lines, int64_t number, struct arena *arena);
/* Is it a vector for completions or packets, and not one for events, commands or health? Unknown: its name says
 * neither. */
enum flag irq_is_completion(const char *name);

#endif
