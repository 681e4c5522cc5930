/* SPDX-License-Identifier: MIT */
#include "source/process.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CPU_LIMIT = 1 << 16, NODE_LIMIT = 1 << 10, WORD_BITS = 8 * sizeof(unsigned long), LIST_SIZE = 32 << 10 };

static bool has_bit(const unsigned long *words, size_t bit)
{
	return words[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

/* The kernel's list format of the bits set. */
static char *bit_list(struct arena *arena, const unsigned long *words, size_t bits)
{
	char list[LIST_SIZE] = "";
	size_t used = 0;
	for (size_t i = 0; i < bits; i++) {
		if (!has_bit(words, i))
			continue;
		size_t last = i;
		while (last + 1 < bits && has_bit(words, last + 1))
			last++;
		int length = snprintf(
		        list + used, sizeof(list) - used, last > i ? "%s%zu-%zu" : "%s%zu", used ? "," : "", i, last);
		if (length < 0 || (size_t)length >= sizeof(list) - used)
			return NULL;
		used += (size_t)length;
		i = last;
	}
	return arena_strdup(arena, list);
}

static void read_affinity(struct arena *arena, struct process_facts *facts)
{
	unsigned long cpus[CPU_LIMIT / WORD_BITS] = { 0 };
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(cpus), cpus);
	if (bytes > 0)
		facts->cpus = bit_list(arena, cpus, (size_t)bytes * 8);
}

static const char *policy_name(int mode)
{
	/* Linux 5.15 and 6.9 added the last two; the flags stand in the upper bits (uapi/linux/mempolicy.h). */
	static const char *const names[] = {
		[MPOL_DEFAULT] = "default",
		[MPOL_PREFERRED] = "preferred",
		[MPOL_BIND] = "bind",
		[MPOL_INTERLEAVE] = "interleave",
		[MPOL_LOCAL] = "local",
		[5] = "preferred-many",
		[6] = "weighted-interleave",
	};
	size_t index = (size_t)mode & 0xff;
	return index < sizeof(names) / sizeof(names[0]) ? names[index] : NULL;
}

static void read_memory_policy(struct arena *arena, struct process_facts *facts)
{
	unsigned long nodes[NODE_LIMIT / WORD_BITS] = { 0 };
	int mode = 0;
	if (syscall(SYS_get_mempolicy, &mode, nodes, (unsigned long)NODE_LIMIT, NULL, 0ul))
		return;
	facts->memory_policy = policy_name(mode);
	facts->memory_nodes = bit_list(arena, nodes, NODE_LIMIT);
}

static struct num limit_bytes(rlim_t limit)
{
	return num(limit == RLIM_INFINITY ? -1 : (int64_t)limit);
}

static void read_memlock(struct process_facts *facts)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	facts->memlock_soft_bytes = limit_bytes(limit.rlim_cur);
	facts->memlock_hard_bytes = limit_bytes(limit.rlim_max);
}

static void read_capabilities(struct process_facts *facts)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &header, data))
		return;
	facts->cap_ipc_lock = flag(data[0].effective >> CAP_IPC_LOCK & 1);
	facts->cap_net_admin = flag(data[0].effective >> CAP_NET_ADMIN & 1);
	facts->cap_sys_admin = flag(data[0].effective >> CAP_SYS_ADMIN & 1);
}

int process_read(struct arena *arena, struct process_facts *facts)
{
	read_affinity(arena, facts);
	read_memory_policy(arena, facts);
	read_memlock(facts);
	read_capabilities(facts);
	return 0;
}
