/* SPDX-License-Identifier: MIT */
/*
 * mlx5emu-setup DIR HOST [DEVICE]…   make a fabric's file, or add a host with its devices and sysfs tree to it
 * mlx5emu-setup --check-fault SPEC   is it one?  --faults lists them
 *
 * DEVICE is NAME[:ports=N][:link=ib|eth][:lag][:odp][:edge][:numa=N][:netdev=IF[+IF…]][:gid=ADDRESS]…
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"
#include "sysfs.h"

enum { GID_IB = 0, GID_ROCE_V1 = 1, GID_ROCE_V2 = 2 };

struct spec {
	char name[NAME_LEN];
	unsigned int ports;
	bool ib, lag, odp, edge;
	int numa;
	char netdevs[128];
	char gids[8][64];
	unsigned int ngids;
};

static int usage(const char *what)
{
	fprintf(stderr, "mlx5emu-setup: %s\n", what);
	return 2;
}

static bool good_name(const char *s)
{
	return *s && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == strlen(s);
}

static int parse_flag(struct spec *s, const char *word)
{
	if (!strcmp(word, "lag"))
		s->lag = true;
	else if (!strcmp(word, "odp"))
		s->odp = true;
	else if (!strcmp(word, "edge"))
		s->edge = true;
	else
		return -EINVAL;
	return 0;
}

static int parse_option(struct spec *s, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return parse_flag(s, word);
	*value++ = 0;
	if (!strcmp(word, "ports"))
		s->ports = (unsigned int)strtoul(value, NULL, 10);
	else if (!strcmp(word, "link") && (!strcmp(value, "ib") || !strcmp(value, "eth")))
		s->ib = !strcmp(value, "ib");
	else if (!strcmp(word, "numa"))
		s->numa = atoi(value);
	else if (!strcmp(word, "netdev") && strlen(value) < sizeof(s->netdevs))
		strcpy(s->netdevs, value);
	else if (!strcmp(word, "gid") && s->ngids < 8 && strlen(value) < sizeof(s->gids[0]))
		strcpy(s->gids[s->ngids++], value);
	else
		return -EINVAL;
	return 0;
}

/* An IPv6 address has colons of its own: gid= takes the rest of the text. */
static int parse_spec(const char *text, struct spec *s, unsigned int index)
{
	char buf[512], *save, *word, *gid;

	*s = (struct spec){ .ports = 1, .numa = (int)(index % 2), .netdevs = "lo" };
	if (strlen(text) >= sizeof(buf))
		return -EINVAL;
	strcpy(buf, text);
	gid = strstr(buf, ":gid=");
	while (gid) {
		char *next;

		*gid = 0;
		gid += strlen(":gid=");
		next = strstr(gid, ":gid=");
		if (next)
			*next = 0;
		if (s->ngids == 8 || strlen(gid) >= sizeof(s->gids[0]))
			return -EINVAL;
		strcpy(s->gids[s->ngids++], gid);
		gid = next;
	}
	word = strtok_r(buf, ":", &save);
	if (!word || !good_name(word) || strlen(word) >= NAME_LEN)
		return -EINVAL;
	strcpy(s->name, word);
	while ((word = strtok_r(NULL, ":", &save)))
		if (parse_option(s, word))
			return -EINVAL;
	if (s->lag && (s->ib || s->ports != 1))
		return -EINVAL;
	return s->ports < 1 || s->ports > MAX_PORTS || s->numa < -1 || s->numa > 1 ? -EINVAL : 0;
}

static void add_gid(struct fab_port *p, const uint8_t *raw, uint8_t type)
{
	for (int i = 0; i < MAX_GIDS; i++) {
		struct fab_gid *g = &p->gid[i];

		if (g->used)
			continue;
		memcpy(g->raw, raw, 16);
		g->type = type;
		g->used = true;
		g->ifindex = p->ifindex;
		memcpy(g->ndev, p->ndev, sizeof(g->ndev));
		return;
	}
}

/* The kernel makes both types for each address (roce_gid_mgmt). */
static void add_both(struct fab_port *p, const uint8_t *raw)
{
	add_gid(p, raw, GID_ROCE_V1);
	add_gid(p, raw, GID_ROCE_V2);
}

static void mapped_gid(const void *ipv4, uint8_t *raw)
{
	memset(raw, 0, 10);
	memset(raw + 10, 0xff, 2);
	memcpy(raw + 12, ipv4, 4);
}

/* The default GID: link-local with the interface identifier of the MAC (RFC 4291, appendix A). */
static void default_gid(struct fab_port *p, const struct ifaddrs *list)
{
	uint8_t raw[16] = { 0xfe, 0x80 }, mac[6] = { 0 };

	for (const struct ifaddrs *a = list; a; a = a->ifa_next)
		if (a->ifa_addr && a->ifa_addr->sa_family == AF_PACKET && !strcmp(a->ifa_name, p->ndev))
			memcpy(mac, ((const struct sockaddr_ll *)(const void *)a->ifa_addr)->sll_addr, 6);
	memcpy(raw + 8, mac, 3);
	raw[8] ^= 2;
	raw[11] = 0xff;
	raw[12] = 0xfe;
	memcpy(raw + 13, mac + 3, 3);
	add_both(p, raw);
}

static void address_gids(struct fab_port *p, const struct ifaddrs *list)
{
	uint8_t raw[16];

	for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
		const struct sockaddr_in6 *v6 = (const void *)a->ifa_addr;

		if (!a->ifa_addr || strcmp(a->ifa_name, p->ndev))
			continue;
		if (a->ifa_addr->sa_family == AF_INET) {
			mapped_gid(&((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr, raw);
			add_both(p, raw);
		} else if (a->ifa_addr->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) {
			add_both(p, (const uint8_t *)&v6->sin6_addr);
		}
	}
}

static int option_gids(struct fab_port *p, const struct spec *s)
{
	uint8_t raw[16], v4[4];

	for (unsigned int i = 0; i < s->ngids; i++) {
		if (inet_pton(AF_INET, s->gids[i], v4) == 1)
			mapped_gid(v4, raw);
		else if (inet_pton(AF_INET6, s->gids[i], raw) != 1)
			return -EINVAL;
		add_both(p, raw);
	}
	return 0;
}

/* The netdev of port n in a list IF+IF…; the last one serves the rest. */
static void pick_netdev(const char *list, unsigned int n, char *name, size_t size)
{
	size_t len;

	while (n-- && strchr(list, '+'))
		list = strchr(list, '+') + 1;
	len = strcspn(list, "+");
	snprintf(name, size, "%.*s", (int)(len < size ? len : size - 1), list);
}

static int make_eth_port(struct fab_port *p, const struct spec *s, unsigned int n)
{
	struct ifaddrs *list;
	int err;

	pick_netdev(s->netdevs, n, p->ndev, sizeof(p->ndev));
	p->ifindex = if_nametoindex(p->ndev);
	if (!p->ifindex)
		return -ENODEV;
	if (getifaddrs(&list))
		return -errno;
	default_gid(p, list);
	address_gids(p, list);
	freeifaddrs(list);
	err = option_gids(p, s);
	if (!s->lag)
		return err;
	p->nmembers = MAX_MEMBERS;
	for (unsigned int m = 0; m < MAX_MEMBERS; m++) {
		pick_netdev(s->netdevs, m + 1, p->member[m].ndev, sizeof(p->member[m].ndev));
		p->member[m].up = true;
	}
	return err;
}

static void make_ib_port(struct fab_port *p, uint64_t guid, uint16_t lid)
{
	uint8_t raw[16] = { 0xfe, 0x80 };

	p->ib = true;
	p->lid = lid;
	p->sm_lid = 1;
	for (int i = 0; i < 8; i++)
		raw[8 + i] = (uint8_t)(guid >> (56 - 8 * i));
	add_gid(p, raw, GID_IB);
}

static int make_ports(struct fab_dev *dev, const struct spec *s)
{
	for (unsigned int i = 0; i < s->ports; i++) {
		struct fab_port *p = &dev->port[i];
		int err = 0;

		p->state = 4;
		if (s->ib)
			make_ib_port(p, dev->guid + i + 1, (uint16_t)(2 + (dev - fab->dev) * MAX_PORTS + i));
		else
			err = make_eth_port(p, s, i);
		if (err)
			return err;
	}
	return 0;
}

static int add_device(const char *host, const struct spec *s, unsigned int index)
{
	struct fab_dev *dev;
	int err;

	if (fab->ndevs == MAX_DEVS)
		return -ENOSPC;
	dev = &fab->dev[fab->ndevs];
	memset(dev, 0, sizeof(*dev));
	snprintf(dev->host, sizeof(dev->host), "%s", host);
	snprintf(dev->name, sizeof(dev->name), "%s", s->name);
	dev->index = dev->uverbs = index;
	dev->guid = 0x0c42a10300e0a1b2 + ((uint64_t)fab->ndevs << 8);
	dev->nports = s->ports;
	dev->numa_node = s->numa;
	dev->odp = s->odp;
	dev->edge = s->edge;
	snprintf(dev->pci, sizeof(dev->pci), "0000:%02x:00.0", 0x13 + index % 14 * 0x10);
	err = make_ports(dev, s);
	if (!err)
		fab->ndevs++;
	return err;
}

static bool host_exists(const char *host)
{
	for (uint32_t i = 0; i < fab->ndevs; i++)
		if (!strcmp(fab->dev[i].host, host))
			return true;
	return false;
}

static int add_host(const char *dir, const char *host, char **specs, int n)
{
	char *only[] = { (char *)"mlx5_0" }, root[512], why[256];
	struct spec s;

	if (!n) {
		specs = only;
		n = 1;
	}
	snprintf(root, sizeof(root), "%s/%s/sys", dir, host);
	for (int i = 0; i < n; i++) {
		int err = parse_spec(specs[i], &s, (unsigned int)i);

		if (!err)
			err = add_device(host, &s, (unsigned int)i);
		if (err) {
			snprintf(why, sizeof(why), "device %s: %s", specs[i], strerror(-err));
			return usage(why);
		}
		if (!i)
			sysfs_make_host(root);
		sysfs_make_device(root, &fab->dev[fab->ndevs - 1]);
	}
	return 0;
}

static int check_fault(const char *spec)
{
	struct fault f;

	if (!fault_parse(spec, &f))
		return 0;
	fprintf(stderr, "mlx5emu: %s; see --help\n", fault_problem());
	return 2;
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	char path[512];
	int fd, rc = 0;

	if (argc == 3 && !strcmp(argv[1], "--check-fault"))
		return check_fault(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "--faults")) {
		fault_help(stdout);
		return 0;
	}
	if (argc < 3 || !good_name(argv[2]))
		return usage("DIR HOST [DEVICE]…");
	umask(0);
	snprintf(path, sizeof(path), "%s/lock", argv[1]);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || flock(fd, LOCK_EX) || fabric_create(argv[1])) {
		perror(argv[1]);
		return 1;
	}
	if (!host_exists(argv[2]))
		rc = add_host(argv[1], argv[2], argv + 3, argc - 3);
	else if (argc > 3)
		rc = usage("the fabric has this host already: give --device only to the first run");
	close(fd);
	/* for t= of faults, which counts from here */
	if (!rc)
		printf("%llu\n", (unsigned long long)monotonic_ns());
	return rc;
}
