/* SPDX-License-Identifier: MIT */
/*
 * The sysfs tree of a host: what the kernel shows of an mlx5 function below a root port and a switch, with the links
 * and names of a real one. Two NUMA nodes share the CPUs of this machine.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu.h"
#include "sysfs.h"

enum { NODES = 2 };

static const char *tree;

static void make_parents(char *path)
{
	for (char *s = path + 1; (s = strchr(s, '/')); s++) {
		*s = 0;
		mkdir(path, 0755);
		*s = '/';
	}
}

static void full_path(char *path, size_t size, const char *rel)
{
	snprintf(path, size, "%s/%s", tree, rel);
	make_parents(path);
}

static void put_bytes(const char *rel, const void *data, size_t len)
{
	char path[1024];
	int fd;

	full_path(path, sizeof(path), rel);
	/* anyone may bring a counter up to date, whoever made the tree */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		perror(path);
	if (fd >= 0) {
		fchmod(fd, 0666);
		close(fd);
	}
}

static void put(const char *dir, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void put(const char *dir, const char *name, const char *fmt, ...)
{
	char rel[1024], text[1024];
	va_list ap;
	int n;

	snprintf(rel, sizeof(rel), "%s/%s", dir, name);
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	text[n++] = '\n';
	put_bytes(rel, text, (size_t)n);
}

/* A link from one place of the tree to another, relative as the kernel's are. */
static void link_to(const char *from, const char *to)
{
	char path[1024], target[1024] = "";

	full_path(path, sizeof(path), from);
	for (const char *s = from; (s = strchr(s, '/')); s++)
		strcat(target, "../");
	strncat(target, to, sizeof(target) - strlen(target) - 1);
	if (symlink(target, path) && errno != EEXIST)
		perror(path);
}

/* ---- the host */

static long cpu_count(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : n;
}

static void cpu_range(char *text, size_t size, long from, long to)
{
	if (from > to)
		*text = 0;
	else if (from == to)
		snprintf(text, size, "%ld", from);
	else
		snprintf(text, size, "%ld-%ld", from, to);
}

/* Node 0 has the first half; with a single CPU node 1 has memory only. */
static void node_cpus(int node, long *from, long *to)
{
	long n = cpu_count(), half = (n + 1) / 2;

	*from = node ? half : 0;
	*to = node ? n - 1 : half - 1;
}

static void node_list(int node, char *text, size_t size)
{
	long from, to;

	node_cpus(node, &from, &to);
	cpu_range(text, size, from, to);
}

static void node_mask(int node, char *text, size_t size)
{
	unsigned long mask = 0;
	long from, to;

	node_cpus(node, &from, &to);
	for (long i = from; i <= to && i < 64; i++)
		mask |= 1ul << i;
	if (cpu_count() > 32)
		snprintf(text, size, "%08lx,%08lx", mask >> 32, mask & 0xffffffff);
	else
		snprintf(text, size, "%08lx", mask & 0xffffffff);
}

static void make_node(int node)
{
	char dir[64], text[64];

	snprintf(dir, sizeof(dir), "devices/system/node/node%d", node);
	node_list(node, text, sizeof(text));
	put(dir, "cpulist", "%s", text);
	node_mask(node, text, sizeof(text));
	put(dir, "cpumap", "%s", text);
	put(dir, "distance", node ? "21 10" : "10 21");
	put(dir, "meminfo", "Node %d MemTotal:       16777216 kB\nNode %d MemFree:        8388608 kB", node, node);
}

static void make_cpu(long cpu)
{
	char dir[96], list[64];
	int node = 0;
	long from, to;

	node_cpus(1, &from, &to);
	if (cpu >= from && cpu <= to)
		node = 1;
	snprintf(dir, sizeof(dir), "devices/system/cpu/cpu%ld", cpu);
	put(dir, "online", "1");
	snprintf(dir, sizeof(dir), "devices/system/cpu/cpu%ld/topology", cpu);
	put(dir, "physical_package_id", "%d", node);
	put(dir, "core_id", "%ld", cpu);
	put(dir, "thread_siblings_list", "%ld", cpu);
	put(dir, "core_cpus_list", "%ld", cpu);
	node_list(node, list, sizeof(list));
	put(dir, "core_siblings_list", "%s", list);
	put(dir, "package_cpus_list", "%s", list);
	char from_link[128], to_link[64];
	snprintf(from_link, sizeof(from_link), "devices/system/node/node%d/cpu%ld", node, cpu);
	snprintf(to_link, sizeof(to_link), "devices/system/cpu/cpu%ld", cpu);
	link_to(from_link, to_link);
}

int sysfs_make_host(const char *root)
{
	char all[64];

	tree = root;
	cpu_range(all, sizeof(all), 0, cpu_count() - 1);
	put("devices/system/cpu", "online", "%s", all);
	put("devices/system/cpu", "possible", "%s", all);
	put("devices/system/cpu", "present", "%s", all);
	put("devices/system/node", "online", "0-%d", NODES - 1);
	put("devices/system/node", "possible", "0-%d", NODES - 1);
	put("devices/system/node", "has_memory", "0-%d", NODES - 1);
	put("devices/system/node", "has_cpu", cpu_count() > 1 ? "0-1" : "0");
	for (int i = 0; i < NODES; i++)
		make_node(i);
	for (long i = 0; i < cpu_count(); i++)
		make_cpu(i);
	put("class/infiniband_verbs", "abi_version", "6");
	put("module/mlx5_core", "version", "emulated");
	return 0;
}

/* ---- PCI */

enum pcie_type { PCIE_ENDPOINT = 0, PCIE_ROOT_PORT = 4, PCIE_UPSTREAM = 5, PCIE_DOWNSTREAM = 6 };

struct function {
	const char *dir, *address;
	enum pcie_type type;
	uint16_t vendor, device;
	uint32_t class;
	int node;
	unsigned int group;
};

static void put_le16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put_le32(uint8_t *p, uint32_t v)
{
	put_le16(p, (uint16_t)v);
	put_le16(p + 2, (uint16_t)(v >> 16));
}

/* Enough of the configuration space to tell a port's kind, its link and ACS (PCI Express base
 * specification, 7.5.3, 7.7.11). */
static void make_config(const struct function *f)
{
	enum { PCIE_CAP = 0x60, ACS_CAP = 0x100, X16_GEN4 = 16 << 4 | 4 };
	uint8_t c[4096] = { 0 };
	char rel[1024];

	put_le16(c + 0x00, f->vendor);
	put_le16(c + 0x02, f->device);
	put_le16(c + 0x06, 0x10); /* has a list of capabilities */
	put_le32(c + 0x08, f->class << 8);
	c[0x0e] = f->type == PCIE_ENDPOINT ? 0 : 1;
	c[0x34] = PCIE_CAP;
	c[PCIE_CAP] = 0x10;
	put_le16(c + PCIE_CAP + 2, (uint16_t)(f->type << 4 | 2));
	put_le32(c + PCIE_CAP + 0x0c, X16_GEN4);
	put_le16(c + PCIE_CAP + 0x12, X16_GEN4);
	if (f->type == PCIE_ROOT_PORT || f->type == PCIE_DOWNSTREAM) {
		put_le32(c + ACS_CAP, 1u << 16 | 0x000d);
		put_le16(c + ACS_CAP + 4, 0x5f);
		put_le16(c + ACS_CAP + 6, 0);
	}
	snprintf(rel, sizeof(rel), "%s/config", f->dir);
	put_bytes(rel, c, sizeof(c));
}

static void make_link_files(const char *dir)
{
	put(dir, "current_link_speed", "16.0 GT/s PCIe");
	put(dir, "max_link_speed", "16.0 GT/s PCIe");
	put(dir, "current_link_width", "16");
	put(dir, "max_link_width", "16");
}

static void make_function(const struct function *f)
{
	char from[1024], to[1024], list[64], mask[64];
	const char *driver = f->type == PCIE_ENDPOINT ? "mlx5_core" : "pcieport";

	put(f->dir, "vendor", "0x%04x", f->vendor);
	put(f->dir, "device", "0x%04x", f->device);
	put(f->dir, "class", "0x%06x", f->class);
	put(f->dir, "revision", "0x00");
	put(f->dir, "numa_node", "%d", f->node);
	put(f->dir, "enable", "1");
	put(f->dir, "irq", "16");
	node_list(f->node, list, sizeof(list));
	put(f->dir, "local_cpulist", "%s", list);
	node_mask(f->node, mask, sizeof(mask));
	put(f->dir, "local_cpus", "%s", mask);
	put(f->dir, "uevent", "DRIVER=%s\nPCI_CLASS=%X\nPCI_ID=%04X:%04X\nPCI_SLOT_NAME=%s", driver, f->class,
	        f->vendor, f->device, f->address);
	put(f->dir, "modalias", "pci:v%08Xd%08Xsv%08Xsd00000041bc%02Xsc%02Xi00", f->vendor, f->device, f->vendor,
	        f->class >> 16, f->class >> 8 & 0xff);
	make_link_files(f->dir);
	make_config(f);
	snprintf(from, sizeof(from), "%s/subsystem", f->dir);
	link_to(from, "bus/pci");
	snprintf(from, sizeof(from), "bus/pci/devices/%s", f->address);
	link_to(from, f->dir);
	snprintf(from, sizeof(from), "%s/driver", f->dir);
	snprintf(to, sizeof(to), "bus/pci/drivers/%s", driver);
	link_to(from, to);
	put(to, "new_id", "%s", "");
	snprintf(from, sizeof(from), "%s/iommu_group", f->dir);
	snprintf(to, sizeof(to), "kernel/iommu_groups/%u", f->group);
	link_to(from, to);
	put(to, "type", "identity");
	snprintf(from, sizeof(from), "kernel/iommu_groups/%u/devices/%s", f->group, f->address);
	link_to(from, f->dir);
}

/* Root port, the switch's two ports, the adapter: four buses for each device. The path goes to dir. */
static void make_pci_path(const struct fab_dev *dev, char *dir, size_t size)
{
	unsigned int bus = 0;
	char address[3][16];
	bool ib = dev->port[0].ib;

	sscanf(dev->pci, "%*x:%x:", &bus);
	snprintf(address[0], sizeof(address[0]), "0000:%02x:01.0", bus - 3);
	snprintf(address[1], sizeof(address[1]), "0000:%02x:00.0", bus - 2);
	snprintf(address[2], sizeof(address[2]), "0000:%02x:00.0", bus - 1);
	snprintf(dir, size, "devices/pci0000:%02x/%s", bus - 3, address[0]);
	make_function(&(struct function){
	        dir, address[0], PCIE_ROOT_PORT, 0x8086, 0x352a, 0x060400, dev->numa_node, bus - 3 });
	snprintf(dir + strlen(dir), size - strlen(dir), "/%s", address[1]);
	make_function(&(struct function){
	        dir, address[1], PCIE_UPSTREAM, 0x1000, 0xc030, 0x060400, dev->numa_node, bus - 3 });
	snprintf(dir + strlen(dir), size - strlen(dir), "/%s", address[2]);
	make_function(&(struct function){
	        dir, address[2], PCIE_DOWNSTREAM, 0x1000, 0xc030, 0x060400, dev->numa_node, bus - 3 });
	snprintf(dir + strlen(dir), size - strlen(dir), "/%s", dev->pci);
	make_function(&(struct function){
	        dir, dev->pci, PCIE_ENDPOINT, 0x15b3, 0x1021, ib ? 0x020700 : 0x020000, dev->numa_node, bus });
	put(dir, "subsystem_vendor", "0x15b3");
	put(dir, "subsystem_device", "0x0041");
	put(dir, "sriov_totalvfs", "16");
	put(dir, "sriov_numvfs", "0");
}

/* ---- the RDMA device */

static void guid_text(uint64_t guid, char *text, size_t size)
{
	snprintf(text, size, "%04x:%04x:%04x:%04x", (unsigned int)(guid >> 48), (unsigned int)(guid >> 32 & 0xffff),
	        (unsigned int)(guid >> 16 & 0xffff), (unsigned int)(guid & 0xffff));
}

static void gid_text(const uint8_t *raw, char *text)
{
	for (int i = 0; i < 8; i++)
		sprintf(text + i * 5, "%02x%02x%s", raw[i * 2], raw[i * 2 + 1], i < 7 ? ":" : "");
}

/* Reading type or netdev of an empty slot gives EINVAL in the kernel; a directory in its place gives EISDIR here. */
static void make_empty_attribute(const char *dir, const char *kind, int index)
{
	char rel[1024], path[2048];

	snprintf(rel, sizeof(rel), "%s/gid_attrs/%s/%d", dir, kind, index);
	full_path(path, sizeof(path), rel);
	mkdir(path, 0755);
}

static void make_gid(const char *dir, const struct fab_port *p, int index)
{
	const struct fab_gid *g = &p->gid[index];
	char name[64], text[48];

	snprintf(name, sizeof(name), "gids/%d", index);
	gid_text(g->raw, text);
	put(dir, name, "%s", text);
	if (!g->used) {
		make_empty_attribute(dir, "types", index);
		make_empty_attribute(dir, "ndevs", index);
		return;
	}
	snprintf(name, sizeof(name), "gid_attrs/types/%d", index);
	put(dir, name, "%s", g->type == 2 ? "RoCE v2" : "IB/RoCE v1");
	if (*g->ndev) {
		snprintf(name, sizeof(name), "gid_attrs/ndevs/%d", index);
		put(dir, name, "%s", g->ndev);
	} else {
		make_empty_attribute(dir, "ndevs", index);
	}
}

static void make_counters(const char *dir)
{
	char name[96];

	for (int i = 0; i < PC_COUNT; i++) {
		snprintf(name, sizeof(name), "counters/%s", port_counter_name[i]);
		put(dir, name, "0");
	}
	for (int i = 0; static_counter_name[i]; i++) {
		snprintf(name, sizeof(name), "counters/%s", static_counter_name[i]);
		put(dir, name, "0");
	}
	for (int i = 0; i < HC_COUNT; i++) {
		snprintf(name, sizeof(name), "hw_counters/%s", hw_counter_name[i]);
		put(dir, name, "0");
	}
	put(dir, "hw_counters/lifespan", "10");
}

static void make_port(const char *rdma, const struct fab_dev *dev, unsigned int number)
{
	const struct fab_port *p = &dev->port[number - 1];
	char dir[900], name[32];

	snprintf(dir, sizeof(dir), "%s/ports/%u", rdma, number);
	put(dir, "state", "4: ACTIVE");
	put(dir, "phys_state", "5: LinkUp");
	put(dir, "rate", "200 Gb/sec (4X HDR)");
	put(dir, "link_layer", p->ib ? "InfiniBand" : "Ethernet");
	put(dir, "lid", "0x%x", p->lid);
	put(dir, "lid_mask_count", "0");
	put(dir, "sm_lid", "0x%x", p->sm_lid);
	put(dir, "sm_sl", "0");
	put(dir, "cap_mask", p->ib ? "0xa651e848" : "0x04010000");
	for (int i = 0; i < (p->ib ? 128 : 1); i++) {
		snprintf(name, sizeof(name), "pkeys/%d", i);
		put(dir, name, i ? "0x0000" : "0xffff");
	}
	for (int i = 0; i < MAX_GIDS; i++)
		make_gid(dir, p, i);
	make_counters(dir);
}

static void make_rdma(const char *pci, const struct fab_dev *dev)
{
	char dir[800], link[1024], guid[32];

	snprintf(dir, sizeof(dir), "%s/infiniband/%s", pci, dev->name);
	guid_text(dev->guid, guid, sizeof(guid));
	put(dir, "node_type", "1: CA");
	put(dir, "node_guid", "%s", guid);
	put(dir, "sys_image_guid", "%s", guid);
	put(dir, "node_desc", "%s %s", dev->host, dev->name);
	put(dir, "fw_ver", "28.39.1004");
	put(dir, "hw_rev", "0");
	put(dir, "hca_type", "MT4129");
	put(dir, "board_id", "MT_0000000838");
	for (unsigned int i = 1; i <= dev->nports; i++)
		make_port(dir, dev, i);
	snprintf(link, sizeof(link), "%s/device", dir);
	link_to(link, pci);
	snprintf(link, sizeof(link), "%s/subsystem", dir);
	link_to(link, "class/infiniband");
	snprintf(link, sizeof(link), "class/infiniband/%s", dev->name);
	link_to(link, dir);
}

static void make_uverbs(const char *pci, const struct fab_dev *dev)
{
	char dir[800], link[1024];

	snprintf(dir, sizeof(dir), "%s/infiniband_verbs/uverbs%u", pci, dev->uverbs);
	put(dir, "ibdev", "%s", dev->name);
	put(dir, "dev", "231:%u", 192 + dev->uverbs);
	put(dir, "abi_version", "1");
	snprintf(link, sizeof(link), "%s/device", dir);
	link_to(link, pci);
	snprintf(link, sizeof(link), "%s/subsystem", dir);
	link_to(link, "class/infiniband_verbs");
	snprintf(link, sizeof(link), "class/infiniband_verbs/uverbs%u", dev->uverbs);
	link_to(link, dir);
}

/* A copy of what the machine's own sysfs says of a network device, placed below the adapter. */
static void make_netdev(const char *pci, const char *name, uint32_t ifindex, unsigned int port)
{
	char dir[800], link[1024];

	snprintf(link, sizeof(link), "class/net/%s", name);
	char path[2048];
	full_path(path, sizeof(path), link);
	if (!*name || !access(path, F_OK))
		return; /* several devices may share lo */
	snprintf(dir, sizeof(dir), "%s/net/%s", pci, name);
	put(dir, "ifindex", "%u", ifindex);
	put(dir, "iflink", "%u", ifindex);
	put(dir, "operstate", "up");
	put(dir, "carrier", "1");
	put(dir, "mtu", "1500");
	put(dir, "speed", "200000");
	put(dir, "type", "1");
	put(dir, "dev_id", "0x0");
	put(dir, "dev_port", "%u", port - 1);
	put(dir, "address", "02:00:00:00:00:%02x", ifindex & 0xff);
	snprintf(path, sizeof(path), "%s/device", dir);
	link_to(path, pci);
	snprintf(path, sizeof(path), "%s/subsystem", dir);
	link_to(path, "class/net");
	link_to(link, dir);
}

static void make_netdevs(const char *pci, const struct fab_dev *dev)
{
	for (unsigned int i = 0; i < dev->nports; i++) {
		const struct fab_port *p = &dev->port[i];

		if (!p->ib)
			make_netdev(pci, p->ndev, p->ifindex, i + 1);
	}
}

int sysfs_make_device(const char *root, const struct fab_dev *dev)
{
	char pci[512];

	tree = root;
	make_pci_path(dev, pci, sizeof(pci));
	make_rdma(pci, dev);
	make_uverbs(pci, dev);
	make_netdevs(pci, dev);
	return 0;
}
