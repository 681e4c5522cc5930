/* SPDX-License-Identifier: MIT */
/*
 * Several adapters in one IPv4 subnet. Linux answers ARP for an address on whatever netdev the request arrives
 * (Documentation/networking/ip-sysctl.rst, arp_ignore), so that a peer may send to another adapter than the one that
 * has the GID. IPv6 neighbour discovery answers on the netdev of the address only.
 */
#ifndef RDMADIAG_GID_SUBNET_H
#define RDMADIAG_GID_SUBNET_H

#include "model/host.h"
#include "origin/origin.h"

struct subnet_member {
	const struct netdev *netdev;
	const struct address *address;
};

/* The ifindex of the VRF that the netdev is in; 0: none. */
int64_t gid_vrf_of(const struct host *host, const struct netdev *netdev);

/* Netdevs of at least two adapters, in the order of the host's list. */
struct shared_subnet {
	LIST(struct subnet_member) members;
};
struct shared_subnets {
	LIST(struct shared_subnet);
};

/*
 * Finds the subnets. Left out are netdevs that are down, tunnels and what else no adapter carries, what is stacked on
 * another one of the same adapter, and addresses without a subnet or of the link only. Netdevs of different VRFs do not
 * share a subnet: each VRF has its own local addresses. 0 or -ENOMEM.
 */
int gid_subnets_find(struct arena *arena, const struct host *host, struct shared_subnets *subnets);
/* Reads the ARP settings of all netdevs in shared subnets. 0 or -ENOMEM. */
int gid_subnets_read(struct origin *origin, struct host *host);
/* May it answer ARP for the addresses of the others? */
bool gid_subnet_answers_for_others(const struct subnet_member *member);
/* May a netdev of the subnet answer ARP for the address of another one? */
bool gid_subnet_has_flux(const struct shared_subnet *subnet);
/* The shared subnet in which the netdev has this address; NULL: none. */
const struct shared_subnet *gid_subnet_of(
        const struct shared_subnets *subnets, const struct netdev *netdev, const struct address *address);

#endif
