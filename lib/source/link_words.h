/* SPDX-License-Identifier: MIT */
/* Words and numbers of network interfaces, the same from rtnetlink and from sysfs. */
#ifndef RDMADIAG_SOURCE_LINK_WORDS_H
#define RDMADIAG_SOURCE_LINK_WORDS_H

#include "base/text.h"
#include "model/host.h"

/* From the kernel's kind ("bond", NULL: none) and ARPHRD_* type. */
enum link_kind link_kind_of(const char *kind, struct num arp_type);
const char *link_operstate(struct num code); /* RFC 2863 numbers in the kernel's words */
const char *bond_mode_name(struct num code);
const char *bond_hash_policy_name(struct num code);
const char *bond_mii_name(struct num code);
/* Only these modes hash: balance-xor, 802.3ad, balance-tlb (drivers/net/bonding/bond_options.c). */
bool bond_mode_hashes(const char *mode);

#endif
