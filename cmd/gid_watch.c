/* SPDX-License-Identifier: MIT */
/*
 * gid --watch. The kernel announces what changes tables (addresses and netdevs over rtnetlink, devices over rdma
 * netlink since 6.12, events of opened devices), but no change of an entry itself. So each announcement is a reason to
 * look again and to compare; the GID cache follows its cause from a work queue (roce_gid_mgmt.c), which is why a second
 * look comes some time after the first.
 */
#include "cmd_gid.h"

#include "base/cleanup.h"
#include "base/signals.h"
#include "base/utf8.h"
#include "gid/diff.h"
#include "render/gid_text.h"
#include "json/json.h"
#include "source/verbs_live.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { POLL_ROUTE, POLL_RDMA, POLL_OUTPUT, POLL_DEVICES };
enum {
	DEVICES_LIMIT = 1024,
	RDMA_GROUP_NOTIFY = 4 /* RDMA_NL_GROUP_NOTIFY */,
	SETTLE_MS = 60,
	SETTLE_TIMES = 50, /* a host that starts containers all the time never is at rest */
	AGAIN_MS = 600,
	IDLE_MS = 10000
};

struct watcher {
	struct origin *origin;
	const struct gid_request *request;
	const struct common_options *common;
	struct gid_look look;
	struct pollfd *polls; /* rtnetlink, rdma netlink, standard output, then the devices */
	struct ibv_context **contexts;
	nfds_t count;
};

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

/* ---- a line ---- */

static void now_text(char text[static 40])
{
	struct timespec now;
	struct tm local;
	char date[32];
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &local);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &local);
	snprintf(text, 40, "%s.%03dZ", date, (int)(now.tv_nsec / 1000000));
}

static void print_json_line(json_object *line)
{
	char time[40];
	now_text(time);
	(void)json_put_member(line, "time", json_object_new_string(time));
	autofree char *text = json_text(line, false);
	fputs(text ? text : "", stdout);
	json_object_put(line);
}

static void print_change(const struct watcher *watcher, const struct gid_change *change)
{
	if (watcher->common->json) {
		json_object *line = record_to_json(&gid_change_record, change);
		if (line)
			print_json_line(line);
		return;
	}
	char time[40];
	now_text(time);
	printf("%s ", time);
	gid_print_change(stdout, change);
}

static void print_event(const struct watcher *watcher, const char *subject, const char *kind, const char *event)
{
	autofree char *clean = utf8_clean(event);
	if (watcher->common->json) {
		json_object *line = json_object_new_object();
		(void)json_put_member(line, "kind", json_object_new_string(kind));
		(void)json_put_member(line, "subject", json_object_new_string(subject));
		(void)json_put_member(line, "event", json_object_new_string(clean ? clean : ""));
		print_json_line(line);
		return;
	}
	char time[40];
	now_text(time);
	autofree char *plain = text_for_terminal(event), *whose = text_for_terminal(subject);
	printf("%s %s %s: %s\n", time, whose ? whose : "?", kind, plain ? plain : "");
}

/* ---- a look, and what is different ---- */

static const struct gid_entry *same_place(const struct gid_document *document, const struct gid_entry *entry)
{
	list_each(other, &document->entries)
		if (!strcmp(other->device, entry->device) && other->port.value == entry->port.value &&
		        other->index.value == entry->index.value && !strcmp(other->gid, entry->gid) &&
		        other->type == entry->type)
			return other;
	return NULL;
}

/* An entry that stays in its place may become stale, or its netdev may get another name. */
static void print_states(
        const struct watcher *watcher, const struct gid_document *before, const struct gid_document *now)
{
	list_each(entry, &now->entries) {
		const struct gid_entry *old = same_place(before, entry);
		char subject[128], event[256];
		if (!old)
			continue;
		snprintf(subject, sizeof(subject), "%s/%" PRId64 "/gid/%" PRId64, entry->device, entry->port.value,
		        entry->index.value);
		if (old->state != entry->state) {
			snprintf(event, sizeof(event), "%s, was %s%s%s", gid_state_names[entry->state],
			        gid_state_names[old->state], entry->state_reason ? ": " : "",
			        entry->state_reason ? entry->state_reason : "");
			print_event(watcher, subject, "state", event);
		}
		if (old->netdev && entry->netdev && strcmp(old->netdev, entry->netdev) != 0) {
			snprintf(event, sizeof(event), "%s, was %s", entry->netdev, old->netdev);
			print_event(watcher, subject, "netdev", event);
		}
	}
}

static bool collects(int result)
{
	return !result || result == -ENODEV; /* a host whose last device went away still has a table: an empty one */
}

/* Once, not at every look while it lasts. */
static void tell_uncompared(const struct watcher *watcher, const struct gid_look *look)
{
	const struct strings *before = &watcher->look.document->uncompared, *now = &look->document->uncompared;
	for (uint32_t i = 0; i < now->count; i++)
		if (!strings_contain(before, now->items[i]))
			complain("%s: its GID table was not read, so changes of it are not seen", now->items[i]);
}

static int look_again(struct watcher *watcher)
{
	struct error error = { 0 };
	struct gid_look look;
	int result = gid_look(watcher->origin, watcher->request, &look, &error);
	if (!look.document || !collects(result)) {
		gid_look_free(&look);
		if (result != -EINTR)
			complain("%s", error.text);
		return result;
	}
	result = gid_diff(look.host->arena, watcher->look.document, look.document, NULL, 0);
	tell_uncompared(watcher, &look);
	list_each(change, &look.document->changes)
		print_change(watcher, change);
	print_states(watcher, watcher->look.document, look.document);
	gid_look_free(&watcher->look);
	watcher->look = look;
	return fflush(stdout) ? -EPIPE : result;
}

/* ---- what announces ---- */

static int open_netlink(int protocol, unsigned int groups)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = groups };
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_watched(const struct watcher *watcher, const char *device)
{
	list_each(table, &watcher->look.document->tables)
		if (!strcmp(table->device, device))
			return true;
	return false;
}

static bool is_open(const struct watcher *watcher, const char *device)
{
	for (nfds_t i = POLL_DEVICES; i < watcher->count; i++)
		if (!strcmp(ibv_get_device_name(watcher->contexts[i]->device), device))
			return true;
	return false;
}

static void open_device(struct watcher *watcher, struct ibv_device *device)
{
	struct ibv_context *context = ibv_open_device(device);
	if (!context)
		return;
	fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
	watcher->contexts[watcher->count] = context;
	watcher->polls[watcher->count++] = (struct pollfd){ .fd = context->async_fd, .events = POLLIN };
}

/* An open file keeps the driver of a device that is gone loaded; one of the same name may be another device. */
static void close_device(struct watcher *watcher, nfds_t i)
{
	ibv_close_device(watcher->contexts[i]);
	watcher->count--;
	watcher->contexts[i] = watcher->contexts[watcher->count];
	watcher->polls[i] = watcher->polls[watcher->count];
}

static void close_devices(struct watcher *watcher)
{
	for (nfds_t i = watcher->count; i-- > POLL_DEVICES;)
		if (watcher->polls[i].fd < 0 || !is_watched(watcher, ibv_get_device_name(watcher->contexts[i]->device)))
			close_device(watcher, i);
}

static bool lacks_device(const struct watcher *watcher)
{
	list_each(table, &watcher->look.document->tables)
		if (!is_open(watcher, table->device))
			return true;
	return false;
}

/*
 * Devices come and go while they are watched. One that cannot be opened is followed through the other announcements,
 * and tried again at each look.
 */
static void follow_devices(struct watcher *watcher)
{
	int count = 0;
	close_devices(watcher);
	struct ibv_device **devices = lacks_device(watcher) ? ibv_get_device_list(&count) : NULL;
	for (int i = 0; devices && i < count && watcher->count < DEVICES_LIMIT; i++) {
		const char *name = ibv_get_device_name(devices[i]);
		if (is_watched(watcher, name) && !is_open(watcher, name))
			open_device(watcher, devices[i]);
	}
	if (devices)
		ibv_free_device_list(devices);
}

static int open_all(struct watcher *watcher)
{
	watcher->polls = calloc(DEVICES_LIMIT, sizeof(*watcher->polls));
	watcher->contexts = calloc(DEVICES_LIMIT, sizeof(struct ibv_context *));
	if (!watcher->polls || !watcher->contexts)
		return -ENOMEM;
	int route = open_netlink(NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
	int rdma = open_netlink(NETLINK_RDMA, 1u << (RDMA_GROUP_NOTIFY - 1));
	watcher->polls[POLL_ROUTE] = (struct pollfd){ .fd = route, .events = POLLIN };
	watcher->polls[POLL_RDMA] = (struct pollfd){ .fd = rdma, .events = POLLIN };
	/* Of a pipe that nobody reads any more poll(2) tells without being asked; a file never is in that state. */
	watcher->polls[POLL_OUTPUT] = (struct pollfd){ .fd = STDOUT_FILENO };
	watcher->count = POLL_DEVICES;
	return route < 0 ? -errno : 0;
}

static void close_all(struct watcher *watcher)
{
	for (nfds_t i = 0; i < watcher->count; i++) {
		if (i >= POLL_DEVICES)
			ibv_close_device(watcher->contexts[i]);
		else if (i != POLL_OUTPUT && watcher->polls[i].fd >= 0)
			close(watcher->polls[i].fd);
	}
	free(watcher->polls);
	free(watcher->contexts);
	gid_look_free(&watcher->look);
}

/* ENOBUFS: announcements were lost. The look that follows does not need them, what is left in the queue may go too. */
static void drain_netlink(int fd)
{
	static char buffer[65536];
	ssize_t got;
	do
		got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	while (got > 0 || (got < 0 && (errno == ENOBUFS || errno == EINTR)));
}

static void print_device_event(const struct watcher *watcher, const char *device, const struct ibv_async_event *event)
{
	char subject[96];
	int port = verbs_event_port(event);
	if (port)
		snprintf(subject, sizeof(subject), "%s/%d", device, port);
	else
		snprintf(subject, sizeof(subject), "%s", device);
	print_event(watcher, subject, "event", ibv_event_type_str(event->event_type));
}

static void drain_device(struct watcher *watcher, nfds_t i)
{
	struct ibv_context *context = watcher->contexts[i];
	struct ibv_async_event event;
	bool removed = watcher->polls[i].revents & (POLLERR | POLLHUP | POLLNVAL);
	while (!ibv_get_async_event(context, &event)) {
		print_device_event(watcher, ibv_get_device_name(context->device), &event);
		removed = removed || event.event_type == IBV_EVENT_DEVICE_FATAL;
		ibv_ack_async_event(&event);
	}
	if (removed) /* poll(2) leaves out negative descriptors */
		watcher->polls[i].fd = -1;
}

static void drain(struct watcher *watcher)
{
	for (nfds_t i = 0; i < watcher->count; i++) {
		if (!watcher->polls[i].revents || i == POLL_OUTPUT)
			continue;
		if (i >= POLL_DEVICES)
			drain_device(watcher, i);
		else
			drain_netlink(watcher->polls[i].fd);
	}
}

/* ---- the loop ---- */

/*
 * 1: something was announced, 0: time is up, -EINTR, or -EPIPE when nobody reads any more. The signals are blocked from
 * the look at stop_signal on, so that none slips in before ppoll(2) opens them.
 */
static int wait_for(struct watcher *watcher, int milliseconds)
{
	struct timespec timeout = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
	sigset_t signals = ending_signal_set(), open;
	sigprocmask(SIG_BLOCK, &signals, &open);
	int result = stop_signal ? -1 : ppoll(watcher->polls, watcher->count, &timeout, &open);
	sigprocmask(SIG_SETMASK, &open, NULL);
	if (stop_signal)
		return -EINTR;
	if (result <= 0)
		return 0;
	if (watcher->polls[POLL_OUTPUT].revents)
		return -EPIPE;
	drain(watcher);
	return 1;
}

/* Waits for an announcement, and lets what belongs together arrive. As wait_for(). */
static int wait_for_changes(struct watcher *watcher, int milliseconds)
{
	int result = wait_for(watcher, milliseconds);
	for (int times = 0; result > 0 && times < SETTLE_TIMES; times++) {
		int more = wait_for(watcher, SETTLE_MS);
		if (more <= 0)
			return more < 0 ? more : result;
	}
	return result;
}

/* The first look was over before the devices were opened: what happened in between shows in the second. */
static int follow(struct watcher *watcher)
{
	int pending_ms = AGAIN_MS;
	for (;;) {
		int result = wait_for_changes(watcher, pending_ms);
		if (result >= 0)
			result = look_again(watcher);
		if (result == -EPIPE)
			return EXIT_DONE;
		if (result == -EINTR || stop_signal)
			return EXIT_INTERRUPTED;
		follow_devices(watcher);
		pending_ms = pending_ms == IDLE_MS ? AGAIN_MS : IDLE_MS;
	}
}

int gid_watch(struct origin *origin, const struct gid_request *request, const struct common_options *common)
{
	struct watcher watcher = { .origin = origin, .request = request, .common = common };
	struct error error = { 0 };
	int result = open_all(&watcher);
	if (!result)
		result = gid_look(origin, request, &watcher.look, &error);
	catch_ending_signals(on_signal);
	int status = EXIT_NOTHING;
	if (result) {
		complain("%s", error.text[0] ? error.text : strerror(-result));
		status = result == -EINTR ? EXIT_INTERRUPTED : EXIT_NOTHING;
	} else {
		follow_devices(&watcher);
		status = follow(&watcher);
	}
	close_all(&watcher);
	return status;
}
