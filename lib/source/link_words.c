/* SPDX-License-Identifier: MIT */
#include "source/link_words.h"
#include "base/cleanup.h"

#include <net/if_arp.h>
#include <string.h>

static const char *word(const char *const *words, size_t count, struct num code)
{
	return code.known && code.value >= 0 && (size_t)code.value < count ? words[code.value] : NULL;
}

enum link_kind link_kind_of(const char *kind, struct num arp_type)
{
	static const struct {
		const char *name;
		enum link_kind kind;
	} kinds[] = {
		{ "bond", LINK_BOND },
		{ "team", LINK_TEAM },
		{ "vlan", LINK_VLAN },
		{ "macvlan", LINK_MACVLAN },
		{ "macvtap", LINK_MACVLAN },
		{ "ipvlan", LINK_IPVLAN },
		{ "ipvtap", LINK_IPVLAN },
		{ "bridge", LINK_BRIDGE },
		{ "vxlan", LINK_VXLAN },
		{ "veth", LINK_VETH },
		{ "dummy", LINK_DUMMY },
		{ "ipoib", LINK_IPOIB },
	};
	for (size_t i = 0; kind && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kind, kinds[i].name))
			return kinds[i].kind;
	if (num_is(arp_type, ARPHRD_INFINIBAND))
		return LINK_IPOIB;
	if (num_is(arp_type, ARPHRD_LOOPBACK))
		return LINK_LOOPBACK;
	if (kind)
		return LINK_OTHER;
	return num_is(arp_type, ARPHRD_ETHER) ? LINK_ETHERNET : arp_type.known ? LINK_OTHER : LINK_UNKNOWN;
}

const char *link_operstate(struct num code)
{
	static const char *const words[] = { "unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant",
		"up" };
	return word(words, ARRAY_SIZE(words), code);
}

const char *bond_mode_name(struct num code)
{
	static const char *const words[] = { "balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad",
		"balance-tlb", "balance-alb" };
	return word(words, ARRAY_SIZE(words), code);
}

const char *bond_hash_policy_name(struct num code)
{
	static const char *const words[] = { "layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac" };
	return word(words, ARRAY_SIZE(words), code);
}

const char *bond_mii_name(struct num code)
{
	static const char *const words[] = { "up", "going down", "down", "going back" };
	return word(words, ARRAY_SIZE(words), code);
}

bool bond_mode_hashes(const char *mode)
{
	return mode && (!strcmp(mode, "balance-xor") || !strcmp(mode, "802.3ad") || !strcmp(mode, "balance-tlb"));
}
