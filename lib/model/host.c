/* SPDX-License-Identifier: MIT */
#include "model/host.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <string.h>

const char *const netns_mode_names[NETNS_MODE_COUNT] = { [NETNS_SHARED] = "shared", [NETNS_EXCLUSIVE] = "exclusive" };

const char *const pci_kind_names[PCI_KIND_COUNT] = {
	[PCI_ROOT_PORT] = "root-port",
	[PCI_SWITCH_UPSTREAM] = "switch-upstream",
	[PCI_SWITCH_DOWNSTREAM] = "switch-downstream",
	[PCI_BRIDGE] = "bridge",
	[PCI_ENDPOINT] = "endpoint",
};

const char *const link_kind_names[LINK_KIND_COUNT] = {
	[LINK_ETHERNET] = "ethernet",
	[LINK_BOND] = "bond",
	[LINK_TEAM] = "team",
	[LINK_VLAN] = "vlan",
	[LINK_MACVLAN] = "macvlan",
	[LINK_IPVLAN] = "ipvlan",
	[LINK_BRIDGE] = "bridge",
	[LINK_VXLAN] = "vxlan",
	[LINK_VETH] = "veth",
	[LINK_DUMMY] = "dummy",
	[LINK_IPOIB] = "ipoib",
	[LINK_LOOPBACK] = "loopback",
	[LINK_OTHER] = "other",
};

const char *const transport_names[TRANSPORT_COUNT] = {
	[TRANSPORT_INFINIBAND] = "infiniband",
	[TRANSPORT_ROCE] = "roce",
	[TRANSPORT_IWARP] = "iwarp",
	[TRANSPORT_UNSPECIFIED] = "unspecified",
	[TRANSPORT_MIXED] = "mixed",
};

const char *const link_layer_names[LINK_LAYER_COUNT] = {
	[LINK_LAYER_INFINIBAND] = "InfiniBand",
	[LINK_LAYER_ETHERNET] = "Ethernet",
	[LINK_LAYER_UNSPECIFIED] = "unspecified",
};

const char *const relation_names[RELATION_COUNT] = {
	[RELATION_PORT] = "port",
	[RELATION_ABOVE] = "above",
	[RELATION_BELOW] = "below",
};

const char *const fact_source_names[SOURCE_COUNT] = { [SOURCE_NETLINK] = "netlink", [SOURCE_SYSFS] = "sysfs" };

const char *const function_kind_names[FUNCTION_COUNT] = {
	[FUNCTION_PF] = "pf",
	[FUNCTION_VF] = "vf",
	[FUNCTION_SF] = "sf",
};

static const struct field numa_node_fields[] = {
	FIELD(NUMBER, struct numa_node, id, "node number"),
	FIELD(NUMBER, struct numa_node, package, "physical package id of its CPUs"),
	FIELD(TEXT, struct numa_node, cpus, "its CPUs, kernel list format; empty: none"),
	FIELD(NUMBER, struct numa_node, memory_bytes, "its memory"),
	FIELD(MAP, struct numa_node, distances, "distance to each node, as firmware tells"),
};
static RECORD(numa_node_record, numa_node, numa_node_fields);

static const struct field package_fields[] = {
	FIELD(NUMBER, struct package, id, "physical package id"),
	FIELD(TEXT, struct package, cpus, "its CPUs, kernel list format"),
};
static RECORD(package_record, package, package_fields);

static const struct field package_answer_fields[] = {
	FIELD_OF(RECORDS, struct package_answer, packages, package_record, "packages"),
};
RECORD(package_answer_record, package_answer, package_answer_fields);

static const struct field process_fields[] = {
	FIELD(TEXT, struct process_facts, cpus, "CPUs the calling process may run on"),
	FIELD(TEXT, struct process_facts, memory_policy, "memory policy of the calling process"),
	FIELD(TEXT, struct process_facts, memory_nodes, "nodes its memory may come from"),
	FIELD(NUMBER, struct process_facts, memlock_soft_bytes, "RLIMIT_MEMLOCK, soft; -1: unlimited"),
	FIELD(NUMBER, struct process_facts, memlock_hard_bytes, "RLIMIT_MEMLOCK, hard; -1: unlimited"),
	FIELD(FLAG, struct process_facts, cap_ipc_lock, "has CAP_IPC_LOCK in the first user namespace"),
	FIELD(FLAG, struct process_facts, cap_net_admin, "has CAP_NET_ADMIN in the first user namespace"),
	FIELD(FLAG, struct process_facts, cap_sys_admin, "has CAP_SYS_ADMIN in the first user namespace"),
};
RECORD(process_record, process_facts, process_fields);

const char *const aer_severity_names[AER_SEVERITY_COUNT] = {
	[AER_CORRECTABLE] = "correctable",
	[AER_NONFATAL] = "nonfatal",
	[AER_FATAL] = "fatal",
};

static const struct field aer_kind_fields[] = {
	FIELD_OF_NAMES(struct aer_kind, severity, aer_severity_names, "which of the three files it is from"),
	FIELD(TEXT, struct aer_kind, name, "what the kernel calls it"),
	FIELD(NUMBER, struct aer_kind, count, "how many"),
};
static RECORD(aer_kind_record, aer_kind, aer_kind_fields);

static const struct field aer_fields[] = {
	FIELD(NUMBER, struct aer_facts, correctable, "corrected errors, total"),
	FIELD(NUMBER, struct aer_facts, nonfatal, "uncorrected errors that are not fatal, total"),
	FIELD(NUMBER, struct aer_facts, fatal, "fatal errors, total"),
	FIELD_OF(RECORDS, struct aer_facts, kinds, aer_kind_record, "kinds of errors that are not zero"),
};
static RECORD(aer_record, aer_facts, aer_fields);

static const struct field pci_hop_fields[] = {
	FIELD(TEXT, struct pci_hop, address, "PCI address"),
	FIELD_OF_NAMES(struct pci_hop, kind, pci_kind_names, "what it is"),
	FIELD_AS(MILLI, struct pci_hop, speed_mtps, "speed_gts", "negotiated speed of the link above it, GT/s"),
	FIELD(NUMBER, struct pci_hop, width, "negotiated lanes of the link above it"),
	FIELD_AS(MILLI, struct pci_hop, max_speed_mtps, "max_speed_gts", "speed it is capable of, GT/s"),
	FIELD(NUMBER, struct pci_hop, max_width, "lanes it is capable of"),
	FIELD(TEXT, struct pci_hop, acs, "flags of its ACS control register"),
	FIELD_OF(RECORD, struct pci_hop, aer, aer_record,
	        "PCIe error counters of a bridge, null: not offered; those of the function are in its own aer"),
};
static RECORD(pci_hop_record, pci_hop, pci_hop_fields);

static const struct field iommu_fields[] = {
	FIELD(NUMBER, struct iommu_facts, group, "IOMMU group"),
	FIELD(TEXT, struct iommu_facts, type, "type of the group's domain"),
};
static RECORD(iommu_record, iommu_facts, iommu_fields);

static const struct field pci_function_fields[] = {
	FIELD(TEXT, struct pci_function, address, "PCI address"),
	FIELD(NUMBER, struct pci_function, numa_node, "NUMA node"),
	FIELD(TEXT, struct pci_function, local_cpus, "local CPUs"),
	FIELD(NUMBER, struct pci_function, package, "physical package id"),
	FIELD_OF(RECORD, struct pci_function, iommu, iommu_record, "IOMMU group"),
	FIELD_OF(RECORD, struct pci_function, aer, aer_record, "PCIe error counters, null: not offered"),
	FIELD_OF(RECORDS, struct pci_function, path, pci_hop_record, "hops from root port to endpoint"),
};
static RECORD(pci_function_record, pci_function, pci_function_fields);

static const struct field bond_member_fields[] = {
	FIELD(TEXT, struct bond_member, name, "netdev"),
	FIELD(FLAG, struct bond_member, active, "carries traffic now"),
	FIELD(TEXT, struct bond_member, mii_status,
	        "link state as the bond sees it: up, going down, down or going back"),
	FIELD(NUMBER, struct bond_member, aggregator_id, "802.3ad aggregator"),
	FIELD(FLAG, struct bond_member, in_sync, "802.3ad: partner in sync, collecting and distributing"),
	FIELD(TEXT, struct bond_member, partner_mac, "802.3ad: system MAC of the bond's LACP partner"),
	FIELD(TEXTS, struct bond_member, rdma_devices, "RDMA devices on this member's PCI function"),
	FIELD(TEXT, struct bond_member, pci_address, "PCI address"),
	FIELD(TEXT, struct bond_member, pci_path, "PCI addresses from root port to endpoint"),
	FIELD(NUMBER, struct bond_member, numa_node, "NUMA node"),
	FIELD(TEXT, struct bond_member, local_cpus, "local CPUs"),
	FIELD(NUMBER, struct bond_member, package, "physical package id"),
};
static RECORD(bond_member_record, bond_member, bond_member_fields);

static const struct field bond_fields[] = {
	FIELD(TEXT, struct bond, mode,
	        "bonding mode in the kernel's words: balance-rr, active-backup, balance-xor, broadcast, 802.3ad, "
	        "balance-tlb or balance-alb"),
	FIELD(TEXT, struct bond, xmit_hash_policy,
	        "transmit hash policy in the kernel's words: layer2, layer3+4, layer2+3, encap2+3, encap3+4 or "
	        "vlan+srcmac; null where the mode has none"),
	FIELD(TEXT, struct bond, active_member, "active member of modes that have one"),
	FIELD_OF(RECORDS, struct bond, members, bond_member_record, "members"),
};
static RECORD(bond_record, bond, bond_fields);

static const struct field port_netdev_fields[] = {
	FIELD(TEXT, struct port_netdev, name, "interface name"),
	FIELD(NUMBER, struct port_netdev, ifindex, "interface index"),
	FIELD_OF_NAMES(
	        struct port_netdev, relation, relation_names, "the port's own netdev, stacked on it, or below it"),
	FIELD(TEXTS, struct port_netdev, lower, "netdevs directly below it"),
	FIELD(TEXT, struct port_netdev, kind, "kind of netdev"),
	FIELD(TEXT, struct port_netdev, operstate, "operational state"),
	FIELD(NUMBER, struct port_netdev, mtu, "MTU in bytes"),
	FIELD(NUMBER, struct port_netdev, speed_mbps, "speed in Mb/s"),
	FIELD_OF_NAMES(struct port_netdev, source, fact_source_names, "where the relation is known from"),
	FIELD(TEXT, struct port_netdev, pci_address, "PCI address"),
	FIELD(NUMBER, struct port_netdev, numa_node, "NUMA node"),
	FIELD(TEXT, struct port_netdev, local_cpus, "local CPUs"),
	FIELD(NUMBER, struct port_netdev, package, "physical package id"),
	FIELD_OF(RECORD, struct port_netdev, bond, bond_record, "bond facts of a bond"),
};
static RECORD(port_netdev_record, port_netdev, port_netdev_fields);

static const struct field port_fields[] = {
	FIELD(NUMBER, struct port, number, "port number"),
	FIELD_OF_NAMES(struct port, transport, transport_names, "transport of this port"),
	FIELD_OF_NAMES(struct port, link_layer, link_layer_names, "link layer"),
	FIELD(TEXT, struct port, state, "logical state, IBTA word"),
	FIELD(TEXT, struct port, physical_state, "physical state, IBTA word"),
	FIELD_AS(MILLI, struct port, rate_mbps, "rate_gbps", "rate in Gb/s; of a RoCE LAG the rate of one member"),
	FIELD(TEXT, struct port, rate_text, "rate as the kernel writes it"),
	FIELD(NUMBER, struct port, active_mtu, "active path MTU in bytes"),
	FIELD(NUMBER, struct port, max_mtu, "largest path MTU in bytes"),
	FIELD(NUMBER, struct port, lid, "local identifier, InfiniBand only"),
	FIELD(NUMBER, struct port, sm_lid, "LID of the subnet manager, InfiniBand only"),
	FIELD_OF(RECORDS, struct port, netdevs, port_netdev_record, "the port's netdev and what is above and below it"),
};
static RECORD(port_record, port, port_fields);

static const struct field uverbs_fields[] = {
	FIELD(TEXT, struct uverbs, path, "character device, null: none"),
	FIELD(FLAG, struct uverbs, accessible, "may this process open it"),
	FIELD(TEXT, struct uverbs, reason, "why not"),
};
static RECORD(uverbs_record, uverbs, uverbs_fields);

static const struct field function_fields[] = {
	FIELD_OF_NAMES(struct function, kind, function_kind_names, "physical, virtual or sub-function"),
	FIELD(TEXT, struct function, parent, "PCI address of the physical function it belongs to"),
};
static RECORD(function_record, function, function_fields);

static const struct field lag_fields[] = {
	FIELD(TEXT, struct lag_facts, state, "active or disabled"),
	FIELD(TEXT, struct lag_facts, type, "kind of LAG"),
	FIELD(TEXT, struct lag_facts, port_sel_mode, "how queue pairs are spread over the members"),
};
static RECORD(lag_record, lag_facts, lag_fields);

static const struct field rdma_device_fields[] = {
	FIELD(TEXT, struct rdma_device, name, "RDMA device name"),
	FIELD_OF_NAMES(struct rdma_device, transport, transport_names, "transport, mixed where ports differ"),
	FIELD(TEXT, struct rdma_device, driver, "kernel driver"),
	FIELD(FLAG, struct rdma_device, software, "implemented in the kernel, without an adapter"),
	FIELD(TEXT, struct rdma_device, fw_version, "firmware version"),
	FIELD(TEXT, struct rdma_device, board_id, "board identifier"),
	FIELD(TEXT, struct rdma_device, node_guid, "node GUID"),
	FIELD(TEXT, struct rdma_device, sys_image_guid, "system image GUID, the same for all functions of a board"),
	FIELD_OF(INLINE, struct rdma_device, uverbs, uverbs_record, "character device for user-space verbs"),
	FIELD_OF(RECORD, struct rdma_device, pci, pci_function_record, "PCI parent, null: none"),
	FIELD_OF(INLINE, struct rdma_device, function, function_record, "kind of function"),
	FIELD(NUMBER, struct rdma_device, virtual_functions, "VFs of this physical function"),
	FIELD_OF(RECORD, struct rdma_device, roce_lag, lag_record, "RoCE LAG as the driver tells in debugfs"),
	FIELD(TEXTS, struct rdma_device, representors, "netdevs that stand for its VFs and SFs in switchdev mode"),
	FIELD_OF(RECORDS, struct rdma_device, ports, port_record, "ports"),
};
static RECORD(rdma_device_record, rdma_device, rdma_device_fields);

static const struct field topo_fields[] = {
	FIELD_OF_NAMES(
	        struct host, rdma_netns_mode, netns_mode_names, "are RDMA devices shared between network namespaces"),
	FIELD_OF(RECORDS, struct host, numa_nodes, numa_node_record, "NUMA nodes"),
	FIELD_OF(INLINE, struct host, process, process_record, "the calling process"),
	FIELD_OF(RECORDS, struct host, devices, rdma_device_record, "RDMA devices in natural order of their names"),
	FIELD_OF(RECORD, struct host, matrix, matrix_record, "adapters, GPUs and NVMe side by side, null: not asked"),
	FIELD_OF(RECORD, struct host, health, health_record,
	        "interrupts, quality of service and the wire, null: not asked"),
};
RECORD(topo_record, host, topo_fields);

/* ---- look-ups ---- */

/* One look-up: elements of `list` for which same(element, key) holds, through `index` where it was filled. */
static void *find(const struct list *list, const struct index *index, uint64_t hash,
        bool (*same)(const void *element, const void *key), const void *key)
{
	if (index->table)
		return index_find(index, hash, same, key);
	for (uint32_t i = 0; i < list->count; i++)
		if (same(list->items[i], key))
			return list->items[i];
	return NULL;
}

#define FIND(host, list, index, hash, same, key) find((const void *)&(host)->list, &(host)->index, hash, same, key)

static bool is_same(const char *text, const void *key)
{
	return text && !strcmp(text, key);
}

static bool has_ifindex(const void *element, const void *key)
{
	return num_is(((const struct netdev *)element)->ifindex, *(const int64_t *)key);
}

static bool is_netdev(const void *element, const void *key)
{
	return is_same(((const struct netdev *)element)->name, key);
}

static bool is_device(const void *element, const void *key)
{
	return is_same(((const struct rdma_device *)element)->name, key);
}

static bool has_number(const void *element, const void *key)
{
	return num_is(((const struct rdma_device *)element)->netlink_index, *(const int64_t *)key);
}

static bool is_function(const void *element, const void *key)
{
	return is_same(((const struct pci_function *)element)->address, key);
}

static bool is_hop(const void *element, const void *key)
{
	return is_same(((const struct pci_hop *)element)->address, key);
}

int host_index_netdev(struct host *host, struct netdev *netdev)
{
	int result = index_add(host->arena, &host->netdev_names, hash_text(netdev->name), netdev);
	if (!result && netdev->ifindex.known)
		result = index_add(host->arena, &host->netdev_numbers, hash_number(netdev->ifindex.value), netdev);
	return result;
}

int host_index_device(struct host *host, struct rdma_device *device)
{
	int result = index_add(host->arena, &host->device_names, hash_text(device->name), device);
	if (!result && device->netlink_index.known)
		result =
		        index_add(host->arena, &host->device_numbers, hash_number(device->netlink_index.value), device);
	return result;
}

int host_index_function(struct host *host, struct pci_function *function)
{
	return index_add(host->arena, &host->function_addresses, hash_text(function->address), function);
}

int host_index_hop(struct host *host, struct pci_hop *hop)
{
	return index_add(host->arena, &host->hop_addresses, hash_text(hop->address), hop);
}

const char *lag_kind_name(const struct lag_facts *lag)
{
	static const struct {
		const char *type, *name;
	} kinds[] = {
		{ "roce", "RoCE LAG" },
		{ "switchdev", "VF LAG" },
		{ "multipath", "multipath LAG" },
		{ "multiport_eswitch", "multiport eswitch" },
	};
	for (size_t i = 0; lag->type && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(lag->type, kinds[i].type))
			return kinds[i].name;
	return lag->type ? "LAG" : "RoCE LAG";
}

struct netdev *host_netdev(const struct host *host, int64_t ifindex)
{
	return FIND(host, netdevs, netdev_numbers, hash_number(ifindex), has_ifindex, &ifindex);
}

struct netdev *host_netdev_by_name(const struct host *host, const char *name)
{
	return FIND(host, netdevs, netdev_names, hash_text(name), is_netdev, name);
}

struct netdev *host_netdev_called(const struct host *host, const char *name)
{
	struct netdev *named = host_netdev_by_name(host, name);
	if (named)
		return named;
	list_each(netdev, &host->netdevs)
		if (strings_contain(&netdev->altnames, name))
			return netdev;
	return NULL;
}

struct netdev *host_master(const struct host *host, const struct netdev *netdev)
{
	return netdev->master_ifindex.known ? host_netdev(host, netdev->master_ifindex.value) : NULL;
}

struct netdev *host_lower(const struct host *host, const struct netdev *netdev)
{
	return netdev->lower_ifindex.known ? host_netdev(host, netdev->lower_ifindex.value) : NULL;
}

bool netdev_is_member(const struct netdev *netdev, const struct netdev *master)
{
	return master->ifindex.known && num_is(netdev->master_ifindex, master->ifindex.value);
}

bool host_netlink_names_netdevs(const struct host *host)
{
	list_each(device, &host->devices)
		list_each(port, &device->ports)
			if (port->netdev_ifindex.known)
				return true;
	return false;
}

struct rdma_device *host_device(const struct host *host, const char *name)
{
	struct rdma_device *device = FIND(host, devices, device_names, hash_text(name), is_device, name);
	return device && !device->gone ? device : NULL;
}

struct rdma_device *host_device_numbered(const struct host *host, int64_t netlink_index)
{
	return FIND(host, devices, device_numbers, hash_number(netlink_index), has_number, &netlink_index);
}

struct pci_function *host_function(const struct host *host, const char *address)
{
	return FIND(host, pci_functions, function_addresses, hash_text(address), is_function, address);
}

struct pci_hop *host_hop(const struct host *host, const char *address)
{
	return FIND(host, pci_hops, hop_addresses, hash_text(address), is_hop, address);
}

struct port *device_port(const struct rdma_device *device, int64_t number)
{
	list_each(port, &device->ports)
		if (num_is(port->number, number))
			return port;
	return NULL;
}

bool device_reaches(const struct rdma_device *device, const char *name)
{
	list_each(port, &device->ports)
		list_each(netdev, &port->netdevs)
			if (!strcmp(netdev->name, name))
				return true;
	return false;
}

const char *port_label(const char *device, struct num number, char out[static PORT_LABEL_SIZE])
{
	char digits[NUMBER_TEXT_SIZE];
	(void)text_join(out, PORT_LABEL_SIZE, device, "/", text_number((uint64_t)number.value, digits));
	return out;
}

struct numa_node *host_node(const struct host *host, int64_t id)
{
	list_each(node, &host->numa_nodes)
		if (num_is(node->id, id))
			return node;
	return NULL;
}

bool host_nodes_are_near(const struct host *host, int64_t one, int64_t other)
{
	enum { NEAR = 11 }; /* 10 is that of a node to itself (ACPI specification, SLIT) */
	const struct numa_node *node = one == other ? NULL : host_node(host, one);
	if (node)
		list_each(distance, &node->distances)
			if (distance->key == other)
				return distance->value.known && distance->value.value <= NEAR;
	return one == other;
}

struct netdev *port_netdev(const struct port *port)
{
	list_each(related, &port->netdevs)
		if (related->relation == RELATION_PORT)
			return related->netdev;
	return NULL;
}

bool aer_has_errors(const struct aer_facts *aer)
{
	return aer && (aer->correctable.value > 0 || aer->nonfatal.value > 0 || aer->fatal.value > 0);
}

static void append_total(char text[static AER_TEXT_SIZE], struct num total, const char *what)
{
	char number[NUMBER_TEXT_SIZE];
	text_append(text, AER_TEXT_SIZE, "%s %s", total.known ? text_number((uint64_t)total.value, number) : "?", what);
}

void aer_text(const struct aer_facts *aer, char text[static AER_TEXT_SIZE])
{
	const char *before = " (";
	*text = '\0';
	append_total(text, aer->correctable, "correctable, ");
	append_total(text, aer->nonfatal, "non-fatal, ");
	append_total(text, aer->fatal, "fatal");
	list_each(kind, &aer->kinds) {
		/* the last one of those that fit has room for what closes the list */
		if (strlen(text) + strlen(kind->name) + NUMBER_TEXT_SIZE + sizeof(", …)") > AER_TEXT_SIZE) {
			text_append(text, AER_TEXT_SIZE, "%s…", before);
			before = ", ";
			break;
		}
		text_append(text, AER_TEXT_SIZE, "%s%s %" PRId64, before, kind->name, kind->count.value);
		before = ", ";
	}
	if (*before == ',')
		text_append(text, AER_TEXT_SIZE, ")");
}

bool port_is_active(const struct port *port)
{
	return port->state && !strcmp(port->state, "ACTIVE");
}

bool port_is_narrow(const struct port *port)
{
	return port->link_layer == LINK_LAYER_INFINIBAND && port->rate_text && strstr(port->rate_text, "(1X ");
}

bool port_has_lid(const struct port *port)
{
	return port->lid.known && port->lid.value && port->lid.value != UINT16_MAX;
}
