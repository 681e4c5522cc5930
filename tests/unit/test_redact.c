/* SPDX-License-Identifier: MIT */
/* Pseudonyms: what stays of an original's structure, and that text and binary forms become the same. */
#include "unit.h"

#include "base/cleanup.h"

#include "gid/address.h"
#include "report/pseudonym.h"
#include "report/redact_netlink.h"
#include "report/redact_pci.h"
#include "report/redact_text.h"
#include "report/siphash.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>

static struct pseudonyms *fresh(void)
{
	struct pseudonyms *pseudonyms = pseudonyms_new();
	assert_non_null(pseudonyms);
	return pseudonyms;
}

static const uint8_t mac[6] = { 0xb8, 0x59, 0x9f, 0x12, 0x34, 0x56 };

/* The vectors of the paper's appendix A: key 00…0f, message 00…0e. */
static void the_hash_is_that_of_the_paper(void **state)
{
	(void)state;
	uint8_t key[SIPHASH_KEY_SIZE], message[15];
	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)i;
	assert_true(siphash(key, message, sizeof(message)) == UINT64_C(0xa129ca6149be45e5));
}

static size_t common_bits(const uint8_t *a, const uint8_t *b, size_t length)
{
	for (size_t bit = 0; bit < length * 8; bit++)
		if ((a[bit / 8] ^ b[bit / 8]) & 0x80 >> bit % 8)
			return bit;
	return length * 8;
}

static void prefixes_stay_as_long_as_they_are(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{ "192.0.2.6", "192.0.2.7" },
		{ "192.0.2.6", "192.0.3.7" },
		{ "10.1.2.3", "10.1.200.3" },
		{ "172.16.0.1", "172.31.0.1" },
		{ "198.51.100.1", "198.51.100.129" },
	};
	struct pseudonyms *pseudonyms = fresh();
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		uint8_t a[4], b[4];
		inet_pton(AF_INET, pairs[i][0], a);
		inet_pton(AF_INET, pairs[i][1], b);
		size_t before = common_bits(a, b, 4);
		pseudonym_ipv4(pseudonyms, a);
		pseudonym_ipv4(pseudonyms, b);
		assert_int_equal(common_bits(a, b, 4), before);
	}
	pseudonyms_free(pseudonyms);
}

static void kinds_of_addresses_stay(void **state)
{
	(void)state;
	struct pseudonyms *pseudonyms = fresh();
	for (unsigned int i = 0; i < 4096; i++) {
		uint8_t private[4] = { 172, (uint8_t)(16 + i % 16), (uint8_t)(i >> 4), 1 };
		uint8_t public[4] = { (uint8_t)(1 + i % 9), (uint8_t)i, (uint8_t)(i >> 8), 7 };
		pseudonym_ipv4(pseudonyms, private);
		pseudonym_ipv4(pseudonyms, public);
		assert_int_equal(private[0], 172);
		assert_int_equal(private[1] & 0xf0, 16);
		assert_true(public[0] && public[0] != 10 && public[0] != 127 && public[0] < 224);
		assert_false(public[0] == 192 && public[1] == 168);
		assert_false(public[0] == 169 && public[1] == 254);
		assert_false(public[0] == 172 && (public[1] & 0xf0) == 16);
	}
	static const char *const kept[] = { "::", "::1", "ff02::1", "0.0.0.0", "127.0.0.1", "224.0.0.1",
		"239.255.255.250", "255.255.255.255", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:80:c2:00:00:0e",
		"01:00:5e:00:00:16", "33:33:00:00:00:fb" };
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		size_t length;
		char *text = redact_text(pseudonyms, WORDS_ALL, kept[i], strlen(kept[i]), &length);
		assert_string_equal(text, kept[i]);
		free(text);
	}
	pseudonyms_free(pseudonyms);
}

static void scopes_of_addresses_stay(void **state)
{
	(void)state;
	static const char *const addresses[] = { "10.1.2.3", "100.64.5.6", "100.127.255.1", "100.63.1.1", "169.254.7.8",
		"192.168.9.1", "192.0.2.1", "223.255.255.1", "fd00::5", "fe80::5", "2001:db8::5" };
	struct pseudonyms *pseudonyms = fresh();
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		uint8_t before[16], after[16];
		assert_int_equal(gid_parse_ip(addresses[i], before), 0);
		memcpy(after, before, 16);
		pseudonym_ipv6(pseudonyms, after);
		assert_memory_not_equal(after, before, 16);
		assert_int_equal(gid_scope_of(after), gid_scope_of(before));
	}
	pseudonyms_free(pseudonyms);
}

/* EUI-64, the form of ConnectX, a link-local GID, a mapped IPv4 address. */
static void what_is_made_of_another_value_is_made_of_its_pseudonym(void **state)
{
	(void)state;
	struct pseudonyms *pseudonyms = fresh();
	uint8_t changed[6], ip[4] = { 192, 0, 2, 6 };
	uint8_t eui[8] = { mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5] };
	uint8_t mellanox[8] = { mac[0], mac[1], mac[2], 0x03, 0x00, mac[3], mac[4], mac[5] };
	uint8_t link_local[16] = { 0xfe, 0x80 }, mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2, 6 };
	memcpy(link_local + 8, eui, 8);
	memcpy(changed, mac, 6);
	pseudonym_mac(pseudonyms, changed);
	pseudonym_guid(pseudonyms, eui);
	pseudonym_guid(pseudonyms, mellanox);
	pseudonym_ipv6(pseudonyms, link_local);
	pseudonym_ipv6(pseudonyms, mapped);
	pseudonym_ipv4(pseudonyms, ip);
	const uint8_t of_mac[8] = { changed[0] ^ 2, changed[1], changed[2], 0xff, 0xfe, changed[3], changed[4],
		changed[5] };
	assert_memory_not_equal(changed, mac, 6);
	assert_int_equal(changed[0] & 3, mac[0] & 3);
	assert_memory_equal(eui, of_mac, 8);
	assert_memory_equal(link_local + 8, of_mac, 8);
	assert_int_equal(link_local[0], 0xfe);
	assert_int_equal(mellanox[3], 3);
	assert_memory_equal(mellanox, changed, 3);
	assert_memory_equal(mellanox + 5, changed + 3, 3);
	assert_memory_equal(mapped + 12, ip, 4);
	pseudonyms_free(pseudonyms);
}

static void originals_are_no_pseudonyms(void **state)
{
	(void)state;
	struct pseudonyms *pseudonyms = fresh();
	/* So many of one small range that some key makes one into another. */
	for (unsigned int i = 0; i < 200; i++) {
		uint8_t ip[4] = { 192, 168, 1, (uint8_t)i };
		pseudonym_ipv4(pseudonyms, ip);
	}
	assert_int_equal(pseudonyms_settle(pseudonyms), 0);
	for (unsigned int i = 0; i < 200; i++) {
		uint8_t ip[4] = { 192, 168, 1, (uint8_t)i };
		pseudonym_ipv4(pseudonyms, ip);
		assert_true(ip[2] != 1 || ip[3] >= 200);
	}
	pseudonyms_free(pseudonyms);
}

static void hides(struct pseudonyms *pseudonyms, enum redact_words words, const char *text, const char *original)
{
	size_t length;
	char *changed = redact_text(pseudonyms, words, text, strlen(text), &length);
	assert_non_null(changed);
	if (strcasestr(changed, original))
		fail_msg("\"%s\" is still in \"%s\"", original, changed);
	free(changed);
}

static void keeps(struct pseudonyms *pseudonyms, const char *text)
{
	size_t length;
	char *changed = redact_text(pseudonyms, WORDS_DISTINCT, text, strlen(text), &length);
	assert_string_equal(changed, text);
	free(changed);
}

static void text_is_searched_in_every_notation(void **state)
{
	(void)state;
	struct pseudonyms *pseudonyms = fresh();
	uint8_t copy[6];
	memcpy(copy, mac, 6);
	pseudonym_mac(pseudonyms, copy);
	assert_int_equal(pseudonym_word_note(pseudonyms, "gpu-7.example.net", "host-"), 0);
	assert_int_equal(pseudonym_word_note(pseudonyms, "node1", "host-"), 0);
	hides(pseudonyms, WORDS_NONE, "ether b8:59:9f:12:34:56 brd ff:ff:ff:ff:ff:ff", "12:34:56");
	hides(pseudonyms, WORDS_NONE, "MAC=B8-59-9F-12-34-56.", "12-34-56");
	hides(pseudonyms, WORDS_NONE, "altname enxb8599f123456", "123456");
	hides(pseudonyms, WORDS_NONE, "b8599f123456", "123456");
	hides(pseudonyms, WORDS_NONE, "a0:00:01:08:fe:80:00:00:00:00:00:00:b8:59:9f:03:00:12:34:56", "12:34:56");
	hides(pseudonyms, WORDS_NONE, "guid b859:9f03:0012:3456,", "3456");
	hides(pseudonyms, WORDS_NONE, "fe80::ba59:9fff:fe12:3456%ens1", "fe12:3456");
	hides(pseudonyms, WORDS_NONE, "peer 192.0.2.1:4791: timed out", "192.0.2.1");
	hides(pseudonyms, WORDS_NONE, "from 192.0.2.1.", "192.0.2.1");
	hides(pseudonyms, WORDS_NONE, "[2001:db8::7]:18515", "2001:db8::7");
	hides(pseudonyms, WORDS_NONE, "netlink/route/route.192.0.2.1", "192.0.2.1");
	hides(pseudonyms, WORDS_NONE, "machine 12345678-9abc-def0-1234-56789abcdef0", "9abc-def0");
	hides(pseudonyms, WORDS_DISTINCT, "GPU-7.example.net mlx5_0", "gpu-7");
	hides(pseudonyms, WORDS_ALL, "node1 HCA-1", "node1");
	keeps(pseudonyms, "sys/devices/system/node/node1/cpulist");
	/* Up to nine letters and three digits is what devices are called as well. */
	static const char *const names[] = { "rack42", "pod123", "compute12", "pod1234", "computenode1" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(pseudonym_word_note(pseudonyms, names[i], "host-"), 0);
		if (i < 3)
			keeps(pseudonyms, names[i]);
		else
			hides(pseudonyms, WORDS_DISTINCT, names[i], names[i]);
	}
	/* The longest name that DNS has, and a few around it; what is longer is no host name. */
	for (size_t length = 250; length <= 255; length++) {
		char longest[256] = "";
		memset(longest, 'a' + (int)(length - 250), length);
		assert_int_equal(pseudonym_word_note(pseudonyms, longest, "host-"), 0);
		hides(pseudonyms, WORDS_DISTINCT, longest, longest);
	}
	keeps(pseudonyms, "0000:17:00.0 0-31,64-95 12:34:56 100 Gb/sec (4X EDR) 5.10.0-26");
	keeps(pseudonyms, "PCI_ID=15B3:101D PCI_SLOT_NAME=0000:17:00.0 MODALIAS=pci:v000015B3d0000101D");
	pseudonyms_free(pseudonyms);
}

/* ---- netlink ---- */

static void put(unsigned char *message, unsigned short type, const void *data, unsigned short length)
{
	struct nlmsghdr header;
	memcpy(&header, message, sizeof(header));
	struct nlattr attribute = { .nla_type = type, .nla_len = (unsigned short)(sizeof(attribute) + length) };
	memcpy(message + header.nlmsg_len, &attribute, sizeof(attribute));
	memcpy(message + header.nlmsg_len + sizeof(attribute), data, length);
	header.nlmsg_len += (attribute.nla_len + 3u) & ~3u;
	memcpy(message, &header, sizeof(header));
}

static void attributes_are_replaced_or_taken_out(void **state)
{
	(void)state;
	struct pseudonyms *pseudonyms = fresh();
	_Alignas(8) unsigned char message[256] = { 0 };
	struct nlmsghdr header = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)), .nlmsg_type = RTM_NEWLINK };
	memcpy(message, &header, sizeof(header));
	put(message, IFLA_ADDRESS, mac, 6);
	put(message, IFLA_IFNAME, "enxb8599f123456", 16);
	put(message, IFLA_MTU, "\x28\x23\0", 4);
	put(message, IFLA_PORT_SELF, mac, 6);
	memcpy(&header, message, sizeof(header));
	redact_netlink_route(pseudonyms, message, header.nlmsg_len);
	uint8_t changed[6];
	memcpy(changed, mac, 6);
	pseudonym_mac(pseudonyms, changed);
	const unsigned char *at = message + NLMSG_LENGTH(sizeof(struct ifinfomsg));
	assert_memory_equal(at + 4, changed, 6);
	char name[16];
	snprintf(name, sizeof(name), "enx%02x%02x%02x%02x%02x%02x", changed[0], changed[1], changed[2], changed[3],
	        changed[4], changed[5]);
	assert_string_equal((const char *)at + 12 + 4, name);
	assert_memory_equal(at + 12 + 20 + 4, "\x28\x23\0", 4);
	assert_memory_equal(at + 12 + 20 + 8, "\x0a\0\0\0\0\0\0\0\0\0\0\0", 12);
	assert_null(memmem(message, sizeof(message), mac, 6));
	pseudonyms_free(pseudonyms);
}

/* The nest that put() made in `nested`, behind its header, as an attribute of `message`. */
static void put_nest(unsigned char *message, unsigned short type, const unsigned char *nested)
{
	struct nlmsghdr nest;
	memcpy(&nest, nested, sizeof(nest));
	put(message, type, nested + sizeof(nest), (unsigned short)(nest.nlmsg_len - sizeof(nest)));
}

/* What a master says of its member is known of a bond only; of another one it may be anything. */
static void members_keep_their_state_and_lose_their_mac(void **state)
{
	(void)state;
	static const char *const kinds[] = { "bond", "team" };
	struct pseudonyms *pseudonyms = fresh();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_Alignas(8) unsigned char message[256] = { 0 }, data[64] = { 0 }, info[128] = { 0 };
		struct nlmsghdr nest = { .nlmsg_len = sizeof(nest) };
		struct nlmsghdr header = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
			.nlmsg_type = RTM_NEWLINK };
		memcpy(message, &header, sizeof(header));
		memcpy(data, &nest, sizeof(nest));
		memcpy(info, &nest, sizeof(nest));
		put(data, IFLA_BOND_SLAVE_PERM_HWADDR, mac, 6);
		put(data, IFLA_BOND_SLAVE_MII_STATUS, "\x7", 1);
		put(info, IFLA_INFO_SLAVE_KIND, kinds[i], 5);
		put_nest(info, IFLA_INFO_SLAVE_DATA, data);
		put_nest(message, IFLA_LINKINFO, info);
		memcpy(&header, message, sizeof(header));
		redact_netlink_route(pseudonyms, message, header.nlmsg_len);
		assert_null(memmem(message, sizeof(message), mac, 6));
		const void *status = memmem(message, sizeof(message), "\x05\0\x02\0\x07", 5);
		assert_true(i ? !status : status != NULL);
	}
	pseudonyms_free(pseudonyms);
}

/* Of a route with several paths each is a nest of its own; one without attributes ends where it begins. */
static void every_path_of_a_route_is_redacted(void **state)
{
	(void)state;
	struct pseudonyms *pseudonyms = fresh();
	static const uint8_t gateway[] = { 203, 0, 113, 254 };
	_Alignas(8) unsigned char message[256] = { 0 }, hops[32] = { 0 };
	struct nlmsghdr header = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)), .nlmsg_type = RTM_NEWROUTE };
	struct rtnexthop bare = { .rtnh_len = sizeof(bare), .rtnh_ifindex = 7 };
	struct rtnexthop routed = { .rtnh_len = sizeof(routed) + 8, .rtnh_ifindex = 8 };
	struct nlattr attribute = { .nla_len = 8, .nla_type = RTA_GATEWAY };
	memcpy(message, &header, sizeof(header));
	memcpy(hops, &bare, 8);
	memcpy(hops + 8, &routed, 8);
	memcpy(hops + 16, &attribute, 4);
	memcpy(hops + 20, gateway, 4);
	put(message, RTA_MULTIPATH, hops, 24);
	memcpy(&header, message, sizeof(header));
	redact_netlink_route(pseudonyms, message, header.nlmsg_len);
	const unsigned char *at = message + NLMSG_LENGTH(sizeof(struct rtmsg)) + 4;
	assert_memory_equal(at, hops, 20); /* all but the address */
	assert_memory_not_equal(at + 20, gateway, 4);
	assert_memory_not_equal(at + 20, "\0\0\0\0", 4);
	pseudonyms_free(pseudonyms);
}

/* ethtool tells the netdev's name in a header, which is the first attribute but in statistics. */
static void answers_of_ethtool_name_their_netdev(void **state)
{
	(void)state;
	static const struct {
		const char *request;
		unsigned short header;
	} answers[] = { { "ethtool-pause.2", 1 }, { "ethtool-stats.2", 2 } };
	struct pseudonyms *pseudonyms = fresh();
	uint8_t copy[6];
	memcpy(copy, mac, 6);
	pseudonym_mac(pseudonyms, copy);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		_Alignas(8) unsigned char message[256] = { 0 }, nested[128] = { 0 };
		struct nlmsghdr header = { .nlmsg_len = NLMSG_LENGTH(4), .nlmsg_type = 29 }, nest = { .nlmsg_len = 16 };
		memcpy(message, &header, sizeof(header));
		memcpy(nested, &nest, sizeof(nest));
		put(nested, 1, "\x02\0\0\0", 4);
		put(nested, 2, "enxb8599f123456", 16);
		put(nested, 3, "\x04\0\0\0", 4);
		put_nest(message, answers[i].header, nested);
		put(message, 4, "\x01\0\0\0", 4);
		memcpy(&header, message, sizeof(header));
		redact_netlink_generic(pseudonyms, answers[i].request, message, header.nlmsg_len);
		const unsigned char *at = message + NLMSG_LENGTH(4) + 4;
		assert_memory_equal(at, "\x08\0\x01\0\x02\0\0\0", 8);
		assert_memory_equal(at + 8, "\x14\0\x02\0enx", 7);
		assert_null(memmem(message, sizeof(message), "123456", 6));
		assert_memory_equal(at + 28, "\x08\0\x03\0\x04\0\0\0", 8);
		assert_memory_equal(at + 36, "\x08\0\x04\0\x01\0\0\0", 8);
	}
	pseudonyms_free(pseudonyms);
}

/* Whatever is recorded: nothing outside is touched, and it ends. */
static void damaged_messages_end(void **state)
{
	(void)state;
	struct pseudonyms *pseudonyms = fresh();
	uint32_t seed = 1;
	for (int round = 0; round < 20000; round++) {
		size_t length = 16 + (size_t)(round % 80);
		unsigned char *data = malloc(length);
		for (size_t i = 0; i < length; i++) {
			seed = seed * 1664525u + 1013904223u;
			data[i] = seed >> 28 ? (unsigned char)(seed >> 24 & 15u) : (unsigned char)(seed >> 16);
		}
		data[0] = (unsigned char)length;
		data[1] = data[2] = data[3] = 0;
		data[4] = (unsigned char)(round & 1 ? RTM_NEWLINK : RTM_NEWROUTE);
		data[5] = 0;
		redact_netlink_route(pseudonyms, data, length);
		redact_netlink_rdma(pseudonyms, data, length);
		redact_pci_config(pseudonyms, data, length);
		free(data);
	}
	pseudonyms_free(pseudonyms);
}

static void the_serial_of_pci_functions_is_replaced(void **state)
{
	(void)state;
	struct pseudonyms *pseudonyms = fresh();
	unsigned char config[4096] = { 0 };
	const uint8_t serial[8] = { 0x56, 0x34, 0x12, 0x00, 0x03, 0x9f, 0x59, 0xb8 };
	memcpy(config + 0x100, "\x01\0\x01\x1c", 4); /* AER, next at 0x1c0 */
	memcpy(config + 0x1c0, "\x03\0\x01\0", 4);
	memcpy(config + 0x1c4, serial, 8);
	redact_pci_config(pseudonyms, config, sizeof(config));
	uint8_t changed[6];
	memcpy(changed, mac, 6);
	pseudonym_mac(pseudonyms, changed);
	const uint8_t expected[8] = { changed[5], changed[4], changed[3], 0, 3, changed[2], changed[1], changed[0] };
	assert_memory_equal(config + 0x1c4, expected, 8);
	assert_memory_equal(config + 0x100, "\x01\0\x01\x1c", 4);
	pseudonyms_free(pseudonyms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hash_is_that_of_the_paper),
		cmocka_unit_test(prefixes_stay_as_long_as_they_are),
		cmocka_unit_test(kinds_of_addresses_stay),
		cmocka_unit_test(scopes_of_addresses_stay),
		cmocka_unit_test(what_is_made_of_another_value_is_made_of_its_pseudonym),
		cmocka_unit_test(originals_are_no_pseudonyms),
		cmocka_unit_test(text_is_searched_in_every_notation),
		cmocka_unit_test(attributes_are_replaced_or_taken_out),
		cmocka_unit_test(members_keep_their_state_and_lose_their_mac),
		cmocka_unit_test(every_path_of_a_route_is_redacted),
		cmocka_unit_test(answers_of_ethtool_name_their_netdev),
		cmocka_unit_test(damaged_messages_end),
		cmocka_unit_test(the_serial_of_pci_functions_is_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
