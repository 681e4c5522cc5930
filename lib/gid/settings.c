/* SPDX-License-Identifier: MIT */
#include "gid/settings.h"

#include "base/cleanup.h"
#include "gid/nccl_conf.h"

#include <errno.h>
#include <string.h>

/* All that the rules ask for; what else is set is nobody's business. */
static const char *const names[] = {
	"MC_FORCE_TCP",
	"MC_GID_INDEX",
	"MC_IB_PORT",
	"NCCL_IB_ADDR_FAMILY",
	"NCCL_IB_ADDR_RANGE",
	"NCCL_IB_DISABLE",
	"NCCL_IB_GID_INDEX",
	"NCCL_IB_HCA",
	"NCCL_IB_ROCE_VERSION_NUM",
	"NCCL_IB_ROUTABLE_FLID_GID_INDEX",
	"NCCL_NET",
	"UCX_IB_FLID_ROUTE",
	"UCX_IB_GID_INDEX",
	"UCX_IB_ROCE_SUBNETS",
	"UCX_NET_DEVICES",
	"UCX_TLS",
};

/* `line`: NAME=VALUE */
static bool is_asked_for(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i]);
		if (!strncmp(line, names[i], length) && line[length] == '=')
			return true;
	}
	return false;
}

int gid_settings_of_variables(struct arena *arena, char *const *variables, struct gid_settings *settings)
{
	*settings = (struct gid_settings){ 0 };
	int result = 0;
	for (char *const *variable = variables; !result && variable && *variable; variable++)
		if (is_asked_for(*variable))
			result = strings_add(arena, &settings->variables, *variable);
	return result;
}

int gid_settings_read(struct arena *arena, char *const *variables, struct gid_settings *settings)
{
	const struct gid_environment environment = { .variables = variables };
	struct strings lines = { 0 };
	int result = gid_settings_of_variables(arena, variables, settings);
	if (!result)
		result = nccl_conf_read(arena, &environment, &lines);
	for (uint32_t i = 0; !result && i < lines.count; i++)
		if (is_asked_for(lines.items[i]))
			result = strings_add(arena, &settings->nccl_conf, lines.items[i]);
	return result;
}

int gid_settings_environment(
        struct arena *arena, const struct gid_settings *settings, struct gid_environment *environment)
{
	const struct strings *variables = &settings->variables;
	char **list = arena_alloc(arena, (variables->count + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	if (variables->count)
		memcpy(list, variables->items, variables->count * sizeof(*list));
	list[variables->count] = NULL;
	*environment = (struct gid_environment){ .variables = list, .nccl_conf = &settings->nccl_conf };
	return 0;
}
