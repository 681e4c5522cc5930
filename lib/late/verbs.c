/* SPDX-License-Identifier: MIT */
/* libibverbs brings libnl with it, which fills tables of its own when it is loaded. */
#include "late/late.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stddef.h>

/* wrappers of the header around the functions of that name */
#undef ibv_get_device_list
#undef ibv_query_port

static struct late_library verbs = { .file = "libibverbs.so.1" };

/* clang-format off */
LATE(&verbs, struct ibv_device **, NULL, ibv_get_device_list, (int *count), count)
LATE_VOID(&verbs, ibv_free_device_list, (struct ibv_device **list), list)
LATE(&verbs, const char *, "", ibv_get_device_name, (struct ibv_device *device), device)
LATE(&verbs, struct ibv_context *, NULL, ibv_open_device, (struct ibv_device *device), device)
LATE(&verbs, int, ENOSYS, ibv_close_device, (struct ibv_context *context), context)
LATE(&verbs, int, ENOSYS, ibv_query_device, (struct ibv_context *context, struct ibv_device_attr *attributes),
	context, attributes)
LATE(&verbs, int, ENOSYS, ibv_query_port, (struct ibv_context *context, uint8_t port,
	struct _compat_ibv_port_attr *attributes), context, port, attributes)
LATE(&verbs, int, -1, ibv_query_gid, (struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid),
	context, port, index, gid)
LATE(&verbs, int, ENOSYS, _ibv_query_gid_ex, (struct ibv_context *context, uint32_t port, uint32_t index,
	struct ibv_gid_entry *entry, uint32_t flags, size_t size), context, port, index, entry, flags, size)
LATE(&verbs, ssize_t, -ENOSYS, _ibv_query_gid_table, (struct ibv_context *context, struct ibv_gid_entry *entries,
	size_t count, uint32_t flags, size_t size), context, entries, count, flags, size)

LATE(&verbs, int, -1, ibv_get_async_event, (struct ibv_context *context, struct ibv_async_event *event), context, event)
LATE_VOID(&verbs, ibv_ack_async_event, (struct ibv_async_event *event), event)
LATE(&verbs, const char *, "unknown", ibv_event_type_str, (enum ibv_event_type event), event)
LATE(&verbs, const char *, "unknown", ibv_wc_status_str, (enum ibv_wc_status status), status)

LATE(&verbs, struct ibv_pd *, NULL, ibv_alloc_pd, (struct ibv_context *context), context)
LATE(&verbs, int, ENOSYS, ibv_dealloc_pd, (struct ibv_pd *pd), pd)
LATE(&verbs, struct ibv_mr *, NULL, ibv_reg_mr_iova2, (struct ibv_pd *pd, void *start, size_t length, uint64_t iova,
	unsigned int access), pd, start, length, iova, access)
/* Called where the compiler knows the access flags, or not well enough to leave it out. */
#undef ibv_reg_mr
LATE(&verbs, struct ibv_mr *, NULL, ibv_reg_mr, (struct ibv_pd *pd, void *start, size_t length, int access), pd, start,
        length, access)
LATE(&verbs, int, ENOSYS, ibv_dereg_mr, (struct ibv_mr *mr), mr)

LATE(&verbs, struct ibv_comp_channel *, NULL, ibv_create_comp_channel, (struct ibv_context *context), context)
LATE(&verbs, int, ENOSYS, ibv_destroy_comp_channel, (struct ibv_comp_channel *channel), channel)
LATE(&verbs, int, -1, ibv_get_cq_event, (struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context),
	channel, cq, context)
LATE_VOID(&verbs, ibv_ack_cq_events, (struct ibv_cq *cq, unsigned int count), cq, count)
LATE(&verbs, struct ibv_cq *, NULL, ibv_create_cq, (struct ibv_context *context, int entries, void *cq_context,
	struct ibv_comp_channel *channel, int vector), context, entries, cq_context, channel, vector)
LATE(&verbs, int, ENOSYS, ibv_destroy_cq, (struct ibv_cq *cq), cq)

LATE(&verbs, struct ibv_qp *, NULL, ibv_create_qp, (struct ibv_pd *pd, struct ibv_qp_init_attr *attributes),
	pd, attributes)
LATE(&verbs, struct ibv_qp_ex *, NULL, ibv_qp_to_qp_ex, (struct ibv_qp *qp), qp)
LATE(&verbs, int, ENOSYS, ibv_modify_qp, (struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask),
	qp, attributes, mask)
LATE(&verbs, int, ENOSYS, ibv_query_qp, (struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask,
	struct ibv_qp_init_attr *initial), qp, attributes, mask, initial)
LATE(&verbs, int, ENOSYS, ibv_destroy_qp, (struct ibv_qp *qp), qp)
