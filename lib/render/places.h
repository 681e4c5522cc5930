/* SPDX-License-Identifier: MIT */
/*
 * Where everything sits: packages → NUMA nodes → PCI bridges → functions, as the tree and the drawing of `topo` show
 * it. Made from host->matrix, which says what is shown.
 */
#ifndef RDMADIAG_RENDER_PLACES_H
#define RDMADIAG_RENDER_PLACES_H

#include "model/host.h"

enum place_kind { PLACE_HOST, PLACE_PACKAGE, PLACE_NODE, PLACE_BRIDGE, PLACE_FUNCTION };

struct place {
	enum place_kind kind;
	struct num id;                       /* of a package; unknown: of those whose package is not known */
	const struct numa_node *node;        /* of PLACE_NODE; NULL: functions whose node is not known */
	const struct pci_hop *hop;           /* of a bridge or function; NULL: nothing is known of its link */
	const struct pci_function *function; /* of PLACE_FUNCTION */
	LIST(struct place) children;
};

/* Lies in host->arena; NULL without memory. host->matrix must be there. */
struct place *places_build(struct host *host);

/* A port whose netdev sits on the function: its own, a member of its bond, or one that a software device uses. */
struct place_port {
	const struct rdma_device *device;
	const struct port *port;
	const struct netdev *netdev;    /* on that function; NULL: the device is there, and no netdev */
	const struct port_netdev *bond; /* that the netdev is a member of */
	const struct bond_member *member;
};
struct place_ports {
	struct place_port *items;
	uint32_t count, capacity; /* items are malloc'ed */
};
/* Ports of devices on the function first, then those that only reach a netdev there. 0 or -ENOMEM. */
int place_ports(const struct host *host, const struct pci_function *function, struct place_ports *ports);
void place_ports_free(struct place_ports *ports);

/* "x16 32 GT/s"; "x8 of x16 16 GT/s" where both ends could do more; "" where it is not known. */
enum { PLACE_LINK_SIZE = 48 };
void place_link(const struct pci_hop *hop, const struct pci_hop *above, char text[static PLACE_LINK_SIZE]);
/* Does the link run below what both ends can? */
bool place_link_is_slow(const struct pci_hop *hop, const struct pci_hop *above);
/* What of the matrix is on the function: "GPU0", "nvme1"; NULL: an adapter. */
const struct matrix_device *place_neighbour(const struct host *host, const struct pci_function *function);

#endif
