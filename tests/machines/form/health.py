# SPDX-License-Identifier: MIT
"""Interrupts, quality of service and the wire of a described machine; netlink numbers of the kernel's UAPI headers."""

import functools
import struct

from . import netlink
from .netlink import nest, text, u8, u16, u32, u64
from .schema import Mistake

# linux/genetlink.h, and the numbers that this machine's kernel gave its families
GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 1, 1, 2
FAMILIES = {"ethtool": 21, "devlink": 22}

# linux/ethtool_netlink.h
MSG_LINKSTATE_GET_REPLY, MSG_PAUSE_GET_REPLY, MSG_FEC_GET_REPLY = 6, 22, 30
MSG_STATS_GET_REPLY, MSG_MODULE_GET_REPLY = 33, 35
LINK_MODE_FEC = {"none": 49, "rs": 50, "baser": 51, "llrs": 74}
STAT_GROUPS = {"eth-phy": 0, "eth-mac": 1, "eth-ctrl": 2, "rmon": 3}

# linux/devlink.h
CMD_HEALTH_REPORTER_GET = 52
ATTR_BUS_NAME, ATTR_DEV_NAME, ATTR_PORT_INDEX, ATTR_HEALTH_REPORTER = 1, 2, 3, 114
REPORTER_NAME, REPORTER_STATE, REPORTER_ERR_COUNT, REPORTER_RECOVER_COUNT = 115, 116, 117, 118

# linux/dcbnl.h, linux/rtnetlink.h
RTM_GETDCB, DCB_CMD_IEEE_GET, DCB_ATTR_IFNAME, DCB_ATTR_IEEE = 78, 21, 1, 13
IEEE_ETS, IEEE_PFC, IEEE_APP_TABLE, IEEE_APP, APP_SEL_DSCP = 1, 2, 3, 1, 5
TSA = {"strict": 0, "credit": 1, "ets": 2, "vendor": 255}


def generic(family, command, *attributes):
    return netlink.message(family, struct.pack("=BBH", command, 1, 0) + b"".join(attributes), 0)


def family_answer(name):
    return generic(GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, text(CTRL_ATTR_FAMILY_NAME, name),
                   u16(CTRL_ATTR_FAMILY_ID, FAMILIES[name]))


def header(net, kind=1):
    return nest(kind, u32(1, net.ifindex), text(2, net.name))


def names_the_table(table):
    """A value in it that cannot be used is a mistake of that table of that netdev."""
    def named(make):
        @functools.wraps(make)
        def answer(net):
            try:
                return make(net)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error) as error:
                raise Mistake(f"net {net.name}: {table}: a value that cannot be used: {error}") from None
        return answer
    return named


def listed(value):
    """One priority is a list of one."""
    return [value] if isinstance(value, int) else value


def check_keys(net, table, known):
    for key in getattr(net, table):
        if key not in known:
            raise Mistake(f"net {net.name}: {table}: {key!r} is none of {' '.join(known)}")


@names_the_table("pause")
def pause_answer(net):
    check_keys(net, "pause", ("autoneg", "rx", "tx", "rx_frames", "tx_frames"))
    given = net.pause
    parts = [header(net)] + [u8(kind, given.get(key, 0)) for key, kind in (("autoneg", 2), ("rx", 3), ("tx", 4))]
    stats = [u64(kind, given[key]) for key, kind in (("tx_frames", 2), ("rx_frames", 3)) if key in given]
    return generic(FAMILIES["ethtool"], MSG_PAUSE_GET_REPLY, *parts, *([nest(5, *stats)] if stats else []))


@names_the_table("fec")
def fec_answer(net):
    check_keys(net, "fec", ("active", "corrected", "uncorrectable"))
    given = net.fec
    stats = [netlink.attribute(kind, struct.pack("=Q", given[key])) for key, kind in
             (("corrected", 2), ("uncorrectable", 3)) if key in given]
    return generic(FAMILIES["ethtool"], MSG_FEC_GET_REPLY, header(net), u8(3, 1),
                   u32(4, LINK_MODE_FEC[given.get("active", "none")]), *([nest(5, *stats)] if stats else []))


@names_the_table("stats")
def stats_answer(net):
    groups = []
    for name, values in net.stats.items():
        if name not in STAT_GROUPS:
            raise Mistake(f"net {net.name}: stats: {name!r} is none of {' '.join(STAT_GROUPS)}")
        groups.append(nest(4, u32(2, STAT_GROUPS[name]), u32(3, 17 + STAT_GROUPS[name]),
                           *[nest(4, u64(int(kind), value)) for kind, value in values.items()]))
    return generic(FAMILIES["ethtool"], MSG_STATS_GET_REPLY, header(net, 2), *groups)


@names_the_table("dcb")
def dcb_answer(net):
    check_keys(net, "dcb", ("classes", "class_of", "tsa", "bandwidth", "pfc", "sent", "received", "dscp", "without_pfc"))
    given, eight = net.dcb, [0] * 8
    ets = bytes([0, given.get("classes", 8), 0, *given.get("bandwidth", eight), *given.get("bandwidth", eight),
                 *[TSA[word] for word in given.get("tsa", ["strict"] * 8)], *given.get("class_of", range(8)),
                 *eight, *eight, *eight])
    enabled = sum(1 << priority for priority in listed(given.get("pfc", [])))
    pfc = struct.pack("=BBBxH2x8Q8Q", 8, enabled, 0, 0, *given.get("sent", eight), *given.get("received", eight))
    apps = [netlink.attribute(IEEE_APP, struct.pack("=BBH", APP_SEL_DSCP, priority, int(dscp)))
            for dscp, priority in given.get("dscp", {}).items()]
    told = b"" if given.get("without_pfc") else netlink.attribute(IEEE_PFC, pfc)
    ieee = nest(DCB_ATTR_IEEE, netlink.attribute(IEEE_ETS, ets), told, nest(IEEE_APP_TABLE, *apps))
    body = struct.pack("=BBH", 0, DCB_CMD_IEEE_GET, 0) + text(DCB_ATTR_IFNAME, net.name) + ieee
    return netlink.message(RTM_GETDCB, body, 0)


def reporter_answer(reporter):
    port = [u32(ATTR_PORT_INDEX, reporter.port)] if reporter.port is not None else []
    return netlink.message(FAMILIES["devlink"], struct.pack("=BBH", CMD_HEALTH_REPORTER_GET, 1, 0) + b"".join([
        text(ATTR_BUS_NAME, reporter.bus), text(ATTR_DEV_NAME, reporter.address), *port,
        nest(ATTR_HEALTH_REPORTER, text(REPORTER_NAME, reporter.name),
             u8(REPORTER_STATE, 1 if reporter.state == "error" else 0), u64(REPORTER_ERR_COUNT, reporter.errors),
             u64(REPORTER_RECOVER_COUNT, reporter.recoveries))]))


def write_net(out, net, here):
    if net.carrier_down is not None:
        out.line(f"{here}/carrier_changes", 2 * net.carrier_down + 1)
        out.line(f"{here}/carrier_up_count", net.carrier_down + 1)
        out.line(f"{here}/carrier_down_count", net.carrier_down)
    for name, value in net.statistics.items():
        out.line(f"{here}/statistics/{name}", value)
    answers = {}
    if net.pause:
        answers["ethtool-pause"] = pause_answer(net)
    if net.fec:
        answers["ethtool-fec"] = fec_answer(net)
    if net.stats:
        answers["ethtool-stats"] = stats_answer(net)
    if net.module_power:
        mode = {"low": 1, "high": 2}[net.module_power]
        answers["ethtool-module"] = generic(FAMILIES["ethtool"], MSG_MODULE_GET_REPLY, header(net), u8(2, 2), u8(3, mode))
    if net.ext_state is not None:
        answers["ethtool-linkstate"] = generic(FAMILIES["ethtool"], MSG_LINKSTATE_GET_REPLY, header(net), u8(2, 0),
                                               u8(5, net.ext_state))
    for name, data in answers.items():
        out.put(f"netlink/generic/{name}.{net.ifindex}", data)
    if answers:
        out.put("netlink/generic/family.ethtool", family_answer("ethtool"))
    if net.dcb:
        out.put(f"netlink/route/dcb.{net.ifindex}", dcb_answer(net))


def write_reporters(out, machine):
    if machine.reporter:
        out.put("netlink/generic/family.devlink", family_answer("devlink"))
        out.put("netlink/generic/devlink-health", b"".join(reporter_answer(entry) for entry in machine.reporter))


def write_interrupts(out, machine, cpus):
    """As kernel/irq/proc.c prints them: a column for each CPU."""
    if not machine.irq:
        return
    columns = "".join(f"{f'CPU{cpu}':>11}" for cpu in cpus)
    lines = [f"     {columns}\n"]
    for irq in sorted(machine.irq, key=lambda entry: entry.number):
        if irq.pci not in machine.functions:
            raise Mistake(f"irq {irq.number}: pci {irq.pci!r} is not described")
        counts = "".join(f"{0:>11}" for _ in cpus)
        lines.append(f"{irq.number:>4}:{counts}  IR-PCI-MSI {524288 + irq.number}-edge      {irq.name}\n")
        out.line(f"sys/devices/{machine.functions[irq.pci].path}/msi_irqs/{irq.number}", "msix")
        out.line(f"proc/irq/{irq.number}/smp_affinity_list", irq.affinity or machine.all_cpus)
        if irq.effective is not None:
            out.line(f"proc/irq/{irq.number}/effective_affinity_list", irq.effective)
    lines.append(f" NMI:{''.join(f'{0:>11}' for _ in cpus)}   Non-maskable interrupts\n")
    out.put("proc/interrupts", "".join(lines))
