/* SPDX-License-Identifier: MIT */
#include "report/kernel_log.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

enum { RECORD_SIZE = 8192, BYTES_LIMIT = 4 << 20 };

/* Beginnings of words, in small letters. */
static const char *const related_words[] = {
	"infiniband",
	"rdma",
	"roce",
	"ib_",
	"iw_",
	"ipoib",
	"mlx4",
	"mlx5",
	"bnxt",
	"irdma",
	"ice ",
	"i40e",
	"qedr",
	"hfi1",
	"hns",
	"efa",
	"erdma",
	"mana",
	"cxgb4",
	"ocrdma",
	"usnic",
	"vmw_pvrdma",
	"ionic",
	"rxe",
	"siw",
	"uverbs",
	"aer",
	"pcieport",
	"dpc",
	"dmar",
	"amd-vi",
	"iommu",
	"nvidia",
	"nv_peer",
	"amdgpu",
	"memlock",
	"bonding",
	"lag",
};

static bool begins_word(const char *text, const char *at)
{
	return at == text || !isalnum((unsigned char)at[-1]);
}

static bool has_word(const char *text, const char *word)
{
	for (const char *at = text; (at = strcasestr(at, word)); at++)
		if (begins_word(text, at))
			return true;
	return false;
}

/* A name as a whole: mlx5_1 is not in "mlx5_10". */
static bool has_name(const char *text, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	for (const char *at = text; length && (at = strstr(at, name)); at++)
		if (begins_word(text, at) && !isalnum((unsigned char)at[length]))
			return true;
	return false;
}

bool kernel_log_is_related(const struct host *host, const char *message)
{
	for (size_t i = 0; i < ARRAY_SIZE(related_words); i++)
		if (has_word(message, related_words[i]))
			return true;
	list_each(device, &host->devices) {
		if (has_name(message, device->name) || (device->pci && has_name(message, device->pci->address)))
			return true;
		list_each(port, &device->ports)
			list_each(netdev, &port->netdevs)
				if (has_name(message, netdev->name))
					return true;
	}
	return false;
}

/* "6,1234,5678901,-;text\n DICTIONARY": level, sequence, microseconds (Documentation/ABI/testing/dev-kmsg). */
static size_t copy_record(const struct host *host, char *record, FILE *stream, bool *kept)
{
	int64_t microseconds = 0;
	char *text = strchr(record, ';');
	*kept = false;
	if (!text)
		return 0;
	*text++ = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (sscanf(record, "%*[^,],%*[^,],%" SCNd64, &microseconds) != 1 || !kernel_log_is_related(host, text))
		return 0;
	*kept = true;
	int length = fprintf(
	        stream, "[%5" PRId64 ".%06" PRId64 "] %s\n", microseconds / 1000000, microseconds % 1000000, text);
	return length > 0 ? (size_t)length : 0;
}

int kernel_log_copy(const struct host *host, FILE *stream, size_t *kept, size_t *seen)
{
	*kept = *seen = 0;
	autoclose int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (size_t bytes = 0; bytes < BYTES_LIMIT;) {
		char record[RECORD_SIZE + 1];
		bool taken;
		ssize_t got = read(fd, record, RECORD_SIZE);
		/* EPIPE: messages were overwritten before they were read; the next read goes on behind them. */
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (!got)
			break;
		record[got] = '\0';
		bytes += copy_record(host, record, stream, &taken);
		*kept += taken;
		++*seen;
	}
	return 0;
}
