/* SPDX-License-Identifier: MIT */
/* GIDs as IP addresses: families, scopes, EUI-64, and which netdev of this namespace has an address. */
#ifndef RDMADIAG_GID_ADDRESS_H
#define RDMADIAG_GID_ADDRESS_H

#include "model/gid.h"
#include "model/host.h"

/* An IPv4 or IPv6 address in the form of a GID: IPv4 is mapped (::ffff:a.b.c.d). */
bool gid_is_ipv4(const uint8_t gid[static 16]);
/* fe80::/64; with `wide` the whole fe80::/10 and 169.254/16, as most consumers test. */
bool gid_is_link_local(const uint8_t gid[static 16], bool wide);
/* Is the lower half zero: the GID of an InfiniBand port without a GUID, such as a VF that got none yet? */
bool gid_has_no_guid(const uint8_t gid[static 16]);
/* Is the lower half shaped like an EUI-64 made from a MAC (ff:fe in its middle)? */
bool gid_has_eui64(const uint8_t gid[static 16]);
/* Is the lower half the EUI-64 of the netdev's MAC? */
bool gid_matches_mac(const uint8_t gid[static 16], const struct netdev *netdev);
enum gid_scope gid_scope_of(const uint8_t gid[static 16]);
/* "192.0.2.1" or "fe80::1". */
void gid_format_ip(const uint8_t gid[static 16], char out[static IP_TEXT_SIZE]);
/* The GID that the kernel makes from an address. */
void gid_from_address(const struct address *address, uint8_t gid[static 16]);
/* Parses an IPv4 or IPv6 address. 0 or -EINVAL. */
int gid_parse_ip(const char *text, uint8_t gid[static 16]);
/* Do the first `length` bits agree? `length` counts within the family. */
bool gid_same_subnet(const uint8_t a[static 16], const uint8_t b[static 16], unsigned int length);

/* What speaks against the use of an address that a netdev has, for people; NULL: nothing. */
const char *address_doubt(const struct address *address);
/* Valid still, but not to be taken for anything new. */
bool address_is_deprecated(const struct address *address);
/* Has another node the address (RFC 4862, duplicate address detection)? */
bool address_is_taken(const struct address *address);
/*
 * Is it no fixed address of its netdev: another one comes first in its subnet, IPv6 made it for a while (RFC 8981), or
 * it has no subnet, as those that move between nodes (VRRP)?
 */
bool address_is_extra(const struct address *address);
/* The address of the netdev that gave this GID; NULL: it has none. */
const struct address *netdev_address(const struct netdev *netdev, const uint8_t gid[static 16]);

/* Netdevs whose frames no RoCE adapter can carry: tunnels, veth pairs and bridges of container engines. */
bool netdev_is_overlay(const struct netdev *netdev);
/* The bond, team or bridge that it is a member of, where addresses are; NULL: none. */
const struct netdev *address_holder(const struct host *host, const struct netdev *netdev);
/* The one that has to be set up or to get an address for the port to have GIDs: itself, or what it is a member of. */
const struct netdev *netdev_wanting(const struct host *host, const struct netdev *netdev);
/* What a netdev lacks for its port to have GIDs; NULL: nothing that is known. */
const char *netdev_lacks(const struct host *host, const struct netdev *netdev);
/* The netdev that it is stacked on at last (IFLA_LINK of VLANs, macvlans …), itself when on none. */
const struct netdev *netdev_base(const struct host *host, const struct netdev *netdev);
/* VLAN id of frames sent through the netdev: its own, or of one below it, as the kernel looks for it. */
struct num netdev_vlan(const struct host *host, const struct netdev *netdev);
/* That of a VLAN on which this one stands: the stack puts on both tags, an adapter the upper one. Unknown: none. */
struct num netdev_outer_vlan(const struct host *host, const struct netdev *netdev);
/* Does it stand on netdevs of another network namespace, of which one may be a VLAN? */
bool netdev_vlan_is_hidden(const struct host *host, const struct netdev *netdev);
/* Is `netdev` the netdev of the port, or stacked on it, or a member below it? */
enum flag netdev_belongs_to_port(const struct host *host, const struct netdev *netdev, const struct port *port);

#endif
