# SPDX-License-Identifier: MIT
"""Every key of the form, and a loader that names key and line of what it does not know."""

import difflib
import re
import tomllib
from collections import namedtuple

Key = namedtuple("Key", "kind default help")


class Mistake(Exception):
    """Something in a description that a person has to correct."""


# kind: text, number, yes (true or false), texts, numbers, map (free keys), any, or the name of a table below;
# a name in brackets is a list of such tables. Default None: made up as `help` says, or left out.
TABLES = {
    "machine": {
        "host": Key("host", {}, "the kernel and what it offers"),
        "process": Key("process", {}, "the calling process"),
        "settings": Key("settings", None, "what consumers of GIDs are told there; nothing: the snapshot does not say"),
        "node": Key("[node]", [], "a NUMA node; without any: one node with 8 CPUs"),
        "cpu": Key("cpu", {}, "CPUs, where the nodes do not say it all"),
        "pci": Key("[pci]", [], "a PCI function; those that a device or netdev names are made without an entry"),
        "net": Key("[net]", [], "a netdev; those that something names are made as Ethernet without an entry"),
        "rdma": Key("[rdma]", [], "an RDMA device"),
        "route": Key("[route]", [], "the kernel's answer to a route lookup"),
        "neighbour": Key("[neighbour]", [], "an entry of the neighbour table"),
        "irq": Key("[irq]", [], "an interrupt of a PCI function"),
        "reporter": Key("[reporter]", [], "a devlink health reporter"),
        "files": Key("map", {}, "path = contents; a line end is added where there is none"),
        "binary": Key("map", {}, "path = contents in hexadecimal digits"),
        "errors": Key("map", {}, "path = errno (name or number) that reading it answers; netlink/… and verbs/… too"),
        "links": Key("map", {}, "path = target of a symbolic link"),
        "absent": Key("texts", [], "paths (shell patterns) that are taken out again"),
        "expect": Key("[expect]", [], "what must hold of rdmadiag's output"),
    },
    "host": {
        "hostname": Key("text", "node1", ""),
        "kernel": Key("text", "6.1.0", "uname release"),
        "architecture": Key("text", "x86_64", "uname machine"),
        "netns_mode": Key("text", "shared", "RDMA in network namespaces: shared or exclusive"),
        "netlink": Key("yes", True, "false: an old kernel, no netlink recordings at all"),
        "rdma_netlink": Key("yes", True, "false: no recordings of RDMA netlink"),
        "route_netlink": Key("yes", True, "false: no recordings of rtnetlink"),
        "ndev_index": Key("yes", True, "false: RDMA netlink does not name the netdev of a port (before 4.18)"),
        "gid_attrs": Key("yes", True, "false: a kernel without ports/N/gid_attrs (before 4.3)"),
        "verbs": Key("yes", True, "false: no recorded answers of verbs"),
        "pci_config": Key("number", 260, "bytes of each PCI config file; 64: as an ordinary user reads it; 0: none"),
        "roce_mode": Key("text", None, "configfs default RoCE mode of every port; nothing: no configfs"),
    },
    "settings": {
        "variables": Key("texts", [], "NAME=VALUE of the environment"),
        "nccl_conf": Key("texts", [], "NAME=VALUE lines of NCCL's files"),
    },
    "process": {
        "recorded": Key("yes", True, "false: the snapshot has no process.json"),
        "cpus": Key("text", None, "CPU list it may run on; all"),
        "memory_policy": Key("text", "default", ""),
        "memory_nodes": Key("text", None, "node list of that policy; all nodes"),
        "memlock_soft_bytes": Key("number", -1, "-1: unlimited"),
        "memlock_hard_bytes": Key("number", -1, "-1: unlimited"),
        "cap_ipc_lock": Key("yes", True, ""),
        "cap_net_admin": Key("yes", True, ""),
        "cap_sys_admin": Key("yes", True, ""),
    },
    "node": {
        "id": Key("number", None, "the number after that of the node before"),
        "package": Key("number", None, "physical package of its CPUs; its id"),
        "cpus": Key("text", None, "CPU list, \"\" for none; the next 16"),
        "memory": Key("text", "64G", "size with M, G or T; 0: a node without memory"),
        "distances": Key("numbers", None, "one for each node in order; 10, 12 in its package, 21 elsewhere"),
    },
    "cpu": {
        "packages": Key("map", {}, "package = CPU list, where nodes and packages cross each other"),
        "topology": Key("yes", True, "false: no cpuN/topology"),
        "offline": Key("text", "", "CPU list: possible and present, but in none of the kernel's lists of nodes and devices"),
    },
    "pci": {
        "address": Key("text", None, "as sysfs writes it; required"),
        "behind": Key("texts", None, "hops above it, root port first: \"ADDRESS [KIND] [LINK] [max LINK] [acs FLAGS]\"; "
                      "one root port on a bus of its own"),
        "root": Key("text", None, "what holds the first hop, below sys/devices; pciDOMAIN:BUS"),
        "link": Key("text", "16.0 x16", "negotiated speed in GT/s and width; \"\" without PCIe; 32.0 and 64.0 for faster ports"),
        "max": Key("text", None, "what both could; as `link`"),
        "acs": Key("text", "", "bits that are set in its ACS capability (sv tb rr cr uf ec dt), or none; unknown: not "
                   "readable; \"\": it has no such capability"),
        "node": Key("number", 0, "NUMA node; -1: the firmware does not tell"),
        "cpus": Key("text", None, "local_cpulist; those of the node, all for -1"),
        "vendor": Key("number", None, "by the driver, 0x15b3 where it is not known"),
        "device": Key("number", None, "by the driver, 0x101d where it is not known"),
        "class": Key("number", 0x020000, ""),
        "driver": Key("text", None, "\"\" for none; that of the RDMA device or netdev on it"),
        "kind": Key("text", "", "gpu (10de:2330, class 0302, driver nvidia) or nvme (144d:a80a, class 0108, driver nvme) "
                    "where nothing else is said"),
        "nvme": Key("text", None, "name of the controller of an nvme; nvmeN in the order of the entries"),
        "iommu_group": Key("number", None, "none"),
        "iommu_type": Key("text", "DMA-FQ", "with a group: DMA, DMA-FQ, identity"),
        "total_vfs": Key("number", None, "sriov_totalvfs; as many as there are"),
        "physfn": Key("text", None, "of a VF: the address of its PF"),
        "aer": Key("map", {}, "correctable, fatal, nonfatal = a table of counters"),
        "aer_above": Key("map", {}, "address of a hop in `behind` = its table as for `aer`"),
    },
    "net": {
        "name": Key("text", None, "required"),
        "kind": Key("text", "ethernet", "ethernet bond team vlan macvlan macvtap ipvlan bridge vxlan veth dummy ipoib "
                    "loopback tun …"),
        "info_kind": Key("text", None, "IFLA_INFO_KIND where it is not the kind"),
        "ifindex": Key("number", None, "the next free one from 2 on"),
        "pci": Key("text", None, "PCI function it is on"),
        "aux": Key("text", None, "auxiliary device below that function, as in mlx5_core.sf.2"),
        "parent": Key("text", None, "its device below sys/devices where that is no PCI function"),
        "device": Key("yes", True, "false: no device link, though it lies below that device"),
        "mac": Key("text", None, "made from the ifindex; a bond's members have the bond's"),
        "permanent_mac": Key("text", None, ""),
        "mtu": Key("number", 1500, ""),
        "speed": Key("number", None, "Mb/s; 100000 for Ethernet with carrier, the sum of the active members for a bond"),
        "up": Key("yes", True, "administratively"),
        "carrier": Key("yes", None, "as `up`"),
        "operstate": Key("text", None, "by `up` and `carrier`"),
        "master": Key("text", None, "bond, bridge, team … that it is a member of"),
        "link": Key("text", None, "netdev that a vlan, macvlan, vxlan … sits on"),
        "link_ifindex": Key("number", None, "IFLA_LINK where it is not in this namespace"),
        "link_netnsid": Key("number", None, "IFLA_LINK_NETNSID"),
        "lower": Key("texts", [], "further lower_* links"),
        "vlan": Key("number", 1, "of a vlan"),
        "vxlan_id": Key("number", 1, "of a vxlan"),
        "pkey": Key("number", 0xffff, "of an ipoib"),
        "ib_port": Key("text", None, "of an ipoib: DEV/PORT whose port GUID is in its address"),
        "dev_port": Key("number", 0, ""),
        "dev_id": Key("number", 0, ""),
        "phys_port_name": Key("text", None, "as p0, pf0vf1; none: EOPNOTSUPP"),
        "phys_switch_id": Key("text", None, "hexadecimal digits; none: EOPNOTSUPP"),
        "altnames": Key("texts", [], ""),
        "addresses": Key("texts", [], "with prefix length"),
        "link_local": Key("yes", None, "an fe80:: address from its MAC; yes where it is up and no member"),
        "addr_gen_mode": Key("number", 0, "of IPv6; 1 none, 2 stable-privacy"),
        "tentative": Key("texts", [], "of `addresses`, those with IFA_F_TENTATIVE"),
        "dadfailed": Key("texts", [], "of `addresses`, those with IFA_F_DADFAILED and IFA_F_TENTATIVE"),
        "deprecated": Key("texts", [], "of `addresses`, those with IFA_F_DEPRECATED"),
        "secondary": Key("texts", [], "of `addresses`, those with IFA_F_SECONDARY, of IPv6 IFA_F_TEMPORARY"),
        "bond": Key("bond", None, "of a bond"),
        "slave": Key("slave", None, "of a member of a bond"),
        "carrier_down": Key("number", None, "times that the carrier went; none: no such files"),
        "statistics": Key("map", {}, "files in statistics"),
        "pause": Key("map", {}, "answer of ethtool: autoneg, rx, tx, rx_frames, tx_frames"),
        "fec": Key("map", {}, "answer of ethtool: active (none rs baser llrs), corrected, uncorrectable"),
        "stats": Key("map", {}, "answer of ethtool: eth-phy, eth-mac, rmon = table of attribute number and value"),
        "module_power": Key("text", None, "answer of ethtool: low or high"),
        "ext_state": Key("number", None, "answer of ethtool: enum ethtool_link_ext_state of a link that is down"),
        "dcb": Key("map", {}, "answer of dcbnl: classes, class_of, tsa, bandwidth, pfc, sent, received, dscp, without_pfc"),
    },
    "bond": {
        "mode": Key("text", "802.3ad", "in the kernel's word"),
        "hash": Key("text", "layer2", "xmit_hash_policy"),
        "active": Key("text", None, "active member; in active-backup the first that is up"),
        "miimon": Key("number", 100, "ms"),
        "lacp_rate": Key("text", "slow", ""),
        "aggregator": Key("number", 1, "active aggregator"),
        "ports": Key("number", None, "in that aggregator; counted"),
        "actor_key": Key("number", 21, ""),
        "partner_key": Key("number", 66, ""),
        "partner_mac": Key("text", "00:00:5e:00:01:01", ""),
        "proc": Key("yes", True, "false: no /proc/net/bonding"),
        "proc_version": Key("text", None, "in its first line; the kernel's release"),
    },
    "slave": {
        "state": Key("text", None, "active or backup; by mode and active member"),
        "mii": Key("text", None, "up, down, going down, going back; by its carrier"),
        "aggregator": Key("number", None, "as its bond"),
        "actor_state": Key("number", 61, "LACP port state"),
        "partner_state": Key("number", 61, "LACP port state"),
        "failures": Key("number", 0, "link failures"),
        "churn": Key("text", "none", "Actor Churn State of /proc/net/bonding"),
        "partner_mac": Key("text", None, "802.3ad: of its LACP partner; the bond's in its aggregator, one of its own elsewhere"),
    },
    "rdma": {
        "name": Key("text", None, "required"),
        "type": Key("text", "roce", "roce, ib, iwarp, efa (unspecified), usnic"),
        "index": Key("number", None, "of RDMA netlink; the next from 0 on"),
        "pci": Key("text", None, "PCI function it is on; without pci, aux and parent: a software device"),
        "aux": Key("text", None, "auxiliary device below that function"),
        "parent": Key("text", None, "its device below sys/devices where that is no PCI function"),
        "driver": Key("text", None, "of the function; by the name: mlx5_core, mlx4_core, irdma, bnxt_en …"),
        "node": Key("number", None, "NUMA node of its function, for one without a [[pci]] entry"),
        "fw": Key("text", "22.36.1010", "firmware; \"\": no file"),
        "board_id": Key("text", None, "\"\": no file; MT_0000000359 of mlx5, none of other vendors"),
        "hca_type": Key("text", None, "\"\": no file; MT4125 of mlx5, none of other vendors"),
        "node_desc": Key("text", None, "HOSTNAME NAME; of software devices what their driver sets"),
        "node_guid": Key("text", None, "made from the index"),
        "sys_image_guid": Key("text", None, "as node_guid"),
        "node_type": Key("text", None, "as sysfs writes it; by type"),
        "protocol": Key("text", None, "RDMA_NLDEV_ATTR_DEV_PROTOCOL; by type, \"\": none"),
        "uverbs": Key("text", None, "uverbsN by index; \"\": it has none"),
        "access": Key("any", 0, "errno of opening its uverbs node: name or number, ENOENT: no node in /dev"),
        "abi": Key("number", 1, "uverbs abi_version"),
        "driver_id": Key("number", None, "enum rdma_driver_id in the answer about its uverbs node; by driver, 0: not told"),
        "verbs_error": Key("map", {}, "errno and text of opening it; by `uverbs` and `access`"),
        "verbs": Key("yes", True, "false: verbs was not asked"),
        "odp": Key("yes", True, "on-demand paging"),
        "part_id": Key("number", 4125, "vendor_part_id"),
        "here": Key("yes", True, "false: listed in sysfs, but RDMA netlink does not show it (another namespace)"),
        "sysfs": Key("yes", True, "false: RDMA netlink tells of it, and sysfs does not (that of another namespace is mounted)"),
        "blocks": Key("yes", False, "its driver does not answer RDMA netlink: the dump of devices is not answered either"),
        "port": Key("[port]", [], "a port; without any: port 1 with the keys below"),
        "netdev": Key("text", None, "of port 1, as in [[rdma.port]]; so are the other keys of a port but `number` and "
                      "`params`"),
        "vf": Key("vf", None, "its VFs, each with PCI function, RDMA device and netdev"),
        "lag": Key("map", {}, "file = contents in debugfs, below mlx5/ADDRESS/lag"),
        "params": Key("map", {}, "further files of the device in sysfs"),
    },
    "port": {
        "number": Key("number", None, "the number after that of the port before"),
        "link_layer": Key("text", None, "by the device's type"),
        "state": Key("text", "ACTIVE", "DOWN INIT ARMED ACTIVE ACTIVE_DEFER, or as sysfs writes it"),
        "physical_state": Key("text", None, "LinkUp, Disabled, Polling …, or as sysfs writes it; by `state`"),
        "rate": Key("text", "100 Gb/sec (4X EDR)", "or an errno's name"),
        "lid": Key("number", None, "on InfiniBand 1 and up, another for each port; else 0"),
        "sm_lid": Key("number", None, "1 on InfiniBand, else 0"),
        "lmc": Key("number", 0, ""),
        "sm_sl": Key("number", 0, ""),
        "sl_to_vl": Key("numbers", None, "InfiniBand: the virtual lane of each of the 16 service levels; none: no umad device"),
        "vl_high": Key("texts", [], "VL arbitration of high priority, \"VL:WEIGHT\" each"),
        "vl_low": Key("texts", [], "of low priority"),
        "default_tos": Key("number", None, "default_roce_tos of rdma_cm's configfs; none: no such directory"),
        "cap_mask": Key("number", 0x2650E848, ""),
        "active_mtu": Key("number", None, "bytes; the largest that the netdev's MTU allows (1500 where it is not described), 4096 on InfiniBand"),
        "max_mtu": Key("number", 4096, "bytes"),
        "active_speed": Key("number", 32, "code that verbs gives"),
        "active_width": Key("number", 2, "code that verbs gives"),
        "netdev": Key("text", None, "that netlink names (RDMA_NLDEV_ATTR_NDEV_INDEX)"),
        "guid": Key("text", None, "port GUID; the node GUID"),
        "gid_table": Key("number", None, "slots; 256 on RoCE, 128 on InfiniBand, else 1"),
        "gids": Key("any", "auto", "\"auto\", or lines \"INDEX GID TYPE NETDEV\""),
        "gid_error": Key("any", 0, "errno of the verbs GID table call"),
        "hw_counters": Key("map", {}, "name = value"),
        "counters": Key("map", {}, "name = value"),
        "params": Key("map", {}, "further files of the port in sysfs"),
    },
    "vf": {
        "count": Key("number", 1, ""),
        "first": Key("number", 2, "routing id of the first one, counted from its PF"),
        "rdma": Key("text", "{pf}v{i}", "name, with {pf}, {i} and {n} (a running number after all others); \"\": none"),
        "net": Key("text", "{net}v{i}", "name, with {net}, {i} and {n}; \"\": none"),
        "state": Key("text", "ACTIVE", "of the port"),
        "node_guid": Key("text", None, ""),
        "driver": Key("text", None, "as the PF"),
        "gids": Key("any", "auto", ""),
    },
    "irq": {
        "number": Key("number", None, "required"),
        "pci": Key("text", None, "the function that it belongs to; required"),
        "name": Key("text", None, "of the action, as mlx5_comp0@pci:0000:3b:00.0; required"),
        "affinity": Key("text", None, "CPU list that is allowed; all"),
        "effective": Key("text", None, "CPU list that it goes to; none: no such file"),
    },
    "reporter": {
        "bus": Key("text", "pci", ""),
        "address": Key("text", None, "of the device on the bus; required"),
        "port": Key("number", None, "devlink port; none: of the device"),
        "name": Key("text", None, "as fw_fatal, tx; required"),
        "state": Key("text", "healthy", "or error"),
        "errors": Key("number", 0, ""),
        "recoveries": Key("number", 0, ""),
    },
    "route": {
        "to": Key("text", None, "the address that is looked up; required"),
        "dev": Key("text", None, "outgoing netdev"),
        "source": Key("text", None, "preferred source"),
        "gateway": Key("text", None, ""),
        "paths": Key("texts", [], "\"NETDEV [GATEWAY]\" of each path, where there are several; `dev` is that which the kernel takes"),
        "type": Key("text", "unicast", "or unreachable, local, …"),
        "error": Key("any", None, "errno instead of an answer"),
    },
    "neighbour": {
        "ip": Key("text", None, "required"),
        "dev": Key("text", None, "required"),
        "mac": Key("text", None, ""),
        "state": Key("text", "reachable", "or stale, failed, incomplete, permanent …"),
    },
    "expect": {
        "command": Key("text", "topo", "with options; --from and -j are added"),
        "path": Key("text", None, "into the JSON, see below"),
        "is": Key("any", None, "the value there; \"null\" for null"),
        "count": Key("number", None, "how many the path finds"),
        "has": Key("text", None, "text that must be in the value, case ignored"),
        "finding": Key("text", None, "id (shell pattern) of a finding that must be there"),
        "no_finding": Key("text", None, "id (shell pattern) of a finding that must not be there"),
        "subject": Key("text", None, "of that finding; any"),
        "severity": Key("text", None, "of that finding; any"),
        "message": Key("text", None, "text in message or advice of that finding, or in that reason"),
        "missing": Key("text", None, "`what` of an entry of not_collected that must be there"),
        "output": Key("text", None, "text that standard output must hold (without -j)"),
        "status": Key("number", None, "exit status; 0 where nothing is said, or 1 of `check`"),
    },
}
# What a [[rdma]] says of its port 1: every key of a port but `number`, and `params` are the device's.
PORT_KEYS = [key for key in TABLES["port"] if key not in ("number", "params")]
TABLES["rdma"].update({key: TABLES["port"][key]._replace(default=None, help="of port 1")
                       for key in PORT_KEYS if key != "netdev"})
REQUIRED = {"pci": ["address"], "net": ["name"], "rdma": ["name"], "route": ["to"], "neighbour": ["ip", "dev"]}
LIMITS = {"count": 1 << 12, "gid_table": 1 << 16, "id": 1 << 10, "pci_config": 1 << 13}
KINDS = {"text": str, "number": int, "yes": bool, "map": dict}


class Entry:
    """A table of a description with every key of its schema as an attribute."""

    def __init__(self, table, values):
        self.table = table
        self.given = set(values)
        for key, known in TABLES[table].items():
            default = known.default
            setattr(self, key, values.get(key, list(default) if isinstance(default, list) else default))


class Source:
    """The text of a description, to find the line of a key for a message."""

    def __init__(self, name, text):
        self.name = name
        self.lines = text.splitlines()

    def line_of(self, place, key):
        """place: (table, index) pairs from the top. Looks from the header of the table on."""
        start, path = 0, ""
        for table, index in place:
            path = f"{path}.{table}" if path else table
            header = re.compile(r"\s*\[+\s*" + re.escape(path) + r"\s*\]")
            seen = -1
            for number in range(start, len(self.lines)):
                seen += bool(header.match(self.lines[number]))
                if seen == (index or 0):
                    start = number
                    break
        pattern = re.compile(r"""(^|[\s{,.\[])["']?""" + re.escape(key) + r"""["']?\s*[\]=.]""")
        for number in range(start, len(self.lines)):
            if pattern.search(self.lines[number].split("#")[0]):
                return number + 1
        return start + 1

    def mistake(self, place, key, reason):
        where = ".".join([table for table, _ in place] + [key])
        return Mistake(f"{self.name}:{self.line_of(place, key)}: {where}: {reason}")


def lenient(kind, value):
    """What can only mean one thing is taken so: digits for a number, a number for text, one text for a list of them."""
    plain = isinstance(value, (str, int)) and not isinstance(value, bool)
    if kind == "number" and isinstance(value, str) and re.fullmatch(r"-?\d+|0[xX][0-9a-fA-F]+", value):
        return int(value, 0 if value[:2].lower() == "0x" else 10)
    if kind == "text" and plain:
        return str(value)
    if kind in ("texts", "numbers") and plain:
        return [lenient("text" if kind == "texts" else "number", value)]
    if kind == "yes" and value in (0, 1, "yes", "no", "on", "off", "true", "false") and plain:
        return value in (1, "yes", "on", "true")
    if kind.startswith("[") and isinstance(value, dict):
        return [value]
    return value


WORDS = {
    "type": {"ethernet": "roce", "infiniband": "ib", "rocev2": "roce", "unspecified": "efa", "opa": "ib"},
    "link_layer": {"ethernet": "Ethernet", "eth": "Ethernet", "infiniband": "InfiniBand", "ib": "InfiniBand"},
    "mode": {"0": "balance-rr", "1": "active-backup", "2": "balance-xor", "3": "broadcast", "4": "802.3ad", "lacp": "802.3ad",
             "5": "balance-tlb", "6": "balance-alb"},
    "physical_state": {"linkup": "LinkUp", "link_up": "LinkUp", "up": "LinkUp", "down": "Disabled", "disabled": "Disabled",
                       "polling": "Polling"},
}
GENERATIONS = {"1": "2.5", "2": "5.0", "3": "8.0", "4": "16.0", "5": "32.0", "6": "64.0"}


def pci_link(text):
    """"Gen5 x16", "32 GT/s x16" and "32.0 x16" are the same."""
    match = re.fullmatch(r"(?:gen ?(\d)|([\d.]+) ?(?:gt/s)?(?: pcie)?),? x?(\d+)", text.strip().lower())
    if not match:
        return text
    speed = GENERATIONS.get(match[1]) if match[1] else f"{float(match[2]):.1f}"
    return f"{speed or match[1]} x{match[3]}"


def guid(text):
    digits = text.lower().removeprefix("0x").replace(":", "")
    return ":".join(digits[i:i + 4] for i in range(0, 16, 4)) if re.fullmatch(r"[0-9a-f]{16}", digits) else text.lower()


def usual(table, key, value):
    """A word of the form, for another spelling of it that people use."""
    if not isinstance(value, str):
        return value
    if key in WORDS and value.lower() in WORDS[key]:
        return WORDS[key][value.lower()]
    if key in ("type", "mode", "hash", "pci", "address", "physfn", "mac", "permanent_mac", "partner_mac"):
        return value.lower()
    if key == "state" and table in ("rdma", "port", "vf"):
        return value.upper() if re.fullmatch(r"[A-Za-z_]+", value) else value
    if key in ("node_guid", "sys_image_guid", "guid"):
        return guid(value)
    return pci_link(value) if table == "pci" and key in ("link", "max") else value


def check_value(source, place, key, kind, value):
    value = usual(place[-1][0] if place else "", key, lenient(kind, value))
    if kind in KINDS:
        right = isinstance(value, KINDS[kind]) and not (kind == "number" and isinstance(value, bool))
        if not right:
            names = {"text": "text", "number": "a whole number", "yes": "true or false", "map": "a table"}
            raise source.mistake(place, key, f"expected {names[kind]}, not {value!r}")
        if kind == "number" and not -1 << 63 <= value < LIMITS.get(key, 1 << 64):
            raise source.mistake(place, key, f"{value} is too large, or too small")
        return value
    if kind in ("texts", "numbers"):
        wanted = str if kind == "texts" else int
        if not isinstance(value, list) or not all(isinstance(item, wanted) for item in value):
            raise source.mistake(place, key, f"expected a list of {kind}, not {value!r}")
        return value
    if kind == "any":
        return value
    name = kind.strip("[]")
    if kind.startswith("["):
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise source.mistake(place, key, f"expected [[{key}]]")
        return [read_table(source, [*place, (key, index)], name, item) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        raise source.mistake(place, key, f"expected a table, not {value!r}")
    return read_table(source, [*place, (key, None)], name, value)


def read_table(source, place, table, values):
    known = TABLES[table]
    for key in values:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise source.mistake(place, key, f"unknown key; {hint}known here: {' '.join(sorted(known))}")
    for key in REQUIRED.get(table, []):
        if key not in values:
            above, (last, _) = place[:-1], place[-1]
            line = source.line_of(place, "") if values else source.line_of(above, last)
            raise Mistake(f"{source.name}:{line}: {table}: `{key}` is missing")
    checked = {key: check_value(source, place, key, known[key].kind, value) for key, value in values.items()}
    return Entry(table, checked)


# What stands for an entry in messages: its table, and the key that has its name there.
NAMES = {"rdma": "name", "net": "name", "pci": "address", "route": "to", "neighbour": "ip", "node": "id", "irq": "number"}


def located(machine, mistake):
    """The same mistake with file and line, where its text begins with an entry ("net eth0: …") and has none yet."""
    text, source = str(mistake), machine.source
    match = re.match(r"(\w+) '?([^\s'/]+?)'?(/\d+)?(:| is | has )", text)
    if text.startswith(f"{source.name}:"):
        return mistake
    start, end = 0, len(source.lines)
    if match and match[1] in NAMES:
        pattern = re.compile(r"\b" + NAMES[match[1]] + r"""\s*=\s*["']?""" + re.escape(match[2]) + r"""(["'\s,}]|$)""")
        found = next((number for number, line in enumerate(source.lines) if pattern.search(line)), None)
        if found is not None:
            start = found
            end = next((number for number in range(start + 1, end) if source.lines[number].startswith("[[")
                        and not source.lines[number].startswith(f"[[{match[1]}.")), end)
    for word in re.findall(r"'([^']+)'", text):
        for number in range(start, end):
            if word in source.lines[number].split("#")[0]:
                return Mistake(f"{source.name}:{number + 1}: {text}")
    return Mistake(f"{source.name}:{start + 1}: {text}") if match else mistake


def parse(text, name):
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Mistake(f"{name}: {error}") from None
    source = Source(name, text)
    machine = read_table(source, [], "machine", values)
    for key in ("host", "process", "cpu"):
        if isinstance(getattr(machine, key), dict):
            setattr(machine, key, Entry(key, {}))
    machine.source = source
    return machine


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read(), path)
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Mistake(f"{path}: not UTF-8") from None


def reference():
    """The keys as tables in Markdown, for tests/README.md."""
    out = []
    for table, keys in TABLES.items():
        out += [f"### {'The file' if table == 'machine' else table}", "", "| key | value | default | meaning |",
                "| --- | --- | --- | --- |"]
        for key, (kind, default, meaning) in keys.items():
            shown = "" if default in (None, {}, []) else f"`{default}`".replace("True", "true").replace("False", "false")
            note = meaning.replace("|", "\\|")
            out.append(f"| `{key}` | {kind} | {shown} | {note} |")
        out.append("")
    return "\n".join(out)
