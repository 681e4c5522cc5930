/* SPDX-License-Identifier: MIT */
#include "report/versions.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const struct field versions_fields[] = {
	FIELD(TEXT, struct versions, rdmadiag, "version of this program"),
	FIELD(TEXT, struct versions, kernel, "uname release"),
	FIELD(TEXT, struct versions, architecture, "uname machine"),
	FIELD(TEXT, struct versions, distribution, "PRETTY_NAME of os-release"),
	FIELD(TEXT, struct versions, libibverbs, "of the library that is loaded"),
	FIELD(TEXT, struct versions, rdma_core, "release of rdma-core that this library belongs to"),
	FIELD(TEXT, struct versions, libmlx5, "of the library that is loaded"),
	FIELD(TEXT, struct versions, librdmacm, "of the library that is loaded"),
};
RECORD(versions_record, versions, versions_fields);

struct search {
	struct arena *arena;
	struct versions *versions;
};

/* "/usr/lib/libibverbs.so.1.14.44.0" → "1.14.44.0": the file behind the link that was loaded. */
static const char *version_of(struct arena *arena, const char *path)
{
	char real[PATH_MAX];
	const char *suffix = realpath(path, real) ? strstr(real, ".so.") : NULL;
	return suffix ? arena_strdup(arena, suffix + strlen(".so.")) : NULL;
}

static int take_library(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	const struct search *search = data;
	const struct {
		const char *name;
		const char **version;
	} libraries[] = {
		{ "/libibverbs.so", &search->versions->libibverbs },
		{ "/libmlx5.so", &search->versions->libmlx5 },
		{ "/librdmacm.so", &search->versions->librdmacm },
	};
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (info->dlpi_name && strstr(info->dlpi_name, libraries[i].name))
			*libraries[i].version = version_of(search->arena, info->dlpi_name);
	return 0;
}

/* They are loaded late (lib/late/): a report tells the version that a probe would use, whether or not one ran. */
static void load_libraries(struct report *report)
{
	static const struct {
		const char *what, *file;
	} libraries[] = {
		{ "libibverbs", "libibverbs.so.1" },
		{ "libmlx5", "libmlx5.so.1" },
		{ "librdmacm", "librdmacm.so.1" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (!dlopen(libraries[i].file, RTLD_LAZY))
			report_missing(report, libraries[i].what, "host", -ENOENT, "%s", dlerror());
}

/* rdma-core numbers its libraries ABI.MINOR.RELEASE (CMakeLists.txt, rdma_library): 1.14.44.0 is of 44.0. */
static const char *release_of(struct arena *arena, const char *version)
{
	const char *dot = version ? strchr(version, '.') : NULL;
	dot = dot ? strchr(dot + 1, '.') : NULL;
	return dot ? arena_strdup(arena, dot + 1) : NULL;
}

static const char *distribution(struct arena *arena)
{
	static const char key[] = "PRETTY_NAME=";
	autofree char *text = NULL;
	size_t length;
	if (file_read("/etc/os-release", &text, &length, NULL))
		return NULL;
	for (char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		const char *value = line + strlen(key) + strspn(line + strlen(key), "\"'");
		return arena_strndup(arena, value, strcspn(value, "\"'\n"));
	}
	return NULL;
}

void versions_explain(const struct versions *versions, const char *reason, struct report *report)
{
	for (size_t i = 0; i < versions_record.count; i++) {
		const struct field *field = &versions_record.fields[i];
		bool told = false;
		list_each(missing, &report->not_collected)
			told |= !strcmp(missing->what, field->key);
		if (!told && !*(const char *const *)((const char *)versions + field->offset))
			report_missing(report, field->key, "host", 0, "%s", reason);
	}
}

void versions_read(struct arena *arena, struct versions *versions, struct report *report)
{
	struct search search = { arena, versions };
	struct utsname name;
	versions->rdmadiag = RDMADIAG_VERSION;
	if (!uname(&name)) {
		versions->kernel = arena_strdup(arena, name.release);
		versions->architecture = arena_strdup(arena, name.machine);
	}
	versions->distribution = distribution(arena);
	load_libraries(report);
	dl_iterate_phdr(take_library, &search);
	versions->rdma_core = release_of(arena, versions->libibverbs);
	versions_explain(versions, "neither /etc/os-release nor the names of the libraries tell it", report);
}
