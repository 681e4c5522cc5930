/* SPDX-License-Identifier: MIT */
/*
 * Libraries that few runs need, loaded by the first call of one of their functions. Linked in the usual way they cost
 * each run: libarchive brings 12 others with it; libmlx5 registers with libibverbs before any device is matched, which
 * then opens one more file for each device; libnuma reads /sys and /proc when it is loaded; libibverbs and librdmacm
 * are a third of what starting the program costs, and not needed by what looks at netlink and files only.
 *
 * The files of this folder define the functions under their own names, so that callers and headers are the usual ones.
 */
#ifndef RDMADIAG_LATE_LATE_H
#define RDMADIAG_LATE_LATE_H

struct late_library {
	const char *file;     /* with the version of its interface */
	void *_Atomic handle; /* NULL: not loaded */
};

/*
 * Two threads may find the same at a time (origin/verbs_calls.c), which does no harm.
 *
 * The function `name` of the library; NULL with errno ENOSYS: one of them is not there. The library stays loaded.
 */
void *late_symbol(struct late_library *library, const char *name);

/* Defines TYPE NAME(PARAMETERS), which answers OTHERWISE where the library is not installed. Arguments come last. */
#define LATE(library, type, otherwise, name, parameters, ...)                                                          \
	type name parameters                                                                                           \
	{                                                                                                              \
		static __typeof__(name) *_Atomic known;                                                                \
		__typeof__(name) *real = known;                                                                        \
		if (!real)                                                                                             \
			known = real = late_symbol(library, #name);                                                    \
		return real ? real(__VA_ARGS__) : otherwise;                                                           \
	}

/* The same without an answer. */
#define LATE_VOID(library, name, parameters, ...)                                                                      \
	void name parameters                                                                                           \
	{                                                                                                              \
		static __typeof__(name) *_Atomic known;                                                                \
		__typeof__(name) *real = known;                                                                        \
		if (!real)                                                                                             \
			known = real = late_symbol(library, #name);                                                    \
		if (real)                                                                                              \
			real(__VA_ARGS__);                                                                             \
	}

#endif
