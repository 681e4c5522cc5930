/* SPDX-License-Identifier: MIT */
/*
 * What a record leaves out and its other fields say. Records come from other versions and other programs, which may
 * have only the fields that the format demands: then the provider stands in the name of an observer or of the device,
 * the kind of link in the type of a GID, the mode in the steps of the control connection. Nothing that is recorded is
 * replaced but by the format's word for the same, or by nothing where the word is another program's, and what only
 * seems probable is not filled in.
 */
#include "verdict/judge.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* How the kernel's drivers name their devices (ib_alloc_device() and ib_register_device() of each); udev may rename. */
static const struct {
	const char *prefix, *driver;
} device_names[] = {
	{ "mlx5_", "mlx5_core" },
	{ "mlx4_", "mlx4_core" },
	{ "bnxt_re", "bnxt_en" },
	{ "irdma", "irdma" },
	{ "i40iw", "i40iw" },
	{ "hns_", "hns_roce" },
	{ "efa_", "efa" },
	{ "erdma_", "erdma" },
	{ "qedr", "qedr" },
	{ "mana_", "mana" },
	{ "ionic_", "ionic" },
	{ "cxgb4_", "iw_cxgb4" },
	{ "hfi1_", "hfi1" },
	{ "qib", "ib_qib" },
	{ "ocrdma", "ocrdma" },
	{ "rxe", "rdma_rxe" },
	{ "siw", "siw" },
};

static const char *driver_by_name(const char *device)
{
	for (size_t i = 0; device && i < ARRAY_SIZE(device_names); i++)
		if (!strncmp(device, device_names[i].prefix, strlen(device_names[i].prefix)))
			return device_names[i].driver;
	return NULL;
}

/* An observer works on its own provider only. */
static const char *driver_by_observer(const struct observers *observers)
{
	const char *const words[] = { observers->wqe, observers->cqe, observers->device };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (text_has(words[i], "mlx5") || text_is(words[i], "devx"))
			return "mlx5_core";
		if (text_has(words[i], "rxe"))
			return "rdma_rxe";
		if (text_has(words[i], "siw"))
			return "siw";
	}
	return NULL;
}

static const char *driver_by_counters(const struct evidence *evidence, int side)
{
	list_each(counter, &evidence->counters)
		if (counter->side == side &&
		        (text_is(counter->name, "sent_pkts") || text_is(counter->name, "rcvd_pkts") ||
		                text_is(counter->name, "completer_retry_err")))
			return "rdma_rxe";
	return NULL;
}

/*
 * States as other programs spell them: "IBV_QPS_RTS", "4: ACTIVE", "Active". A word that is none of `names` stays as
 * it is, and no rule knows it.
 */
static const char *state_word(const char *state, const char *prefix, const char *const *names)
{
	if (!state)
		return NULL;
	const char *word = state + strspn(state, "0123456789: ");
	if (!strncasecmp(word, "IBV_", 4))
		word += 4;
	if (!strncasecmp(word, prefix, strlen(prefix)))
		word += strlen(prefix);
	for (; *names; names++)
		if (!strcasecmp(word, *names))
			return *names;
	return state;
}

static void complete_states(struct endpoint_facts *end)
{
	static const char *const qp[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR", NULL };
	static const char *const port[] = { "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER", NULL };
	end->qp_state = state_word(end->qp_state, "QPS_", qp);
	end->qp_state_first = state_word(end->qp_state_first, "QPS_", qp);
	end->port_state = state_word(end->port_state, "PORT_", port);
	end->port_state_after = state_word(end->port_state_after, "PORT_", port);
}

static bool is_word_of(const char *const *words, const char *text, size_t length)
{
	for (; *words; words++)
		if (strlen(*words) == length && !strncasecmp(*words, text, length))
			return true;
	return false;
}

/* Rights in other words than the format's say of none that it is missing. */
static bool are_rights(const char *text)
{
	static const char *const words[] = { "local-write", "remote-write", "remote-read", "remote-atomic", "on-demand",
		"none", NULL };
	static const char separators[] = " ,|";
	while (*(text += strspn(text, separators))) {
		size_t length = strcspn(text, separators);
		if (!is_word_of(words, text, length))
			return false;
		text += length;
	}
	return true;
}

/* Another program's words are not compared with ours: they are as good as unknown. */
static void drop_foreign_words(struct endpoint_facts *end)
{
	if (end->mr_access && !are_rights(end->mr_access))
		end->mr_access = NULL;
	if (end->qp_access && !are_rights(end->qp_access))
		end->qp_access = NULL;
}

/* A port without room for any message is one whose driver does not tell (mana_ib did not for years). */
static void drop_untold(struct endpoint_facts *end)
{
	if (end->max_message_bytes.known && end->max_message_bytes.value <= 0)
		end->max_message_bytes = (struct num){ 0 };
}

static bool is_gid_type(const char *text)
{
	static const char *const types[] = { "IB", "RoCE v1", "RoCE v2", "IB/RoCE v1", "iWARP", NULL };
	return is_word_of(types, text, strlen(text));
}

static void complete_end(struct endpoint_facts *end, int side, const struct evidence *evidence)
{
	complete_states(end);
	drop_foreign_words(end);
	drop_untold(end);
	if (!end->driver && side == SIDE_LOCAL)
		end->driver = driver_by_observer(&evidence->observers);
	if (!end->driver)
		end->driver = driver_by_counters(evidence, side);
	if (!end->driver)
		end->driver = driver_by_name(end->device);
	bool iwarp = text_is(end->gid_type, "iWARP");
	if (!end->transport && iwarp)
		end->transport = "iwarp";
	if (!end->link_layer && (text_has(end->gid_type, "RoCE") || iwarp))
		end->link_layer = "Ethernet";
	else if (!end->link_layer && (text_is(end->gid_type, "IB") || (end->lid.known && end->lid.value > 0)))
		end->link_layer = "InfiniBand";
	if (end->gid_type && !is_gid_type(end->gid_type))
		end->gid_type = NULL;
}

static bool same_address(const struct endpoint_facts *a, const struct endpoint_facts *b)
{
	enum gid_kind kind = gid_kind(a->gid);
	bool ports_differ = a->port.known && b->port.known && a->port.value != b->port.value;
	bool devices_differ = a->device && b->device && strcmp(a->device, b->device) != 0;
	return kind != KIND_UNKNOWN && kind != KIND_EMPTY && b->gid && !strcasecmp(a->gid, b->gid) && !ports_differ &&
	       !devices_differ;
}

static enum probe_mode mode_of(const struct probe_request *request, const struct evidence *evidence)
{
	if (evidence->local.role == ROLE_TARGET)
		return MODE_LISTENER;
	if (request->peer || evidence->control.count)
		return MODE_PEER;
	if (request->target_device)
		return MODE_TWO_DEVICES;
	return same_address(&evidence->local, &evidence->remote) ? MODE_LOOPBACK : MODE_UNKNOWN;
}

const char *unended_call(const struct evidence *evidence)
{
	const char *name = NULL;
	int64_t begin = INT64_MIN;
	list_each(step, &evidence->resources) {
		int64_t at = step->start_ns.known ? step->start_ns.value : begin;
		if (step->side == SIDE_REMOTE || at < begin)
			continue;
		begin = at;
		name = !step->error.known && !step->duration_ns.known ? step->step : NULL;
	}
	list_each(transition, &evidence->transitions) {
		int64_t at = transition->start_ns.known ? transition->start_ns.value : begin;
		if (transition->side == SIDE_REMOTE || at < begin)
			continue;
		begin = at;
		name = !transition->error.known && !transition->duration_ns.known ? transition->to : NULL;
	}
	return name;
}

static bool has_requests(const struct evidence *evidence)
{
	return evidence->operations.count ||
	       (evidence->operations_posted.known && evidence->operations_posted.value > 0);
}

/* Waiting for the peer has no end recorded: nothing came on the control connection until the run ended. */
static void complete_control(struct completed *to)
{
	const struct evidence *evidence = &to->evidence;
	const struct control_step *last =
	        evidence->control.count ? evidence->control.items[evidence->control.count - 1] : NULL;
	if (!last || !last->step || last->error.known || last->duration_ns.known || has_requests(evidence) ||
	        evidence->interrupted == FLAG_YES || has_died(evidence))
		return;
	to->unended = *last;
	to->unended.error = num(ETIMEDOUT);
	to->unended.detail = last->detail ? last->detail : "it had not ended when the record was closed";
}

static bool is_control_whole(const struct evidence *evidence)
{
	list_each(step, &evidence->control)
		if (!num_is(step->error, 0))
			return false;
	return evidence->control.count > 0;
}

/* Every request that was posted has completed, those that are not listed too. */
static bool all_done(const struct evidence *evidence)
{
	bool failed = evidence->operations_failed.known && evidence->operations_failed.value > 0;
	return evidence->operations_completed.known && !failed &&
	       num_is(evidence->operations_posted, done_count(evidence));
}

/* A target lists none of its peer's requests; one that ends with "ok" has had them all. */
static bool was_served(const struct evidence *evidence)
{
	bool served = false;
	list_each(step, &evidence->control)
		served |= text_is(step->step, "ok") && num_is(step->error, 0);
	return served && evidence->local.role == ROLE_TARGET && !evidence->operations.count;
}

static bool list_succeeded(const struct evidence *evidence)
{
	list_each(operation, &evidence->operations)
		if (!is_success(operation) && !operation->reclaimed_ns.known)
			return false;
	return evidence->operations.count > 0;
}

static int64_t looked_at(const struct evidence *evidence)
{
	int64_t sum = 0;
	list_each(of_size, &evidence->payloads) {
		const struct num counts[] = { of_size->right, of_size->wrong, of_size->untouched };
		for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
			sum = counts[i].known ? difference(sum, difference(0, counts[i].value)) : sum;
	}
	return sum;
}

/*
 * The target's counts speak of requests whose own entry does not: of those behind the end of the list, and of listed
 * ones that nobody verified one by one. Places of requests that were never posted are untouched as well.
 */
static void complete_unlisted(struct completed *to)
{
	const struct evidence *evidence = &to->evidence;
	bool omitted = omitted_count(evidence) > 0, counted = omitted && all_done(evidence);
	bool listed = list_succeeded(evidence) && !omitted;
	/* Nothing in the record failed or waits: wrong bytes are then not what such a request left behind. */
	bool unknown = list_succeeded(evidence) &&
	               !(evidence->operations_posted.known && evidence->operations_completed.known);
	if (!was_served(evidence) && !listed && !counted && !unknown)
		return;
	bool surplus = listed ? looked_at(evidence) > evidence->operations.count : omitted && !counted;
	list_each(of_size, &evidence->payloads) {
		bool wrong = of_size->wrong.known && of_size->wrong.value > 0;
		bool missing = of_size->untouched.known && of_size->untouched.value > 0 && !surplus &&
		               !is_iwarp(&evidence->local);
		if ((wrong || missing) && of_size->bytes.known && !to->unlisted.bytes.known)
			to->unlisted = (struct operation){
				.opcode = to->request.op,
				.bytes = of_size->bytes,
				.is_inline = to->request.inline_data,
				.wc_status = num(0),
				.payload_verified = FLAG_NO,
			};
	}
}

void complete(struct completed *to, const struct probe_request *request, const struct evidence *evidence)
{
	*to = (struct completed){ .request = *request, .evidence = *evidence };
	complete_end(&to->evidence.local, SIDE_LOCAL, evidence);
	complete_end(&to->evidence.remote, SIDE_REMOTE, evidence);
	if (to->request.mode == MODE_UNKNOWN)
		to->request.mode = (int)mode_of(request, &to->evidence);
	if (to->evidence.same_port_loopback == FLAG_UNKNOWN && to->request.mode == MODE_LOOPBACK &&
	        same_address(&evidence->local, &evidence->remote))
		to->evidence.same_port_loopback = FLAG_YES;
	/* Its queue pair reaches RTR only after the exchange, so the peer answered since, and nothing was lost after
	 * it. */
	struct endpoint_facts *remote = &to->evidence.remote;
	if (remote->alive == FLAG_UNKNOWN && is_ready(remote) && is_control_whole(evidence))
		remote->alive = FLAG_YES;
	const char *unended = unended_call(&to->evidence);
	if (!evidence->stuck && unended && !has_requests(evidence) && evidence->interrupted != FLAG_YES &&
	        !has_died(evidence)) {
		to->stuck.step = unended;
		to->evidence.stuck = &to->stuck;
	}
	complete_control(to);
	complete_unlisted(to);
}
