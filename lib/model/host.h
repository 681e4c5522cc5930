/* SPDX-License-Identifier: MIT */
/*
 * A host as rdmadiag sees it: RDMA devices → ports → netdevs → bond members, and the PCI functions, NUMA nodes and
 * links that these are joined with. Sources (lib/source) fill it, checks and renderers only read it. The JSON of `topo`
 * is this model, through the tables at the end.
 *
 * Units are in the names. Zeroed members are unknown; each unknown fact that ought to be known has its reason in
 * host.report.not_collected. Texts and lists live in host.arena.
 */
#ifndef RDMADIAG_MODEL_HOST_H
#define RDMADIAG_MODEL_HOST_H

#include "base/arena.h"
#include "base/index.h"
#include "base/text.h"
#include "model/health.h"
#include "model/matrix.h"
#include "model/record.h"
#include "model/report.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- who and where ---- */

struct host_facts {
	const char *hostname;
	const char *kernel;       /* uname release */
	const char *architecture; /* uname machine */
};

enum netns_mode { NETNS_UNKNOWN, NETNS_SHARED, NETNS_EXCLUSIVE, NETNS_MODE_COUNT };

/* ---- NUMA (sys/devices/system/node, …/cpu) ---- */

struct numa_node {
	struct num id;
	struct num package;       /* physical package id of its CPUs; unknown when it has none or they differ */
	struct num hwloc_package; /* the same as hwloc says, where it was asked; not in the document */
	const char *cpus;         /* kernel list format; "" is a node without CPUs */
	struct num memory_bytes;  /* 0 is a node without memory */
	LIST(struct map_entry) distances;
};

/* A physical package (socket); not in the document. */
struct package {
	struct num id;    /* physical_package_id */
	const char *cpus; /* kernel list format */
};

struct package_list {
	struct package **items;
	uint32_t count, capacity;
};

/* What hwloc answers, for a snapshot. */
struct package_answer {
	struct package_list packages;
};

/* The calling process, so that "this shell runs on node 1, mlx5_0 is on node 0" can be said. */
struct process_facts {
	const char *cpus;          /* sched_getaffinity, kernel list format */
	const char *memory_policy; /* get_mempolicy: default, bind, preferred, interleave, local, … */
	const char *memory_nodes;  /* nodes of that policy, list format */
	struct num memlock_soft_bytes, memlock_hard_bytes; /* RLIMIT_MEMLOCK; -1 is unlimited */
	enum flag cap_ipc_lock, cap_net_admin, cap_sys_admin;
};

/* ---- PCI ---- */

enum pci_kind {
	PCI_KIND_UNKNOWN,
	PCI_ROOT_PORT,
	PCI_SWITCH_UPSTREAM,
	PCI_SWITCH_DOWNSTREAM,
	PCI_BRIDGE,
	PCI_ENDPOINT,
	PCI_KIND_COUNT
};

enum aer_severity { AER_CORRECTABLE, AER_NONFATAL, AER_FATAL, AER_SEVERITY_COUNT };

/* A line of aer_dev_* that is not zero. */
struct aer_kind {
	int severity;     /* enum aer_severity */
	const char *name; /* as the kernel writes it: "BadTLP", "CmpltTO" … */
	struct num count;
};

/* Totals of aer_dev_correctable, aer_dev_nonfatal and aer_dev_fatal. */
struct aer_facts {
	struct num correctable, nonfatal, fatal;
	LIST(struct aer_kind) kinds;
};

struct pci_hop {
	const char *address;                   /* as sysfs writes it, domain of 4 to 8 hex digits */
	int kind;                              /* enum pci_kind */
	struct num speed_mtps, max_speed_mtps; /* MT/s; "speed_gts" in JSON */
	struct num width, max_width;
	const char
	        *acs; /* null | "none" | flags of the ACS control register, e.g. "source-validation request-redirect" */
	struct aer_facts *aer; /* of a bridge; NULL: not offered. That of the function at the end is its own */
	bool silent;           /* its configuration space reads all ones; not in the document */
};

struct iommu_facts {
	struct num group;
	const char *type; /* iommu_groups/N/type: "DMA", "DMA-FQ", "identity" … */
};

struct pci_function {
	const char *address;
	struct num numa_node; /* unknown where sysfs says -1 */
	bool without_node;    /* sysfs says -1; not in the document */
	const char *local_cpus;
	struct num package;
	struct iommu_facts *iommu; /* NULL: no IOMMU group */
	struct aer_facts *aer;     /* NULL: not offered */
	LIST(struct pci_hop) path; /* root port → endpoint */
	/* not in the document, used by the join and the checks: */
	const char *sysfs_path; /* canonical, from "sys/devices/" on */
	const char *driver;     /* name of the bound driver, NULL: none */
	struct num vendor, device, class_code;
	const char *physfn;  /* PCI address of the PF, NULL: not a VF */
	bool physfn_unknown; /* it could not be read */
	struct num sriov_numvfs;
	struct num vf_index; /* of a VF: which of its PF's */
	/* set by the join: */
	bool has_device, is_reached; /* an RDMA device is on it; one reaches a netdev on it */
	const char *netdev_name;     /* a netdev on it; NULL: none is known */
};

/* ---- netdevs (rtnetlink RTM_GETLINK, else sys/class/net) ---- */

enum link_kind {
	LINK_UNKNOWN,
	LINK_ETHERNET,
	LINK_BOND,
	LINK_TEAM,
	LINK_VLAN,
	LINK_MACVLAN,
	LINK_IPVLAN,
	LINK_BRIDGE,
	LINK_VXLAN,
	LINK_VETH,
	LINK_DUMMY,
	LINK_IPOIB,
	LINK_LOOPBACK,
	LINK_OTHER, /* see kind_name */
	LINK_KIND_COUNT
};

struct address {
	uint8_t family; /* AF_INET or AF_INET6 */
	uint8_t prefix_length;
	uint8_t bytes[16]; /* IPv4 in the first four */
	uint32_t flags;    /* IFA_F_* */
};

/* net.ipv4.conf: what holds for a netdev, its own value and that of "all" combined as the kernel does. */
struct arp_settings {
	struct num ignore, announce, filter, rp_filter;
};

struct netdev {
	const char *name;
	struct strings altnames; /* IFLA_ALT_IFNAME */
	struct num ifindex;
	int kind;              /* enum link_kind */
	const char *kind_name; /* IFLA_INFO_KIND as it is, NULL for plain devices */
	const char *operstate; /* kernel words: up, down, lowerlayerdown, unknown, … */
	enum flag admin_up, carrier;
	struct num mtu, speed_mbps;
	const char *mac; /* link-layer address, colon form; IPoIB has 20 bytes */
	uint8_t mac_bytes[32];
	uint32_t mac_length;
	struct num arp_type;     /* ARPHRD_* */
	const char *parent_name; /* IFLA_PARENT_DEV_NAME: of its device on the bus */
	const char *sysfs_path;  /* canonical path of its device; NULL: none, or not located yet */
	bool located, completed, health_read;
	const char *master_name; /* where rtnetlink did not tell numbers */
	struct strings lower_names;
	struct num vlan_id;
	struct num lower_ifindex;  /* IFLA_LINK, when in this namespace */
	bool lower_elsewhere;      /* it stands on a netdev of another namespace (IFLA_LINK_NETNSID) */
	struct num master_ifindex; /* IFLA_MASTER */
	struct num dev_port;
	const char *phys_port_name, *phys_switch_id;
	const char *pci_address;        /* of its device, or of the nearest PCI ancestor; NULL: none */
	struct pci_function *pci;       /* NULL: none */
	struct bond_facts *bond_facts;  /* of LINK_BOND */
	struct bond_slave *slave;       /* of a member of a bond */
	LIST(struct address) addresses; /* RTM_GETADDR */
	struct arp_settings *arp;       /* NULL: not read (only where several netdevs are in one subnet) */
	/* set by the join: */
	LIST(struct netdev) uppers, lowers; /* directly above and below, by name */
	LIST(struct rdma_device) claimants; /* of a bond: the devices that reach it */
	struct bond *bond;                  /* of a bond */
	uint32_t above_visit, below_visit;  /* number of the last look at stacks that met it */
};

struct bond_facts {
	const char *mode;             /* kernel words: "802.3ad", "active-backup", … */
	const char *xmit_hash_policy; /* kernel words: "layer3+4", …; NULL where the mode has none */
	struct num active_ifindex;    /* IFLA_BOND_ACTIVE_SLAVE */
	const char *active_name;      /* where rtnetlink did not tell the number */
	struct num aggregator_id, num_ports, actor_key, partner_key; /* IFLA_BOND_AD_INFO */
	const char *partner_mac;
	struct num miimon_ms;
};

struct bond_slave {
	const char *state;      /* IFLA_BOND_SLAVE_STATE: "active", "backup" */
	const char *mii_status; /* "up", "down", "going down", "going back" */
	struct num aggregator_id, actor_port_state, partner_port_state;
	struct num link_failures;
	const char *partner_mac; /* 802.3ad: system MAC of the LACP partner, from /proc/net/bonding */
	const char *churn;       /* 802.3ad: actor churn state, from there too */
};

/* ---- the tree of the document ---- */

enum transport {
	TRANSPORT_UNKNOWN,
	TRANSPORT_INFINIBAND,
	TRANSPORT_ROCE,
	TRANSPORT_IWARP,
	TRANSPORT_UNSPECIFIED,
	TRANSPORT_MIXED, /* of a device whose ports differ */
	TRANSPORT_COUNT
};

enum link_layer {
	LINK_LAYER_UNKNOWN,
	LINK_LAYER_INFINIBAND,
	LINK_LAYER_ETHERNET,
	LINK_LAYER_UNSPECIFIED,
	LINK_LAYER_COUNT
};
enum relation { RELATION_UNKNOWN, RELATION_PORT, RELATION_ABOVE, RELATION_BELOW, RELATION_COUNT };
enum fact_source { SOURCE_UNKNOWN, SOURCE_NETLINK, SOURCE_SYSFS, SOURCE_COUNT };
enum function_kind { FUNCTION_UNKNOWN, FUNCTION_PF, FUNCTION_VF, FUNCTION_SF, FUNCTION_COUNT };

struct bond_member {
	const char *name;
	enum flag active; /* carries traffic now */
	const char *mii_status;
	struct num aggregator_id;
	enum flag in_sync;
	const char *partner_mac;
	struct strings rdma_devices;
	const char *pci_address;
	const char *pci_path; /* addresses from root port to endpoint, joined by "/" */
	struct num numa_node;
	const char *local_cpus;
	struct num package;
	struct netdev *netdev; /* not in the document */
};

struct bond {
	const char *mode;
	const char *xmit_hash_policy;
	const char *active_member;
	LIST(struct bond_member) members;
};

struct port_netdev {
	const char *name;
	struct num ifindex;
	int relation; /* enum relation */
	struct strings lower;
	const char *kind; /* link_kind_names[], or the kernel's own word for others */
	const char *operstate;
	struct num mtu, speed_mbps;
	int source; /* enum fact_source: where the relation comes from */
	const char *pci_address;
	struct num numa_node;
	const char *local_cpus;
	struct num package;
	struct bond *bond;     /* NULL: not a bond */
	struct netdev *netdev; /* not in the document */
};

struct port {
	struct num number;
	int transport;                      /* enum transport */
	int link_layer;                     /* enum link_layer */
	const char *state, *physical_state; /* IBTA words: ACTIVE, LINK_UP */
	struct num rate_mbps;               /* "rate_gbps" in JSON */
	const char *rate_text;              /* as the kernel writes it: "100 Gb/sec (2X HDR)" */
	struct num active_mtu, max_mtu;     /* bytes, from verbs */
	struct num lid, sm_lid;             /* NULL on RoCE */
	LIST(struct port_netdev) netdevs;
	/* not in the document: */
	struct num netdev_ifindex;  /* RDMA_NLDEV_ATTR_NDEV_INDEX */
	const char *netdev_name;    /* what sysfs says instead */
	int netdev_source;          /* enum fact_source of the two */
	const char *claimed_netdev; /* that of a GID, where netlink names none: of this namespace or of another one */
	uint8_t claimed_gid[16];
	struct num state_code, physical_state_code;
	uint8_t gid0[16]; /* read where netdevs are matched by it */
	enum flag gid0_known;
	bool netdev_unknown; /* asking for it did not answer */
	struct num gid_table_length;
};

struct uverbs {
	const char *path; /* /dev/infiniband/uverbsN; NULL: the device has none */
	enum flag accessible;
	const char *reason; /* why not */
	/* not in the document: */
	int asked;   /* negative errno of asking for it, 0: answered, or not asked */
	int refused; /* negative errno of access(2), 0: it may be opened, or was not looked at */
};

/* RoCE LAG as mlx5 tells in debugfs (mlx5/ADDRESS/lag); readable for root. */
struct lag_facts {
	const char *state;         /* "active", "disabled" */
	const char *type;          /* "roce", "switchdev", "multipath", "multiport_eswitch"; NULL: not told */
	const char *port_sel_mode; /* how queue pairs are spread: "hash", "queue_affinity" */
};

struct function {
	int kind;           /* enum function_kind */
	const char *parent; /* PCI address of the PF of a VF or SF */
};

struct rdma_device {
	const char *name;
	int transport; /* enum transport */
	const char *driver;
	enum flag software;
	const char *fw_version, *board_id;
	const char *node_guid, *sys_image_guid;
	struct uverbs uverbs;
	struct pci_function *pci; /* NULL: no PCI parent */
	struct function function;
	struct num virtual_functions;
	struct lag_facts *roce_lag;  /* NULL: none, or not told */
	struct strings representors; /* netdevs that stand for its VFs and SFs in switchdev mode */
	LIST(struct port) ports;
	/* not in the document: */
	struct strings secondaries; /* PCI addresses of the functions that are joined to its own (multi-PF) */
	struct num netlink_index;   /* RDMA_NLDEV_ATTR_DEV_INDEX */
	struct num last_port;       /* RDMA_NLDEV_ATTR_PORT_INDEX of the device */
	struct num driver_id;       /* RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID */
	bool from_netlink, gone;    /* gone: removed while it was read */
	bool unseen;                /* netlink tells of it, and sysfs has it not */
	struct num node_type;       /* enum rdma_node_type of rdma_netlink / sysfs node_type */
	const char *protocol;       /* RDMA_NLDEV_ATTR_DEV_PROTOCOL */
	const char *virtual_path;   /* its directory, from "sys/" on, of a device that is known to have no parent */
	const char *parent_path;    /* canonical sysfs path of the device's parent, from "sys/" on; NULL: virtual */
	const char *node_description;
	struct num vf_index;          /* of a VF below its PF */
	const char *provider_missing; /* what libibverbs said when it does not offer the device; NULL: it does */
	const char *companion_of;     /* of an mlx5 data-direct companion: the device that it belongs to */
};

struct host {
	struct arena *arena;
	struct report report;
	struct host_facts facts;
	const char *origin;  /* "live" or "snapshot" */
	int rdma_netns_mode; /* enum netns_mode */
	LIST(struct numa_node) numa_nodes;
	struct process_facts process;
	LIST(struct rdma_device) devices;
	struct matrix *matrix; /* NULL: not asked */
	struct health *health; /* NULL: not asked */
	/* what the tree is joined from; not in the document */
	LIST(struct netdev) netdevs;
	LIST(struct pci_function) pci_functions;
	LIST(struct pci_hop) pci_hops;
	struct package_list packages;
	LIST(struct neighbour) neighbours; /* where they were asked */
	const char *peer_memory;           /* see struct matrix */
	struct index netdev_numbers, netdev_names, device_numbers, device_names, function_addresses, hop_addresses;
	uint32_t visits;        /* looks at stacks of netdevs so far */
	uint32_t related;       /* relations of ports and netdevs so far, see join_related() */
	int link_source;        /* enum fact_source of the netdevs */
	bool addresses_unread;  /* RTM_GETADDR was not answered: whether a netdev has an address is not known */
	bool listed;            /* what lists the RDMA devices was answered: there are no others */
	const char *cm_refused; /* why rdma_ucm, which is loaded, cannot be opened; NULL: it is not so, or not known */
	bool no_class; /* sysfs has no RDMA devices: none is loaded or, where netlink has some, sysfs is hidden */
	bool no_sysfs; /* neither netlink nor sysfs tells of RDMA devices, and nothing of a sysfs is there */
	bool joined;   /* the tree is built */
	bool complete; /* every source was asked */
};

extern const char *const netns_mode_names[NETNS_MODE_COUNT];
extern const char *const pci_kind_names[PCI_KIND_COUNT];
extern const char *const link_kind_names[LINK_KIND_COUNT];
extern const char *const transport_names[TRANSPORT_COUNT];
extern const char *const link_layer_names[LINK_LAYER_COUNT];
extern const char *const relation_names[RELATION_COUNT];
extern const char *const fact_source_names[SOURCE_COUNT];
extern const char *const function_kind_names[FUNCTION_COUNT];

/*
 * Makes an element of a list known to the look-ups below, when what they look for is filled in. Lists that are made by
 * hand need not be indexed; then they are walked. 0 or -ENOMEM.
 */
int host_index_netdev(struct host *host, struct netdev *netdev);
int host_index_device(struct host *host, struct rdma_device *device);
int host_index_function(struct host *host, struct pci_function *function);
int host_index_hop(struct host *host, struct pci_hop *hop);

/* What is called by the words of lag/type (get_str_mode_type() of mlx5); only the first two stand on a bond. */
const char *lag_kind_name(const struct lag_facts *lag);

/* Look-ups; NULL where there is none. */
struct netdev *host_netdev(const struct host *host, int64_t ifindex);
struct netdev *host_netdev_by_name(const struct host *host, const char *name);
/* Of those who name one: by an alternative name, too. */
struct netdev *host_netdev_called(const struct host *host, const char *name);
/* The bond, team, bridge, VRF or switch that it is a member of: IFLA_MASTER. */
struct netdev *host_master(const struct host *host, const struct netdev *netdev);
struct netdev *host_lower(const struct host *host, const struct netdev *netdev); /* IFLA_LINK */
struct rdma_device *host_device(const struct host *host, const char *name);
/*
 * Does netlink name the netdev of any port? Before Linux 4.18 of none, later of none that is in another namespace: only
 * together do they tell which of the two it is.
 */
bool host_netlink_names_netdevs(const struct host *host);
struct rdma_device *host_device_numbered(const struct host *host, int64_t netlink_index);
struct pci_function *host_function(const struct host *host, const char *address);
struct pci_hop *host_hop(const struct host *host, const char *address);
struct port *device_port(const struct rdma_device *device, int64_t number);
/* Does a netdev of that name carry traffic of one of its ports, or stand on one that does? After join_host(). */
bool device_reaches(const struct rdma_device *device, const char *netdev);
/* "mlx5_0/1", what the kernel's longest name (IB_DEVICE_NAME_MAX) has room in; returns `out`. */
enum { PORT_LABEL_SIZE = 64 + 1 + NUMBER_TEXT_SIZE };
const char *port_label(const char *device, struct num number, char out[static PORT_LABEL_SIZE]);
struct numa_node *host_node(const struct host *host, int64_t id);
/*
 * Is the memory of one node as near to the other as its own? That of one node, of course; and of nodes that firmware
 * makes of caches, among which memory is interleaved (AMD, "L3 cache as NUMA domain": distance 11).
 */
bool host_nodes_are_near(const struct host *host, int64_t one, int64_t other);
/* The netdev that the port is bound to (relation "port"), NULL if none is known. */
struct netdev *port_netdev(const struct port *port);
/* Has it counted any? False where it is NULL, too. */
bool aer_has_errors(const struct aer_facts *aer);
/* "3 correctable, 0 non-fatal, ? fatal (RxErr 2, BadTLP 1)"; what does not fit is left out. */
enum { AER_TEXT_SIZE = 256 };
void aer_text(const struct aer_facts *aer, char text[static AER_TEXT_SIZE]);
bool port_is_active(const struct port *port); /* false where the state is not known, too */
/* One lane of InfiniBand. */
bool port_is_narrow(const struct port *port);
/* Has a subnet manager given it one? Until then ports say 0, or the permissive LID 65535. */
bool port_has_lid(const struct port *port);
bool netdev_is_member(const struct netdev *netdev, const struct netdev *master);

/* The document of `topo`: struct host. */
extern const struct record topo_record;
/* Of struct process_facts, which a snapshot records. */
extern const struct record process_record;
extern const struct record package_answer_record;

#endif
