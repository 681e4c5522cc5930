# SPDX-License-Identifier: MIT
"""A completed machine as the files of a snapshot (lib/origin/origin.h documents those)."""

import errno
import fnmatch
import ipaddress
import json
import os
import posixpath
import struct

from . import health, model, netlink
from .schema import Mistake, located


class Snapshot:
    """Files, links and errors by path, before they go to the disk."""

    def __init__(self):
        self.files, self.links, self.errors, self.directories = {}, {}, {}, set()

    def put(self, path, contents):
        if isinstance(contents, str):
            contents = contents.encode()
        self.files[path] = contents

    def line(self, path, value):
        """One attribute, as sysfs writes it; None leaves it out."""
        if value is not None:
            self.put(path, f"{value}\n")

    def fail(self, path, code):
        self.files.pop(path, None)
        self.errors[path] = code

    def link(self, path, target):
        """A relative link from `path` to `target`, both below the root."""
        self.links[path] = posixpath.relpath(target, posixpath.dirname(path))

    def resolve(self, path):
        """Where `path` really lies, the links of the snapshot followed in all but its last part."""
        done, parts, steps = "", path.split("/"), 0
        while parts:
            part = parts.pop(0)
            here = posixpath.normpath(f"{done}/{part}" if done else part)
            if here in self.links and parts and steps < 40:
                parts = posixpath.normpath(posixpath.join(posixpath.dirname(here), self.links[here])).split("/") + parts
                done, steps = "", steps + 1
            else:
                done = here
        return done

    def remove(self, pattern):
        """Links are followed up to the first wildcard: from there on the pattern decides."""
        parts = pattern.split("/")
        plain = next((i for i, part in enumerate(parts) if any(c in part for c in "*?[")), len(parts))
        if plain < len(parts):
            pattern = "/".join([self.resolve("/".join([*parts[:plain], "."])), *parts[plain:]])
        else:
            pattern = self.resolve(pattern)
        gone = 0
        for kind in (self.files, self.links, self.errors):
            for path in [p for p in kind if fnmatch.fnmatchcase(p, pattern) or p.startswith(pattern + "/")]:
                del kind[path]
                gone += 1
        self.directories = {path for path in self.directories
                            if not fnmatch.fnmatchcase(path, pattern) and not path.startswith(pattern + "/")}
        return gone

    def write(self, directory):
        os.makedirs(directory, exist_ok=True)
        if os.listdir(directory):
            raise Mistake(f"{directory}: is not empty")
        made = set()
        for path in [*self.files, *self.links, *(f"{path}/" for path in self.directories)]:
            above = posixpath.dirname(path)
            if above not in made:
                os.makedirs(f"{directory}/{above}", exist_ok=True)
                made.add(above)
        for path, contents in self.files.items():
            with open(f"{directory}/{path}", "wb", buffering=0) as file:
                file.write(contents)
        for path, target in self.links.items():
            os.symlink(target, f"{directory}/{path}")
        if self.errors:
            with open(f"{directory}/errors", "w", encoding="utf-8") as file:
                file.writelines(f"{code} {path}\n" for path, code in sorted(self.errors.items()))


# ---- NUMA and CPUs ----

def write_nodes(out, machine):
    base = "sys/devices/system/node"
    ids = [node.id for node in machine.node]
    with_cpus = [node.id for node in machine.node if node.cpus]
    with_memory = [node.id for node in machine.node if node.memory_bytes]
    for name, members in (("online", ids), ("possible", ids), ("has_cpu", with_cpus), ("has_memory", with_memory),
                          ("has_normal_memory", with_memory)):
        out.line(f"{base}/{name}", model.format_list(members))
    for node in machine.node:
        here = f"{base}/node{node.id}"
        out.line(f"{here}/cpulist", node.cpus)
        out.line(f"{here}/distance", " ".join(map(str, node.distances)))
        kib = node.memory_bytes >> 10
        out.put(f"{here}/meminfo", f"Node {node.id} MemTotal:       {kib} kB\n"
                                   f"Node {node.id} MemFree:        {kib // 2} kB\n")


def write_cpus(out, machine):
    base = "sys/devices/system/cpu"
    out.line(f"{base}/online", machine.all_cpus)
    for name in ("possible", "present"):
        out.line(f"{base}/{name}", machine.present_cpus)
    out.put(f"{base}/offline", f"{machine.cpu.offline}\n")
    if not machine.cpu.topology:
        return
    packages = {}
    for cpu, package in machine.package_of.items():
        packages.setdefault(package, []).append(cpu)
    for package, cpus in packages.items():
        listed = model.format_list(cpus)
        for position, cpu in enumerate(sorted(cpus)):
            here = f"{base}/cpu{cpu}/topology"
            out.line(f"{here}/physical_package_id", package)
            out.line(f"{here}/core_id", position)
            out.line(f"{here}/package_cpus_list", listed)


# ---- PCI ----

def link_parts(text):
    speed, _, width = text.partition(" ")
    return float(speed), int(width.lstrip("x") or 0)


# Link speeds in GT/s in the order of the codes of LnkCap and LnkSta (PCI Express Base Specification, 7.5.3).
SPEED_CODES = [None, 2.5, 5.0, 8.0, 16.0, 32.0, 64.0]
ACS_BITS = {"none": 0, "sv": 1, "tb": 2, "rr": 4, "cr": 8, "uf": 16, "ec": 32, "dt": 64}


def config_space(machine, function, kind, code):
    """The first bytes of the configuration space: header, PCI Express capability, ACS capability."""
    data = bytearray(264)
    struct.pack_into("<HHHH", data, 0, function.vendor, function.device, 6, 0x10)
    struct.pack_into("<I", data, 8, code << 8)
    data[14] = 0 if kind == "endpoint" else 1
    data[0x34] = 0x40 if function.link else 0
    if function.link:
        struct.pack_into("<HH", data, 0x40, 0x10, 2 | model.HOP_KINDS[kind] << 4)
        for offset, text in ((0x4c, function.max), (0x52, function.link)):
            speed, width = link_parts(text)
            value = (SPEED_CODES.index(speed) if speed in SPEED_CODES else 0) | width << 4
            struct.pack_into("<I" if offset == 0x4c else "<H", data, offset, value)
    if function.acs not in ("", "unknown"):
        bits = 0
        for word in function.acs.split():
            if word not in ACS_BITS:
                raise Mistake(f"pci {function.address}: acs {word!r} is none of {' '.join(ACS_BITS)}")
            bits |= ACS_BITS[word]
        struct.pack_into("<IHH", data, 0x100, 0x0001000d, 0x7f, bits)
        return bytes(data)[:max(machine.host.pci_config, 264) if machine.host.pci_config > 64 else 64]
    return bytes(data)[:min(machine.host.pci_config, 64 if function.acs == "unknown" else 260)]


def link_files(out, here, function):
    if not function.link:
        return
    for prefix, text in (("current", function.link), ("max", function.max)):
        speed, width = link_parts(text)
        out.line(f"{here}/{prefix}_link_speed", f"{speed} GT/s PCIe" if speed else "Unknown")
        out.line(f"{here}/{prefix}_link_width", width)


def pci_device(out, machine, here, function, kind, code):
    out.line(f"{here}/vendor", f"0x{function.vendor:04x}")
    out.line(f"{here}/device", f"0x{function.device:04x}")
    out.line(f"{here}/class", f"0x{code:06x}")
    out.line(f"{here}/numa_node", function.node)
    out.line(f"{here}/local_cpulist", function.cpus)
    link_files(out, here, function)
    driver = "pcieport" if kind != "endpoint" else function.driver
    out.put(f"{here}/uevent", (f"DRIVER={driver}\n" if driver else "") + f"PCI_CLASS={code:X}\n"
            f"PCI_ID={function.vendor:04X}:{function.device:04X}\nPCI_SLOT_NAME={function.address}\n")
    if machine.host.pci_config:
        out.put(f"{here}/config", config_space(machine, function, kind, code))
    out.link(f"{here}/subsystem", "sys/bus/pci")
    out.link(f"sys/bus/pci/devices/{function.address}", here)


AER_FILES = {"correctable": ("aer_dev_correctable", "COR"), "fatal": ("aer_dev_fatal", "FATAL"),
             "nonfatal": ("aer_dev_nonfatal", "NONFATAL")}


def write_aer(out, here, address, aer):
    for key, counters in aer.items():
        if key not in AER_FILES:
            raise Mistake(f"pci {address}: aer {key!r} is none of {' '.join(AER_FILES)}")
        name, total = AER_FILES[key]
        lines = [f"{counter} {value}\n" for counter, value in counters.items()]
        out.put(f"{here}/{name}", "".join(lines) + f"TOTAL_ERR_{total} {sum(counters.values())}\n")


def write_function(out, machine, function):
    above = "sys/devices/" + function.root
    strangers = set(function.aer_above) - {hop.address for hop in function.hops}
    if strangers:
        raise Mistake(f"pci {function.address}: aer_above: {min(strangers)!r} is not in its behind")
    for hop in function.hops:
        above += f"/{hop.address}"
        write_aer(out, above, hop.address, function.aer_above.get(hop.address, {}))
        if f"{above}/vendor" not in out.files or hop.details:
            pci_device(out, machine, above, hop, hop.kind, 0x060400)
            out.link(f"{above}/driver", "sys/bus/pci/drivers/pcieport")
    here = "sys/devices/" + function.path
    pci_device(out, machine, here, function, "endpoint", getattr(function, "class"))
    if function.driver:
        out.link(f"{here}/driver", f"sys/bus/pci/drivers/{function.driver}")
        out.link(f"sys/bus/pci/drivers/{function.driver}/{function.address}", here)
    if function.nvme:
        out.line(f"{here}/nvme/{function.nvme}/model", "Described Controller")
        out.link(f"sys/class/nvme/{function.nvme}", f"{here}/nvme/{function.nvme}")
    write_aer(out, here, function.address, function.aer)
    if function.iommu_group is not None:
        group = f"sys/kernel/iommu_groups/{function.iommu_group}"
        out.line(f"{group}/type", function.iommu_type)
        out.link(f"{group}/devices/{function.address}", here)
        out.link(f"{here}/iommu_group", group)
    if function.vfs or function.total_vfs:
        out.line(f"{here}/sriov_totalvfs", max(function.total_vfs or 0, function.vfs))
        out.line(f"{here}/sriov_numvfs", function.vfs)
    if function.physfn:
        if function.physfn not in machine.functions:
            raise Mistake(f"pci {function.address}: physfn {function.physfn} is not described")
        parent = machine.functions[function.physfn]
        siblings = [other for other in machine.pci if other.physfn == function.physfn]
        out.link(f"{here}/physfn", f"sys/devices/{parent.path}")
        out.link(f"sys/devices/{parent.path}/virtfn{siblings.index(function)}", here)


def device_base(machine, entry):
    """Where the device of a netdev or RDMA device lies, None for a virtual one."""
    if entry.parent:
        return f"sys/devices/{entry.parent}"
    if entry.pci:
        below = f"/{entry.aux}" if entry.aux else ""
        return f"sys/devices/{machine.functions[entry.pci].path}{below}"
    return f"sys/devices/auxiliary/{entry.aux}" if entry.aux else None


def write_auxiliary(out, machine):
    for entry in [*machine.net, *machine.rdma]:
        if entry.aux:
            base = device_base(machine, entry)
            out.link(f"sys/bus/auxiliary/devices/{entry.aux}", base)
            out.link(f"{base}/subsystem", "sys/bus/auxiliary")
            out.line(f"{base}/sfnum", "".join(filter(str.isdigit, entry.aux.split(".")[-1])))


# ---- netdevs ----

def write_net_links(out, machine, net, here):
    nets = machine.nets
    lowers = [*net.lower, *([net.link] if net.link else [])]
    lowers += [member.name for member in model.members(machine, net)]
    for name in dict.fromkeys(lowers):
        lower = net_path(machine, nets[name])
        out.link(f"{here}/lower_{name}", lower)
        out.link(f"{lower}/upper_{net.name}", here)
    if net.master:
        out.link(f"{here}/master", net_path(machine, nets[net.master]))


def net_path(machine, net):
    base = device_base(machine, net) or "sys/devices/virtual"
    return f"{base}/net/{net.name}"


def line_or_error(out, path, value, code):
    if value is None:
        out.fail(path, code)
    else:
        out.line(path, value)


def write_net(out, machine, net):
    here, base = net_path(machine, net), device_base(machine, net)
    out.link(f"sys/class/net/{net.name}", here)
    if base and net.device:
        out.link(f"{here}/device", base)
    arp = netlink.hardware_type(net)
    mac = net.mac or ""
    broadcast = ":".join(["ff"] * max(1, len(mac.split(":"))))
    for name, value in {
            "ifindex": net.ifindex, "address": mac, "broadcast": broadcast, "mtu": net.mtu,
            "operstate": net.operstate, "type": netlink.ARPHRD[arp], "dev_port": net.dev_port,
            "dev_id": f"0x{net.dev_id:x}", "flags": f"0x{netlink.link_flags(net):x}",
            "iflink": net.link_ifindex if net.link_ifindex is not None else net.ifindex, "link_mode": 0,
            "addr_assign_type": 0, "addr_len": len(mac.split(":"))}.items():
        out.line(f"{here}/{name}", value)
    # net/core/net-sysfs.c: carrier and speed of what is down answer EINVAL.
    line_or_error(out, f"{here}/carrier", (1 if net.has_carrier else 0) if net.up else None, errno.EINVAL)
    line_or_error(out, f"{here}/speed", net.speed, errno.EINVAL)
    line_or_error(out, f"{here}/phys_port_name", net.phys_port_name, errno.EOPNOTSUPP)
    line_or_error(out, f"{here}/phys_switch_id", net.phys_switch_id, errno.EOPNOTSUPP)
    kind = {"vlan": "vlan", "bond": "bond", "bridge": "bridge", "macvlan": "macvlan", "vxlan": "vxlan"}.get(net.kind)
    out.put(f"{here}/uevent", (f"DEVTYPE={kind}\n" if kind else "") + f"INTERFACE={net.name}\nIFINDEX={net.ifindex}\n")
    out.line(f"proc/sys/net/ipv6/conf/{net.name}/addr_gen_mode", net.addr_gen_mode)
    if net.kind == "bridge":
        out.line(f"{here}/bridge/stp_state", 0)
    if net.kind == "ipoib":
        out.line(f"{here}/pkey", f"0x{net.pkey:04x}")
    if net.kind == "vlan":
        out.put(f"proc/net/vlan/{net.name}", f"{net.name}  VID: {net.vlan}\t REORDER_HDR: 1  dev->priv_flags: 1021\n"
                                             f"Device: {net.link}\n")
    write_net_links(out, machine, net, here)
    health.write_net(out, net, here)
    if net.bond:
        write_bond(out, machine, net, here)
    if net.slave:
        write_slave(out, machine, net, here)


def write_slave(out, machine, net, here):
    slave, base = net.slave, f"{here}/bonding_slave"
    out.line(f"{base}/state", slave.state)
    out.line(f"{base}/mii_status", slave.mii)
    out.line(f"{base}/link_failure_count", slave.failures)
    out.line(f"{base}/perm_hwaddr", net.permanent_mac or net.mac)
    out.line(f"{base}/queue_id", 0)
    lacp = machine.nets[net.master].bond.mode == "802.3ad"
    out.line(f"{base}/ad_aggregator_id", slave.aggregator if lacp else "N/A")
    out.line(f"{base}/ad_actor_oper_port_state", slave.actor_state if lacp else "N/A")
    out.line(f"{base}/ad_partner_oper_port_state", slave.partner_state if lacp else "N/A")


def write_bond(out, machine, net, here):
    bond, base, below = net.bond, f"{here}/bonding", model.members(machine, net)
    if bond.mode not in netlink.BOND_MODES or bond.hash not in netlink.BOND_HASHES:
        raise Mistake(f"net {net.name}: bond: mode {bond.mode!r} or hash {bond.hash!r} is none of the kernel's words")
    working = any(member.slave.mii == "up" for member in below)
    out.line(f"{base}/mode", f"{bond.mode} {netlink.BOND_MODES.index(bond.mode)}")
    out.line(f"{base}/xmit_hash_policy", f"{bond.hash} {netlink.BOND_HASHES.index(bond.hash)}")
    out.line(f"{base}/slaves", " ".join(member.name for member in below))
    out.line(f"{base}/active_slave", bond.active or "")
    out.line(f"{base}/miimon", bond.miimon)
    out.line(f"{base}/mii_status", "up" if working else "down")
    lacp = bond.mode == "802.3ad"
    for name, value in {"ad_aggregator": bond.aggregator, "ad_num_ports": bond.ports, "ad_actor_key": bond.actor_key,
                        "ad_partner_key": bond.partner_key, "ad_partner_mac": bond.partner_mac,
                        "lacp_rate": f"{bond.lacp_rate} {int(bond.lacp_rate == 'fast')}"}.items():
        if lacp or name == "lacp_rate":
            out.line(f"{base}/{name}", value)
        else:
            out.put(f"{base}/{name}", "\n")
    if bond.proc:
        out.put(f"proc/net/bonding/{net.name}", proc_bonding(machine, net, below, working))


PROC_MODES = {"balance-rr": "load balancing (round-robin)", "active-backup": "fault-tolerance (active-backup)",
              "balance-xor": "load balancing (xor)", "broadcast": "fault-tolerance (broadcast)",
              "802.3ad": "IEEE 802.3ad Dynamic link aggregation", "balance-tlb": "transmit load balancing",
              "balance-alb": "adaptive load balancing"}


def partner_of(bond, slave):
    """Members in other aggregators have other partners, as a rule."""
    other = bond.partner_mac == "00:00:00:00:00:00" or slave.aggregator == bond.aggregator
    return slave.partner_mac or (bond.partner_mac if other else f"00:00:5e:00:02:{slave.aggregator & 0xff:02x}")


def proc_bonding(machine, net, below, working):
    bond, lacp = net.bond, net.bond.mode == "802.3ad"
    out = [f"Ethernet Channel Bonding Driver: v{bond.proc_version or machine.host.kernel}", "",
           f"Bonding Mode: {PROC_MODES[bond.mode]}"]
    if bond.mode in ("802.3ad", "balance-xor"):
        out.append(f"Transmit Hash Policy: {bond.hash} ({netlink.BOND_HASHES.index(bond.hash)})")
    if bond.mode == "active-backup":
        out += ["Primary Slave: None", f"Currently Active Slave: {bond.active or 'None'}"]
    out += [f"MII Status: {'up' if working else 'down'}", f"MII Polling Interval (ms): {bond.miimon}",
            "Up Delay (ms): 0", "Down Delay (ms): 0", "Peer Notification Delay (ms): 0"]
    if lacp:
        out += ["", "802.3ad info", "LACP active: on", f"LACP rate: {bond.lacp_rate}", "Min links: 0",
                "Aggregator selection policy (ad_select): stable", "Active Aggregator Info:",
                f"\tAggregator ID: {bond.aggregator}", f"\tNumber of ports: {bond.ports}"]
    told = lacp and machine.process.cap_net_admin  # of others the kernel keeps what it knows of partners
    if told:
        out += [f"\tActor Key: {bond.actor_key}", f"\tPartner Key: {bond.partner_key}",
                f"\tPartner Mac Address: {bond.partner_mac}"]
    for member in below:
        slave = member.slave
        speed = f"{member.speed} Mbps" if member.speed else "Unknown"
        out += ["", f"Slave Interface: {member.name}", f"MII Status: {slave.mii}", f"Speed: {speed}", "Duplex: full",
                f"Link Failure Count: {slave.failures}", f"Permanent HW addr: {member.permanent_mac or member.mac}",
                "Slave queue ID: 0"]
        if lacp:
            out += [f"Aggregator ID: {slave.aggregator}", f"Actor Churn State: {slave.churn}",
                    "Partner Churn State: none", "Actor Churned Count: 0", "Partner Churned Count: 0"]
        if told:
            out += ["details actor lacp pdu:", "    system priority: 65535", f"    system mac address: {net.mac}",
                    f"    port state: {slave.actor_state}", "details partner lacp pdu:", "    system priority: 32768",
                    f"    system mac address: {partner_of(bond, slave)}", f"    port state: {slave.partner_state}"]
    return "\n".join(out) + "\n"


# ---- RDMA devices ----

def write_gids(out, machine, here, port):
    slots = {gid.index: gid for gid in port.gid_list}
    zero = ":".join(["0000"] * 8)
    for index in range(port.gid_table):
        gid = slots.get(index)
        out.line(f"{here}/gids/{index}", gid.text if gid else zero)
        if not machine.host.gid_attrs:
            continue
        # drivers/infiniband/core/sysfs.c: an empty slot answers EINVAL, and so does ndevs of one without a netdev.
        line_or_error(out, f"{here}/gid_attrs/types/{index}", gid.type_text if gid else None, errno.EINVAL)
        name = gid and (gid.netdev.name if gid.netdev else gid.foreign[0] if gid.foreign else None)
        line_or_error(out, f"{here}/gid_attrs/ndevs/{index}", name, errno.EINVAL)


def write_port(out, machine, device, port, here):
    rate_error = getattr(errno, port.rate, None)
    for name, value in {"state": port.state_text, "phys_state": port.physical_text, "link_layer": port.link_layer,
                        "rate": None if rate_error else port.rate, "lid": f"0x{port.lid:x}",
                        "sm_lid": f"0x{port.sm_lid:x}", "lid_mask_count": port.lmc, "sm_sl": port.sm_sl,
                        "cap_mask": f"0x{port.cap_mask:08x}"}.items():
        out.line(f"{here}/{name}", value)
    if rate_error:
        out.fail(f"{here}/rate", rate_error)
    out.line(f"{here}/pkeys/0", "0xffff")
    for directory, counters in (("hw_counters", port.hw_counters), ("counters", port.counters)):
        for name, value in counters.items():
            out.line(f"{here}/{directory}/{name}", value)
    for name, value in port.params.items():
        out.line(f"{here}/{name}", value)
    write_gids(out, machine, here, port)


def write_node(out, device):
    if device.uverbs and device.access_errno != errno.ENOENT:
        out.line(f"dev/infiniband/{device.uverbs}", device.access_errno)


def write_uverbs(out, device, base):
    if not device.uverbs:
        return
    here = f"{base or 'sys/devices/virtual'}/infiniband_verbs/{device.uverbs}"
    out.link(f"sys/class/infiniband_verbs/{device.uverbs}", here)
    out.line("sys/class/infiniband_verbs/abi_version", 6)
    out.line(f"{here}/ibdev", device.name)
    out.line(f"{here}/abi_version", device.abi)
    out.line(f"{here}/dev", f"231:{192 + device.uverbs_number}")
    if base:
        out.link(f"{here}/device", base)
    write_node(out, device)


def smp(attribute, modifier, payload):
    """The answer to SubnGet of an attribute (IBA specification, 14.2.1.2), by a directed route of no hops."""
    head = struct.pack(">BBBBHBBQHHI8xHH28x", 1, 0x81, 1, 0x81, 0x8000, 0, 0, 0x7264, attribute, 0, modifier, 0xffff, 0xffff)
    return head + payload.ljust(64, b"\0") + bytes(128)


def vl_block(turns, first):
    pairs = [turn.partition(":") for turn in turns[first:first + 32]]
    return b"".join(struct.pack("BB", int(lane), int(weight)) for lane, _, weight in pairs)


def write_umad(out, device, port, number):
    node, levels = f"umad{number}", port.sl_to_vl
    if len(levels) != 16:
        raise Mistake(f"rdma {device.name}/{port.number}: sl_to_vl: {len(levels)} lanes for 16 service levels")
    out.line(f"sys/class/infiniband_mad/{node}/ibdev", device.name)
    out.line(f"sys/class/infiniband_mad/{node}/port", port.number)
    out.line(f"dev/infiniband/{node}", 0)
    lanes = bytes(high << 4 | low for high, low in zip(levels[::2], levels[1::2]))
    out.put(f"umad/{node}.0017.00000000", smp(0x17, 0, lanes))
    for block, turns, first in ((1, port.vl_low, 0), (2, port.vl_low, 32), (3, port.vl_high, 0), (4, port.vl_high, 32)):
        name = f"umad/{node}.0018.{block << 16:08x}"
        if first and len(turns) <= first:
            out.errors[name] = errno.EOPNOTSUPP
        else:
            out.put(name, smp(0x18, block << 16, vl_block(turns, first)))


def write_rdma(out, machine, device):
    base = device_base(machine, device)
    here = f"{base or 'sys/devices/virtual'}/infiniband/{device.name}"
    out.link(f"sys/class/infiniband/{device.name}", here)
    if base:
        out.link(f"{here}/device", base)
    elif device.port[0].netdev:
        out.line(f"{here}/parent", device.port[0].netdev)
    for name, value in {"node_guid": device.node_guid, "sys_image_guid": device.sys_image_guid,
                        "node_type": device.node_type_text, "node_desc": device.node_desc, "fw_ver": device.fw or None,
                        "board_id": device.board_id or None, "hca_type": device.hca_type or None,
                        **device.params}.items():
        out.line(f"{here}/{name}", value)
    for port in device.port:
        write_port(out, machine, device, port, f"{here}/ports/{port.number}")
        if machine.host.roce_mode:
            out.line(f"sys/kernel/config/rdma_cm/{device.name}/ports/{port.number}/default_roce_mode",
                     machine.host.roce_mode)
        if port.default_tos is not None:
            out.line(f"sys/kernel/config/rdma_cm/{device.name}/ports/{port.number}/default_roce_tos", port.default_tos)
    write_uverbs(out, device, base)
    for name, value in device.lag.items():
        out.line(f"sys/kernel/debug/mlx5/{device.pci}/lag/{name}", value)


# ---- verbs ----

LINK_LAYER_CODES = {"InfiniBand": 1, "Ethernet": 2}


def verbs_port(port):
    return {"number": port.number, "active_mtu": port.active_mtu, "max_mtu": port.max_mtu,
            "gid_table_length": port.gid_table, "link_layer": LINK_LAYER_CODES.get(port.link_layer, 0),
            "state": port.state_code, "physical_state": port.physical_code, "lid": port.lid, "sm_lid": port.sm_lid,
            "active_speed": port.active_speed, "active_width": port.active_width}


def verbs_gid(port, gid):
    ifindex = gid.netdev.ifindex if gid.netdev else gid.foreign[1] if gid.foreign else 0
    return {"port": port.number, "index": gid.index, "gid": gid.text, "type": gid.type_code, "ifindex": ifindex}


def verbs_failure(device):
    if device.verbs_error:
        code = model.errno_of(device.verbs_error.get("errno", "EIO"))
        default = f"{device.name}: ibv_open_device: {os.strerror(code)}"
        return {"errno": code, "text": device.verbs_error.get("text", default)}
    if not device.uverbs:
        return {"errno": errno.ENODEV, "text": f"{device.name}: libibverbs does not know the device (no uverbs device, "
                                               "or no provider library for its driver)"}
    if device.access_errno:
        return {"errno": device.access_errno,
                "text": f"{device.name}: ibv_open_device: {os.strerror(device.access_errno)}"}
    return None


def write_verbs(out, machine, device):
    failure = verbs_failure(device)
    if failure:
        answer = {"error": failure}
    else:
        code = next((model.errno_of(port.gid_error) for port in device.port if port.gid_error), 0)
        gids = [] if code else [verbs_gid(port, gid) for port in device.port for gid in port.gid_list]
        answer = {"provider": device.provider, "port_count": device.last_port, "vendor_id": 713,
                  "vendor_part_id": device.part_id, "max_message_bytes": 1 << 30, "on_demand_paging": device.odp,
                  "ports": [verbs_port(port) for port in device.port], "gids": gids, "gid_error": code or None}
    out.put(f"verbs/{device.name}.json", json.dumps(answer, indent=1) + "\n")


# ---- netlink ----

def write_rdma_netlink(out, machine):
    base, shown = "netlink/rdma", [device for device in machine.rdma if device.here]
    out.put(f"{base}/sys", netlink.rdma_system(machine.host.netns_mode))
    silent = [device for device in shown if device.blocks]
    if silent:
        out.errors[f"{base}/dev"] = errno.ETIMEDOUT
        for device in shown:
            name = f"{base}/dev.{device.index}"
            if device.blocks:
                out.errors[name] = errno.ETIMEDOUT
            else:
                out.put(name, netlink.rdma_device(device))
    else:
        out.put(f"{base}/dev", b"".join(netlink.rdma_device(device) for device in shown))
        for device in shown:
            if not device.sysfs:  # it is asked for once more
                out.put(f"{base}/dev.{device.index}", netlink.rdma_device(device))
    for device in shown:
        ports = [netlink.rdma_port(device, port, machine.nets.get(port.netdev) if machine.host.ndev_index else None)
                 for port in device.port]
        out.put(f"{base}/port.{device.index}", b"".join(ports))
        if device.uverbs:
            out.put(f"{base}/chardev.{device.index}", netlink.rdma_chardev(device))
        for port in device.port:
            if port.hw_counters:
                out.put(f"{base}/stat.{device.index}.{port.number}", netlink.rdma_statistics(device, port))


def address_flags(net, interface):
    """IFA_F_*; DAD of an address that failed stays tentative."""
    flags = 0
    for texts, bits in (net.tentative, 0x40), (net.dadfailed, 0x48), (net.deprecated, 0xa0), (net.secondary, 0x81):
        flags |= bits if any(interface == ipaddress.ip_interface(text) for text in texts) else 0
    return flags or 0x80


def write_route_netlink(out, machine):
    base, nets = "netlink/route", machine.nets
    out.put(f"{base}/link", b"".join(netlink.link(net, nets) for net in machine.net))
    messages = []
    for net in machine.net:
        for interface in net.interfaces:
            messages.append(netlink.address(net, interface, address_flags(net, interface)))
    out.put(f"{base}/addr", b"".join(messages))
    out.put(f"{base}/neigh", b"".join(netlink.neighbour(entry, nets) for entry in machine.neighbour))
    for entry in machine.route:
        path = f"{base}/route.{entry.to}"
        if entry.error is not None:
            out.errors[path] = model.errno_of(entry.error)
        else:
            out.put(path, netlink.route(entry, nets))
        if entry.paths:
            out.put(f"{base}/fib.{entry.to}", netlink.route_of_paths(entry, nets))


# ---- all ----

def check_references(machine):
    for kind, entries in (("route", machine.route), ("neighbour", machine.neighbour)):
        for entry in entries:
            if entry.dev and entry.dev not in machine.nets:
                raise Mistake(f"{kind} {entry.dev!r}: no such netdev is described")
    for entry in machine.route:
        for dev, _ in netlink.paths_of(entry):
            if dev not in machine.nets:
                raise Mistake(f"route {entry.to}: path by {dev!r}: no such netdev is described")
    for net in machine.net:
        if net.operstate not in netlink.OPERSTATES:
            raise Mistake(f"net {net.name}: operstate {net.operstate!r} is none of {' '.join(netlink.OPERSTATES)}")
        if net.slave and (not net.master or machine.nets[net.master].kind != "bond"):
            raise Mistake(f"net {net.name}: slave, but its master is no bond")
        if net.slave and net.slave.mii not in netlink.MII_STATES:
            raise Mistake(f"net {net.name}: mii {net.slave.mii!r} is none of {', '.join(netlink.MII_STATES)}")


def write_facts(out, machine):
    host, process = machine.host, machine.process
    facts = {"hostname": host.hostname, "kernel": host.kernel, "architecture": host.architecture}
    out.put("host.json", json.dumps(facts, indent=1) + "\n")
    if process.recorded:
        keys = ("cpus", "memory_policy", "memory_nodes", "memlock_soft_bytes", "memlock_hard_bytes", "cap_ipc_lock",
                "cap_net_admin", "cap_sys_admin")
        out.put("process.json", json.dumps({key: getattr(process, key) for key in keys}, indent=1) + "\n")


def write_settings(out, machine):
    settings = machine.settings
    if settings:
        out.put("settings.json", json.dumps({"variables": settings.variables, "nccl_conf": settings.nccl_conf}, indent=1) + "\n")


def write_own_files(out, machine):
    """What the description says path by path, over everything that was made."""
    for pattern in machine.absent:
        if not out.remove(pattern):
            raise machine.source.mistake([], "absent", f"{pattern!r} is not there anyway")
    for path, contents in machine.files.items():
        path = out.resolve(path)
        out.errors.pop(path, None)
        out.put(path, str(contents) if str(contents).endswith("\n") else f"{contents}\n")
    for path, digits in machine.binary.items():
        out.put(out.resolve(path), bytes.fromhex(digits))
    for path, target in machine.links.items():
        out.links[out.resolve(path)] = target
    for path, code in machine.errors.items():
        out.fail(out.resolve(path), model.errno_of(code))


def build(machine):
    """The snapshot of a completed machine."""
    check_references(machine)
    out = Snapshot()
    write_facts(out, machine)
    write_settings(out, machine)
    write_nodes(out, machine)
    write_cpus(out, machine)
    for function in machine.pci:
        write_function(out, machine, function)
    write_auxiliary(out, machine)
    health.write_reporters(out, machine)
    health.write_interrupts(out, machine, model.parse_list(machine.all_cpus))
    for net in machine.net:
        write_net(out, machine, net)
    out.directories.add("sys/class/infiniband")
    umads = 0
    for device in machine.rdma:
        if device.sysfs:
            write_rdma(out, machine, device)
        else:
            write_node(out, device)
        for port in device.port:
            if port.sl_to_vl is not None:
                write_umad(out, device, port, umads)
                umads += 1
        if machine.host.verbs and device.verbs:
            write_verbs(out, machine, device)
    if machine.host.netlink and machine.host.rdma_netlink:
        write_rdma_netlink(out, machine)
    if machine.host.netlink and machine.host.route_netlink:
        write_route_netlink(out, machine)
    out.line("dev/infiniband/rdma_cm", 0)
    write_own_files(out, machine)
    return out


def snapshot(machine):
    """The snapshot of a description; every mistake in it is a Mistake that names the line, where the line is known."""
    try:
        return build(model.complete(machine))
    except Mistake as mistake:
        raise located(machine, mistake) from None
    except KeyError as error:
        raise located(machine, Mistake(f"{error.args[0]!r} is not known here, or not described")) from None
    except (ValueError, TypeError, AttributeError, IndexError, OverflowError, struct.error) as error:
        raise located(machine, Mistake(f"a value that cannot be used: {error}")) from None
