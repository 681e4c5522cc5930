/* SPDX-License-Identifier: MIT */
/*
 * One answer of a machine replaced by any bytes, through all collectors, judges and renderers: replies of rdma netlink
 * and rtnetlink, files of sysfs and procfs, answers of verbs. An input is a line that names the answer
 * ("netlink/route/link", "sys/class/net/eth0/mtu") and the bytes after it. FUZZ_MACHINE is the snapshot of the others.
 */
#include "base/cleanup.h"
#include "check/gid.h"
#include "check/topo.h"
#include "gid/judge.h"
#include "gid/path.h"
#include "gid/read.h"
#include "origin/format.h"
#include "origin/private.h"
#include "json/json.h"
#include "render/topo_text.h"
#include "source/collect.h"
#include "source/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct origin_ops *machine; /* what the snapshot itself answers */
static struct origin_ops ops;
static struct origin *origin;
static FILE *nowhere;
static struct {
	char name[256];
	const uint8_t *bytes;
	size_t size;
} foreign;

static ssize_t foreign_read(struct origin *self, const char *path, char *buffer, size_t size)
{
	if (strcmp(path, foreign.name) != 0)
		return machine->read(self, path, buffer, size);
	size_t length = foreign.size < size - 1 ? foreign.size : size - 1;
	memcpy(buffer, foreign.bytes, length);
	return (ssize_t)length;
}

static int foreign_netlink(struct origin *self, int protocol, struct nl_request *requests, size_t count)
{
	int result = machine->netlink(self, protocol, requests, count);
	for (size_t i = 0; i < count; i++) {
		char name[256];
		snprintf(name, sizeof(name), "%s/%s/%s", SNAPSHOT_NETLINK, protocol_name(protocol), requests[i].name);
		if (strcmp(name, foreign.name) != 0)
			continue;
		free(requests[i].reply);
		requests[i].reply = malloc(foreign.size + 1);
		memcpy(requests[i].reply, foreign.bytes, foreign.size);
		requests[i].length = foreign.size;
		requests[i].error = result = 0;
	}
	return result;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	struct error error;
	origin = origin_snapshot(getenv("FUZZ_MACHINE"), &error);
	nowhere = fopen("/dev/null", "w");
	if (!origin || !nowhere) {
		fprintf(stderr, "FUZZ_MACHINE: %s\n", error.text);
		exit(1);
	}
	machine = origin->ops;
	ops = *machine;
	ops.read = foreign_read;
	ops.netlink = foreign_netlink;
	origin->ops = &ops;
	return 0;
}

struct looking {
	struct gid_document document;
	struct gid_path path;
};

static int look_further(struct origin *self, struct host *host, void *data)
{
	struct looking *looking = data;
	memset(&looking->document, 0, sizeof(looking->document));
	return gid_read(self, host, &(struct gid_read_options){ .source = GID_SOURCE_SYSFS }, &looking->document);
}

static void print(const struct record *record, const struct host *host, const void *document)
{
	json_object *object =
	        document_to_json("rdmadiag.fuzz", host->origin, &host->facts, record, document, &host->report);
	free(json_text(object, false));
	json_object_put(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t length = end ? (size_t)(end - data) : 0;
	if (!length || length >= sizeof(foreign.name))
		return 0;
	memcpy(foreign.name, data, length);
	foreign.name[length] = '\0';
	foreign.bytes = end + 1;
	foreign.size = size - length - 1;

	autocall(host_freep) struct host *host = host_new();
	struct looking looking = { 0 };
	struct collect_options wanted = {
		.verbs = VERBS_PORTS, .health = true, .more = look_further, .data = &looking
	};
	collect_host(origin, host, &wanted, NULL);
	check_topo(host, &host->report);
	gid_judge(host, &looking.document);
	check_gid(host, &looking.document);
	print(&topo_record, host, host);
	print(&gid_record, host, &looking.document);
	topo_print(host, &(struct topo_text_options){ .virtual_functions = true }, nowhere);
	return 0;
}
