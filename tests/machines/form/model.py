# SPDX-License-Identifier: MIT
"""What a description leaves out: the defaults that the reference in tests/README.md promises."""

import errno
import ipaddress
import re

from .schema import PORT_KEYS, Entry, Mistake

ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
HOP_KINDS = {"root": 4, "up": 5, "down": 6, "bridge": 7, "endpoint": 0}
NODE_TYPES = {"roce": "1: CA", "ib": "1: CA", "iwarp": "4: RNIC", "usnic": "6: usNIC UDP",
              "efa": "7: unspecified"}
PROTOCOLS = {"roce": "roce", "ib": "ib", "iwarp": "iw", "usnic": "usnic", "efa": ""}
LINK_LAYERS = {"roce": "Ethernet", "ib": "InfiniBand", "iwarp": "Ethernet", "usnic": "Ethernet", "efa": "Unspecified"}
STATES = ["NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"]
PHYSICAL = {"NoStateChange": 0, "Sleep": 1, "Polling": 2, "Disabled": 3, "PortConfigurationTraining": 4, "LinkUp": 5,
            "LinkErrorRecovery": 6, "Phy Test": 7}
DRIVERS = {"mlx5": "mlx5_core", "mlx4": "mlx4_core", "irdma": "ice", "bnxt": "bnxt_en", "qedr": "qede", "efa": "efa",
           "hns": "hns3", "hfi1": "hfi1", "cxgb4": "cxgb4", "ionic": "ionic", "mana": "mana", "rdmap": "efa"}
# Vendor and device of a function, and hca_type and board_id of an RDMA device (none: no such files), where nothing is said.
MLX5 = (0x15b3, 0x101d, "MT4125", "MT_0000000359")
ADAPTERS = {"mlx5_core": MLX5, "mlx4_core": (0x15b3, 0x1003, "MT4099", "MT_1090120019"), "ice": (0x8086, 0x1592),
            "iavf": (0x8086, 0x1889), "idpf": (0x8086, 0x1452), "i40e": (0x8086, 0x1583), "hfi1": (0x8086, 0x24f0),
            "bnxt_en": (0x14e4, 0x1750), "qede": (0x1077, 0x1656), "cxgb4": (0x1425, 0x5401), "efa": (0x1d0f, 0xefa2),
            "hns3": (0x19e5, 0xa222), "erdma": (0x1ded, 0x107f), "mana": (0x1414, 0x00b9), "ionic": (0x1dd8, 0x1002),
            "vmw_pvrdma": (0x15ad, 0x0820), "enic": (0x1137, 0x0043), "virtio-pci": (0x1af4, 0x1041)}
PROVIDERS = {"mlx5_core": "mlx5", "mlx4_core": "mlx4", "ice": "irdma", "bnxt_en": "bnxt_re", "qede": "qedr",
             "hns3": "hns"}


def errno_of(value):
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise Mistake(f"errno {value!r}: expected a name or a number")
    if isinstance(value, str) and value.isdigit():
        return int(value)
    if isinstance(value, str) and not hasattr(errno, value):
        raise Mistake(f"errno {value!r} is not known")
    return getattr(errno, value) if isinstance(value, str) else value


def parse_list(text):
    """The kernel's list format as a sorted list of numbers."""
    numbers = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if int(last or first) >= 1 << 16:
            raise Mistake(f"{text!r}: CPUs and nodes have numbers below 65536")
        numbers.update(range(int(first), int(last or first) + 1))
    return sorted(numbers)


def format_list(numbers):
    ranges = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def parse_size(text):
    match = re.fullmatch(r"(\d+) ?([KMGT]?)(?:i?B)?", str(text))
    if not match:
        raise Mistake(f"memory {text!r}: expected a number with M, G or T")
    return int(match[1]) << 10 * " KMGT".index(match[2] or " ")


def guid_number(text):
    if not re.fullmatch(r"[0-9a-f]{1,4}(:[0-9a-f]{1,4}){3}", text):
        raise Mistake(f"GUID {text!r}: expected four groups of hexadecimal digits")
    value = 0
    for part in text.split(":"):
        value = value << 16 | int(part, 16)
    return value


def format_guid(value):
    return ":".join(f"{value >> shift & 0xffff:04x}" for shift in (48, 32, 16, 0))


def eui64(mac):
    octets = [int(part, 16) for part in mac.split(":")]
    octets = octets[:3] + [0xff, 0xfe] + octets[3:]
    octets[0] ^= 2
    return ipaddress.IPv6Address(b"\xfe\x80" + bytes(6) + bytes(octets))


def default_driver(name):
    match = re.match(r"[a-z]+\d*(?=_)|[a-z]+", name)
    for prefix, driver in DRIVERS.items():
        if name.startswith(prefix):
            return driver
    return "mlx5_core" if match else ""


# ---- PCI ----

class Hop:
    """A bridge above a function."""

    def __init__(self, text, position, function):
        words = text.split()
        self.address = words.pop(0)
        if not re.fullmatch(ADDRESS, self.address):
            raise Mistake(f"pci {function.address}: behind: {self.address!r} is not a PCI address")
        kinds = ["root"] + ["up", "down"] * 8
        self.kind = words.pop(0) if words and words[0] in HOP_KINDS else kinds[position]
        self.link, self.max, self.acs = function.link, function.max or function.link, ""
        self.details = bool(words)
        current = "link"
        values = {"link": [], "max": [], "acs": []}
        for word in words:
            if word in ("max", "acs"):
                current = word
            else:
                values[current].append(word)
        for key, parts in values.items():
            if parts:
                setattr(self, key, " ".join(parts))
        if values["link"] and not values["max"]:
            self.max = self.link
        self.vendor, self.device, self.node, self.cpus = 0x8086, 0x347a, function.node, function.cpus


def default_behind(address):
    domain, bus, _ = address.split(":")
    if int(bus, 16) == 0:
        return []
    return [f"{domain}:{int(bus, 16) - 1:02x}:01.0"]


# What `kind` of a [[pci]] stands for.
PCI_PRESETS = {"gpu": {"vendor": 0x10de, "device": 0x2330, "class": 0x030200, "driver": "nvidia"},
               "nvme": {"vendor": 0x144d, "device": 0xa80a, "class": 0x010802, "driver": "nvme", "link": "16.0 x4"}}


def apply_presets(machine):
    controllers = 0
    for function in machine.pci:
        if function.kind not in ("", *PCI_PRESETS):
            raise Mistake(f"pci {function.address}: kind {function.kind!r} is none of {' '.join(PCI_PRESETS)}")
        for key, value in PCI_PRESETS.get(function.kind, {}).items():
            if key not in function.given:
                setattr(function, key, value)
        if function.kind == "nvme":
            function.nvme = function.nvme or f"nvme{controllers}"
            controllers += 1


def usual_link(machine, address):
    """One that carries what the ports of its devices run at."""
    rates = [re.match(r"\d+", port.rate) for device in machine.rdma if device.pci == address for port in device.port]
    rate = max([int(match[0]) for match in rates if match], default=0)
    return "64.0 x16" if rate > 400 else "32.0 x16" if rate > 200 else "16.0 x16"


def complete_pci(machine, function):
    if not re.fullmatch(ADDRESS, function.address):
        raise Mistake(f"pci {function.address!r}: not an address as sysfs writes it (0000:17:00.0)")
    if function.behind is None:
        function.behind = default_behind(function.address)
    if "link" not in function.given and not function.max and function.link == "16.0 x16":
        function.link = usual_link(machine, function.address)
    function.max = function.max or function.link
    function.hops = [Hop(text, position, function) for position, text in enumerate(function.behind)]
    first = function.hops[0].address if function.hops else function.address
    function.root = function.root or "pci" + ":".join(first.split(":")[:2])
    function.path = "/".join([function.root, *[hop.address for hop in function.hops], function.address])
    nodes = {node.id: node for node in machine.node}
    if function.cpus is None:
        known = nodes.get(function.node)
        function.cpus = known.cpus if known else machine.all_cpus
    for hop in function.hops:
        hop.cpus = function.cpus


def find_or_make_pci(machine, address, **values):
    for function in machine.pci:
        if function.address == address:
            return function
    function = Entry("pci", {"address": address, **{k: v for k, v in values.items() if v is not None}})
    machine.pci.append(function)
    return function


def node_of_slot(machine, address):
    """Functions of one slot are on one node."""
    return next((f.node for f in machine.pci if f.address.split(".")[0] == address.split(".")[0]), None)


def pci_of_parent(machine, entry):
    """A parent path names its PCI functions: the last is the one, those above are its hops."""
    addresses = re.findall(ADDRESS, entry.parent or "")
    addresses = [a for a in addresses if f"/{a}" in f"/{entry.parent}" and not f"pci{a}" in entry.parent]
    if not addresses or entry.pci:
        return
    root = entry.parent.split("/" + addresses[0])[0]
    virtio = {"vendor": 0x1af4, "device": 0x1041, "driver": "virtio-pci"} if "/virtio" in entry.parent else {}
    find_or_make_pci(machine, addresses[-1], behind=addresses[:-1], root=root, **virtio)


# ---- NUMA ----

def complete_nodes(machine):
    if not machine.node:
        machine.node.append(Entry("node", {"cpus": "0-7", "memory": "16G"}))
    next_id, next_cpu = 0, 0
    offline = set(parse_list(machine.cpu.offline))
    for node in machine.node:
        node.id = next_id if node.id is None else node.id
        node.package = node.id if node.package is None else node.package
        if node.cpus is None:
            node.cpus = f"{next_cpu}-{next_cpu + 15}"
        node.memory_bytes = parse_size(node.memory)
        cpus = parse_list(node.cpus)
        next_id, next_cpu = node.id + 1, max([next_cpu, *[cpu + 1 for cpu in cpus]])
        node.cpus = format_list(cpu for cpu in cpus if cpu not in offline) if offline else node.cpus
    for node in machine.node:
        if node.distances is None:
            node.distances = [10 if other is node else 12 if other.package == node.package else 21
                              for other in machine.node]
        if len(node.distances) != len(machine.node):
            raise Mistake(f"node {node.id}: {len(node.distances)} distances for {len(machine.node)} nodes")
    machine.all_cpus = format_list(cpu for node in machine.node for cpu in parse_list(node.cpus))
    machine.present_cpus = format_list(set(parse_list(machine.all_cpus)) | offline)
    machine.package_of = {cpu: node.package for node in machine.node for cpu in parse_list(node.cpus)}
    for package, cpus in machine.cpu.packages.items():
        machine.package_of.update(dict.fromkeys((cpu for cpu in parse_list(cpus) if cpu not in offline), int(package)))


def complete_process(machine):
    process = machine.process
    if process.cpus is None:
        process.cpus = machine.all_cpus
    if process.memory_nodes is None:
        process.memory_nodes = format_list(node.id for node in machine.node)


# ---- netdevs ----

def find_or_make_net(machine, name, **values):
    if name in machine.nets:
        return machine.nets[name]
    net = Entry("net", {"name": name, **values})
    machine.net.append(net)
    machine.nets[name] = net
    return net


def complete_net_names(machine):
    machine.nets = {}
    for net in machine.net:
        if net.name in machine.nets:
            raise Mistake(f"net {net.name}: described twice")
        machine.nets[net.name] = net
    for net in list(machine.net):
        if net.bond and "kind" not in net.given:
            net.kind = "bond"
        if net.kind == "bond" and not net.bond:
            net.bond = Entry("bond", {})
        for other in [net.link, *net.lower]:
            if other:
                find_or_make_net(machine, other)
        if net.master:
            kind = "bond" if net.slave else "bridge"
            master = find_or_make_net(machine, net.master, kind=kind)
            if master.kind == "bond" and not master.bond:
                master.bond = Entry("bond", {})
    for device in machine.rdma:
        for port in device.port:
            if port.netdev:
                kind = {"ib": "ipoib"}.get(device.type, "ethernet")
                values = {"pci": device.pci, "aux": device.aux, "parent": device.parent}
                values = {key: value for key, value in values.items() if value}
                find_or_make_net(machine, port.netdev, kind=kind, dev_port=port.number - 1, **values)


def complete_ifindexes(machine):
    used = {net.ifindex for net in machine.net if net.ifindex is not None}
    free = 2
    for net in machine.net:
        if net.kind == "loopback" and net.ifindex is None and 1 not in used:
            net.ifindex = 1
        if net.ifindex is None:
            while free in used:
                free += 1
            net.ifindex = free
            used.add(free)


def members(machine, bond):
    return [net for net in machine.net if net.master == bond.name]


def complete_macs(machine):
    for net in machine.net:
        net.over_ipoib = False
        if net.mac is None and net.kind not in ("loopback", "ipoib", "bond", "team", "vlan"):
            net.mac = f"02:00:5e:10:{net.ifindex >> 8 & 0xff:02x}:{net.ifindex & 0xff:02x}"
        if net.kind == "loopback":
            net.mac = net.mac or "00:00:00:00:00:00"
    for net in machine.net:
        if net.kind in ("bond", "team"):
            below = members(machine, net)
            net.over_ipoib = any(member.kind == "ipoib" for member in below)
            if net.over_ipoib:
                continue  # its address is that of the active member, which has one when the ports have GUIDs
            net.mac = net.mac or (below[0].mac if below else f"02:00:5e:11:00:{net.ifindex & 0xff:02x}")
            for member in below:
                if "mac" not in member.given and member.mac != net.mac:
                    member.permanent_mac, member.mac = member.permanent_mac or member.mac, net.mac
    for net in machine.net:
        if net.kind == "vlan" and net.mac is None:
            below = machine.nets.get(net.link)
            net.mac = (below.mac if below else None) or f"02:00:5e:12:00:{net.ifindex & 0xff:02x}"


def complete_state(machine, net):
    net.has_carrier = net.up if net.carrier is None else net.carrier
    if net.operstate is None:
        unknown = net.kind in ("loopback", "dummy", "tun")
        net.operstate = "unknown" if unknown and net.up else "up" if net.has_carrier and net.up else "down"
    net.link_ifindex = net.link_ifindex if net.link_ifindex is not None else (
        machine.nets[net.link].ifindex if net.link and net.kind != "vxlan" else None)
    if net.speed is None and net.kind == "ethernet" and net.has_carrier:
        net.speed = 100000
    physical = net.pci or net.aux
    net.parent_name = ("pci", net.pci) if net.pci and not net.aux else ("auxiliary", net.aux) if physical else None


def complete_bond(machine, net):
    bond, below = net.bond, members(machine, net)
    for member in below:
        member.slave = member.slave or Entry("slave", {})
        if member.slave.mii is None:
            member.slave.mii = "up" if member.has_carrier else "down"
        if member.slave.aggregator is None:
            member.slave.aggregator = bond.aggregator
    working = [member for member in below if member.slave.mii == "up"]
    if bond.mode in ("active-backup", "balance-tlb", "balance-alb") and bond.active is None and working:
        bond.active = working[0].name
    for member in below:
        if member.slave.state is None:
            backup = bond.mode == "active-backup" and member.name != bond.active
            out = bond.mode == "802.3ad" and (member.slave.aggregator != bond.aggregator)
            member.slave.state = "backup" if backup or out or member.slave.mii != "up" else "active"
    if bond.ports is None:
        bond.ports = sum(member.slave.aggregator == bond.aggregator for member in working)
    if net.speed is None:
        # bond_ethtool_get_link_ksettings(): of those that may transmit
        net.speed = sum(member.speed or 0 for member in working if member.slave.state == "active") or None


def complete_addresses(net):
    net.interfaces = [ipaddress.ip_interface(text) for text in net.addresses]
    wanted = net.link_local
    if wanted is None:
        wanted = net.up and not net.master and net.kind not in ("loopback",) and not net.addr_gen_mode
    if wanted and net.mac and len(net.mac) == 17:
        net.interfaces.insert(0, ipaddress.ip_interface(f"{eui64(net.mac)}/64"))


# ---- RDMA devices ----


def complete_ports(device):
    if not device.port:
        device.port = [Entry("port", {})]
    number = 0
    for port in device.port:
        port.number = number + 1 if port.number is None else port.number
        number = port.number
    first = device.port[0]
    for key in PORT_KEYS:
        if key in device.given:
            setattr(first, key, getattr(device, key))
            first.given.add(key)
    device.last_port = max(port.number for port in device.port)


def complete_rdma(machine, device, position):
    if device.type not in NODE_TYPES:
        raise Mistake(f"rdma {device.name}: type {device.type!r}: expected {' '.join(NODE_TYPES)}")
    device.index = position if device.index is None else device.index
    device.software = not (device.pci or device.aux or device.parent)
    device.uverbs = f"uverbs{position}" if device.uverbs is None else device.uverbs
    device.uverbs_number = int(re.sub(r"\D", "", device.uverbs) or 0)
    device.access_errno = errno_of(device.access)
    device.node_type_text = device.node_type or NODE_TYPES[device.type]
    device.node_type = int(device.node_type_text.split(":")[0])
    device.protocol = PROTOCOLS[device.type] if device.protocol is None else device.protocol
    device.node_guid = device.node_guid or f"0200:5e00:00{device.index >> 8 & 0xff:02x}:{device.index & 0xff:02x}10"
    device.sys_image_guid = device.sys_image_guid or device.node_guid
    device.node_guid_number = guid_number(device.node_guid)
    device.image_guid_number = guid_number(device.sys_image_guid)
    device.provider = provider_of(machine, device)
    if device.driver_id is None:
        device.driver_id = DRIVER_IDS.get(device.provider, 0)
    if device.node_desc is None:
        device.node_desc = SOFTWARE_NAMES.get(device.provider if device.software else "",
                                              f"{machine.host.hostname} {device.name}")
    known = ADAPTERS.get(driver_of(machine, device), ())[2:] or ("", "")
    device.hca_type = known[0] if device.hca_type is None else device.hca_type
    device.board_id = known[1] if device.board_id is None else device.board_id
    if device.software:
        for key in ("fw", "board_id", "hca_type"):
            if key not in device.given:
                setattr(device, key, "")


def code_and_word(text, codes, what):
    """"ACTIVE" or "4: ACTIVE" → 4, "4: ACTIVE"."""
    match = re.fullmatch(r"(\d+): .*", text)
    if match:
        return int(match[1]), text
    if text not in codes:
        raise Mistake(f"{what}: {text!r} is none of {' '.join(codes)}")
    code = codes[text] if isinstance(codes, dict) else codes.index(text)
    return code, f"{code}: {text}"


def room_for_payload(device, port, net):
    """As the kernel has it: RoCE takes headers off (iboe_get_mtu()). What is not described has the usual MTU."""
    if port.is_ib:
        return 4096
    if device.type == "roce":
        return (net.mtu if net else 1500) - 96
    return net.mtu if net else 4096


def complete_port(machine, device, port):
    name = f"rdma {device.name}/{port.number}"
    port.link_layer = port.link_layer or LINK_LAYERS[device.type]
    port.is_ib = port.link_layer == "InfiniBand"
    port.state_code, port.state_text = code_and_word(port.state, STATES, f"{name}: state")
    physical = port.physical_state or ("LinkUp" if port.state_code >= 2 else "Disabled")
    port.physical_code, port.physical_text = code_and_word(physical, PHYSICAL, f"{name}: physical_state")
    if port.is_ib:
        machine.ib_ports = getattr(machine, "ib_ports", 0) + 1
    port.lid = (machine.ib_ports if port.is_ib else 0) if port.lid is None else port.lid
    port.sm_lid = (1 if port.is_ib else 0) if port.sm_lid is None else port.sm_lid
    port.guid_number = guid_number(port.guid) if port.guid else device.node_guid_number
    if port.gid_table is None:
        port.gid_table = {"roce": 256, "ib": 128}.get(device.type, 1)
    net = machine.nets.get(port.netdev)
    if port.active_mtu is None:
        room = room_for_payload(device, port, net)
        port.active_mtu = max([mtu for mtu in (256, 512, 1024, 2048, 4096) if mtu <= room], default=256)


class Gid:
    def __init__(self, index, value, kind, netdev, foreign=None):
        self.index, self.value, self.kind, self.netdev, self.foreign = index, value, kind, netdev, foreign

    TYPES = {"v1": ("IB/RoCE v1", 1), "v2": ("RoCE v2", 2), "ib": ("IB/RoCE v1", 0), "?": (None, None)}

    @property
    def type_text(self):
        return self.TYPES[self.kind][0]

    @property
    def type_code(self):
        return self.TYPES[self.kind][1]

    @property
    def text(self):
        packed = self.value.packed.hex()
        return ":".join(packed[i:i + 4] for i in range(0, 32, 4))


def mapped(address):
    return ipaddress.IPv6Address(b"\0" * 10 + b"\xff\xff" + address.packed) if address.version == 4 else address


def above(machine, net):
    """All that stands on a netdev; what a bridge or another kind of master has counts too (roce_gid_mgmt.c)."""
    found = [net]
    for lower in found:
        found += [other for other in machine.net
                  if other not in found and other.name in (lower.master,) + tuple(
                      upper.name for upper in machine.net if upper.link == lower.name and upper.kind != "vxlan")]
    return found[1:]


def auto_roce(machine, device, port):
    net = machine.nets.get(port.netdev)
    if not net:
        return []
    master = machine.nets.get(net.master)
    if master and master.kind == "bond":
        if master.bond.mode == "active-backup" and master.bond.active != net.name:
            return []  # the kernel takes the GIDs of a member that is not active away
        net = master
    kinds = ["v2"] if device.software else ["v1", "v2"]
    values = []
    for netdev in [net, *above(machine, net)]:
        own = [mapped(interface.ip) for interface in netdev.interfaces]
        if netdev is net and net.mac and eui64(net.mac) not in own:
            own.insert(0, eui64(net.mac))  # the default GID needs no address
        if netdev.up:
            values += [(value, netdev) for value in own]
    return [Gid(position * len(kinds) + offset, value, kind, netdev)
            for position, (value, netdev) in enumerate(values) for offset, kind in enumerate(kinds)]


def auto_gids(machine, device, port):
    if port.is_ib:
        value = ipaddress.IPv6Address(0xfe80 << 112 | port.guid_number)
        return [Gid(0, value, "ib", None)]
    if device.type == "roce":
        return auto_roce(machine, device, port)
    net = machine.nets.get(port.netdev)
    if device.type == "iwarp" and net:
        return [Gid(0, ipaddress.IPv6Address(bytes.fromhex(net.mac.replace(":", "")) + bytes(10)), "ib", None)]
    if device.type == "efa":
        return [Gid(0, ipaddress.IPv6Address(0xfe80 << 112 | 0x00005efffe100001 + port.number), "ib", None)]
    return []


def gid_netdev(machine, word, name):
    """NETDEV of a row: a netdev of ours, "-" for none, or foreign:NAME[:IFINDEX]."""
    if word == "-":
        return None, None
    if word.startswith("foreign:"):
        _, netdev, *ifindex = word.split(":")
        return None, (netdev, int(ifindex[0]) if ifindex else 900)
    if word not in machine.nets:
        raise Mistake(f"{name}: netdev {word!r} is not described (a foreign one is foreign:NAME)")
    return machine.nets[word], None


def gid_rows(machine, port, line, name):
    words = line.split()
    if len(words) not in (3, 4):
        raise Mistake(f"{name}: {line!r}: expected INDEX GID TYPE [NETDEV]")
    netdev, foreign = gid_netdev(machine, words[3] if len(words) == 4 else port.netdev or "-", name)
    kinds = words[2].split("+")
    if not words[0].isdigit() or any(kind not in Gid.TYPES for kind in kinds):
        raise Mistake(f"{name}: {line!r}: expected a number, and v1, v2, v1+v2, ib or ?")
    try:
        value = eui64(netdev.mac) if words[1] == "eui64" else mapped(ipaddress.ip_address(words[1]))
    except (ValueError, AttributeError):
        raise Mistake(f"{name}: {line!r}: {words[1]!r} is not an address") from None
    return [Gid(int(words[0]) + offset, value, kind, netdev, foreign) for offset, kind in enumerate(kinds)]


def complete_gids(machine, device, port):
    name = f"rdma {device.name}/{port.number}: gids"
    if port.gids == "auto":
        port.gid_list = [gid for gid in auto_gids(machine, device, port) if gid.index < port.gid_table]
    elif isinstance(port.gids, str):
        lines = [line.split("#")[0].strip() for line in port.gids.splitlines()]
        port.gid_list = [gid for line in lines if line for gid in gid_rows(machine, port, line, name)]
    else:
        raise Mistake(f"{name}: expected lines of text, not {port.gids!r}")
    indexes = [gid.index for gid in port.gid_list]
    if len(set(indexes)) != len(indexes):
        raise Mistake(f"{name}: an index is given twice")
    if indexes and max(indexes) >= port.gid_table:
        raise Mistake(f"{name}: index {max(indexes)} is beyond the {port.gid_table} slots of the table")


# ---- VFs ----

def vf_address(address, number):
    """The address `number` routing ids after a PF's."""
    domain, bus, rest = address.split(":")
    device, function = rest.split(".")
    routing = (int(bus, 16) << 8 | int(device, 16) << 3 | int(function)) + number
    return f"{domain}:{routing >> 8:02x}:{routing >> 3 & 0x1f:02x}.{routing & 7}"


def expand_vfs(machine):
    number = len(machine.rdma)
    for device in [device for device in machine.rdma if device.vf]:
        if not device.pci:
            raise Mistake(f"rdma {device.name}: vf: only a device with `pci` has VFs")
        form, parent = device.vf, find_or_make_pci(machine, device.pci, node=device.node)
        net = device.port[0].netdev
        parent.vfs = form.count
        for i in range(form.count):
            address = vf_address(device.pci, form.first + i)
            values = {"address": address, "physfn": device.pci, "node": parent.node, "link": parent.link,
                      "max": parent.max or parent.link, "device": 0x101e, "behind": parent.behind,
                      "root": parent.root, "driver": form.driver}
            machine.pci.append(Entry("pci", {k: v for k, v in values.items() if v is not None}))
            names = {"pf": device.name, "net": net or device.name, "i": i, "n": number}
            netdev = form.net.format(**names) if form.net and net else None
            values = {"name": form.rdma.format(**names), "type": device.type, "pci": address, "state": form.state,
                      "gids": form.gids, "netdev": netdev, "node_guid": form.node_guid, "fw": device.fw,
                      "board_id": device.board_id, "hca_type": device.hca_type,
                      "sys_image_guid": device.sys_image_guid}
            number += 1
            if form.rdma:
                vf = Entry("rdma", {k: v for k, v in values.items() if v is not None})
                complete_ports(vf)
                machine.rdma.append(vf)
            elif netdev and netdev not in (net.name for net in machine.net):
                machine.net.append(Entry("net", {"name": netdev, "pci": address}))


# ---- all ----

def complete_functions(machine):
    apply_presets(machine)
    for device in machine.rdma:
        pci_of_parent(machine, device)
        if device.pci:
            find_or_make_pci(machine, device.pci, node=device.node)
    for net in machine.net:
        pci_of_parent(machine, net)
        if net.pci:
            slots = {device.pci.split(".")[0] for device in machine.rdma if device.pci}
            other = {} if net.pci.split(".")[0] in slots else ORDINARY_NIC
            find_or_make_pci(machine, net.pci, node=node_of_slot(machine, net.pci), **other)
    for function in machine.pci:
        function.vfs = getattr(function, "vfs", 0) or sum(o.physfn == function.address for o in machine.pci)
        users = [d for d in machine.rdma if d.pci == function.address]
        if function.driver is None:
            driver = next((d.driver for d in users if d.driver is not None), None)
            pf = next((o for o in machine.pci if o.address == function.physfn), None)
            if driver is None and pf is not None and pf.driver:
                driver = pf.driver
            function.driver = driver if driver is not None else default_driver(users[0].name) if users else "mlx5_core"
        vendor, device = ADAPTERS.get(function.driver, MLX5)[:2]
        if function.vendor is None:
            function.vendor = vendor
        if function.device is None:
            function.device = device
        complete_pci(machine, function)
    machine.functions = {function.address: function for function in machine.pci}


# enum rdma_driver_id (rdma/ib_user_ioctl_verbs.h) of the drivers that uverbs tells (uverbs_main.c).
DRIVER_IDS = {"mlx5": 1, "mlx4": 2, "bnxt_re": 6, "irdma": 9, "rxe": 14, "hfi1": 15, "efa": 17, "siw": 18}
SOFTWARE_NAMES = {"rxe": "rxe", "siw": "Software iWARP stack"}


# What is below a netdev that has nothing to do with an RDMA device.
ORDINARY_NIC = {"vendor": 0x8086, "device": 0x1521, "driver": "igb"}


def driver_of(machine, device):
    function = machine.functions.get(device.pci)
    return device.driver or (function.driver if function else "") or default_driver(device.name)


def provider_of(machine, device):
    if device.software:
        return re.match(r"[a-z]+", device.name)[0]
    driver = driver_of(machine, device)
    return PROVIDERS.get(driver, driver)


def complete(machine):
    """Fills in everything that the writer needs; the machine is ready to be written then."""
    complete_nodes(machine)
    complete_process(machine)
    for device in machine.rdma:
        complete_ports(device)
    expand_vfs(machine)
    complete_net_names(machine)
    complete_ifindexes(machine)
    complete_macs(machine)
    complete_functions(machine)
    for net in machine.net:
        complete_state(machine, net)
        complete_addresses(net)
    for net in machine.net:
        if net.bond:
            complete_bond(machine, net)
    names = set()
    for position, device in enumerate(machine.rdma):
        if device.name in names:
            raise Mistake(f"rdma {device.name}: described twice")
        names.add(device.name)
        complete_rdma(machine, device, position)
        for port in device.port:
            complete_port(machine, device, port)
    complete_ipoib(machine)
    for device in machine.rdma:
        for port in device.port:
            complete_gids(machine, device, port)
    return machine


def complete_ipoib(machine):
    """The last 8 of the 20 bytes of an IPoIB address are the port GUID."""
    ports = {f"{device.name}/{port.number}": port for device in machine.rdma for port in device.port}
    for device in machine.rdma:
        for port in device.port:
            net = machine.nets.get(port.netdev)
            if net and net.kind == "ipoib" and not net.ib_port:
                net.ib_port = f"{device.name}/{port.number}"
    for net in machine.net:
        if net.kind != "ipoib" or net.mac:
            continue
        if net.ib_port and net.ib_port not in ports:
            raise Mistake(f"net {net.name}: ib_port {net.ib_port!r} is not described")
        guid = ports[net.ib_port].guid_number if net.ib_port else 0x02005e0000000000 | net.ifindex
        octets = bytes.fromhex("00001049fe80000000000000") + guid.to_bytes(8, "big")
        net.mac = ":".join(f"{octet:02x}" for octet in octets)
    for net in machine.net:
        if net.over_ipoib and not net.mac:
            net.mac = machine.nets[net.bond.active].mac if net.bond and net.bond.active else None
