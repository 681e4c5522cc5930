/* SPDX-License-Identifier: MIT */
#include "source/process.h"
#include "base/cleanup.h"

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
	autofree char *list = calloc(1, LIST_SIZE);
	size_t used = 0;
	if (!list)
		return NULL;
	for (size_t i = 0; i < bits; i++) {
		if (!has_bit(words, i))
			continue;
		size_t last = i;
		while (last + 1 < bits && has_bit(words, last + 1))
			last++;
		int length = snprintf(
		        list + used, LIST_SIZE - used, last > i ? "%s%zu-%zu" : "%s%zu", used ? "," : "", i, last);
		if (length < 0 || (size_t)length >= LIST_SIZE - used)
			return NULL;
		used += (size_t)length;
		i = last;
	}
	return arena_strdup(arena, list);
}

static int read_affinity(struct arena *arena, struct process_facts *facts)
{
	unsigned long cpus[CPU_LIMIT / WORD_BITS] = { 0 };
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(cpus), cpus);
	if (bytes < 0)
		return -errno;
	facts->cpus = bit_list(arena, cpus, (size_t)bytes * 8);
	return facts->cpus ? 0 : -ENOMEM;
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

/* A kernel without CONFIG_NUMA has no such call (ENOSYS), and the usual filter of containers refuses it (EPERM). */
static int read_memory_policy(struct arena *arena, struct process_facts *facts)
{
	unsigned long nodes[NODE_LIMIT / WORD_BITS] = { 0 };
	int mode = 0;
	if (syscall(SYS_get_mempolicy, &mode, nodes, (unsigned long)NODE_LIMIT, NULL, 0ul))
		return -errno;
	facts->memory_policy = policy_name(mode);
	facts->memory_nodes = bit_list(arena, nodes, NODE_LIMIT);
	return facts->memory_nodes ? 0 : -ENOMEM;
}

static struct num limit_bytes(rlim_t limit)
{
	return num(limit == RLIM_INFINITY ? -1 : (int64_t)limit);
}

static int read_memlock(struct arena *arena, struct process_facts *facts)
{
	(void)arena;
	struct rlimit limit;
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	facts->memlock_soft_bytes = limit_bytes(limit.rlim_cur);
	facts->memlock_hard_bytes = limit_bytes(limit.rlim_max);
	return 0;
}

/*
 * A user namespace of its own gives capabilities that hold in it only. What the kernel asks for when memory is locked
 * or RDMA netlink is used it asks for in the first one (kernel, capable() in kernel/capability.c); that has a fixed
 * number (PROC_USER_INIT_INO in include/linux/proc_ns.h).
 */
static enum flag is_first_user_namespace(void)
{
	static const char first[] = "user:[4026531837]";
	char link[64];
	ssize_t length = readlink("/proc/self/ns/user", link, sizeof(link));
	/* A kernel without such namespaces has no such link. */
	if (length < 0)
		return access("/proc/self/ns", F_OK) ? FLAG_UNKNOWN : FLAG_YES;
	return flag((size_t)length == strlen(first) && !memcmp(link, first, strlen(first)));
}

/* Not effective anywhere, or only where it does not count. */
static enum flag capability(uint32_t effective, int bit, enum flag is_first)
{
	return effective >> bit & 1 ? is_first : FLAG_NO;
}

static int read_capabilities(struct arena *arena, struct process_facts *facts)
{
	(void)arena;
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &header, data))
		return -errno;
	enum flag is_first = is_first_user_namespace();
	facts->cap_ipc_lock = capability(data[0].effective, CAP_IPC_LOCK, is_first);
	facts->cap_net_admin = capability(data[0].effective, CAP_NET_ADMIN, is_first);
	facts->cap_sys_admin = capability(data[0].effective, CAP_SYS_ADMIN, is_first);
	return 0;
}

int process_read(struct arena *arena, struct process_facts *facts, struct error *error)
{
	static const struct {
		const char *call;
		int (*read)(struct arena *arena, struct process_facts *facts);
	} parts[] = {
		{ "sched_getaffinity", read_affinity },
		{ "get_mempolicy", read_memory_policy },
		{ "getrlimit", read_memlock },
		{ "capget", read_capabilities },
	};
	char refused[128] = "";
	int first = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int result = parts[i].read(arena, facts);
		size_t used = strlen(refused);
		if (!result)
			continue;
		first = first ? first : result;
		snprintf(refused + used, sizeof(refused) - used, "%s%s", used ? ", " : "", parts[i].call);
	}
	return first ? error_set(error, first, "%s", refused) : 0;
}
