/* SPDX-License-Identifier: MIT */
/* NETLINK_RDMA: what nldev answers to libibverbs, iproute2's rdma and other readers. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rdma/rdma_netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "emu.h"

enum {
	MESSAGE_ROOM = 65536,
	UVERBS_MAJOR = 231,
	UVERBS_MINOR = 192,
	RSC_QP = 0x4000,
	RSC_CQ = 0x4020,
	RSC_MR = 0x4010
};

/* ---- building messages */

struct msg {
	size_t len;
	uint8_t bytes[MESSAGE_ROOM];
};

struct request {
	const struct nlmsghdr *h;
	uint32_t portid;
	unsigned int op;
	bool dump;
	struct msg *m;
};

/* NLA_HDRLEN and NLMSG_HDRLEN, which the headers make signed. */
enum { ATTR_HEAD = 4, MSG_HEAD = 16 };

/* Attributes and messages start at multiples of 4 (NLA_ALIGN). */
static size_t align(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void begin(const struct request *r, uint16_t type)
{
	struct nlmsghdr *h = (void *)r->m->bytes;

	*h = (struct nlmsghdr){ .nlmsg_type = type,
		.nlmsg_flags = r->dump ? NLM_F_MULTI : 0,
		.nlmsg_seq = r->h->nlmsg_seq,
		.nlmsg_pid = r->portid };
	r->m->len = (size_t)MSG_HEAD;
}

static void finish(const struct request *r)
{
	((struct nlmsghdr *)(void *)r->m->bytes)->nlmsg_len = (uint32_t)r->m->len;
	netlink_reply(r->m->bytes, r->m->len);
}

static void put(struct msg *m, uint16_t type, const void *p, size_t n)
{
	struct nlattr *a = (void *)(m->bytes + m->len);
	size_t size = align((size_t)ATTR_HEAD + n);

	if (m->len + size > sizeof(m->bytes))
		return;
	memset(a, 0, size);
	a->nla_type = type;
	a->nla_len = (uint16_t)((size_t)ATTR_HEAD + n);
	if (n)
		memcpy(a + 1, p, n);
	m->len += size;
}

static void put_u8(struct msg *m, uint16_t type, uint8_t v)
{
	put(m, type, &v, sizeof(v));
}

static void put_u32(struct msg *m, uint16_t type, uint32_t v)
{
	put(m, type, &v, sizeof(v));
}

static void put_u64(struct msg *m, uint16_t type, uint64_t v)
{
	put(m, type, &v, sizeof(v));
}

static void put_str(struct msg *m, uint16_t type, const char *s)
{
	put(m, type, s, strlen(s) + 1);
}

static size_t nest(struct msg *m, uint16_t type)
{
	size_t at = m->len;

	put(m, type | NLA_F_NESTED, NULL, 0);
	return at;
}

static void nest_end(struct msg *m, size_t at)
{
	((struct nlattr *)(void *)(m->bytes + at))->nla_len = (uint16_t)(m->len - at);
}

static void send_error(const struct request *r, int err)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} out = { .h = { .nlmsg_len = sizeof(out),
		          .nlmsg_type = NLMSG_ERROR,
		          .nlmsg_seq = r->h->nlmsg_seq,
		          .nlmsg_pid = r->portid },
		.e = { .error = -err, .msg = *r->h } };

	netlink_reply(&out, sizeof(out));
}

static void send_done(const struct request *r)
{
	begin(r, NLMSG_DONE);
	memset(r->m->bytes + r->m->len, 0, 4);
	r->m->len += 4;
	finish(r);
}

/* ---- reading requests */

static const void *find(const struct request *r, uint16_t type, size_t min)
{
	const uint8_t *p = (const uint8_t *)r->h + (size_t)MSG_HEAD, *end = (const uint8_t *)r->h + r->h->nlmsg_len;

	while (p + (size_t)ATTR_HEAD <= end) {
		const struct nlattr *a = (const void *)p;

		if (a->nla_len < (size_t)ATTR_HEAD || p + a->nla_len > end)
			break;
		if ((a->nla_type & NLA_TYPE_MASK) == type && a->nla_len - (size_t)ATTR_HEAD >= min)
			return a + 1;
		p += align(a->nla_len);
	}
	return NULL;
}

static uint32_t get_u32(const struct request *r, uint16_t type, uint32_t missing)
{
	const uint32_t *v = find(r, type, 4);

	return v ? *v : missing;
}

/* ---- devices and ports */

static void put_handle(struct msg *m, const struct fab_dev *dev)
{
	put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, dev->index);
	put_str(m, RDMA_NLDEV_ATTR_DEV_NAME, dev->name);
}

static void device_message(const struct request *r, const struct fab_dev *dev)
{
	begin(r, r->h->nlmsg_type);
	put_handle(r->m, dev);
	put_u32(r->m, RDMA_NLDEV_ATTR_PORT_INDEX, dev->nports);
	put_u64(r->m, RDMA_NLDEV_ATTR_CAP_FLAGS, 0x21721c36);
	put_str(r->m, RDMA_NLDEV_ATTR_FW_VERSION, "28.39.1004");
	put_u64(r->m, RDMA_NLDEV_ATTR_NODE_GUID, dev->guid);
	put_u64(r->m, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, dev->guid);
	put_u8(r->m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1);
	put_u8(r->m, RDMA_NLDEV_ATTR_DEV_DIM, 1);
	put_str(r->m, RDMA_NLDEV_ATTR_DEV_PROTOCOL, dev->port[0].ib ? "ib" : "roce");
	finish(r);
}

static uint64_t subnet_prefix(const struct fab_port *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p->gid[0].raw[i];
	return v;
}

static void port_message(const struct request *r, const struct fab_dev *dev, uint32_t number)
{
	const struct fab_port *p = &dev->port[number - 1];

	begin(r, r->h->nlmsg_type);
	put_handle(r->m, dev);
	put_u32(r->m, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	if (p->ib) {
		put_u64(r->m, RDMA_NLDEV_ATTR_CAP_FLAGS, 0xa651e848);
		put_u64(r->m, RDMA_NLDEV_ATTR_SUBNET_PREFIX, subnet_prefix(p));
		put_u32(r->m, RDMA_NLDEV_ATTR_LID, p->lid);
		put_u32(r->m, RDMA_NLDEV_ATTR_SM_LID, p->sm_lid);
		put_u8(r->m, RDMA_NLDEV_ATTR_LMC, 0);
	}
	put_u8(r->m, RDMA_NLDEV_ATTR_PORT_STATE, p->state);
	put_u8(r->m, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, p->state == 4 ? 5 : 3);
	if (p->ifindex) {
		put_u32(r->m, RDMA_NLDEV_ATTR_NDEV_INDEX, p->ifindex);
		put_str(r->m, RDMA_NLDEV_ATTR_NDEV_NAME, p->ndev);
	}
	finish(r);
}

static int get_device(const struct request *r)
{
	struct fab_dev *list[MAX_DEVS], *dev;
	unsigned int n = host_devices(list);

	if (r->dump) {
		for (unsigned int i = 0; i < n; i++)
			device_message(r, list[i]);
		return 0;
	}
	dev = find(r, RDMA_NLDEV_ATTR_DEV_INDEX, 4) ? dev_by_index(get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, 0)) : NULL;
	if (!dev)
		return EINVAL;
	device_message(r, dev);
	return 0;
}

/* A dump is of the ports of one device, as in the kernel. */
static int get_port(const struct request *r)
{
	struct fab_dev *dev =
	        find(r, RDMA_NLDEV_ATTR_DEV_INDEX, 4) ? dev_by_index(get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, 0)) : NULL;
	uint32_t number = get_u32(r, RDMA_NLDEV_ATTR_PORT_INDEX, 0);

	if (!dev || (!r->dump && (!number || number > dev->nports)))
		return EINVAL;
	for (uint32_t p = 1; r->dump && p <= dev->nports; p++)
		port_message(r, dev, p);
	if (!r->dump)
		port_message(r, dev, number);
	return 0;
}

static int get_system(const struct request *r)
{
	begin(r, r->h->nlmsg_type);
	put_u8(r->m, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
	put_u8(r->m, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	finish(r);
	return 0;
}

static int get_chardev(const struct request *r)
{
	struct fab_dev *dev = dev_by_index(get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, UINT32_MAX));
	const char *type = find(r, RDMA_NLDEV_ATTR_CHARDEV_TYPE, 2);
	char name[16];

	if (!type)
		return EINVAL;
	if (strcmp(type, "uverbs") || !dev)
		return ENODEV;
	snprintf(name, sizeof(name), "uverbs%u", dev->uverbs);
	begin(r, r->h->nlmsg_type);
	/* huge_encode_dev() keeps the old form for small numbers */
	put_u64(r->m, RDMA_NLDEV_ATTR_CHARDEV, (uint64_t)UVERBS_MAJOR << 8 | (UVERBS_MINOR + dev->uverbs));
	put_u64(r->m, RDMA_NLDEV_ATTR_CHARDEV_ABI, 1);
	put_str(r->m, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
	put_u32(r->m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RDMA_DRIVER_MLX5);
	finish(r);
	return 0;
}

/* ---- counters */

static void stat_message(const struct request *r, const struct fab_dev *dev, uint32_t number)
{
	const struct fab_port *p = &dev->port[number - 1];
	size_t table, entry;

	begin(r, r->h->nlmsg_type);
	put_handle(r->m, dev);
	put_u32(r->m, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	table = nest(r->m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (int i = 0; i < HC_COUNT; i++) {
		entry = nest(r->m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		put_str(r->m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, hw_counter_name[i]);
		put_u64(r->m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, p->hc[i]);
		nest_end(r->m, entry);
	}
	nest_end(r->m, table);
	finish(r);
}

/* Without a resource these are the ports' default counters; a dump of them is of all devices and ports. */
static int get_stat(const struct request *r)
{
	struct fab_dev *list[MAX_DEVS], *dev = dev_by_index(get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, UINT32_MAX));
	uint32_t number = get_u32(r, RDMA_NLDEV_ATTR_PORT_INDEX, 0);
	unsigned int n;

	if (find(r, RDMA_NLDEV_ATTR_STAT_RES, 4))
		return r->dump ? 0 : EOPNOTSUPP; /* no counters bound to QPs */
	if (r->dump) {
		n = host_devices(list);
		for (unsigned int i = 0; i < n; i++)
			for (uint32_t p = 1; p <= list[i]->nports; p++)
				stat_message(r, list[i], p);
		return 0;
	}
	if (!dev || !number || number > dev->nports)
		return EINVAL;
	stat_message(r, dev, number);
	return 0;
}

/* ---- resources */

static void put_raw(struct msg *m, uint16_t type, uint32_t index, const uint8_t *payload, size_t len)
{
	uint8_t dump[1024];

	put(m, RDMA_NLDEV_ATTR_RES_RAW, dump, resource_dump(dump, type, index, payload, len));
}

static void put_qp(struct msg *m, const void *obj, bool raw)
{
	const struct fab_qp *qp = obj;
	uint8_t out[QUERY_OUT_LEN] = { 0 };

	if (raw) {
		qpc_image(qp, out + QPC_OFFSET);
		put_raw(m, RSC_QP, qp->qpn, out, sizeof(out));
		return;
	}
	put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, qp->port);
	put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, qp->qpn);
	if (qp->state >= QPS_RTR) {
		put_u32(m, RDMA_NLDEV_ATTR_RES_RQPN, qp->attr.dest_qp_num);
		put_u32(m, RDMA_NLDEV_ATTR_RES_RQ_PSN, qp->rcv_psn);
	}
	put_u32(m, RDMA_NLDEV_ATTR_RES_SQ_PSN, qp->next_psn);
	put_u8(m, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, 0);
	put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, qp->type);
	put_u8(m, RDMA_NLDEV_ATTR_RES_STATE, qp->state);
	put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, fab->pd[qp->pd].o.id);
	put_u32(m, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)qp->o.pid);
}

static void put_cq(struct msg *m, const void *obj, bool raw)
{
	const struct fab_cq *cq = obj;
	uint8_t out[QUERY_OUT_LEN] = { 0 };
	uint64_t users = 0;

	if (raw) {
		cqc_image(cq, out + CQC_OFFSET);
		put_raw(m, RSC_CQ, cq->cqn, out, sizeof(out));
		return;
	}
	for (int i = 0; i < MAX_QPS; i++)
		if (fab->qp[i].o.used)
			users += (unsigned int)(&fab->cq[fab->qp[i].scq] == cq) + (&fab->cq[fab->qp[i].rcq] == cq);
	put_u32(m, RDMA_NLDEV_ATTR_RES_CQE, cq->ncqe - 1);
	put_u64(m, RDMA_NLDEV_ATTR_RES_USECNT, users);
	put_u8(m, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	put_u32(m, RDMA_NLDEV_ATTR_RES_CQN, cq->o.id);
	put_u32(m, RDMA_NLDEV_ATTR_RES_CTXN, fab->ctx[cq->o.ctx].o.id);
	put_u32(m, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)cq->o.pid);
}

static void put_mr(struct msg *m, const void *obj, bool raw)
{
	const struct fab_mr *mr = obj;
	uint8_t out[QUERY_OUT_LEN] = { 0 };

	if (raw) {
		bits_set(out + MKC_OFFSET, 0x80, 64, mr->iova);
		bits_set(out + MKC_OFFSET, 0xc0, 64, mr->len);
		put_raw(m, RSC_MR, mr->key >> 8, out, sizeof(out));
		return;
	}
	put_u64(m, RDMA_NLDEV_ATTR_RES_MRLEN, mr->len);
	put_u32(m, RDMA_NLDEV_ATTR_RES_MRN, mr->o.id);
	put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, fab->pd[mr->pd].o.id);
	put_u32(m, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)mr->o.pid);
}

static void put_pd(struct msg *m, const void *obj, bool raw)
{
	const struct fab_pd *pd = obj;

	(void)raw;
	put_u64(m, RDMA_NLDEV_ATTR_RES_USECNT, 0);
	put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, pd->o.id);
	put_u32(m, RDMA_NLDEV_ATTR_RES_CTXN, fab->ctx[pd->o.ctx].o.id);
	put_u32(m, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)pd->o.pid);
}

static void put_ctx(struct msg *m, const void *obj, bool raw)
{
	const struct fab_ctx *ctx = obj;

	(void)raw;
	put_u32(m, RDMA_NLDEV_ATTR_RES_CTXN, ctx->o.id);
	put_u32(m, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)ctx->o.pid);
}

struct resource {
	unsigned int op, op_raw; /* 0: none */
	const char *name;        /* in the summary */
	uint16_t table, entry, id;
	size_t offset, size, count;
	void (*put)(struct msg *m, const void *obj, bool raw);
	enum obj_table kind;
};

#define AT(field) offsetof(struct fabric, field), sizeof(fab->field[0]), sizeof(fab->field) / sizeof(fab->field[0])
static const struct resource resources[] = {
	{ RDMA_NLDEV_CMD_RES_PD_GET, 0, "pd", RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
	        RDMA_NLDEV_ATTR_RES_PDN, AT(pd), put_pd, TABLE_PD },
	{ RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_CMD_RES_CQ_GET_RAW, "cq", RDMA_NLDEV_ATTR_RES_CQ,
	        RDMA_NLDEV_ATTR_RES_CQ_ENTRY, RDMA_NLDEV_ATTR_RES_CQN, AT(cq), put_cq, TABLE_CQ },
	{ RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_CMD_RES_QP_GET_RAW, "qp", RDMA_NLDEV_ATTR_RES_QP,
	        RDMA_NLDEV_ATTR_RES_QP_ENTRY, RDMA_NLDEV_ATTR_RES_LQPN, AT(qp), put_qp, TABLE_QP },
	{ RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_CMD_RES_MR_GET_RAW, "mr", RDMA_NLDEV_ATTR_RES_MR,
	        RDMA_NLDEV_ATTR_RES_MR_ENTRY, RDMA_NLDEV_ATTR_RES_MRN, AT(mr), put_mr, TABLE_MR },
	{ RDMA_NLDEV_CMD_RES_CTX_GET, 0, "ctx", RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
	        RDMA_NLDEV_ATTR_RES_CTXN, AT(ctx), put_ctx, TABLE_CTX },
};

static const struct fab_obj *object(const struct resource *res, size_t i, const struct fab_dev *dev)
{
	const struct fab_obj *o = (const void *)((const char *)fab + res->offset + i * res->size);

	return o->used && &fab->dev[o->dev] == dev ? o : NULL;
}

static uint32_t object_id(const struct resource *res, const struct fab_obj *o)
{
	return res->kind == TABLE_QP ? ((const struct fab_qp *)o)->qpn : o->id;
}

/* QUERY_QP etc. show keys and addresses: CAP_NET_ADMIN (nldev's RAW commands have RDMA_NL_ADMIN_PERM). */
static bool has_net_admin(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { 0 };

	if (emu.privilege != PRIVILEGE_AUTO)
		return emu.privilege == PRIVILEGE_YES;
	return !syscall(SYS_capget, &h, d) && d[0].effective >> CAP_NET_ADMIN & 1;
}

static void dump_resource(const struct request *r, const struct resource *res, const struct fab_dev *dev, bool raw)
{
	size_t table, entry;

	begin(r, r->h->nlmsg_type);
	put_handle(r->m, dev);
	table = nest(r->m, res->table);
	for (size_t i = 0; i < res->count; i++) {
		const struct fab_obj *o = object(res, i, dev);

		/* a full message ends and the dump goes on in another */
		if (r->m->len > 16384) {
			nest_end(r->m, table);
			finish(r);
			begin(r, r->h->nlmsg_type);
			put_handle(r->m, dev);
			table = nest(r->m, res->table);
		}
		if (!o)
			continue;
		entry = nest(r->m, res->entry);
		res->put(r->m, o, raw);
		nest_end(r->m, entry);
	}
	nest_end(r->m, table);
	finish(r);
}

static int get_resource(const struct request *r, const struct resource *res, bool raw)
{
	const struct fab_dev *dev = dev_by_index(get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, UINT32_MAX));
	uint32_t id = get_u32(r, res->id, UINT32_MAX);
	bool port = find(r, RDMA_NLDEV_ATTR_PORT_INDEX, 4);

	if (raw && !has_net_admin())
		return EPERM;
	/* a QP is asked for with its port, anything else must not be (res_get_common_doit) */
	if (!dev || (!r->dump && (res->kind == TABLE_QP) != port))
		return EINVAL;
	if (r->dump) {
		dump_resource(r, res, dev, raw);
		return 0;
	}
	for (size_t i = 0; i < res->count; i++) {
		const struct fab_obj *o = object(res, i, dev);

		if (!o || object_id(res, o) != id)
			continue;
		begin(r, r->h->nlmsg_type);
		put_handle(r->m, dev);
		res->put(r->m, o, raw);
		finish(r);
		return 0;
	}
	return ENOENT;
}

static void summary_message(const struct request *r, const struct fab_dev *dev)
{
	size_t table, entry;

	begin(r, r->h->nlmsg_type);
	put_handle(r->m, dev);
	table = nest(r->m, RDMA_NLDEV_ATTR_RES_SUMMARY);
	for (size_t t = 0; t < sizeof(resources) / sizeof(*resources); t++) {
		uint64_t n = 0;

		for (size_t i = 0; i < resources[t].count; i++)
			n += object(&resources[t], i, dev) != NULL;
		entry = nest(r->m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
		put_str(r->m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, resources[t].name);
		put_u64(r->m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, n);
		nest_end(r->m, entry);
	}
	nest_end(r->m, table);
	finish(r);
}

static int get_summary(const struct request *r)
{
	struct fab_dev *list[MAX_DEVS], *dev;
	unsigned int n = host_devices(list);

	for (unsigned int i = 0; r->dump && i < n; i++)
		summary_message(r, list[i]);
	if (r->dump)
		return 0;
	dev = dev_by_index(get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, UINT32_MAX));
	if (!dev)
		return EINVAL;
	summary_message(r, dev);
	return 0;
}

static int get_nothing(const struct request *r)
{
	const struct fab_dev *dev = dev_by_index(get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, UINT32_MAX));

	return !dev ? EINVAL : r->dump ? 0 : ENOENT;
}

/* ---- dispatch */

static int simple_request(const struct request *r)
{
	switch (r->op) {
	case RDMA_NLDEV_CMD_GET:
		return get_device(r);
	case RDMA_NLDEV_CMD_PORT_GET:
		return get_port(r);
	case RDMA_NLDEV_CMD_SYS_GET:
		return get_system(r);
	case RDMA_NLDEV_CMD_GET_CHARDEV:
		return get_chardev(r);
	case RDMA_NLDEV_CMD_STAT_GET:
		return get_stat(r);
	case RDMA_NLDEV_CMD_RES_GET:
		return get_summary(r);
	case RDMA_NLDEV_CMD_RES_CM_ID_GET:
	case RDMA_NLDEV_CMD_RES_SRQ_GET:
		return get_nothing(r);
	default:
		return EOPNOTSUPP;
	}
}

static int handle(const struct request *r)
{
	if (r->h->nlmsg_type >> 10 != RDMA_NL_NLDEV)
		return EINVAL;
	for (size_t i = 0; i < sizeof(resources) / sizeof(*resources); i++) {
		if (resources[i].op == r->op)
			return get_resource(r, &resources[i], false);
		if (resources[i].op_raw && resources[i].op_raw == r->op)
			return get_resource(r, &resources[i], true);
	}
	return simple_request(r);
}

static const char *op_name(unsigned int op)
{
	static const char *const names[] = { [RDMA_NLDEV_CMD_GET] = "get",
		[RDMA_NLDEV_CMD_PORT_GET] = "port_get",
		[RDMA_NLDEV_CMD_SYS_GET] = "sys_get",
		[RDMA_NLDEV_CMD_GET_CHARDEV] = "get_chardev",
		[RDMA_NLDEV_CMD_STAT_GET] = "stat_get",
		[RDMA_NLDEV_CMD_RES_GET] = "res_get",
		[RDMA_NLDEV_CMD_RES_QP_GET] = "res_qp_get",
		[RDMA_NLDEV_CMD_RES_CQ_GET] = "res_cq_get",
		[RDMA_NLDEV_CMD_RES_MR_GET] = "res_mr_get",
		[RDMA_NLDEV_CMD_RES_PD_GET] = "res_pd_get",
		[RDMA_NLDEV_CMD_RES_QP_GET_RAW] = "res_qp_get_raw",
		[RDMA_NLDEV_CMD_RES_CQ_GET_RAW] = "res_cq_get_raw",
		[RDMA_NLDEV_CMD_RES_MR_GET_RAW] = "res_mr_get_raw" };

	return op < sizeof(names) / sizeof(*names) && names[op] ? names[op] : "other";
}

static int gate(const struct request *r)
{
	struct fab_dev *dev = dev_by_index(get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, UINT32_MAX));
	struct fault_site site = { .target = op_name(r->op), .device = dev ? dev->name : NULL };
	const struct fault *f;

	block_if(F_BLOCK_NETLINK, &site);
	f = fault_hit(F_NETLINK_FAIL, &site);
	return f ? (int)f->arg[0] : 0;
}

static void serve(const struct nlmsghdr *h, uint32_t portid)
{
	struct msg *m = malloc(sizeof(*m));
	struct request r = { .h = h,
		.portid = portid,
		.op = h->nlmsg_type & 0x3ff,
		.dump = (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP,
		.m = m };
	int err;

	if (!m)
		return;
	err = gate(&r);
	if (!err)
		err = handle(&r);
	if (err)
		send_error(&r, err);
	else if (r.dump)
		send_done(&r);
	else if (h->nlmsg_flags & NLM_F_ACK)
		send_error(&r, 0);
	free(m);
}

/* Several requests may come in one buffer. With the lock held. */
void netlink_input(const void *buf, size_t len, uint32_t portid)
{
	const uint8_t *p = buf;

	fabric_lock();
	fabric_reap();
	fabric_unlock();
	while (len >= (size_t)MSG_HEAD) {
		const struct nlmsghdr *h = (const void *)p;
		size_t size;

		if (h->nlmsg_len < (size_t)MSG_HEAD || h->nlmsg_len > len)
			break;
		serve(h, portid);
		size = align(h->nlmsg_len);
		if (size >= len)
			break;
		p += size;
		len -= size;
	}
}
