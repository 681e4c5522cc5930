/* SPDX-License-Identifier: MIT */
#include "source/rdma_sysfs.h"
#include "source/rdma_nl.h"
#include "base/cleanup.h"
#include "source/nl_attr.h"
#include "source/rdma_words.h"

#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsers ---- */

struct parsing {
	struct host *host;
	struct rdma_device *device;
};

typedef const struct nlattr *attributes[RDMA_NLDEV_ATTR_MAX];

static bool is_reply(const struct nlmsghdr *message, int command)
{
	return message->nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
}

static int take_system(const struct nlmsghdr *message, void *context)
{
	struct parsing *parsing = context;
	attributes table;
	if (!is_reply(message, RDMA_NLDEV_CMD_SYS_GET))
		return 0;
	nl_attributes(message, 0, table, RDMA_NLDEV_ATTR_MAX - 1);
	struct num shared = nl_u8(table[RDMA_NLDEV_SYS_ATTR_NETNS_MODE]);
	if (shared.known)
		parsing->host->rdma_netns_mode = shared.value ? NETNS_SHARED : NETNS_EXCLUSIVE;
	return 0;
}

int rdma_nl_parse_system(const void *data, size_t length, struct host *host)
{
	struct parsing parsing = { .host = host };
	return nl_each_message(data, length, take_system, &parsing);
}

static char *guid_text(const struct nlattr *attribute, struct arena *arena)
{
	uint64_t guid;
	char text[GUID_TEXT_SIZE];
	if (nl_u64(attribute, &guid))
		return NULL;
	format_guid(guid, text);
	return arena_strdup(arena, text);
}

static int take_device(const struct nlmsghdr *message, void *context)
{
	struct host *host = ((struct parsing *)context)->host;
	attributes table;
	if (!is_reply(message, RDMA_NLDEV_CMD_GET))
		return 0;
	nl_attributes(message, 0, table, RDMA_NLDEV_ATTR_MAX - 1);
	struct num index = nl_u32(table[RDMA_NLDEV_ATTR_DEV_INDEX]);
	const char *name = nl_text(table[RDMA_NLDEV_ATTR_DEV_NAME], host->arena);
	if (!index.known || !name || !*name)
		return 0;
	/* The kernel has each once; a recording may have it again. */
	if (host_device_numbered(host, index.value) || host_device(host, name))
		return 0;
	struct rdma_device *device = list_add(host->arena, &host->devices);
	if (!device)
		return -ENOMEM;
	device->name = name;
	device->from_netlink = true;
	device->netlink_index = index;
	device->last_port = nl_u32(table[RDMA_NLDEV_ATTR_PORT_INDEX]);
	device->fw_version = nl_text(table[RDMA_NLDEV_ATTR_FW_VERSION], host->arena);
	device->node_guid = guid_text(table[RDMA_NLDEV_ATTR_NODE_GUID], host->arena);
	device->sys_image_guid = guid_text(table[RDMA_NLDEV_ATTR_SYS_IMAGE_GUID], host->arena);
	device->node_type = nl_u8(table[RDMA_NLDEV_ATTR_DEV_NODE_TYPE]);
	device->protocol = nl_text(table[RDMA_NLDEV_ATTR_DEV_PROTOCOL], host->arena);
	return host_index_device(host, device);
}

int rdma_nl_parse_devices(const void *data, size_t length, struct host *host)
{
	struct parsing parsing = { .host = host };
	return nl_each_message(data, length, take_device, &parsing);
}

/*
 * LIDs are sent for ports that speak InfiniBand only (nldev.c, fill_port_info), so they tell the link layer; the
 * protocol is that of the device's first port. What neither decides is left to sysfs.
 */
static enum link_layer link_layer_of(const struct rdma_device *device, bool has_lid)
{
	if (has_lid)
		return LINK_LAYER_INFINIBAND;
	if (!device->protocol)
		return LINK_LAYER_UNKNOWN;
	return strcmp(device->protocol, "roce") && strcmp(device->protocol, "iw") ? LINK_LAYER_UNKNOWN
	                                                                          : LINK_LAYER_ETHERNET;
}

static int take_port(const struct nlmsghdr *message, void *context)
{
	struct parsing *parsing = context;
	struct arena *arena = parsing->host->arena;
	attributes table;
	/* The answer for one port carries the type of RDMA_NLDEV_CMD_GET (nldev.c, nldev_port_get_doit). */
	if (!is_reply(message, RDMA_NLDEV_CMD_PORT_GET) && !is_reply(message, RDMA_NLDEV_CMD_GET))
		return 0;
	nl_attributes(message, 0, table, RDMA_NLDEV_ATTR_MAX - 1);
	struct num number = nl_u32(table[RDMA_NLDEV_ATTR_PORT_INDEX]);
	struct num index = nl_u32(table[RDMA_NLDEV_ATTR_DEV_INDEX]);
	if (!number.known || !num_is(index, parsing->device->netlink_index.value) ||
	        device_port(parsing->device, number.value))
		return 0;
	struct port *port = list_add(arena, &parsing->device->ports);
	if (!port)
		return -ENOMEM;
	port->number = number;
	port->netdev_source = SOURCE_NETLINK;
	port->state_code = nl_u8(table[RDMA_NLDEV_ATTR_PORT_STATE]);
	port->physical_state_code = nl_u8(table[RDMA_NLDEV_ATTR_PORT_PHYS_STATE]);
	port->state = rdma_port_state(port->state_code);
	port->physical_state = rdma_physical_state(port->physical_state_code);
	port->lid = nl_u32(table[RDMA_NLDEV_ATTR_LID]);
	port->sm_lid = nl_u32(table[RDMA_NLDEV_ATTR_SM_LID]);
	port->netdev_ifindex = nl_u32(table[RDMA_NLDEV_ATTR_NDEV_INDEX]);
	port->link_layer = (int)link_layer_of(parsing->device, port->lid.known);
	return 0;
}

int rdma_nl_parse_ports(const void *data, size_t length, struct host *host, struct rdma_device *device)
{
	struct parsing parsing = { .host = host, .device = device };
	return nl_each_message(data, length, take_port, &parsing);
}

static int take_chardev(const struct nlmsghdr *message, void *context)
{
	struct parsing *parsing = context;
	struct arena *arena = parsing->host->arena;
	attributes table;
	if (!is_reply(message, RDMA_NLDEV_CMD_GET_CHARDEV))
		return 0;
	nl_attributes(message, 0, table, RDMA_NLDEV_ATTR_MAX - 1);
	const char *name = nl_text(table[RDMA_NLDEV_ATTR_CHARDEV_NAME], arena);
	if (name && *name && !strchr(name, '/'))
		parsing->device->uverbs.path = arena_printf(arena, "/dev/infiniband/%s", name);
	parsing->device->driver_id = nl_u32(table[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID]);
	return 0;
}

int rdma_nl_parse_chardev(const void *data, size_t length, struct host *host, struct rdma_device *device)
{
	struct parsing parsing = { .host = host, .device = device };
	return nl_each_message(data, length, take_chardev, &parsing);
}

/* ---- requests ---- */

#define CLASS "sys/class/infiniband"

/* A request with room for two numbers and a short text. */
struct request {
	char name[32];
	_Alignas(struct nlmsghdr) unsigned char message[96];
};

static struct nlmsghdr *begin(struct request *request, int command, uint16_t flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(request->message);
	message->nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	return message;
}

static int ask(struct origin *origin, int command, uint16_t flags, const char *name, struct nl_request *nl)
{
	struct request request;
	*nl = (struct nl_request){ .name = name, .message = begin(&request, command, flags) };
	int result = origin_netlink(origin, NETLINK_RDMA, nl, 1);
	return result ? result : nl->error;
}

static int read_system(struct origin *origin, struct host *host)
{
	struct nl_request nl;
	int result = ask(origin, RDMA_NLDEV_CMD_SYS_GET, 0, "sys", &nl);
	if (!result)
		result = rdma_nl_parse_system(nl.reply, nl.length, host);
	nl_requests_free(&nl, 1);
	if (result)
		report_missing(&host->report, "rdma_netns_mode", "host", result, "RDMA_NLDEV_CMD_SYS_GET: %s",
		        strerror(-result));
	return result;
}

/* What one device by its index was answered with, for nl_requests_free(). -ETIMEDOUT where that blocks. */
static int ask_numbered(struct origin *origin, uint32_t index, struct request *request, struct nl_request *nl)
{
	struct nlmsghdr *message = begin(request, RDMA_NLDEV_CMD_GET, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	snprintf(request->name, sizeof(request->name), "dev.%u", index);
	*nl = (struct nl_request){ .name = request->name, .message = message };
	int result = origin_netlink(origin, NETLINK_RDMA, nl, 1);
	return result ? result : nl->error;
}

static int read_numbered(struct origin *origin, struct host *host, uint32_t index)
{
	struct request request;
	struct nl_request nl;
	int result = ask_numbered(origin, index, &request, &nl);
	if (!result)
		result = rdma_nl_parse_devices(nl.reply, nl.length, host);
	nl_requests_free(&nl, 1);
	return result;
}

bool rdma_nl_lists(struct origin *origin, const struct rdma_device *device)
{
	struct request request;
	struct nl_request nl;
	if (!device->from_netlink || !device->netlink_index.known)
		return false;
	int result = ask_numbered(origin, (uint32_t)device->netlink_index.value, &request, &nl);
	nl_requests_free(&nl, 1);
	return !result;
}

/*
 * The dump asks the driver of each device (for its firmware's version), and one that blocks there keeps all from being
 * told. Asked one by one only that one is lost. Names do not go into a request and indexes are not in sysfs, but the
 * kernel gives them out in turn (device.c, assign_name), so they are tried until as many have answered as sysfs lists.
 */
static int read_one_by_one(struct origin *origin, struct host *host)
{
	enum { LIMIT = 4096 };
	struct strings names;
	origin_about(origin, "host");
	int result = origin_list(origin, host->arena, CLASS, &names);
	uint32_t silent = 0;
	for (uint32_t index = 0; !result && index < LIMIT && host->devices.count + silent < names.count; index++) {
		int answered = read_numbered(origin, host, index);
		silent += answered == -ETIMEDOUT;
		result = answered == -ENOMEM && arena_exhausted(host->arena) ? answered : 0;
	}
	return result;
}

/* What is listed in sysfs and has not answered. Last, since requests about it are of no use. */
static int add_silent(struct origin *origin, struct host *host)
{
	struct strings names;
	int result = origin_list(origin, host->arena, CLASS, &names);
	for (uint32_t i = 0; !result && i < names.count; i++) {
		if (host_device(host, names.items[i]))
			continue;
		struct rdma_device *device = list_add(host->arena, &host->devices);
		if (!device)
			return -ENOMEM;
		device->name = names.items[i];
		report_missing(&host->report, "netlink", device->name, -ETIMEDOUT,
		        "RDMA_NLDEV_CMD_GET did not answer for it by the deadline; it is read from sysfs");
		result = host_index_device(host, device);
	}
	return result;
}

static int read_devices(struct origin *origin, struct host *host)
{
	struct nl_request nl;
	int result = ask(origin, RDMA_NLDEV_CMD_GET, NLM_F_DUMP, "dev", &nl);
	if (!result)
		result = rdma_nl_parse_devices(nl.reply, nl.length, host);
	nl_requests_free(&nl, 1);
	return result;
}

bool rdma_nl_is_partial(const struct host *host)
{
	list_each(device, &host->devices)
		if (!device->from_netlink)
			return true;
	return false;
}

typedef int (*parse_reply)(const void *data, size_t length, struct host *host, struct rdma_device *device);

/* What it means that a request about a device was not answered. */
typedef void note_failure(struct host *host, struct rdma_device *device, int error);

/* What a kernel does not know it need not be told for; what blocks is told as such. */
static void no_ports(struct host *host, struct rdma_device *device, int error)
{
	if (error != -ETIMEDOUT && error != -EOPNOTSUPP && error != -EINVAL && error != -ENOENT)
		report_missing(&host->report, "netlink", device->name, error,
		        "RDMA_NLDEV_CMD_PORT_GET: %s; its ports are read from sysfs", strerror(-error));
}

static void no_chardev(struct host *host, struct rdma_device *device, int error)
{
	(void)host;
	device->uverbs.asked = error;
}

/*
 * One request for each device, all in one go. Where that blocks (it was given up before) each device is asked by
 * itself, so that only the one that blocks is lost.
 */
struct each_device {
	struct host *host;
	struct request *requests;
	struct nl_request *nl;
	parse_reply parse;
	note_failure *failed;
};

static void exchange_each(struct origin *origin, struct each_device *each)
{
	size_t count = each->host->devices.count;
	origin_about(origin, "host");
	if (origin_netlink(origin, NETLINK_RDMA, each->nl, count) != -ETIMEDOUT)
		return;
	for (size_t i = 0; i < count; i++) {
		origin_about(origin, each->host->devices.items[i]->name);
		origin_netlink(origin, NETLINK_RDMA, &each->nl[i], 1);
	}
	origin_about(origin, "host");
}

static int each_new(struct each_device *each, struct host *host, parse_reply parse, note_failure *failed)
{
	*each = (struct each_device){ .host = host, .parse = parse, .failed = failed };
	each->requests = calloc(host->devices.count, sizeof(*each->requests));
	each->nl = calloc(host->devices.count, sizeof(*each->nl));
	return each->requests && each->nl ? 0 : -ENOMEM;
}

static void each_free(struct each_device *each)
{
	if (each->nl)
		nl_requests_free(each->nl, each->host->devices.count);
	free(each->nl);
	free(each->requests);
}

/* What a reply could not tell is asked of sysfs later: a device without ports from here has none yet. */
static void parse_each(struct each_device *each)
{
	for (size_t i = 0; i < each->host->devices.count; i++)
		if (each->nl[i].error)
			each->failed(each->host, each->host->devices.items[i], each->nl[i].error);
		else
			each->parse(each->nl[i].reply, each->nl[i].length, each->host, each->host->devices.items[i]);
}

static void name_request(struct request *request, const char *what, const struct rdma_device *device)
{
	char index[NUMBER_TEXT_SIZE];
	(void)text_join(
	        request->name, sizeof(request->name), what, text_number((uint64_t)device->netlink_index.value, index));
}

/* A device with one port is asked for that port, so that it goes with the others; more ports are dumped. */
static void put_port_request(struct each_device *each, size_t i)
{
	struct rdma_device *device = each->host->devices.items[i];
	bool one = num_is(device->last_port, 1);
	struct request *request = &each->requests[i];
	struct nlmsghdr *message = begin(request, RDMA_NLDEV_CMD_PORT_GET, one ? 0 : NLM_F_DUMP);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)device->netlink_index.value);
	if (one)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	name_request(request, "port.", device);
	each->nl[i] = (struct nl_request){ .name = request->name, .message = message };
}

static void put_chardev_request(struct each_device *each, size_t i)
{
	struct rdma_device *device = each->host->devices.items[i];
	struct request *request = &each->requests[i];
	struct nlmsghdr *message = begin(request, RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, (uint32_t)device->netlink_index.value);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	name_request(request, "chardev.", device);
	each->nl[i] = (struct nl_request){ .name = request->name, .message = message };
}

static int read_each(struct origin *origin, struct host *host, void (*put)(struct each_device *each, size_t i),
        parse_reply parse, note_failure *failed)
{
	if (!host->devices.count)
		return 0;
	autocall(each_free) struct each_device each;
	if (each_new(&each, host, parse, failed))
		return -ENOMEM;
	for (size_t i = 0; i < host->devices.count; i++)
		put(&each, i);
	exchange_each(origin, &each);
	parse_each(&each);
	return 0;
}

/* Is ib_uverbs loaded? 0 or negative errno. Its class has one attribute, which is read faster than it is listed. */
static int find_uverbs(struct origin *origin, struct host *host)
{
	struct strings names;
	origin_about(origin, RDMA_LISTS);
	bool loaded = origin_number(origin, RDMA_VERBS_CLASS "/abi_version", 10).known;
	int error = loaded ? 0 : origin_list(origin, host->arena, RDMA_VERBS_CLASS, &names);
	origin_about(origin, "host");
	return error || loaded || names.count ? error : -ENOENT;
}

static int read_chardevs(struct origin *origin, struct host *host)
{
	/* Without the class the request would have the kernel load ib_uverbs (device.c, ib_get_client_nl_info). */
	int error = find_uverbs(origin, host);
	if (!error)
		return read_each(origin, host, put_chardev_request, rdma_nl_parse_chardev, no_chardev);
	/* Was not there, or was not answered: only the first says that no device has one, and that in a whole sysfs. */
	host->no_class = error == -ENOENT && rdma_sysfs_has_no_class(origin, host);
	list_each(device, &host->devices)
		no_chardev(host, device, error);
	return 0;
}

int rdma_nl_read(struct origin *origin, struct host *host, bool chardevs)
{
	origin_about(origin, "host");
	int result = read_system(origin, host);
	if (result == -EPROTONOSUPPORT || result == -ENOENT)
		return result; /* no such protocol: one reason is enough */
	result = read_devices(origin, host);
	bool blocked = result == -ETIMEDOUT;
	if (blocked)
		result = read_one_by_one(origin, host);
	if (result || (!host->devices.count && !blocked))
		return result;
	result = read_each(origin, host, put_port_request, rdma_nl_parse_ports, no_ports);
	if (!result && chardevs)
		result = read_chardevs(origin, host);
	if (!result && blocked)
		result = add_silent(origin, host);
	return result;
}
