/* SPDX-License-Identifier: MIT */
/* Values of sysfs and procfs: numbers, GUIDs, GIDs, CPU lists. */
#include "base/text.h"
#include "render/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	if (!text)
		return 0;
	int64_t number;
	uint64_t guid;
	uint8_t gid[16];
	struct cpuset set;
	parse_number(text, 0, &number);
	parse_guid(text, &guid);
	parse_gid(text, gid);
	if (!cpuset_parse(text, &set))
		cpuset_free(&set);
	natural_compare(text, text + strlen(text) / 2);
	char *clean = utf8_clean(text), *twice = clean ? utf8_clean(clean) : NULL;
	if (clean && twice && strcmp(clean, twice))
		abort(); /* clean text stays as it is */
	free(clean);
	free(twice);
	free(trim_end(text));
	return 0;
}
