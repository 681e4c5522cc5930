/* SPDX-License-Identifier: MIT */
/*
 * Makes one call fail: linked into the program with --wrap (see the Makefile), so that it sees what the project's own
 * code calls and nothing that libraries do inside.
 *
 *	INJECT_AT=N       the Nth call fails (counted over all processes of the run, from 1)
 *	INJECT_CALLS=FILE the name of each function that is called is appended, a line each
 *	INJECT_LOG=FILE   a line "N FUNCTION" is appended when the call is made to fail
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "render/json.h"

struct shared {
	atomic_long calls;
	long strike;
};

static struct shared *shared;

__attribute__((constructor)) static void set_up(void)
{
	const char *at = getenv("INJECT_AT");
	void *memory = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	shared = memory;
	shared->strike = at ? atol(at) : 0;
}

/* References from here are wrapped too. */
int __real_open(const char *path, int flags, mode_t mode);
ssize_t __real_write(int fd, const void *buffer, size_t size);

static void append(const char *variable, const char *text)
{
	const char *path = getenv(variable);
	int fd = path ? __real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	if (fd >= 0 && __real_write(fd, text, strlen(text)) < 0)
		abort();
	if (fd >= 0)
		close(fd);
}

static bool strikes(const char *function)
{
	char text[128];
	long call = shared ? atomic_fetch_add(&shared->calls, 1) + 1 : 0;
	snprintf(text, sizeof(text), "%s\n", function);
	if (call)
		append("INJECT_CALLS", text);
	if (!call || call != shared->strike)
		return false;
	snprintf(text, sizeof(text), "%ld %s\n", call, function);
	append("INJECT_LOG", text);
	return true;
}

/* A function that does `spoil` and returns `failure` when it is its turn. */
#define WRAP_AND(spoil, type, name, failure, parameters, ...)                                                          \
	type __real_##name parameters;                                                                                 \
	type __wrap_##name parameters;                                                                                 \
	type __wrap_##name parameters                                                                                  \
	{                                                                                                              \
		if (!strikes(#name))                                                                                   \
			return __real_##name(__VA_ARGS__);                                                             \
		spoil;                                                                                                 \
		return failure;                                                                                        \
	}
#define WRAP(type, name, failure, code, parameters, ...)                                                               \
	WRAP_AND(errno = (code), type, name, failure, parameters, __VA_ARGS__)
#define NO_MEMORY(type, name, parameters, ...) WRAP(type, name, NULL, ENOMEM, parameters, __VA_ARGS__)
#define REFUSED(type, name, code, parameters, ...) WRAP(type, name, -1, code, parameters, __VA_ARGS__)

/* ---- memory ---- */

NO_MEMORY(void *, malloc, (size_t size), size)
NO_MEMORY(void *, calloc, (size_t count, size_t size), count, size)
NO_MEMORY(void *, realloc, (void *old, size_t size), old, size)
NO_MEMORY(void *, reallocarray, (void *old, size_t count, size_t size), old, count, size)
NO_MEMORY(char *, strdup, (const char *text), text)
NO_MEMORY(char *, strndup, (const char *text, size_t length), text, length)
NO_MEMORY(struct arena *, arena_new, (size_t size), size)
/* The arena has to know that it refused something. */
#define EXHAUSTED(type, name, failure, parameters, ...)                                                                \
	WRAP_AND(__real_arena_alloc(arena, SIZE_MAX), type, name, failure, parameters, __VA_ARGS__)
void *__real_arena_alloc(struct arena *arena, size_t size);

EXHAUSTED(void *, arena_alloc, NULL, (struct arena * arena, size_t size), arena, size)
EXHAUSTED(char *, arena_strndup, NULL, (struct arena * arena, const char *text, size_t length), arena, text, length)
EXHAUSTED(char *, arena_strdup, NULL, (struct arena * arena, const char *text), arena, text)
EXHAUSTED(char *, arena_vprintf, NULL, (struct arena * arena, const char *format, va_list args), arena, format, args)
EXHAUSTED(void *, list_add_size, NULL, (struct arena * arena, struct list *list, size_t size), arena, list, size)
EXHAUSTED(
        int, list_add_pointer, -ENOMEM, (struct arena * arena, struct list *list, void *element), arena, list, element)
EXHAUSTED(int, strings_add, -ENOMEM, (struct arena * arena, struct strings *strings, const char *text), arena, strings,
        text)
NO_MEMORY(json_object *, json_object_new_object, (void))
NO_MEMORY(json_object *, json_object_new_array, (void))
NO_MEMORY(json_object *, json_object_new_array_ext, (int size), size)
NO_MEMORY(json_object *, json_object_new_string, (const char *text), text)
NO_MEMORY(json_object *, json_object_new_int64, (int64_t value), value)
REFUSED(int, json_object_array_add, ENOMEM, (json_object * array, json_object *item), array, item)

/* ---- files ---- */

REFUSED(int, open, EMFILE, (const char *path, int flags, mode_t mode), path, flags, mode)
REFUSED(int, openat, EMFILE, (int at, const char *path, int flags, mode_t mode), at, path, flags, mode)
REFUSED(ssize_t, read, EIO, (int fd, void *buffer, size_t size), fd, buffer, size)
REFUSED(ssize_t, write, ENOSPC, (int fd, const void *buffer, size_t size), fd, buffer, size)
REFUSED(ssize_t, readlink, EACCES, (const char *path, char *buffer, size_t size), path, buffer, size)
REFUSED(ssize_t, readlinkat, EACCES, (int at, const char *path, char *buffer, size_t size), at, path, buffer, size)
REFUSED(int, mkdirat, ENOSPC, (int at, const char *path, mode_t mode), at, path, mode)
REFUSED(int, symlinkat, ENOSPC, (const char *target, int at, const char *path), target, at, path)
REFUSED(int, mkostemp, EACCES, (char *path, int flags), path, flags)
REFUSED(int, rename, EACCES, (const char *from, const char *to), from, to)
WRAP(char *, mkdtemp, NULL, ENOSPC, (char *path), path)
WRAP(FILE *, fdopen, NULL, ENOMEM, (int fd, const char *mode), fd, mode)
WRAP(FILE *, fmemopen, NULL, ENOMEM, (void *memory, size_t size, const char *mode), memory, size, mode)
WRAP(FILE *, open_memstream, NULL, ENOMEM, (char **text, size_t *size), text, size)
REFUSED(int, fstat, EIO, (int fd, struct stat *status), fd, status)
REFUSED(int, fstatat, EIO, (int at, const char *path, struct stat *status, int flags), at, path, status, flags)
REFUSED(int, access, EACCES, (const char *path, int mode), path, mode)
WRAP(DIR *, opendir, NULL, EMFILE, (const char *path), path)
WRAP(DIR *, fdopendir, NULL, ENOMEM, (int fd), fd)
WRAP(char *, realpath, NULL, EACCES, (const char *path, char *buffer), path, buffer)
WRAP(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), path, mode)

/* ---- processes and sockets ---- */

REFUSED(pid_t, fork, EAGAIN, (void))
REFUSED(int, pipe2, EMFILE, (int *ends, int flags), ends, flags)
REFUSED(int, poll, ENOMEM, (struct pollfd * fds, nfds_t count, int timeout), fds, count, timeout)
REFUSED(int, ppoll, ENOMEM, (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
        fds, count, timeout, mask)
REFUSED(int, socket, EAFNOSUPPORT, (int domain, int type, int protocol), domain, type, protocol)
REFUSED(int, bind, EADDRINUSE, (int fd, const struct sockaddr *address, socklen_t size), fd, address, size)
REFUSED(int, listen, EADDRINUSE, (int fd, int backlog), fd, backlog)
REFUSED(int, accept4, EMFILE, (int fd, struct sockaddr *address, socklen_t *size, int flags), fd, address, size, flags)
REFUSED(int, connect, ECONNREFUSED, (int fd, const struct sockaddr *address, socklen_t size), fd, address, size)
REFUSED(int, setsockopt, ENOPROTOOPT, (int fd, int level, int name, const void *value, socklen_t size), fd, level, name,
        value, size)
REFUSED(int, getsockopt, ENOPROTOOPT, (int fd, int level, int name, void *value, socklen_t *size), fd, level, name,
        value, size)
REFUSED(int, getsockname, ENOBUFS, (int fd, struct sockaddr *address, socklen_t *size), fd, address, size)
REFUSED(int, getpeername, ENOTCONN, (int fd, struct sockaddr *address, socklen_t *size), fd, address, size)
REFUSED(ssize_t, send, EPIPE, (int fd, const void *buffer, size_t size, int flags), fd, buffer, size, flags)
REFUSED(ssize_t, sendto, EPERM,
        (int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to, socklen_t length), fd, buffer,
        size, flags, to, length)
REFUSED(ssize_t, sendmsg, ENOBUFS, (int fd, const struct msghdr *message, int flags), fd, message, flags)
REFUSED(ssize_t, recv, ECONNRESET, (int fd, void *buffer, size_t size, int flags), fd, buffer, size, flags)
REFUSED(int, recvmmsg, ENOBUFS,
        (int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout), fd, messages,
        count, flags, timeout)
WRAP(int, getaddrinfo, EAI_MEMORY, ENOMEM,
        (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result), node, service,
        hints, result)
REFUSED(int, getrlimit, EPERM, (__rlimit_resource_t resource, struct rlimit *limit), resource, limit)
WRAP(void *, mmap, MAP_FAILED, ENOMEM, (void *address, size_t size, int protection, int flags, int fd, off_t offset),
        address, size, protection, flags, fd, offset)

/* ---- verbs ---- */

WRAP(struct ibv_device **, ibv_get_device_list, NULL, ENOMEM, (int *count), count)
WRAP(struct ibv_context *, ibv_open_device, NULL, EMFILE, (struct ibv_device * device), device)
WRAP(int, ibv_query_device, EIO, EIO, (struct ibv_context * context, struct ibv_device_attr *attributes), context,
        attributes)
WRAP(struct ibv_pd *, ibv_alloc_pd, NULL, ENOMEM, (struct ibv_context * context), context)
WRAP(struct ibv_cq *, ibv_create_cq, NULL, ENOMEM,
        (struct ibv_context * context, int size, void *data, struct ibv_comp_channel *channel, int vector), context,
        size, data, channel, vector)
WRAP(struct ibv_qp *, ibv_create_qp, NULL, ENOMEM, (struct ibv_pd * pd, struct ibv_qp_init_attr *attributes), pd,
        attributes)
WRAP(int, ibv_modify_qp, EINVAL, EINVAL, (struct ibv_qp * qp, struct ibv_qp_attr *attributes, int mask), qp, attributes,
        mask)
WRAP(int, ibv_query_qp, EIO, EIO,
        (struct ibv_qp * qp, struct ibv_qp_attr *attributes, int mask, struct ibv_qp_init_attr *first), qp, attributes,
        mask, first)
REFUSED(int, ibv_get_async_event, EIO, (struct ibv_context * context, struct ibv_async_event *event), context, event)
REFUSED(int, ibv_get_cq_event, EIO, (struct ibv_comp_channel * channel, struct ibv_cq **cq, void **data), channel, cq,
        data)
WRAP(ssize_t, _ibv_query_gid_table, -EIO, EIO,
        (struct ibv_context * context, struct ibv_gid_entry *entries, size_t count, uint32_t flags, size_t size),
        context, entries, count, flags, size)
WRAP(struct ibv_mr *, ibv_reg_mr_iova2, NULL, ENOMEM,
        (struct ibv_pd * pd, void *start, size_t length, uint64_t iova, unsigned int access), pd, start, length, iova,
        access)
WRAP(struct ibv_comp_channel *, ibv_create_comp_channel, NULL, EMFILE, (struct ibv_context * context), context)
WRAP(int, mlx5dv_init_obj, EINVAL, EINVAL, (struct mlx5dv_obj * object, uint64_t type), object, type)
