# SPDX-License-Identifier: MIT
"""Netlink messages as the kernel sends them. Numbers are those of the kernel's UAPI headers, named beside each."""

import ipaddress
import struct

NLA_F_NESTED = 1 << 15
NLM_F_MULTI = 2

# linux/rtnetlink.h
RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE, RTM_NEWNEIGH = 16, 20, 24, 28
AF_INET, AF_INET6 = 2, 10
ARPHRD = {"ether": 1, "infiniband": 32, "loopback": 772, "none": 0xFFFE}
IFF_UP, IFF_BROADCAST, IFF_LOOPBACK, IFF_RUNNING = 1, 2, 8, 0x40
IFF_MASTER, IFF_SLAVE, IFF_MULTICAST, IFF_LOWER_UP = 0x400, 0x800, 0x1000, 0x10000

# linux/if.h, IF_OPER_*
OPERSTATES = ["unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"]

# linux/if_link.h
(IFLA_ADDRESS, IFLA_BROADCAST, IFLA_IFNAME, IFLA_MTU, IFLA_LINK, IFLA_MASTER, IFLA_OPERSTATE, IFLA_LINKMODE,
 IFLA_LINKINFO) = 1, 2, 3, 4, 5, 10, 16, 17, 18
IFLA_PHYS_PORT_ID, IFLA_CARRIER, IFLA_PHYS_SWITCH_ID, IFLA_LINK_NETNSID, IFLA_PHYS_PORT_NAME = 34, 33, 36, 37, 38
IFLA_NUM_VF, IFLA_PROP_LIST, IFLA_ALT_IFNAME, IFLA_PERM_ADDRESS = 21, 52, 53, 54
IFLA_PARENT_DEV_NAME, IFLA_PARENT_DEV_BUS_NAME = 56, 57
IFLA_INFO_KIND, IFLA_INFO_DATA, IFLA_INFO_SLAVE_KIND, IFLA_INFO_SLAVE_DATA = 1, 2, 4, 5
IFLA_VLAN_ID, IFLA_VLAN_PROTOCOL = 1, 5
IFLA_MACVLAN_MODE = 1
IFLA_VXLAN_ID, IFLA_VXLAN_LINK = 1, 3
IFLA_IPOIB_PKEY, IFLA_IPOIB_MODE = 1, 2

(IFLA_BOND_MODE, IFLA_BOND_ACTIVE_SLAVE, IFLA_BOND_MIIMON, IFLA_BOND_XMIT_HASH_POLICY, IFLA_BOND_AD_LACP_RATE,
 IFLA_BOND_AD_INFO) = 1, 2, 3, 14, 21, 23
IFLA_BOND_AD_INFO_KEYS = {"aggregator": 1, "ports": 2, "actor_key": 3, "partner_key": 4}
IFLA_BOND_AD_INFO_PARTNER_MAC = 5
(IFLA_BOND_SLAVE_STATE, IFLA_BOND_SLAVE_MII_STATUS, IFLA_BOND_SLAVE_LINK_FAILURE_COUNT, IFLA_BOND_SLAVE_PERM_HWADDR,
 IFLA_BOND_SLAVE_QUEUE_ID, IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE,
 IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE) = 1, 2, 3, 4, 5, 6, 7, 8

# The kernel's words in the order of its numbers (drivers/net/bonding/bond_main.c, bond_options.c).
BOND_MODES = ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"]
BOND_HASHES = ["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"]
MII_STATES = ["up", "going down", "down", "going back"]

# linux/if_addr.h, linux/neighbour.h, linux/rtnetlink.h
IFA_ADDRESS, IFA_LOCAL, IFA_LABEL, IFA_FLAGS = 1, 2, 3, 8
NDA_DST, NDA_LLADDR = 1, 2
NEIGHBOUR_STATES = {"incomplete": 1, "reachable": 2, "stale": 4, "delay": 8, "probe": 16, "failed": 32,
                    "noarp": 64, "permanent": 128}
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PREFSRC, RTA_MULTIPATH, RTA_TABLE = 1, 4, 5, 7, 9, 15
ROUTE_TYPES = {"unicast": 1, "local": 2, "broadcast": 3, "multicast": 5, "blackhole": 6, "unreachable": 7,
               "prohibit": 8}

# rdma/rdma_netlink.h
RDMA_NL_NLDEV = 5
CMD_GET, CMD_PORT_GET, CMD_SYS_GET, CMD_GET_CHARDEV, CMD_STAT_GET = 1, 5, 6, 15, 17
RDMA_ATTRS_BY_HEADER = """
UNSPEC DEV_INDEX DEV_NAME PORT_INDEX CAP_FLAGS FW_VERSION NODE_GUID SYS_IMAGE_GUID SUBNET_PREFIX LID SM_LID LMC
PORT_STATE PORT_PHYS_STATE DEV_NODE_TYPE RES_SUMMARY RES_SUMMARY_ENTRY RES_SUMMARY_ENTRY_NAME RES_SUMMARY_ENTRY_CURR
RES_QP RES_QP_ENTRY RES_LQPN RES_RQPN RES_RQ_PSN RES_SQ_PSN RES_PATH_MIG_STATE RES_TYPE RES_STATE RES_PID
RES_KERN_NAME RES_CM_ID RES_CM_ID_ENTRY RES_PS RES_SRC_ADDR RES_DST_ADDR RES_CQ RES_CQ_ENTRY RES_CQE RES_USECNT
RES_POLL_CTX RES_MR RES_MR_ENTRY RES_RKEY RES_LKEY RES_IOVA RES_MRLEN RES_PD RES_PD_ENTRY RES_LOCAL_DMA_LKEY
RES_UNSAFE_GLOBAL_RKEY NDEV_INDEX NDEV_NAME DRIVER DRIVER_ENTRY DRIVER_STRING DRIVER_PRINT_TYPE DRIVER_S32 DRIVER_U32
DRIVER_S64 DRIVER_U64 RES_PDN RES_CQN RES_MRN RES_CM_IDN RES_CTXN LINK_TYPE SYS_NETNS_MODE DEV_PROTOCOL NET_NS_FD
CHARDEV_TYPE CHARDEV_NAME CHARDEV_ABI CHARDEV UVERBS_DRIVER_ID STAT_MODE STAT_RES STAT_AUTO_MODE_MASK STAT_COUNTER
STAT_COUNTER_ENTRY STAT_COUNTER_ID STAT_HWCOUNTERS STAT_HWCOUNTER_ENTRY STAT_HWCOUNTER_ENTRY_NAME
STAT_HWCOUNTER_ENTRY_VALUE DEV_DIM
""".split()
RDMA = {name: number for number, name in enumerate(RDMA_ATTRS_BY_HEADER)}


def attribute(kind, payload):
    length = 4 + len(payload)
    return struct.pack("=HH", length, kind) + payload + bytes(-length % 4)


def nest(kind, *attributes):
    return attribute(kind | NLA_F_NESTED, b"".join(attributes))


def u8(kind, value):
    return attribute(kind, struct.pack("=B", value))


def u16(kind, value):
    return attribute(kind, struct.pack("=H", value))


def be16(kind, value):
    return attribute(kind, struct.pack(">H", value))


def u32(kind, value):
    return attribute(kind, struct.pack("=I", value & 0xFFFFFFFF))


def u64(kind, value):
    return attribute(kind, struct.pack("=Q", value))


def text(kind, value):
    return attribute(kind, value.encode() + b"\0")


def mac_bytes(value):
    return bytes(int(part, 16) for part in value.split(":")) if value else b""


def message(kind, body, flags=NLM_F_MULTI):
    return struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body + bytes(-len(body) % 4)


def rdma_message(command, *attributes, flags=NLM_F_MULTI):
    return message(RDMA_NL_NLDEV << 10 | command, b"".join(attributes), flags)


def family(address):
    return AF_INET if ipaddress.ip_address(address).version == 4 else AF_INET6


def packed(address):
    return ipaddress.ip_address(address).packed


# ---- rtnetlink ----

def link_flags(net):
    flags = IFF_MULTICAST | IFF_BROADCAST
    if net.kind == "loopback":
        flags = IFF_LOOPBACK
    if net.up:
        flags |= IFF_UP
    if net.has_carrier:
        flags |= IFF_RUNNING | IFF_LOWER_UP
    if net.kind == "bond":
        flags |= IFF_MASTER
    if net.slave:
        flags |= IFF_SLAVE
    return flags


def bond_data(net, ifindex_of):
    bond = net.bond
    out = [u8(IFLA_BOND_MODE, BOND_MODES.index(bond.mode)), u32(IFLA_BOND_MIIMON, bond.miimon)]
    if bond.active:
        out.append(u32(IFLA_BOND_ACTIVE_SLAVE, ifindex_of(bond.active)))
    out.append(u8(IFLA_BOND_XMIT_HASH_POLICY, BOND_HASHES.index(bond.hash)))
    if bond.mode == "802.3ad":
        out.append(u8(IFLA_BOND_AD_LACP_RATE, 1 if bond.lacp_rate == "fast" else 0))
        info = [u16(kind, getattr(bond, key)) for key, kind in IFLA_BOND_AD_INFO_KEYS.items()]
        info.append(attribute(IFLA_BOND_AD_INFO_PARTNER_MAC, mac_bytes(bond.partner_mac)))
        out.append(nest(IFLA_BOND_AD_INFO, *info))
    return nest(IFLA_INFO_DATA, *out)


def slave_data(net, mode):
    slave = net.slave
    out = [u8(IFLA_BOND_SLAVE_STATE, 0 if slave.state == "active" else 1),
           u8(IFLA_BOND_SLAVE_MII_STATUS, MII_STATES.index(slave.mii)),
           u32(IFLA_BOND_SLAVE_LINK_FAILURE_COUNT, slave.failures),
           attribute(IFLA_BOND_SLAVE_PERM_HWADDR, mac_bytes(net.permanent_mac or net.mac)),
           u16(IFLA_BOND_SLAVE_QUEUE_ID, 0)]
    if mode == "802.3ad":
        out.append(u16(IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, slave.aggregator))
        out.append(u8(IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, slave.actor_state))
        out.append(u16(IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE, slave.partner_state))
    return nest(IFLA_INFO_SLAVE_DATA, *out)


def info_data(net, ifindex_of):
    if net.kind == "bond":
        return bond_data(net, ifindex_of)
    if net.kind == "vlan":
        return nest(IFLA_INFO_DATA, u16(IFLA_VLAN_ID, net.vlan), be16(IFLA_VLAN_PROTOCOL, 0x8100))
    if net.kind in ("macvlan", "macvtap"):
        return nest(IFLA_INFO_DATA, u32(IFLA_MACVLAN_MODE, 4))
    if net.kind == "vxlan":
        link = [u32(IFLA_VXLAN_LINK, ifindex_of(net.link))] if net.link else []
        return nest(IFLA_INFO_DATA, u32(IFLA_VXLAN_ID, net.vxlan_id), *link)
    if net.kind == "ipoib":
        return nest(IFLA_INFO_DATA, u16(IFLA_IPOIB_PKEY, net.pkey), u16(IFLA_IPOIB_MODE, 0))
    return b""


def link_info(net, nets):
    parts = []
    if net.kind not in ("ethernet", "loopback"):
        kind = net.info_kind or net.kind
        parts += [text(IFLA_INFO_KIND, kind), info_data(net, lambda name: nets[name].ifindex)]
    master = nets.get(net.master)
    if master and master.kind in ("bond", "bridge", "team"):
        parts.append(text(IFLA_INFO_SLAVE_KIND, master.kind))
        if master.kind == "bond":
            parts.append(slave_data(net, master.bond.mode))
    return nest(IFLA_LINKINFO, *parts) if parts else b""


def hardware_type(net):
    """A bond takes that of its members."""
    return "infiniband" if net.over_ipoib else {"ipoib": "infiniband", "loopback": "loopback"}.get(net.kind, "ether")


def link(net, nets):
    arp = hardware_type(net)
    body = struct.pack("=BxHiII", 0, ARPHRD[arp], net.ifindex, link_flags(net), 0)
    body += text(IFLA_IFNAME, net.name) + u32(IFLA_MTU, net.mtu)
    body += u8(IFLA_OPERSTATE, OPERSTATES.index(net.operstate)) + u8(IFLA_LINKMODE, 0)
    body += u8(IFLA_CARRIER, 1 if net.has_carrier else 0)
    if net.mac:
        body += attribute(IFLA_ADDRESS, mac_bytes(net.mac))
    if net.permanent_mac:
        body += attribute(IFLA_PERM_ADDRESS, mac_bytes(net.permanent_mac))
    if net.link_ifindex is not None:
        body += u32(IFLA_LINK, net.link_ifindex)
    if net.link_netnsid is not None:
        body += u32(IFLA_LINK_NETNSID, net.link_netnsid)
    if net.master:
        body += u32(IFLA_MASTER, nets[net.master].ifindex)
    if net.phys_port_name:
        body += text(IFLA_PHYS_PORT_NAME, net.phys_port_name)
    if net.phys_switch_id:
        body += attribute(IFLA_PHYS_SWITCH_ID, bytes.fromhex(net.phys_switch_id))
    if net.altnames:
        body += nest(IFLA_PROP_LIST, *[text(IFLA_ALT_IFNAME, name) for name in net.altnames])
    if net.parent_name:
        body += text(IFLA_PARENT_DEV_NAME, net.parent_name[1]) + text(IFLA_PARENT_DEV_BUS_NAME, net.parent_name[0])
    return message(RTM_NEWLINK, body + link_info(net, nets))


def address(net, interface, flags):
    value = interface.ip
    scope = 253 if value.is_link_local else 254 if value.is_loopback else 0
    body = struct.pack("=BBBBi", AF_INET if value.version == 4 else AF_INET6, interface.network.prefixlen,
                       flags & 0xFF, scope, net.ifindex)
    body += attribute(IFA_ADDRESS, value.packed)
    if value.version == 4:
        body += attribute(IFA_LOCAL, value.packed) + text(IFA_LABEL, net.name)
    return message(RTM_NEWADDR, body + u32(IFA_FLAGS, flags))


def route_begin(entry):
    bits = 32 if family(entry.to) == AF_INET else 128
    body = struct.pack("=BBBBBBBBI", family(entry.to), bits, 0, 0, 254, 0, 0, ROUTE_TYPES[entry.type], 0x200)
    return body + u32(RTA_TABLE, 254) + attribute(RTA_DST, packed(entry.to))


def paths_of(entry):
    """The netdev and gateway, "" for none, of each path."""
    return [(path.split() + [""])[:2] for path in entry.paths]


def route_of_paths(entry, nets):
    """The route as it stands in the table (RTM_F_FIB_MATCH): struct rtnexthop for each path."""
    hops = b""
    for dev, gateway in paths_of(entry):
        via = attribute(RTA_GATEWAY, packed(gateway)) if gateway else b""
        hops += struct.pack("=HBBi", 8 + len(via), 0, 0, nets[dev].ifindex) + via
    source = attribute(RTA_PREFSRC, packed(entry.source)) if entry.source else b""
    return message(RTM_NEWROUTE, route_begin(entry) + source + attribute(RTA_MULTIPATH, hops), 0)


def route(entry, nets):
    body = route_begin(entry)
    if entry.dev:
        body += u32(RTA_OIF, nets[entry.dev].ifindex)
    if entry.source:
        body += attribute(RTA_PREFSRC, packed(entry.source))
    if entry.gateway:
        body += attribute(RTA_GATEWAY, packed(entry.gateway))
    return message(RTM_NEWROUTE, body, 0)


def neighbour(entry, nets):
    body = struct.pack("=BxxxiHBB", family(entry.ip), nets[entry.dev].ifindex, NEIGHBOUR_STATES[entry.state], 0, 1)
    body += attribute(NDA_DST, packed(entry.ip))
    if entry.mac:
        body += attribute(NDA_LLADDR, mac_bytes(entry.mac))
    return message(RTM_NEWNEIGH, body)


# ---- RDMA netlink ----

def rdma_handle(device):
    return u32(RDMA["DEV_INDEX"], device.index) + text(RDMA["DEV_NAME"], device.name)


def rdma_device(device):
    parts = [rdma_handle(device), u32(RDMA["PORT_INDEX"], device.last_port), u64(RDMA["CAP_FLAGS"], 0x1425321C36)]
    if device.fw:
        parts.append(text(RDMA["FW_VERSION"], device.fw))
    parts += [u64(RDMA["NODE_GUID"], device.node_guid_number), u64(RDMA["SYS_IMAGE_GUID"], device.image_guid_number),
              u8(RDMA["DEV_NODE_TYPE"], device.node_type), u8(RDMA["DEV_DIM"], 1)]
    if device.protocol:
        parts.append(text(RDMA["DEV_PROTOCOL"], device.protocol))
    return rdma_message(CMD_GET, *parts)


def rdma_port(device, port, net):
    parts = [rdma_handle(device), u32(RDMA["PORT_INDEX"], port.number)]
    if device.node_type == 1:
        parts += [u64(RDMA["CAP_FLAGS"], port.cap_mask), u64(RDMA["SUBNET_PREFIX"], 0xFE80 << 48)]
        if port.link_layer == "InfiniBand":
            parts += [u32(RDMA["LID"], port.lid), u32(RDMA["SM_LID"], port.sm_lid), u8(RDMA["LMC"], port.lmc)]
    parts += [u8(RDMA["PORT_STATE"], port.state_code), u8(RDMA["PORT_PHYS_STATE"], port.physical_code)]
    if net:
        parts += [u32(RDMA["NDEV_INDEX"], net.ifindex), text(RDMA["NDEV_NAME"], net.name)]
    return rdma_message(CMD_PORT_GET, *parts)


def rdma_system(mode):
    return rdma_message(CMD_SYS_GET, u8(RDMA["SYS_NETNS_MODE"], 1 if mode == "shared" else 0), flags=0)


def rdma_chardev(device):
    driver = [u32(RDMA["UVERBS_DRIVER_ID"], device.driver_id)] if device.driver_id else []
    return rdma_message(CMD_GET_CHARDEV, text(RDMA["CHARDEV_TYPE"], "uverbs"), *driver,
                        u64(RDMA["CHARDEV_ABI"], device.abi),
                        u64(RDMA["CHARDEV"], 231 << 8 | (192 + device.uverbs_number)),
                        text(RDMA["CHARDEV_NAME"], device.uverbs), flags=0)


def rdma_statistics(device, port):
    entries = [nest(RDMA["STAT_HWCOUNTER_ENTRY"], text(RDMA["STAT_HWCOUNTER_ENTRY_NAME"], name),
                    u64(RDMA["STAT_HWCOUNTER_ENTRY_VALUE"], value)) for name, value in port.hw_counters.items()]
    return rdma_message(CMD_STAT_GET, rdma_handle(device), u32(RDMA["PORT_INDEX"], port.number),
                        nest(RDMA["STAT_HWCOUNTERS"], *entries), flags=0)
