/* SPDX-License-Identifier: MIT */
#include "late/late.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

void *late_symbol(struct late_library *library, const char *name)
{
	if (!library->handle)
		library->handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library->handle ? dlsym(library->handle, name) : NULL;
	if (!symbol)
		errno = ENOSYS;
	return symbol;
}
