/* SPDX-License-Identifier: MIT */
#include "probe/settings.h"

#include "base/cleanup.h"
#include "base/nearest.h"
#include "probe/layout.h"

#include <errno.h>
#include <string.h>

void settings_init(struct probe_settings *settings)
{
	*settings = (struct probe_settings){
	        .request =
	                {
	                        .mode = MODE_LOOPBACK,
	                        .op = OP_WRITE,
	                        .count = num(1),
	                        .qps = num(1),
	                        .batch = num(1),
	                        .signal_every = num(1),
	                        .sges = num(1),
	                        .cqs = num(1),
	                        .pds = num(1),
	                        .timeout_ms = num(PROBE_DEFAULT_TIMEOUT_MS),
	                        .inline_data = FLAG_NO,
	                        .api = "post",
	                        .wait = "poll",
	                        .buffer_node = "nic",
	                        .registration = "pinned",
	                        .tcp = FLAG_NO,
	                },
	        .tcp_port = PROBE_PORT,
	};
}

int settings_number(const char *text, int64_t least, int64_t most, struct num *value, struct error *error)
{
	int64_t number;
	if (parse_number(text, 10, &number))
		return error_say(error, -EINVAL, "'%s' is no whole number", text);
	if (number < least || number > most)
		return error_say(error, -EINVAL, "%lld is not between %lld and %lld", (long long)number,
		        (long long)least, (long long)most);
	*value = num(number);
	return 0;
}

int settings_milliseconds(const char *text, int64_t least, int64_t most, struct num *value, struct error *error)
{
	static const char *const units[] = { "s", "ms", "us", "sec", "m", "min" };
	size_t digits = strspn(text, "0123456789");
	for (size_t i = 0; digits && i < ARRAY_SIZE(units); i++)
		if (!strcmp(text + digits, units[i]))
			return error_say(error, -EINVAL, "'%s': it is in milliseconds, and takes no unit", text);
	return settings_number(text, least, most, value, error);
}

/* Names of devices are those of directories in sysfs: 1 to 63 bytes without slash. */
int settings_device(struct device_choice *choice, const char *text, struct error *error)
{
	size_t length = strcspn(text, "/");
	if (!length || length >= sizeof(choice->name) || text[0] == '.')
		return error_say(error, -EINVAL, "'%s' is no device name", text);
	struct num port = { 0 };
	if (text[length]) {
		int result = settings_number(text + length + 1, 1, 255, &port, error);
		if (result)
			return result;
	}
	memcpy(choice->name, text, length);
	choice->name[length] = '\0';
	choice->port = port;
	return 0;
}

static int64_t size_unit(char suffix)
{
	switch (suffix) {
	case 'k':
	case 'K':
		return 1 << 10;
	case 'm':
	case 'M':
		return 1 << 20;
	case 'g':
	case 'G':
		return 1 << 30;
	default:
		return 0;
	}
}

static int parse_size(const char *text, size_t length, int64_t *size)
{
	char copy[24];
	if (!length || length >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	int64_t unit = size_unit(copy[length - 1]);
	if (unit)
		copy[length - 1] = '\0';
	else
		unit = 1;
	int64_t number;
	if (copy[0] < '0' || copy[0] > '9' || parse_number(copy, 10, &number))
		return -EINVAL;
	if (number < 1 || number > PROBE_SIZE_LIMIT / unit)
		return -ERANGE;
	*size = number * unit;
	return 0;
}

int settings_sizes(struct probe_settings *settings, struct arena *arena, const char *text, struct error *error)
{
	settings->request.sizes.count = 0;
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ",");
		int64_t size;
		int result = parse_size(at, length, &size);
		if (result == -ERANGE)
			return error_say(error, -EINVAL, "'%.*s' is not between 1 and 2G bytes", (int)length, at);
		if (result)
			return error_say(error, -EINVAL, "'%.*s' is no size such as 64, 4K or 1M", (int)length, at);
		if (settings->request.sizes.count == PROBE_SIZES_LIMIT)
			return error_say(error, -EINVAL, "more than %d sizes", PROBE_SIZES_LIMIT);
		struct num *added = list_add(arena, &settings->request.sizes);
		if (!added)
			return error_set(error, -ENOMEM, "sizes");
		*added = num(size);
		at += length;
		if (!*at)
			return 0;
	}
}

int settings_operation(struct probe_settings *settings, const char *text, struct error *error)
{
	struct nearest nearest = { .typed = text };
	for (int op = OP_UNKNOWN + 1; op < OP_COUNT; op++) {
		nearest_try(&nearest, operation_names[op], NULL);
		if (!strcmp(text, operation_names[op])) {
			settings->request.op = op;
			return 0;
		}
	}
	return error_say(
	        error, -EINVAL, "'%s' is none of write, write-imm, send, read%s", text, nearest_text(&nearest));
}

int settings_word(const char *text, const char *const *words, const char **word, struct error *error)
{
	for (const char *const *candidate = words; *candidate; candidate++) {
		if (!strcmp(text, *candidate)) {
			*word = *candidate;
			return 0;
		}
	}
	struct nearest nearest = { .typed = text };
	for (const char *const *candidate = words; *candidate; candidate++)
		nearest_try(&nearest, *candidate, NULL);
	return error_say(
	        error, -EINVAL, "'%s' is neither '%s' nor '%s'%s", text, words[0], words[1], nearest_text(&nearest));
}

int settings_buffer_node(struct probe_settings *settings, struct arena *arena, const char *text, struct error *error)
{
	struct num node;
	if (strcmp(text, "nic") != 0 && strcmp(text, "all") != 0) {
		int result = settings_number(text, 0, 1023, &node, error);
		if (result)
			return error_say(
			        error, result, "'%s' is neither 'nic', 'all' nor the number of a NUMA node", text);
	}
	settings->request.buffer_node = arena_strdup(arena, text);
	return settings->request.buffer_node ? 0 : error_set(error, -ENOMEM, "buffer node");
}

/* Splits "HOST", "HOST:PORT", "[V6]", "[V6]:PORT" or a bare IPv6 address; port NULL: none was given. */
static int split_address(const char *text, char host[static PROBE_HOST_SIZE], const char **port, struct error *error)
{
	const char *start = text, *end;
	*port = NULL;
	if (*text == '[') {
		start = text + 1;
		end = strchr(start, ']');
		if (!end || (end[1] && end[1] != ':'))
			return error_say(
			        error, -EINVAL, "'%s': an IPv6 address with a port is written [ADDRESS]:PORT", text);
		*port = end[1] ? end + 2 : NULL;
	} else {
		const char *colon = strchr(text, ':');
		bool bare_v6 = colon && strchr(colon + 1, ':');
		end = colon && !bare_v6 ? colon : text + strlen(text);
		*port = colon && !bare_v6 ? colon + 1 : NULL;
	}
	size_t length = (size_t)(end - start);
	if (length >= PROBE_HOST_SIZE)
		return error_say(error, -EINVAL, "the host name is too long");
	memcpy(host, start, length);
	host[length] = '\0';
	return 0;
}

static int set_tcp_port(struct probe_settings *settings, const char *text, int64_t least, struct error *error)
{
	struct num port = { 0 };
	int result = settings_number(text, least, 65535, &port, error);
	if (!result)
		settings->tcp_port = (uint16_t)port.value;
	return result;
}

/* inet_aton(3) takes a number for an address, 18518 for 0.0.72.86; who types one means the port. */
static bool is_number(const char *host)
{
	return *host && host[strspn(host, "0123456789")] == '\0';
}

int settings_peer(struct probe_settings *settings, struct arena *arena, const char *text, struct error *error)
{
	const char *port = NULL;
	int result = split_address(text, settings->host, &port, error);
	if (!result && !settings->host[0])
		result = error_say(error, -EINVAL, "'%s' names no host", text);
	if (!result && is_number(settings->host))
		result = error_say(error, -EINVAL, "'%s' is no host; a port stands behind one, as in HOST:%s",
		        settings->host, port ? port : settings->host);
	if (!result && port)
		result = set_tcp_port(settings, port, 1, error);
	if (result)
		return result;
	settings->request.mode = MODE_PEER;
	settings->request.peer = arena_strdup(arena, text);
	return settings->request.peer ? 0 : error_set(error, -ENOMEM, "peer");
}

int settings_listen(struct probe_settings *settings, const char *text, struct error *error)
{
	settings->listens = true;
	settings->request.mode = MODE_LISTENER;
	if (!text)
		return 0;
	const char *port = NULL;
	int result = split_address(text, settings->host, &port, error);
	if (!result && is_number(settings->host))
		return error_say(error, -EINVAL, "'%s' is no address; a port stands behind a colon, as in :%s",
		        settings->host, port ? port : settings->host);
	return !result && port ? set_tcp_port(settings, port, 0, error) : result;
}

static int check_operation(const struct probe_request *request, struct error *error)
{
	bool everywhere = !strcmp(request->buffer_node, "all");
	if (everywhere && (request->drill || request->mode == MODE_LISTENER))
		return error_say(error, -EINVAL, "--buffer-node all compares good runs of an initiator");
	if (request->inline_data == FLAG_YES && request->op == OP_READ)
		return error_say(error, -EINVAL, "--inline: a read brings data, it has none to copy into the request");
	if (request->cqs.value > request->qps.value || request->pds.value > request->qps.value)
		return error_say(
		        error, -EINVAL, "--cqs and --pds share out queue pairs: ask for at least as many --qps");
	return 0;
}

int settings_check(const struct probe_settings *settings, struct error *error)
{
	bool listens = settings->listens;
	if (listens && settings->request.peer)
		return error_say(
		        error, -EINVAL, "--listen and --peer are the two ends of a connection: give one of them");
	if (settings->target.name[0] && settings->request.mode != MODE_TWO_DEVICES)
		return error_say(error, -EINVAL, "--target-device goes neither with --listen nor with --peer");
	struct layout layout;
	if (settings->request.mode == MODE_PEER && settings->request.sizes.count &&
	        layout_make(&layout, &settings->request, 0, GRANT_LIMIT))
		return error_say(
		        error, -EINVAL, "--size: a listener grants a buffer of at most %zu MiB", GRANT_LIMIT >> 20);
	if (settings->request.sq_sig_all == FLAG_YES &&
	        (settings->request.signal_every.value > 1 || settings->deviation.never_signaled))
		return error_say(error, -EINVAL, "--sq-sig-all signals every request: %s does not go with it",
		        settings->deviation.never_signaled ? "this drill" : "--signal-every");
	if (settings->keep && !listens)
		return error_say(error, -EINVAL, "--keep goes with --listen only");
	return check_operation(&settings->request, error);
}
