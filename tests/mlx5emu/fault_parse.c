/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

/*
 * Layers are those of the probe's verdict. Where one effect can have several causes (a doorbell is lost by the bridge
 * on the way, by the adapter…), guilty= says which one is played; the device does the same in each case.
 */
const struct fault_info fault_table[F_KINDS] = {
	[F_DOORBELL_LOST] = { "doorbell-lost", "", "device", "the doorbell never reaches the adapter: sw_sq stays",
	        { 0 }, 0 },
	[F_NO_FETCH] = { "no-fetch", "", "device", "doorbell seen, the WQE is not read: hw_sq stays", { 0 }, 0 },
	[F_NO_EXECUTE] = { "no-execute", "", "device", "the WQE is read and not executed: hw_sq stays", { 0 }, 0 },
	[F_LATE] = { "late", "TIME", "device", "the WQE is executed TIME after its doorbell", { 30000000 }, 0 },
	[F_DROP] = { "drop", "[req|resp]", "network", "packets are lost: requests, responses or both", { 0 }, 0 },
	[F_DELAY] = { "delay", "[req|resp:]TIME", "network", "packets arrive TIME later", { 1000000 }, 0 },
	[F_DUPLICATE] = { "duplicate", "[req|resp]", "network", "packets arrive twice", { 0 }, 0 },
	[F_NO_ACK] = { "no-ack", "", "remote-device", "the responder places the data and never answers", { 0 }, 0 },
	[F_NO_CQE] = { "no-cqe", "", "device", "executed and acknowledged, but no CQE is written", { 0 }, 0 },
	[F_LATE_CQE] = { "late-cqe", "TIME", "device", "the CQE is written TIME late", { 30000000 }, 0 },
	[F_ERROR] = { "error", "SYNDROME[:VENDOR]", "",
	        "an error CQE (hexadecimal; 15:81 by default); the QP enters ERR", { 0x15, 0x81 }, 0 },
	[F_CORRUPT] = { "corrupt", "[source|wire|target[:OFFSET]]", "network",
	        "one bit of the payload flips: in the sender's read "
	        "(platform), on the wire behind the checksum (network), or in the receiver's write (remote-device)",
	        { 0 }, 0 },
	[F_GARBLED_CQE] = { "garbled-cqe", "[BYTE]", "device",
	        "a CQE with a reserved opcode (hexadecimal byte op_own, 70)", { 0x70 }, 0 },
	[F_MISPLACED_CQE] = { "misplaced-cqe", "[N]", "device", "the CQE names the WQE N blocks further on", { 1 }, 0 },
	[F_CQE_TWICE] = { "cqe-twice", "", "device", "the CQE is written twice", { 0 }, 0 },
	[F_INTERRUPT_LOST] = { "interrupt-lost", "", "platform",
	        "the CQE is there, the completion channel stays silent", { 0 }, 0 },
	[F_CQ_OVERRUN] = { "cq-overrun", "", "device", "the adapter takes the CQ for full: CQ_ERR, no more CQEs", { 0 },
	        1 },
	[F_PORT_DOWN] = { "port-down", "", "network", "the link goes down (for=MS: comes back), with its events", { 0 },
	        1 },
	[F_MEMBER_DOWN] = { "member-down", "[N]", "network", "member N of a LAG loses its link; its QPs move over",
	        { 1 }, 1 },
	[F_DEVICE_FATAL] = { "device-fatal", "", "device", "internal error: DEVICE_FATAL, QPs stop, commands give EIO",
	        { 0 }, 1 },
	[F_FW_HANG] = { "fw-hang", "[CMD[:TIME]]", "device",
	        "the firmware does not answer: the call sleeps TIME (60 s), then "
	        "ETIMEDOUT",
	        { 60000000000 }, 0 },
	[F_COMMAND_FAIL] = { "command-fail", "CMD[:ERRNO]", "kernel", "a uverbs command fails (number; 12 = ENOMEM)",
	        { 12 }, 0 },
	[F_BLOCK_OPEN] = { "block-open", "[TIME]", "kernel", "opening the uverbs device sleeps (for ever)", { 0 }, 0 },
	[F_BLOCK_IOCTL] = { "block-ioctl", "[CMD[:TIME]]", "kernel", "a uverbs command sleeps (for ever)", { 0 }, 0 },
	[F_BLOCK_SYSFS] = { "block-sysfs", "PATTERN[:TIME]", "kernel", "opening a matching file below sys/ sleeps",
	        { 0 }, 0 },
	[F_BLOCK_NETLINK] = { "block-netlink", "[OP[:TIME]]", "kernel", "an rdma netlink request sleeps (port_get, …)",
	        { 0 }, 0 },
	[F_NETLINK_FAIL] = { "netlink-fail", "[OP[:ERRNO]]", "none", "an rdma netlink request is refused (1 = EPERM)",
	        { 1 }, 0 },
	[F_DEVX_FAIL] = { "devx-fail", "[ERRNO]", "none", "DEVX commands are refused (1 = EPERM)", { 1 }, 0 },
	[F_FROZEN_QPC] = { "frozen-qpc", "", "device", "queries show the QPC as it was at the first one", { 0 }, 0 },
};

static const char *const layers[] = { "none", "configuration", "application", "provider", "kernel", "platform",
	"device", "network", "remote-device", "remote-application", NULL };

static int copy_text(char *dst, size_t size, const char *s)
{
	if (!*s || strlen(s) >= size)
		return -EINVAL;
	strcpy(dst, s);
	return 0;
}

static int parse_number(const char *s, int base, uint64_t *v)
{
	char *end;

	if (!isalnum((unsigned char)*s))
		return -EINVAL;
	*v = strtoull(s, &end, base);
	return *end ? -EINVAL : 0;
}

/* A time with its unit: ns, us, ms, s; a bare number is in microseconds. */
static int parse_time(const char *s, uint64_t *ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "", 1000 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	char *end;
	uint64_t v;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	v = strtoull(s, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].unit)) {
			*ns = v * units[i].ns;
			return 0;
		}
	return -EINVAL;
}

static int parse_ms(const char *s, uint64_t *ms)
{
	if (parse_number(s, 10, ms) == 0)
		return 0;
	if (parse_time(s, ms))
		return -EINVAL;
	*ms /= 1000000;
	return 0;
}

static int parse_word(const char *s, const char *const *list)
{
	for (int i = 0; list[i]; i++)
		if (!strcmp(s, list[i]))
			return i;
	return -1;
}

static int parse_dir(struct fault *f, const char *s)
{
	static const char *const names[] = { "any", "req", "resp", NULL };
	int i = parse_word(s, names);

	if (i < 0)
		return -EINVAL;
	f->dir = (enum fault_dir)i;
	return 0;
}

static int parse_hex_arg(struct fault *f, const char *s, int n)
{
	if (n > 1 || parse_number(s, 16, &f->arg[n]) || f->arg[n] > 0xff)
		return -EINVAL;
	return 0;
}

static int parse_corrupt_arg(struct fault *f, const char *s, int n)
{
	static const char *const where[] = { "source", "wire", "target", NULL };

	if (n == 0)
		return parse_word(s, where) < 0 ? -EINVAL : copy_text(f->target, sizeof(f->target), s);
	return n == 1 ? parse_number(s, 10, &f->arg[0]) : -EINVAL;
}

/* The argument number n (from 0) after the kind. */
static int parse_arg(struct fault *f, const char *s, int n)
{
	switch (f->kind) {
	case F_LATE:
	case F_LATE_CQE:
	case F_BLOCK_OPEN:
		return n ? -EINVAL : parse_time(s, &f->arg[0]);
	case F_DROP:
	case F_DUPLICATE:
		return n ? -EINVAL : parse_dir(f, s);
	case F_DELAY:
		return n == 0 && !parse_dir(f, s) ? 0 : parse_time(s, &f->arg[0]);
	case F_ERROR:
	case F_GARBLED_CQE:
		return parse_hex_arg(f, s, n);
	case F_CORRUPT:
		return parse_corrupt_arg(f, s, n);
	case F_MEMBER_DOWN:
	case F_MISPLACED_CQE:
	case F_DEVX_FAIL:
		return n ? -EINVAL : parse_number(s, 10, &f->arg[0]);
	case F_FW_HANG:
	case F_BLOCK_IOCTL:
	case F_BLOCK_SYSFS:
	case F_BLOCK_NETLINK:
		return n == 0 ? copy_text(f->target, sizeof(f->target), s) : parse_time(s, &f->arg[0]);
	case F_COMMAND_FAIL:
	case F_NETLINK_FAIL:
		return n == 0 ? copy_text(f->target, sizeof(f->target), s) : parse_number(s, 10, &f->arg[0]);
	default:
		return -EINVAL;
	}
}

static int parse_side(struct fault *f, const char *s)
{
	static const char *const names[] = { "any", "requester", "responder", NULL };
	int i = parse_word(s, names);

	f->side = (enum fault_side)(i < 0 ? 0 : i);
	return i < 0 ? -EINVAL : 0;
}

static int parse_probability(struct fault *f, const char *s)
{
	char *end;

	f->probability = strtod(s, &end);
	return *end || f->probability <= 0 || f->probability > 1 ? -EINVAL : 0;
}

static int parse_u32(const char *s, uint32_t *v)
{
	uint64_t n;

	if (parse_number(s, 0, &n) || n > UINT32_MAX)
		return -EINVAL;
	*v = (uint32_t)n;
	return 0;
}

static int parse_selector(struct fault *f, const char *key, const char *value)
{
	const struct {
		const char *key;
		uint64_t *number;
	} numbers[] = { { "after", &f->after }, { "count", &f->count }, { "min", &f->min_bytes },
		{ "max", &f->max_bytes } };
	const struct {
		const char *key;
		uint64_t *ms;
	} times[] = { { "t", &f->from_ms }, { "until", &f->until_ms }, { "for", &f->for_ms } };
	const struct {
		const char *key;
		uint32_t *number;
	} small[] = { { "port", &f->port }, { "qpn", &f->qpn }, { "member", &f->member } };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(key, numbers[i].key))
			return parse_number(value, 10, numbers[i].number);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (!strcmp(key, times[i].key))
			return parse_ms(value, times[i].ms);
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++)
		if (!strcmp(key, small[i].key))
			return parse_u32(value, small[i].number);
	if (!strcmp(key, "dev"))
		return copy_text(f->device, sizeof(f->device), value);
	if (!strcmp(key, "op"))
		return copy_text(f->op, sizeof(f->op), value);
	if (!strcmp(key, "side"))
		return parse_side(f, value);
	if (!strcmp(key, "p"))
		return parse_probability(f, value);
	if (!strcmp(key, "guilty"))
		return parse_word(value, layers) < 0 ? -EINVAL : copy_text(f->guilty, sizeof(f->guilty), value);
	return -EINVAL;
}

/* Why the last one could not be parsed, for people. */
static char problem[128];

const char *fault_problem(void)
{
	return problem;
}

__attribute__((format(printf, 1, 2))) static int bad(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem, sizeof(problem), format, args);
	va_end(args);
	return -EINVAL;
}

static int find_kind(const char *name)
{
	for (int i = 0; i < F_KINDS; i++)
		if (!strcmp(name, fault_table[i].name))
			return i;
	return -1;
}

static int parse_head(struct fault *f, char *head)
{
	char *save, *word = strtok_r(head, ":", &save);
	int kind = word ? find_kind(word) : -1;

	if (kind < 0)
		return bad("'%.40s' is no kind of fault", word ? word : "");
	f->kind = (enum fault_kind)kind;
	memcpy(f->arg, fault_table[kind].default_arg, sizeof(f->arg));
	f->count = fault_table[kind].default_count;
	for (int n = 0; (word = strtok_r(NULL, ":", &save)); n++)
		if (parse_arg(f, word, n))
			return bad("%s does not take the argument '%.40s', but %s", fault_table[kind].name, word,
			        *fault_table[kind].args ? fault_table[kind].args : "none");
	if (kind == F_CORRUPT && !*f->target)
		strcpy(f->target, "wire");
	/* these say nothing without their argument */
	if ((kind == F_COMMAND_FAIL || kind == F_BLOCK_SYSFS) && !*f->target)
		return bad("%s needs an argument: %s", fault_table[kind].name, fault_table[kind].args);
	return 0;
}

int fault_parse(const char *spec, struct fault *f)
{
	char buf[sizeof(f->spec)], *save, *part, *value;

	memset(f, 0, sizeof(*f));
	if (strpbrk(spec, "\"\\\n") || copy_text(f->spec, sizeof(f->spec), spec))
		return bad("empty, too long, or with quotes");
	strcpy(buf, spec);
	part = strtok_r(buf, ",", &save);
	/* the head is cut by a strtok_r of its own, after its end has been marked */
	char *rest = save;
	if (!part)
		return bad("empty");
	if (parse_head(f, part))
		return -EINVAL;
	while ((part = strtok_r(NULL, ",", &rest))) {
		value = strchr(part, '=');
		if (!value)
			return bad("'%.40s' is no selector: NAME=VALUE", part);
		*value++ = 0;
		if (parse_selector(f, part, value))
			return bad("there is no selector %.20s, or '%.40s' is no value of it", part, value);
	}
	return 0;
}

void fault_help(FILE *out)
{
	for (int i = 0; i < F_KINDS; i++) {
		const struct fault_info *k = &fault_table[i];

		fprintf(out, "  %s%s%s\n      %s\n", k->name, *k->args ? ":" : "", k->args, k->text);
	}
}
