/* SPDX-License-Identifier: MIT */
#include "late/late.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

void *late_symbol(struct late_library *library, const char *name)
{
	void *handle = library->handle;
	if (!handle)
		library->handle = handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
	void *symbol = handle ? dlsym(handle, name) : NULL;
	if (!symbol)
		errno = ENOSYS;
	return symbol;
}
