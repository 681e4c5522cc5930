/* SPDX-License-Identifier: MIT */
/* Firmware commands that a program may give by DEVX: queries of its own objects, capabilities, LAG. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"

enum {
	QUERY_HCA_CAP = 0x100,
	QUERY_CQ = 0x402,
	RTS2RTS_QP = 0x505,
	QUERY_QP = 0x50b,
	QUERY_LAG = 0x842,
	CAP_OFFSET = 0x10,
	OPT_LAG_PORT = 1 << 15, /* opt_param_mask of RTS2RTS */
};

static struct fab_port *lag_port(const struct fab_dev *dev)
{
	for (unsigned int p = 0; p < dev->nports; p++)
		if (dev->port[p].nmembers)
			return (struct fab_port *)&dev->port[p];
	return NULL;
}

static int query_caps(const struct fab_dev *dev, const uint8_t *in, uint8_t *out)
{
	uint8_t *cap = out + CAP_OFFSET;
	const struct fab_port *lag = lag_port(dev);

	if (bits_get(in, 0x30, 16) >> 1) /* op_mod: the general device capabilities are 0 */
		return 0;
	bits_set(cap, 0x1b8, 8, lag ? lag->nmembers : dev->nports);
	bits_set(cap, 0x21d, 1, !dev->port[0].ib);
	if (!lag)
		return 0;
	bits_set(cap, 0x152, 1, 1); /* rts2rts_lag_tx_port_affinity */
	bits_set(cap, 0x278, 1, 1); /* lag_tx_port_affinity */
	bits_set(cap, 0x27b, 1, 1); /* lag_master */
	bits_set(cap, 0x27c, 4, lag->nmembers);
	return 0;
}

static uint8_t remapped(const struct fab_port *p, unsigned int n)
{
	return (uint8_t)(p->member[n - 1].up || !p->member[2 - n].up ? n : 3 - n);
}

static int query_lag(const struct fab_dev *dev, uint8_t *out)
{
	const struct fab_port *p = lag_port(dev);

	if (!p)
		return EINVAL;
	bits_set(out, 0x40 + 0x1d, 3, 1);
	bits_set(out, 0x40 + 0x3c, 4, remapped(p, 1));
	bits_set(out, 0x40 + 0x34, 4, remapped(p, 2));
	return 0;
}

static struct fab_qp *own_qp(int ctx, const uint8_t *in)
{
	struct fab_qp *qp = qp_by_number(bits_get(in, 0x48, 24));

	return qp && qp->o.ctx == ctx && qp->o.pid == getpid() ? qp : NULL;
}

static int query_qp(int ctx, const uint8_t *in, uint8_t *out)
{
	const struct fab_qp *qp = own_qp(ctx, in);

	if (!qp)
		return EINVAL;
	qpc_image(qp, out + QPC_OFFSET);
	return 0;
}

static int query_cq(int ctx, const uint8_t *in, uint8_t *out)
{
	const struct fab_cq *cq = cq_by_number(bits_get(in, 0x48, 24));

	if (!cq || cq->o.ctx != ctx || cq->o.pid != getpid())
		return EINVAL;
	cqc_image(cq, out + CQC_OFFSET);
	return 0;
}

static int modify_qp(int ctx, const uint8_t *in, size_t len)
{
	struct fab_qp *qp = own_qp(ctx, in);
	uint32_t port;

	if (!qp || len < QPC_OFFSET + 4 || qp->state != QPS_RTS)
		return EINVAL;
	port = bits_get(in + QPC_OFFSET, 0x004, 4);
	if (!(bits_get(in, 0x80, 32) & OPT_LAG_PORT))
		return 0;
	if (!port || port > qp_port(qp)->nmembers)
		return EINVAL;
	qp->lag_port = (uint8_t)port;
	return 0;
}

static const char *command_name(uint32_t opcode)
{
	switch (opcode) {
	case QUERY_HCA_CAP:
		return "devx_query_hca_cap";
	case QUERY_LAG:
		return "devx_query_lag";
	case QUERY_QP:
		return "devx_query_qp";
	case QUERY_CQ:
		return "devx_query_cq";
	case RTS2RTS_QP:
		return "devx_rts2rts_qp";
	default:
		return "devx_other";
	}
}

static int dispatch(int ctx, uint32_t opcode, const uint8_t *in, size_t len, uint8_t *out)
{
	const struct fab_dev *dev = emu.ctx[ctx].dev;

	switch (opcode) {
	case QUERY_HCA_CAP:
		return query_caps(dev, in, out);
	case QUERY_LAG:
		return query_lag(dev, out);
	case QUERY_QP:
		return query_qp(ctx, in, out);
	case QUERY_CQ:
		return query_cq(ctx, in, out);
	case RTS2RTS_QP:
		return modify_qp(ctx, in, len);
	default:
		return EINVAL;
	}
}

int devx_command(int ctx, const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	uint32_t opcode = bits_get(in, 0, 16);
	struct fab_dev *dev = emu.ctx[ctx].dev;
	struct fault_site site = { .device = dev->name, .target = command_name(opcode) };
	const struct fault *f;
	int err;

	(void)out_len; /* the caller's buffer holds the longest answer */
	if (!fab->ctx[ctx].devx)
		return EINVAL;
	/* what the library asks for by itself while it opens the device is not what devx-fail is about */
	f = opcode == QUERY_HCA_CAP ? NULL : fault_hit(F_DEVX_FAIL, &site);
	if (f)
		return (int)f->arg[0];
	err = command_gate(dev, site.target);
	if (err)
		return err;
	if (dev->fatal)
		return EIO;
	return dispatch(ctx, opcode, in, in_len, out);
}
