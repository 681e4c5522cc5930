/* SPDX-License-Identifier: MIT */
#include "probe/words.h"

#include "base/cleanup.h"
#include "model/gid.h"
#include "model/host.h"

#include <infiniband/verbs.h>
#include <stdio.h>

static const char *word(const char *const *words, size_t count, int value)
{
	return value >= 0 && (size_t)value < count ? words[value] : NULL;
}
#define WORD(words, value) word(words, ARRAY_SIZE(words), value)

const char *qp_state_word(int state)
{
	static const char *const words[] = {
		[IBV_QPS_RESET] = "RESET",
		[IBV_QPS_INIT] = "INIT",
		[IBV_QPS_RTR] = "RTR",
		[IBV_QPS_RTS] = "RTS",
		[IBV_QPS_SQD] = "SQD",
		[IBV_QPS_SQE] = "SQE",
		[IBV_QPS_ERR] = "ERR",
	};
	return WORD(words, state);
}

const char *link_layer_word(int link_layer)
{
	switch (link_layer) {
	case IBV_LINK_LAYER_INFINIBAND:
		return link_layer_names[LINK_LAYER_INFINIBAND];
	case IBV_LINK_LAYER_ETHERNET:
		return link_layer_names[LINK_LAYER_ETHERNET];
	default:
		return link_layer_names[LINK_LAYER_UNSPECIFIED];
	}
}

const char *gid_type_word(uint32_t type, int link_layer)
{
	if (type == IBV_GID_TYPE_ROCE_V2)
		return gid_type_names[GID_TYPE_ROCE_V2];
	if (type == IBV_GID_TYPE_ROCE_V1)
		return gid_type_names[GID_TYPE_ROCE_V1];
	/* Old kernels say "IB/RoCE v1" for both. */
	return gid_type_names[link_layer == IBV_LINK_LAYER_ETHERNET ? GID_TYPE_ROCE_V1 : GID_TYPE_IB];
}

const char *event_word(int event)
{
	static const char *const words[] = {
		[IBV_EVENT_CQ_ERR] = "CQ_ERR",
		[IBV_EVENT_QP_FATAL] = "QP_FATAL",
		[IBV_EVENT_QP_REQ_ERR] = "QP_REQ_ERR",
		[IBV_EVENT_QP_ACCESS_ERR] = "QP_ACCESS_ERR",
		[IBV_EVENT_COMM_EST] = "COMM_EST",
		[IBV_EVENT_SQ_DRAINED] = "SQ_DRAINED",
		[IBV_EVENT_PATH_MIG] = "PATH_MIG",
		[IBV_EVENT_PATH_MIG_ERR] = "PATH_MIG_ERR",
		[IBV_EVENT_DEVICE_FATAL] = "DEVICE_FATAL",
		[IBV_EVENT_PORT_ACTIVE] = "PORT_ACTIVE",
		[IBV_EVENT_PORT_ERR] = "PORT_ERR",
		[IBV_EVENT_LID_CHANGE] = "LID_CHANGE",
		[IBV_EVENT_PKEY_CHANGE] = "PKEY_CHANGE",
		[IBV_EVENT_SM_CHANGE] = "SM_CHANGE",
		[IBV_EVENT_SRQ_ERR] = "SRQ_ERR",
		[IBV_EVENT_SRQ_LIMIT_REACHED] = "SRQ_LIMIT_REACHED",
		[IBV_EVENT_QP_LAST_WQE_REACHED] = "QP_LAST_WQE_REACHED",
		[IBV_EVENT_CLIENT_REREGISTER] = "CLIENT_REREGISTER",
		[IBV_EVENT_GID_CHANGE] = "GID_CHANGE",
		[IBV_EVENT_WQ_FATAL] = "WQ_FATAL",
	};
	return WORD(words, event);
}

#define STATUS(name) [IBV_WC_##name] = "IBV_WC_" #name
const char *status_word(int status)
{
	static const char *const words[] = {
		STATUS(SUCCESS),
		STATUS(LOC_LEN_ERR),
		STATUS(LOC_QP_OP_ERR),
		STATUS(LOC_EEC_OP_ERR),
		STATUS(LOC_PROT_ERR),
		STATUS(WR_FLUSH_ERR),
		STATUS(MW_BIND_ERR),
		STATUS(BAD_RESP_ERR),
		STATUS(LOC_ACCESS_ERR),
		STATUS(REM_INV_REQ_ERR),
		STATUS(REM_ACCESS_ERR),
		STATUS(REM_OP_ERR),
		STATUS(RETRY_EXC_ERR),
		STATUS(RNR_RETRY_EXC_ERR),
		STATUS(LOC_RDD_VIOL_ERR),
		STATUS(REM_INV_RD_REQ_ERR),
		STATUS(REM_ABORT_ERR),
		STATUS(INV_EECN_ERR),
		STATUS(INV_EEC_STATE_ERR),
		STATUS(FATAL_ERR),
		STATUS(RESP_TIMEOUT_ERR),
		STATUS(GENERAL_ERR),
		STATUS(TM_ERR),
		STATUS(TM_RNDV_INCOMPLETE),
	};
	return WORD(words, status);
}

const char *access_words(struct arena *arena, unsigned int access)
{
	static const struct {
		unsigned int flag;
		const char *name;
	} rights[] = {
		{ IBV_ACCESS_LOCAL_WRITE, "local-write " },
		{ IBV_ACCESS_REMOTE_WRITE, "remote-write " },
		{ IBV_ACCESS_REMOTE_READ, "remote-read " },
		{ IBV_ACCESS_REMOTE_ATOMIC, "remote-atomic " },
		{ IBV_ACCESS_ON_DEMAND, "on-demand " },
	};
	char text[80] = "";
	size_t used = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++)
		if (access & rights[i].flag)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", rights[i].name);
	return arena_strdup(arena, trim_end(text));
}

struct num mtu_bytes(int code)
{
	return code >= IBV_MTU_256 && code <= IBV_MTU_4096 ? num(128 << code) : (struct num){ 0 };
}

int mtu_code(int64_t bytes)
{
	int code = 0;
	while (code < IBV_MTU_4096 && 128 << (code + 1) <= bytes)
		code++;
	return code;
}
