/* SPDX-License-Identifier: MIT */
/*
 * Makes one call fail: linked into the program with --wrap (see the Makefile), so that it sees what the project's own
 * code calls and nothing that libraries do inside.
 *
 *	INJECT_AT=N       the Nth call fails (counted over all processes of the run, from 1)
 *	INJECT_CALLS=FILE a line "FUNCTION PLACE" is appended for each call: places are alike where a function is called
 *	                  from the same line, in a function that was called from the same line
 *	INJECT_LOG=FILE   a line "N FUNCTION" is appended when the call is made to fail
 */
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <net/if.h>
#include <netdb.h>
#include <numa.h>
#include <numaif.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "json/json.h"

/* a wrapper of the header around the function of that name */
#undef ibv_query_port

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

/* errno stays: at the end of a directory readdir(3) tells by it that nothing failed. */
static void append(const char *variable, const char *text)
{
	int before = errno;
	const char *path = getenv(variable);
	int fd = path ? __real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	if (fd >= 0 && __real_write(fd, text, strlen(text)) < 0)
		abort();
	if (fd >= 0)
		close(fd);
	errno = before;
}

/* `frame` is that of the wrapper: below each stands the frame of its caller, and above that where it returns to. */
static bool strikes(const char *function, void *const *frame)
{
	char text[128];
	void *const *caller = frame[0];
	long call = shared ? atomic_fetch_add(&shared->calls, 1) + 1 : 0;
	snprintf(text, sizeof(text), "%s %p.%p\n", function, frame[1], caller[1]);
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
		if (!strikes(#name, __builtin_frame_address(0)))                                                       \
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
REFUSED(int, vasprintf, ENOMEM, (char **text, const char *format, va_list args), text, format, args)
REFUSED(int, madvise, EINVAL, (void *address, size_t size, int advice), address, size, advice)

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int length = __wrap_vasprintf(text, format, args);
	va_end(args);
	return length;
}

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
NO_MEMORY(json_object *, json_object_new_int, (int32_t value), value)
NO_MEMORY(json_object *, json_object_new_boolean, (json_bool value), value)
NO_MEMORY(json_object *, json_object_new_double_s, (double value, const char *text), value, text)
NO_MEMORY(json_tokener *, json_tokener_new_ex, (int depth), depth)
NO_MEMORY(json_object *, json_object_from_fd, (int fd), fd)
NO_MEMORY(const char *, json_object_to_json_string_ext, (json_object * object, int flags), object, flags)
REFUSED(int, json_object_object_add, ENOMEM, (json_object * object, const char *key, json_object *value), object, key,
        value)
REFUSED(int, json_object_object_add_ex, ENOMEM,
        (json_object * object, const char *key, json_object *value, unsigned int options), object, key, value, options)
REFUSED(int, json_object_array_put_idx, ENOMEM, (json_object * array, size_t index, json_object *item), array, index,
        item)
WRAP(int, json_object_set_string_len, 0, ENOMEM, (json_object * object, const char *text, int length), object, text,
        length)
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
WRAP(struct dirent *, readdir, NULL, EIO, (DIR * directory), directory)
WRAP(char *, realpath, NULL, EACCES, (const char *path, char *buffer), path, buffer)
WRAP(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), path, mode)
WRAP(size_t, fread, 0, EIO, (void *buffer, size_t size, size_t count, FILE *file), buffer, size, count, file)
REFUSED(int, fflush, ENOSPC, (FILE * file), file)
REFUSED(int, fseeko, EIO, (FILE * file, off_t offset, int whence), file, offset, whence)
REFUSED(off_t, ftello, EIO, (FILE * file), file)
/* getline() of the header is this one */
REFUSED(ssize_t, __getdelim, ENOMEM, (char **line, size_t *size, int end, FILE *file), line, size, end, file)
/* The stream is gone also then. */
WRAP_AND((__real_fclose(file), errno = ENOSPC), int, fclose, EOF, (FILE * file), file)
REFUSED(int, lstat, EIO, (const char *path, struct stat *status), path, status)
REFUSED(int, faccessat, EACCES, (int at, const char *path, int mode, int flags), at, path, mode, flags)
REFUSED(int, mkdir, ENOSPC, (const char *path, mode_t mode), path, mode)
REFUSED(int, fchmod, EPERM, (int fd, mode_t mode), fd, mode)
REFUSED(int, flock, ENOLCK, (int fd, int operation), fd, operation)
REFUSED(int, dup2, EBUSY, (int from, int to), from, to)
REFUSED(int, unlink, EACCES, (const char *path), path)
REFUSED(int, remove, EACCES, (const char *path), path)
REFUSED(int, nftw, ENOMEM, (const char *path, __nftw_func_t visit, int descriptors, int flags), path, visit,
        descriptors, flags)
REFUSED(int, scandir, ENOMEM,
        (const char *path, struct dirent ***entries, int (*chosen)(const struct dirent *),
                int (*order)(const struct dirent **, const struct dirent **)),
        path, entries, chosen, order)
REFUSED(int, ioctl, EIO, (int fd, unsigned long request, void *argument), fd, request, argument)
/* dlerror() has a reason then. */
WRAP_AND(__real_dlopen("/nowhere", RTLD_LAZY), void *, dlopen, NULL, (const char *path, int flags), path, flags)
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name)
{
	/* What a library has made it can free. */
	bool strike = !strstr(name, "free") && strikes("dlsym", __builtin_frame_address(0));
	return __real_dlsym(library, strike ? "nothing" : name);
}

/* ---- processes and sockets ---- */

REFUSED(pid_t, fork, EAGAIN, (void))
WRAP(int, pthread_create, EAGAIN, EAGAIN,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data), thread, attributes,
        run, data)
REFUSED(pid_t, waitpid, ECHILD, (pid_t pid, int *status, int options), pid, status, options)
REFUSED(int, waitid, ECHILD, (idtype_t type, id_t id, siginfo_t *info, int options), type, id, info, options)
REFUSED(long, syscall, ENOSYS, (long number, long a, long b, long c, long d, long e, long f), number, a, b, c, d, e, f)
REFUSED(int, uname, EFAULT, (struct utsname * name), name)
REFUSED(ssize_t, getrandom, EAGAIN, (void *buffer, size_t size, unsigned int flags), buffer, size, flags)
REFUSED(int, nanosleep, EINTR, (const struct timespec *time, struct timespec *left), time, left)
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
REFUSED(int, shutdown, ENOTCONN, (int fd, int how), fd, how)
WRAP(int, getnameinfo, EAI_MEMORY, ENOMEM,
        (const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size, char *service,
                socklen_t service_size, int flags),
        address, size, host, host_size, service, service_size, flags)
WRAP(unsigned int, if_nametoindex, 0, ENODEV, (const char *name), name)
WRAP(char *, if_indextoname, NULL, ENXIO, (unsigned int index, char *name), index, name)
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
WRAP(int, mlx5dv_modify_qp_lag_port, EOPNOTSUPP, EOPNOTSUPP, (struct ibv_qp * qp, uint8_t port), qp, port)
WRAP(int, mlx5dv_query_qp_lag_port, EOPNOTSUPP, EOPNOTSUPP, (struct ibv_qp * qp, uint8_t *port, uint8_t *active), qp,
        port, active)
WRAP(int, mlx5dv_devx_cq_query, EREMOTEIO, EREMOTEIO,
        (struct ibv_cq * cq, const void *in, size_t in_size, void *out, size_t out_size), cq, in, in_size, out,
        out_size)
WRAP(int, mlx5dv_devx_qp_query, EREMOTEIO, EREMOTEIO,
        (struct ibv_qp * qp, const void *in, size_t in_size, void *out, size_t out_size), qp, in, in_size, out,
        out_size)
WRAP(int, ibv_query_port, EIO, EIO,
        (struct ibv_context * context, uint8_t port, struct _compat_ibv_port_attr *attributes), context, port,
        attributes)
WRAP(int, _ibv_query_gid_ex, EIO, EIO,
        (struct ibv_context * context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry, uint32_t flags,
                size_t size),
        context, port, index, entry, flags, size)
WRAP(struct ibv_qp_ex *, ibv_qp_to_qp_ex, NULL, EOPNOTSUPP, (struct ibv_qp * qp), qp)
WRAP(int, ibv_close_device, EBUSY, EBUSY, (struct ibv_context * context), context)
WRAP(int, ibv_dealloc_pd, EBUSY, EBUSY, (struct ibv_pd * pd), pd)
WRAP(int, ibv_dereg_mr, EBUSY, EBUSY, (struct ibv_mr * mr), mr)
WRAP(int, ibv_destroy_comp_channel, EBUSY, EBUSY, (struct ibv_comp_channel * channel), channel)
WRAP(int, ibv_destroy_cq, EBUSY, EBUSY, (struct ibv_cq * cq), cq)
WRAP(int, ibv_destroy_qp, EBUSY, EBUSY, (struct ibv_qp * qp), qp)

/* ---- libnuma ---- */

REFUSED(int, numa_available, ENOSYS, (void))
REFUSED(int, numa_run_on_node, EINVAL, (int node), node)
NO_MEMORY(struct bitmask *, numa_allocate_nodemask, (void))
REFUSED(long, mbind, EIO,
        (void *start, unsigned long length, int mode, const unsigned long *mask, unsigned long most,
                unsigned int flags),
        start, length, mode, mask, most, flags)
REFUSED(long, set_mempolicy, EPERM, (int mode, const unsigned long *mask, unsigned long most), mode, mask, most)
REFUSED(long, move_pages, EPERM, (int pid, unsigned long count, void **pages, const int *nodes, int *status, int flags),
        pid, count, pages, nodes, status, flags)

/* ---- libarchive ---- */

#define BROKEN(name, parameters, ...) WRAP(int, name, ARCHIVE_FATAL, ENOMEM, parameters, __VA_ARGS__)
NO_MEMORY(struct archive *, archive_read_new, (void))
NO_MEMORY(struct archive *, archive_write_new, (void))
NO_MEMORY(struct archive_entry *, archive_entry_new, (void))
BROKEN(archive_read_open_fd, (struct archive * archive, int fd, size_t block), archive, fd, block)
BROKEN(archive_read_support_filter_gzip, (struct archive * archive), archive)
BROKEN(archive_read_support_format_tar, (struct archive * archive), archive)
BROKEN(archive_read_next_header, (struct archive * archive, struct archive_entry **entry), archive, entry)
REFUSED(la_ssize_t, archive_read_data, ENOMEM, (struct archive * archive, void *data, size_t size), archive, data, size)
BROKEN(archive_write_add_filter_gzip, (struct archive * archive), archive)
BROKEN(archive_write_set_filter_option,
        (struct archive * archive, const char *module, const char *option, const char *value), archive, module, option,
        value)
BROKEN(archive_write_set_format_pax_restricted, (struct archive * archive), archive)
BROKEN(archive_write_open_fd, (struct archive * archive, int fd), archive, fd)
BROKEN(archive_write_header, (struct archive * archive, struct archive_entry *entry), archive, entry)
REFUSED(la_ssize_t, archive_write_data, ENOSPC, (struct archive * archive, const void *data, size_t size), archive,
        data, size)
BROKEN(archive_write_close, (struct archive * archive), archive)
