/* SPDX-License-Identifier: MIT */
#include "late/late.h"

#include <dlfcn.h>

void *late_symbol(struct late_library *library, const char *name)
{
	if (!library->handle)
		library->handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
	return library->handle ? dlsym(library->handle, name) : 0;
}
