/* SPDX-License-Identifier: MIT */
/* Interposed file functions: /dev/infiniband/uverbsN exists here only. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl.h>

#include "preload.h"

#define UVERBS_PREFIX "/dev/infiniband/uverbs"

enum { UVERBS_MAJOR = 231, UVERBS_MINOR = 192 };

struct real_calls real;
static struct fd_info fds[MAX_FDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void resolve(void)
{
#define RESOLVE(name) *(void **)&real.name = dlsym(RTLD_NEXT, #name)
	RESOLVE(open);
	RESOLVE(openat);
	RESOLVE(fopen);
	RESOLVE(opendir);
	RESOLVE(close);
	RESOLVE(write);
	RESOLVE(read);
	RESOLVE(ioctl);
	RESOLVE(mmap);
	RESOLVE(stat);
	RESOLVE(lstat);
	RESOLVE(fstat);
	RESOLVE(fstatat);
	RESOLVE(statx);
	RESOLVE(access);
	RESOLVE(eaccess);
	RESOLVE(faccessat);
	RESOLVE(socket);
	RESOLVE(bind);
	RESOLVE(connect);
	RESOLVE(getsockname);
	RESOLVE(setsockopt);
	RESOLVE(getsockopt);
	RESOLVE(sendto);
	RESOLVE(sendmsg);
	RESOLVE(sendmmsg);
	RESOLVE(recvfrom);
	RESOLVE(recvmsg);
	RESOLVE(recvmmsg);
#undef RESOLVE
}

void resolve_real(void)
{
	pthread_once(&once, resolve);
}

__attribute__((constructor)) static void at_load(void)
{
	resolve_real();
}

struct fd_info *fd_lookup(int fd)
{
	resolve_real();
	return fd >= 0 && fd < MAX_FDS && fds[fd].kind != FD_PLAIN ? &fds[fd] : NULL;
}

void fd_remember(int fd, const struct fd_info *info)
{
	if (fd >= 0 && fd < MAX_FDS)
		fds[fd] = *info;
}

int uverbs_of_fd(int fd)
{
	struct fd_info *f = fd_lookup(fd);

	return f && f->kind == FD_UVERBS ? f->ctx : -1;
}

const struct fab_dev *uverbs_of_path(const char *path)
{
	char *end;
	unsigned long n;

	resolve_real();
	if (!path || strncmp(path, UVERBS_PREFIX, strlen(UVERBS_PREFIX)))
		return NULL;
	n = strtoul(path + strlen(UVERBS_PREFIX), &end, 10);
	if (*end || end == path + strlen(UVERBS_PREFIX) || emu_init())
		return NULL;
	return dev_by_uverbs((uint32_t)n);
}

/* ---- opening */

static int open_uverbs_locked(struct fab_dev *dev)
{
	struct fault_site site = { .device = dev->name };
	int slot, fd;

	block_if(F_BLOCK_OPEN, &site);
	slot = ctx_open(dev);
	if (slot < 0)
		return slot;
	fd = fcntl(emu.ctx[slot].memfd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || fd >= MAX_FDS) {
		ctx_close(slot);
		return -EMFILE;
	}
	fd_remember(fd, &(struct fd_info){ .kind = FD_UVERBS, .ctx = (int16_t)slot });
	truth("open", "\"device\":\"%s\"", dev->name);
	return fd;
}

static int open_uverbs(const struct fab_dev *dev)
{
	int fd;

	emu_lock();
	fd = open_uverbs_locked(&fab->dev[dev - fab->dev]);
	emu_unlock();
	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

static bool takes_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define MODE_ARGUMENT(flags)                                                                                           \
	mode_t mode = 0;                                                                                               \
	if (takes_mode(flags)) {                                                                                       \
		va_list ap;                                                                                            \
		va_start(ap, flags);                                                                                   \
		mode = va_arg(ap, mode_t);                                                                             \
		va_end(ap);                                                                                            \
	}

static int do_open(const char *path, int flags, mode_t mode)
{
	const struct fab_dev *dev = uverbs_of_path(path);

	if (dev)
		return open_uverbs(dev);
	sysfs_refresh(AT_FDCWD, path);
	return real.open(path, flags, mode);
}

static int do_openat(int dirfd, const char *path, int flags, mode_t mode)
{
	const struct fab_dev *dev = uverbs_of_path(path);

	if (dev)
		return open_uverbs(dev);
	sysfs_refresh(dirfd, path);
	return real.openat(dirfd, path, flags, mode);
}

EXPORT int open(const char *path, int flags, ...)
{
	MODE_ARGUMENT(flags)
	return do_open(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
	MODE_ARGUMENT(flags)
	return do_open(path, flags | O_LARGEFILE, mode);
}

EXPORT int openat(int dirfd, const char *path, int flags, ...)
{
	MODE_ARGUMENT(flags)
	return do_openat(dirfd, path, flags, mode);
}

EXPORT int openat64(int dirfd, const char *path, int flags, ...)
{
	MODE_ARGUMENT(flags)
	return do_openat(dirfd, path, flags | O_LARGEFILE, mode);
}

/* What the compiler makes of open() with -D_FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);

EXPORT int __open_2(const char *path, int flags)
{
	return do_open(path, flags, 0);
}

EXPORT int __open64_2(const char *path, int flags)
{
	return do_open(path, flags | O_LARGEFILE, 0);
}

EXPORT int __openat_2(int dirfd, const char *path, int flags)
{
	return do_openat(dirfd, path, flags, 0);
}

EXPORT int __openat64_2(int dirfd, const char *path, int flags)
{
	return do_openat(dirfd, path, flags | O_LARGEFILE, 0);
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	resolve_real();
	sysfs_refresh(AT_FDCWD, path);
	return real.fopen(path, mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

/* Only because a list of names may block, as a file may. */
EXPORT DIR *opendir(const char *path)
{
	resolve_real();
	sysfs_refresh(AT_FDCWD, path);
	return real.opendir(path);
}

/* ---- asking about files */

static dev_t number_of(const struct fab_dev *dev)
{
	return makedev(UVERBS_MAJOR, UVERBS_MINOR + dev->uverbs);
}

static int fake_stat(const struct fab_dev *dev, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR | 0666;
	st->st_nlink = 1;
	st->st_rdev = number_of(dev);
	return 0;
}

EXPORT int stat(const char *path, struct stat *st)
{
	const struct fab_dev *dev = uverbs_of_path(path);

	return dev ? fake_stat(dev, st) : real.stat(path, st);
}

EXPORT int lstat(const char *path, struct stat *st)
{
	const struct fab_dev *dev = uverbs_of_path(path);

	return dev ? fake_stat(dev, st) : real.lstat(path, st);
}

EXPORT int fstat(int fd, struct stat *st)
{
	int ctx = uverbs_of_fd(fd);

	return ctx >= 0 ? fake_stat(&fab->dev[fab->ctx[ctx].o.dev], st) : real.fstat(fd, st);
}

EXPORT int fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	const struct fab_dev *dev = uverbs_of_path(path);

	if (!dev && !*path && flags & AT_EMPTY_PATH && uverbs_of_fd(dirfd) >= 0)
		return fstat(dirfd, st);
	return dev ? fake_stat(dev, st) : real.fstatat(dirfd, path, st, flags);
}

EXPORT int stat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

EXPORT int lstat64(const char *path, struct stat64 *st)
{
	return lstat(path, (struct stat *)st);
}

EXPORT int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

EXPORT int fstatat64(int dirfd, const char *path, struct stat64 *st, int flags)
{
	return fstatat(dirfd, path, (struct stat *)st, flags);
}

/* Older entry points, by which the sanitizers' run-time libraries still go. */
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstat(int version, int fd, struct stat *st);

EXPORT int __xstat(int version, const char *path, struct stat *st)
{
	(void)version;
	return stat(path, st);
}

EXPORT int __lxstat(int version, const char *path, struct stat *st)
{
	(void)version;
	return lstat(path, st);
}

EXPORT int __fxstat(int version, int fd, struct stat *st)
{
	(void)version;
	return fstat(fd, st);
}

EXPORT int statx(int dirfd, const char *path, int flags, unsigned int mask, struct statx *st)
{
	const struct fab_dev *dev = uverbs_of_path(path);

	if (!dev)
		return real.statx(dirfd, path, flags, mask, st);
	memset(st, 0, sizeof(*st));
	st->stx_mask = STATX_TYPE | STATX_MODE;
	st->stx_mode = S_IFCHR | 0666;
	st->stx_rdev_major = UVERBS_MAJOR;
	st->stx_rdev_minor = UVERBS_MINOR + dev->uverbs;
	return 0;
}

static int fake_access(int how)
{
	if (!(how & X_OK))
		return 0;
	errno = EACCES;
	return -1;
}

EXPORT int access(const char *path, int how)
{
	return uverbs_of_path(path) ? fake_access(how) : real.access(path, how);
}

EXPORT int eaccess(const char *path, int how)
{
	return uverbs_of_path(path) ? fake_access(how) : real.eaccess(path, how);
}

EXPORT int euidaccess(const char *path, int how)
{
	return eaccess(path, how);
}

EXPORT int faccessat(int dirfd, const char *path, int how, int flags)
{
	return uverbs_of_path(path) ? fake_access(how) : real.faccessat(dirfd, path, how, flags);
}

/* ---- using and closing */

static bool ctx_has_other_fd(int ctx, int but)
{
	for (int fd = 0; fd < MAX_FDS; fd++)
		if (fd != but && fds[fd].kind == FD_UVERBS && fds[fd].ctx == ctx)
			return true;
	return false;
}

/* In a child the context is its parent's: closing the descriptor is all there is to do. */
static void close_uverbs(int fd)
{
	int ctx = fds[fd].ctx;

	emu_lock();
	if (emu.ctx[ctx].open && !ctx_has_other_fd(ctx, fd))
		ctx_close(ctx);
	emu_unlock();
}

static void close_channel(int fd)
{
	if (!emu.nchannels)
		return;
	emu_lock();
	for (unsigned int i = 0; i < emu.nchannels; i++)
		if (emu.channel[i].w >= 0 && emu.channel[i].r == fd) {
			real.close(emu.channel[i].w);
			emu.channel[i].w = -1;
		}
	emu_unlock();
}

EXPORT int close(int fd)
{
	struct fd_info *f = fd_lookup(fd);

	if (f && f->kind == FD_UVERBS)
		close_uverbs(fd);
	else if (f)
		netlink_closed(f);
	else if (fd >= 0)
		close_channel(fd);
	if (f)
		*f = (struct fd_info){ 0 };
	return real.close(fd);
}

static int result(int err)
{
	if (!err)
		return 0;
	errno = err;
	return -1;
}

EXPORT ssize_t write(int fd, const void *buf, size_t n)
{
	int ctx = uverbs_of_fd(fd), err;

	if (ctx < 0)
		return fd_lookup(fd) ? send(fd, buf, n, 0) : real.write(fd, buf, n);
	emu_lock();
	err = emu.ctx[ctx].open ? uverbs_write(ctx, buf, n) : EIO;
	emu_unlock();
	return result(err) ? -1 : (ssize_t)n;
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	int ctx = uverbs_of_fd(fd), err;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (ctx < 0)
		return real.ioctl(fd, request, arg);
	if (request != RDMA_VERBS_IOCTL)
		return result(ENOTTY);
	emu_lock();
	err = emu.ctx[ctx].open ? uverbs_ioctl(ctx, arg) : EIO;
	emu_unlock();
	return result(err);
}

/* The page offset holds a command in bits 8 to 15 and an index in the others (get_uar_mmap_offset() of the library). */
static void *map_uar(int ctx, void *at, size_t len, int flags, off_t off)
{
	enum { REGULAR = 0, WC = 2, NC = 3, ALLOC_WC = 6, DYNAMIC = 9 };
	uint64_t page = (uint64_t)off / PAGE;
	unsigned int command = page >> 8 & 0xff, index = (unsigned int)((page & 0xff) | page >> 16 << 8);

	if (command != REGULAR && command != WC && command != NC && command != ALLOC_WC && command != DYNAMIC) {
		errno = EOPNOTSUPP;
		return MAP_FAILED;
	}
	if (command == ALLOC_WC)
		index += STATIC_UARS;
	if (index >= UAR_PAGES || len > PAGE) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	emu.ctx[ctx].uar_used |= 1ull << index;
	/* a store to a UAR must not need to be readable, but the page is memory here and the device swaps values in it
	 */
	return real.mmap(at, len, PROT_READ | PROT_WRITE, flags, emu.ctx[ctx].memfd, (off_t)index * PAGE);
}

EXPORT void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	int ctx;

	/* allocators map memory before the constructor has run */
	if (!real.mmap)
		return (void *)syscall(SYS_mmap, at, len, prot, flags, fd, off);
	ctx = flags & MAP_ANONYMOUS ? -1 : uverbs_of_fd(fd);
	return ctx < 0 ? real.mmap(at, len, prot, flags, fd, off) : map_uar(ctx, at, len, flags, off);
}

EXPORT void *mmap64(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	return mmap(at, len, prot, flags, fd, off);
}
