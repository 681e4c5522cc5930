/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"
#include "mlx5emu.h"

enum { MAX_FAULTS = 32 };

static struct fault faults[MAX_FAULTS];
static unsigned int nfaults;
static uint64_t kinds_present; /* so that the data path pays nothing without faults */
static uint64_t random_state;
static uint64_t start_ns;
static uint32_t run_number;

uint64_t fault_random(void)
{
	/* xorshift64*: the same seed gives the same faults */
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1du;
}

int fault_add(const char *spec)
{
	struct fault f;

	if (fault_parse(spec, &f))
		return -EINVAL;
	if (nfaults == MAX_FAULTS)
		return -ENOSPC;
	faults[nfaults++] = f;
	kinds_present |= 1ull << f.kind;
	return 0;
}

void fault_clear(void)
{
	nfaults = 0;
	kinds_present = 0;
}

bool fault_any(enum fault_kind kind)
{
	return kinds_present >> kind & 1;
}

uint32_t fault_run(void)
{
	return run_number;
}

/* A forked process draws numbers of its own, and they are the same every time. */
void fault_reseed(void)
{
	const char *seed = getenv("MLX5EMU_SEED");
	uint32_t rank = atomic_fetch_add(&fab->attached, 1);

	random_state = (seed ? strtoull(seed, NULL, 0) : 1) * 0x9e3779b97f4a7c15u + rank * 0xbf58476d1ce4e5b9u;
	random_state |= 1;
}

static uint64_t number_from(const char *variable, uint64_t missing)
{
	const char *text = getenv(variable);

	return text && *text ? strtoull(text, NULL, 10) : missing;
}

void fault_init(void)
{
	const char *env = getenv("MLX5EMU_FAULTS");
	char *copy = strdup(env ? env : ""), *save, *line;

	start_ns = number_from("MLX5EMU_START", now_ns());
	run_number = (uint32_t)number_from("MLX5EMU_RUN", (uint64_t)getpid());
	fault_reseed();
	for (line = copy ? strtok_r(copy, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		if (fault_add(line))
			fprintf(stderr, "mlx5emu: bad fault: %s\n", line);
	free(copy);
}

/* What strikes a port or a device once strikes it once in a run, not once in each of its processes. */
static bool struck_elsewhere(const struct fault *f)
{
	struct fab_strike *s = fab->strike;
	bool found = false;

	if (f->kind != F_PORT_DOWN && f->kind != F_MEMBER_DOWN && f->kind != F_DEVICE_FATAL)
		return false;
	fabric_lock();
	while (s < fab->strike + MAX_STRIKES && s->run && !(found = s->run == run_number && !strcmp(s->spec, f->spec)))
		s++;
	if (!found && s < fab->strike + MAX_STRIKES) {
		strcpy(s->spec, f->spec);
		s->run = run_number;
	}
	fabric_unlock();
	return found;
}

static bool matches(const struct fault *f, const struct fault_site *s)
{
	uint64_t ms = (now_ns() - start_ns) / 1000000;

	if ((*f->device && (!s->device || strcmp(f->device, s->device))) || (f->port && f->port != s->port) ||
	        (f->qpn && f->qpn != s->qpn) || (f->member && f->member != s->member) ||
	        (f->side && f->side != s->side) || (f->dir && f->dir != s->dir) ||
	        (*f->op && (!s->op || strcmp(f->op, s->op))) || s->bytes < f->min_bytes ||
	        (f->max_bytes && s->bytes > f->max_bytes) || ms < f->from_ms || (f->until_ms && ms >= f->until_ms))
		return false;
	return !*f->target || (s->target && !fnmatch(f->target, s->target, 0));
}

static bool strikes(struct fault *f)
{
	if (f->seen++ < f->after || (f->count && f->hits >= f->count))
		return false;
	return f->probability == 0 || (double)(fault_random() >> 11) * 0x1p-53 < f->probability;
}

/* Who would have to be at work for such an error CQE on a probe's own, valid request. */
static const char *guilty_of_syndrome(uint64_t syndrome)
{
	switch (syndrome) {
	case 0x04: /* local protection: the adapter could not reach memory that is registered */
	case 0x11:
		return "platform";
	case 0x12:
	case 0x13:
	case 0x16:
		return "remote-application";
	case 0x14:
		return "remote-device";
	case 0x15:
		return "network";
	default:
		return "device";
	}
}

static const char *guilty_of(const struct fault *f, const struct fault_site *s)
{
	if (*f->guilty)
		return f->guilty;
	if (f->kind == F_ERROR)
		return guilty_of_syndrome(f->arg[0]);
	if (f->kind == F_CORRUPT && !strcmp(f->target, "source"))
		return "platform";
	if (f->kind == F_CORRUPT && !strcmp(f->target, "target"))
		return s->loopback ? "device" : "remote-device";
	/* a packet of one port to itself is turned around inside the adapter: no network is involved */
	if (s->loopback && (f->kind == F_DROP || f->kind == F_DELAY || f->kind == F_DUPLICATE || f->kind == F_CORRUPT))
		return "device";
	if (f->kind == F_NO_ACK && s->loopback)
		return "device";
	return *fault_table[f->kind].guilty ? fault_table[f->kind].guilty : "network";
}

static void record(const struct fault *f, const struct fault_site *s)
{
	truth("fault",
	        "\"kind\":\"%s\",\"spec\":\"%s\",\"guilty\":\"%s\",\"hit\":%llu,\"device\":\"%s\",\"port\":%u,\"qpn\":%"
	        "u,"
	        "\"bytes\":%u,\"op\":\"%s\",\"target\":\"%s\"",
	        fault_table[f->kind].name, f->spec, guilty_of(f, s), (unsigned long long)f->hits,
	        s->device ? s->device : "", s->port, s->qpn, s->bytes, s->op ? s->op : "", s->target ? s->target : "");
}

const struct fault *fault_hit(enum fault_kind kind, const struct fault_site *site)
{
	if (!fault_any(kind))
		return NULL;
	for (unsigned int i = 0; i < nfaults; i++)
		if (faults[i].kind == kind && matches(&faults[i], site) && strikes(&faults[i])) {
			faults[i].hits++;
			if (struck_elsewhere(&faults[i]))
				continue;
			record(&faults[i], site);
			return &faults[i];
		}
	return NULL;
}

EXPORT int mlx5emu_fault(const char *spec)
{
	int err = emu_init();

	if (err)
		return err;
	emu_lock();
	err = fault_add(spec);
	emu_unlock();
	return err;
}

EXPORT void mlx5emu_clear_faults(void)
{
	if (emu_init())
		return;
	emu_lock();
	fault_clear();
	emu_unlock();
}
