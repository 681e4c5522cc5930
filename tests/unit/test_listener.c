/* SPDX-License-Identifier: MIT */
/* Where a listener says that it listens, and who gets to be served: peers on loopback, good ones and others. */
#include "host_fixture.h"

#include "gid/address.h"
#include "probe/listener.h"
#include "probe/watcher.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static struct listener listener;
static struct survey survey;
static char text[512];

static void add_address(struct netdev *netdev, int family, const char *ip)
{
	struct address *address = list_add(host->arena, &netdev->addresses);
	address->family = (uint8_t)family;
	assert_int_equal(inet_pton(family, ip, address->bytes), 1);
}

static void add_port(struct rdma_device *device, int number, const char *name, const char *ip)
{
	struct netdev *netdev = list_add(host->arena, &host->netdevs);
	netdev->name = name;
	add_address(netdev, AF_INET, ip);
	struct port *port = list_add(host->arena, &device->ports);
	port->number = num(number);
	struct port_netdev *reference = list_add(host->arena, &port->netdevs);
	reference->name = name;
}

/* A device with two ports, each with a netdev of its own. */
static int begin(void **state)
{
	if (set_up(state))
		return -1;
	survey = (struct survey){ .host = host };
	struct rdma_device *device = list_add(host->arena, &host->devices);
	device->name = "mlx5_0";
	add_port(device, 1, "eth1", "192.0.2.6");
	add_port(device, 2, "eth2", "198.51.100.6");
	add_address(host->netdevs.items[0], AF_INET6, "fe80::1");
	add_address(host->netdevs.items[0], AF_INET6, "2001:db8::6");
	listener = (struct listener){ .fd = -1 };
	return watcher_signals();
}

static int end(void **state)
{
	listener_close(&listener);
	return tear_down(state);
}

static uint16_t listen_on(const char *address)
{
	static struct probe_settings settings;
	struct sockaddr_in bound = { 0 };
	socklen_t length = sizeof(bound);
	struct error error;
	settings_init(&settings);
	settings.tcp_port = 0;
	snprintf(settings.host, sizeof(settings.host), "%s", address);
	assert_int_equal(listener_open(&listener, &settings, &error), 0);
	assert_int_equal(getsockname(listener.fd, (struct sockaddr *)&bound, &length), 0);
	return ntohs(bound.sin_port);
}

/* "#" stands for the port. */
static void listens_at(struct num number, const char *form, int port)
{
	char wanted[256] = "";
	for (; *form; form++) {
		size_t used = strlen(wanted);
		if (*form == '#')
			snprintf(wanted + used, sizeof(wanted) - used, "%d", port);
		else
			snprintf(wanted + used, sizeof(wanted) - used, "%c", *form);
	}
	listener_describe(&listener, &survey, "mlx5_0", number, text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void test_one_address(void **state)
{
	(void)state;
	int port = listen_on("127.0.0.1");
	listens_at((struct num){ 0 }, "127.0.0.1:#", port);
}

/* Those of the port's netdevs are what a peer can be told; a link-local address says nothing on another host. */
static void test_every_address(void **state)
{
	(void)state;
	int port = listen_on("0.0.0.0");
	listens_at(num(1), "192.0.2.6:#, [2001:db8::6]:# and every other address of this host", port);
	listens_at(num(2), "198.51.100.6:# and every other address of this host", port);
	listens_at((struct num){ 0 },
	        "192.0.2.6:#, [2001:db8::6]:#, 198.51.100.6:# and every other address of this host", port);
	listens_at(num(3), "0.0.0.0:#", port);
}

/* ---- the room ---- */

static int connect_to(uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void announce(int fd, uint32_t length, const char *bytes)
{
	uint32_t head = htonl(length);
	assert_int_equal(send(fd, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(send(fd, bytes, strlen(bytes), 0), strlen(bytes));
}

static void is_served(int fd)
{
	char bytes[8] = "";
	struct error error;
	int served = -1;
	assert_int_equal(listener_next(&listener, &served, &error), 0);
	assert_int_equal(send(served, "hello", 6, 0), 6);
	assert_int_equal(recv(fd, bytes, 6, MSG_WAITALL), 6);
	assert_string_equal(bytes, "hello");
	close(served);
}

static void is_sent_away(const char *why)
{
	struct error error;
	int served;
	assert_int_equal(listener_next(&listener, &served, &error), -EAGAIN);
	assert_non_null(strstr(error.text, why));
}

static void test_good_peer(void **state)
{
	(void)state;
	uint16_t port = listen_on("127.0.0.1");
	int silent = connect_to(port), partly = connect_to(port), good = connect_to(port);
	announce(partly, 3, "{}");
	announce(good, 2, "{}");
	is_served(good);
	assert_int_equal(listener.count, 2);
	close(silent);
	close(partly);
	close(good);
}

static void test_others(void **state)
{
	(void)state;
	uint16_t port = listen_on("127.0.0.1");
	int gone = connect_to(port);
	close(gone);
	is_sent_away("went away");
	int nonsense = connect_to(port);
	assert_int_equal(send(nonsense, "GET / HTTP/1.1\r\n", 16, 0), 16);
	is_sent_away("it is no rdmadiag probe");
	close(nonsense);
	int empty = connect_to(port);
	announce(empty, 0, "");
	is_sent_away("0 bytes announced");
	close(empty);
	int good = connect_to(port);
	announce(good, 2, "{}");
	is_served(good);
	close(good);
}

/* More than fit: the ones that were silent for longest lose their place, and are told by an end of the connection. */
static void test_full_room(void **state)
{
	(void)state;
	enum { SURPLUS = 2, ALL = LISTENER_ROOM + SURPLUS };
	uint16_t port = listen_on("127.0.0.1");
	int fds[ALL];
	char byte;
	for (int i = 0; i < ALL; i++) {
		fds[i] = connect_to(port);
		listener_look(&listener);
	}
	assert_int_equal(listener.count, LISTENER_ROOM);
	for (int i = 0; i < ALL; i++) {
		ssize_t got = recv(fds[i], &byte, 1, i < SURPLUS ? 0 : MSG_DONTWAIT);
		assert_int_equal(got, i < SURPLUS ? 0 : -1);
	}
	announce(fds[ALL - 1], 2, "{}");
	is_served(fds[ALL - 1]);
	for (int i = 0; i < ALL; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_address, begin, end),
		cmocka_unit_test_setup_teardown(test_every_address, begin, end),
		cmocka_unit_test_setup_teardown(test_good_peer, begin, end),
		cmocka_unit_test_setup_teardown(test_others, begin, end),
		cmocka_unit_test_setup_teardown(test_full_room, begin, end),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
