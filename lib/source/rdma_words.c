/* SPDX-License-Identifier: MIT */
#include "source/rdma_words.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

static const char *word(const char *const *words, size_t count, struct num code)
{
	return code.known && code.value >= 0 && (size_t)code.value < count ? words[code.value] : NULL;
}

const char *rdma_port_state(struct num code)
{
	static const char *const words[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER" };
	return word(words, ARRAY_SIZE(words), code);
}

const char *rdma_physical_state(struct num code)
{
	static const char *const words[] = {
		[1] = "SLEEP",
		[2] = "POLLING",
		[3] = "DISABLED",
		[4] = "PORT_CONFIGURATION_TRAINING",
		[5] = "LINK_UP",
		[6] = "LINK_ERROR_RECOVERY",
		[7] = "PHY_TEST",
	};
	return word(words, ARRAY_SIZE(words), code);
}

const char *rdma_driver_name(struct num id)
{
	static const char *const words[] = {
		[RDMA_DRIVER_MLX5] = "mlx5_ib",
		[RDMA_DRIVER_MLX4] = "mlx4_ib",
		[RDMA_DRIVER_CXGB3] = "iw_cxgb3",
		[RDMA_DRIVER_CXGB4] = "iw_cxgb4",
		[RDMA_DRIVER_MTHCA] = "ib_mthca",
		[RDMA_DRIVER_BNXT_RE] = "bnxt_re",
		[RDMA_DRIVER_OCRDMA] = "ocrdma",
		[RDMA_DRIVER_NES] = "iw_nes",
		[RDMA_DRIVER_I40IW] = "irdma",
		[RDMA_DRIVER_VMW_PVRDMA] = "vmw_pvrdma",
		[RDMA_DRIVER_QEDR] = "qedr",
		[RDMA_DRIVER_HNS] = "hns_roce",
		[RDMA_DRIVER_USNIC] = "usnic_verbs",
		[RDMA_DRIVER_RXE] = "rdma_rxe",
		[RDMA_DRIVER_HFI1] = "hfi1",
		[RDMA_DRIVER_QIB] = "ib_qib",
		[RDMA_DRIVER_EFA] = "efa",
		[RDMA_DRIVER_SIW] = "siw",
	};
	return word(words, ARRAY_SIZE(words), id);
}

bool rdma_driver_is_software(struct num id)
{
	return num_is(id, RDMA_DRIVER_RXE) || num_is(id, RDMA_DRIVER_SIW);
}

enum transport rdma_transport(struct num node_type, enum link_layer link_layer)
{
	if (!node_type.known)
		return TRANSPORT_UNKNOWN;
	switch (node_type.value) {
	case RDMA_NODE_RNIC:
		return TRANSPORT_IWARP;
	case RDMA_NODE_IB_CA:
	case RDMA_NODE_IB_SWITCH:
	case RDMA_NODE_IB_ROUTER:
		if (link_layer == LINK_LAYER_INFINIBAND)
			return TRANSPORT_INFINIBAND;
		return link_layer == LINK_LAYER_ETHERNET ? TRANSPORT_ROCE : TRANSPORT_UNKNOWN;
	default:
		return TRANSPORT_UNSPECIFIED;
	}
}

enum link_layer rdma_link_layer(const char *text)
{
	if (!text)
		return LINK_LAYER_UNKNOWN;
	if (!strcmp(text, "InfiniBand"))
		return LINK_LAYER_INFINIBAND;
	if (!strcmp(text, "Ethernet"))
		return LINK_LAYER_ETHERNET;
	return !strcmp(text, "Unknown") || !strcmp(text, "Unspecified") ? LINK_LAYER_UNSPECIFIED : LINK_LAYER_UNKNOWN;
}

struct num rdma_rate_mbps(const char *text)
{
	int64_t whole = 0, part = 0, unit = 1000;
	if (!text || !isdigit((unsigned char)*text))
		return (struct num){ 0 };
	for (; isdigit((unsigned char)*text) && whole < 1000000; text++)
		whole = whole * 10 + (*text - '0');
	if (*text == '.') /* "2.5 Gb/sec" */
		for (text++; isdigit((unsigned char)*text); text++) {
			unit /= 10;
			part += (*text - '0') * unit;
		}
	return strncmp(text, " Gb/sec", 7) ? (struct num){ 0 } : num(whole * 1000 + part);
}
