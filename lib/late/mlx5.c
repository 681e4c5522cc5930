/* SPDX-License-Identifier: MIT */
#include "late/late.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <string.h>

/* The provider that libibverbs loads is the same file. */
static struct late_library mlx5 = { .file = "libmlx5.so.1" };

/* clang-format off */
LATE(&mlx5, bool, false, mlx5dv_is_supported, (struct ibv_device *device), device)
LATE(&mlx5, int, ENOSYS, mlx5dv_query_device, (struct ibv_context *context, struct mlx5dv_context *attributes),
	context, attributes)
LATE(&mlx5, int, ENOSYS, mlx5dv_modify_qp_lag_port, (struct ibv_qp *qp, uint8_t port), qp, port)
LATE(&mlx5, int, ENOSYS, mlx5dv_init_obj, (struct mlx5dv_obj *object, uint64_t type), object, type)
LATE(&mlx5, int, ENOSYS, mlx5dv_query_qp_lag_port, (struct ibv_qp *qp, uint8_t *port, uint8_t *active),
	qp, port, active)
LATE(&mlx5, int, ENOSYS, mlx5dv_devx_cq_query, (struct ibv_cq *cq, const void *in, size_t in_size, void *out,
	size_t out_size), cq, in, in_size, out, out_size)
LATE(&mlx5, int, ENOSYS, mlx5dv_devx_qp_query, (struct ibv_qp *qp, const void *in, size_t in_size, void *out,
	size_t out_size), qp, in, in_size, out, out_size)
