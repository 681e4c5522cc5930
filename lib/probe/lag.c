/* SPDX-License-Identifier: MIT */
#include "probe/lag.h"

#include "base/cleanup.h"
#include "probe/observer.h"

#include <infiniband/mlx5dv.h>

uint32_t lag_members(struct ibv_context *context)
{
	struct mlx5dv_context attr = { .comp_mask = MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS };
	if (!mlx5dv_is_supported(context->device) || mlx5dv_query_device(context, &attr))
		return 0;
	/* A device without a LAG says 1; the mask comes back without the bit where the library does not know. */
	bool told = attr.comp_mask & MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS;
	return told && attr.num_lag_ports > 1 && attr.num_lag_ports <= LAG_MEMBERS_LIMIT ? attr.num_lag_ports : 0;
}

int lag_bind(struct ibv_qp *qp, uint32_t member)
{
	int error = mlx5dv_modify_qp_lag_port(qp, (uint8_t)member);
	return error > 0 ? -error : error;
}

/* EOPNOTSUPP unless the ports form a LAG (rdma-core, num_lag_ports); in hash mode there is no one member. */
int lag_query(struct ibv_qp *qp, uint32_t *given, uint32_t *used)
{
	uint8_t configured, active;
	int error = mlx5dv_query_qp_lag_port(qp, &configured, &active);
	if (error)
		return error > 0 ? -error : error;
	*given = configured;
	*used = active;
	return 0;
}

static void take_operation(const struct operation *operation, struct lag_member *member)
{
	if (operation->wc_status.known && operation->wc_status.value && !member->wc_status.known) {
		member->wc_status = operation->wc_status;
		member->wc_status_text = operation->wc_status_text;
		member->vendor_err = operation->vendor_err;
	}
	if (operation->payload_verified == FLAG_NO)
		member->payload_verified = FLAG_NO;
	else if (operation->payload_verified == FLAG_YES && member->payload_verified == FLAG_UNKNOWN)
		member->payload_verified = FLAG_YES;
	if (num_is(operation->wc_status, 0) && operation->cqe_consumed_ns.known)
		member->latency_ns = num(operation->cqe_consumed_ns.value - operation->post_call_ns.value);
}

void lag_conclude(struct probe_run *run, struct lag_member *member)
{
	const struct evidence *evidence = run_evidence(run);
	member->posted = evidence->operations_posted;
	member->completed = evidence->operations_completed;
	member->active_port = evidence->local.lag_active_port;
	member->timed_out = flag(evidence->deadline_ns.known);
	list_each(operation, &evidence->operations)
		take_operation(operation, member);
	if (member->wc_status_text || num_is(member->completed, member->posted.value))
		return;
	if (run->error.text[0])
		member->detail = arena_strdup(run->arena, run->error.text);
}
