/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fabric.h"

struct fabric *fab;

/* The C library's open() and close() are interposed, and some of this is called from inside of them. */
static int raw_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666);
}

static void raw_close(int fd)
{
	syscall(SYS_close, fd);
}

static ssize_t raw_read(int fd, void *buf, size_t n)
{
	return syscall(SYS_read, fd, buf, n);
}

static const struct {
	size_t offset, size, count;
} tables[] = {
	[TABLE_CTX] = { offsetof(struct fabric, ctx), sizeof(struct fab_ctx), MAX_CTXS },
	[TABLE_PD] = { offsetof(struct fabric, pd), sizeof(struct fab_pd), MAX_PDS },
	[TABLE_MR] = { offsetof(struct fabric, mr), sizeof(struct fab_mr), MAX_MRS },
	[TABLE_CQ] = { offsetof(struct fabric, cq), sizeof(struct fab_cq), MAX_CQS },
	[TABLE_QP] = { offsetof(struct fabric, qp), sizeof(struct fab_qp), MAX_QPS },
};

static struct fab_obj *slot_of(enum obj_table t, size_t i)
{
	return (struct fab_obj *)((char *)fab + tables[t].offset + i * tables[t].size);
}

const char *fabric_dir(void)
{
	const char *dir = getenv("MLX5EMU_FABRIC");

	return dir && *dir ? dir : NULL;
}

const char *fabric_host(void)
{
	const char *host = getenv("MLX5EMU_HOST");

	return host && *host ? host : "host";
}

/* A process may die while it holds a lock: the next one takes it over. The tables are consistent enough then, since
 * objects are marked used last and are reaped by their owner's death. */
static void lock_robust(pthread_mutex_t *m)
{
	if (pthread_mutex_lock(m) == EOWNERDEAD)
		pthread_mutex_consistent(m);
}

static void init_lock(pthread_mutex_t *m)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(m, &a);
	pthread_mutexattr_destroy(&a);
}

void fabric_lock(void)
{
	lock_robust(&fab->lock);
}

void fabric_unlock(void)
{
	pthread_mutex_unlock(&fab->lock);
}

static int map_file(int fd)
{
	void *p = mmap(NULL, sizeof(*fab), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	fab = p;
	return 0;
}

static void init_fabric(void)
{
	init_lock(&fab->lock);
	for (int i = 0; i < MAX_QPS; i++)
		init_lock(&fab->ring[i].lock);
	fab->version = FABRIC_VERSION;
	fab->magic = FABRIC_MAGIC;
}

/* Called by the set-up program alone, under its lock file. */
int fabric_create(const char *dir)
{
	char path[512];
	struct stat st;
	int fd, err;

	snprintf(path, sizeof(path), "%s/fabric", dir);
	fd = raw_open(path, O_RDWR | O_CREAT);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || (!st.st_size && ftruncate(fd, sizeof(*fab)))) {
		err = -errno;
		raw_close(fd);
		return err;
	}
	err = map_file(fd);
	raw_close(fd);
	if (!err && !fab->magic)
		init_fabric();
	return err;
}

int fabric_attach(void)
{
	char path[512];
	int fd, err;

	if (fab)
		return 0;
	if (!fabric_dir())
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/fabric", fabric_dir());
	fd = raw_open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	err = map_file(fd);
	raw_close(fd);
	if (err)
		return err;
	if (fab->magic != FABRIC_MAGIC || fab->version != FABRIC_VERSION)
		return -EPROTO;
	return 0;
}

unsigned int host_devices(struct fab_dev **list)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < fab->ndevs; i++)
		if (!strcmp(fab->dev[i].host, fabric_host()))
			list[n++] = &fab->dev[i];
	return n;
}

struct fab_dev *dev_by_index(uint32_t index)
{
	struct fab_dev *list[MAX_DEVS];
	unsigned int n = host_devices(list);

	for (unsigned int i = 0; i < n; i++)
		if (list[i]->index == index)
			return list[i];
	return NULL;
}

struct fab_dev *dev_by_uverbs(uint32_t minor)
{
	struct fab_dev *list[MAX_DEVS];
	unsigned int n = host_devices(list);

	for (unsigned int i = 0; i < n; i++)
		if (list[i]->uverbs == minor)
			return list[i];
	return NULL;
}

/* Field 22 of /proc/PID/stat, after the command's closing parenthesis. 0: no such process. */
static uint64_t process_starttime(pid_t pid)
{
	char path[64], buf[1024], *p;
	unsigned long long start = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = raw_open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	n = raw_read(fd, buf, sizeof(buf) - 1);
	raw_close(fd);
	if (n <= 0)
		return 0;
	buf[n] = 0;
	p = strrchr(buf, ')');
	if (p)
		sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		        &start);
	/* a zombie's files are closed already */
	return p && p[2] == 'Z' ? 0 : start;
}

/* The kernel frees what a dead process leaves at the close of its file; nobody does that here but who looks next. */
void fabric_reap(void)
{
	for (size_t c = 0; c < MAX_CTXS; c++) {
		struct fab_ctx *ctx = &fab->ctx[c];

		if (!ctx->o.used || ctx->o.pid == getpid() || process_starttime(ctx->o.pid) == ctx->starttime)
			continue;
		for (enum obj_table t = TABLE_PD; t <= TABLE_QP; t++)
			for (size_t i = 0; i < tables[t].count; i++)
				if (slot_of(t, i)->used && slot_of(t, i)->ctx == c)
					slot_of(t, i)->used = false;
		ctx->o.used = false;
	}
}

static struct fab_obj *find_free(enum obj_table t)
{
	/* slot 0 of MRs stays free: a key of 0 is never valid */
	for (size_t i = t == TABLE_MR; i < tables[t].count; i++)
		if (!slot_of(t, i)->used)
			return slot_of(t, i);
	return NULL;
}

static void number_object(enum obj_table t, struct fab_obj *o)
{
	uint32_t slot = obj_handle(t, o);

	switch (t) {
	case TABLE_CTX:
		((struct fab_ctx *)o)->starttime = process_starttime(o->pid);
		break;
	case TABLE_MR:
		((struct fab_mr *)o)->key = (0x200 + slot) << 8 | o->gen;
		break;
	case TABLE_CQ:
		((struct fab_cq *)o)->cqn = 0x400 + slot;
		break;
	case TABLE_QP:
		/* the generation keeps late packets of a destroyed QP away from its successor */
		((struct fab_qp *)o)->qpn = (uint32_t)(o->gen & 0x7f) << 10 | (0x100 + slot);
		break;
	default:
		break;
	}
}

void *obj_alloc(enum obj_table table, const struct fab_dev *dev, uint16_t ctx)
{
	struct fab_obj *o;
	uint8_t gen;

	fabric_lock();
	o = find_free(table);
	if (!o) {
		fabric_reap();
		o = find_free(table);
	}
	if (o) {
		gen = (uint8_t)(o->gen + 1);
		memset(o, 0, tables[table].size);
		o->gen = gen;
		o->dev = (uint16_t)(dev - fab->dev);
		o->ctx = table == TABLE_CTX ? (uint16_t)obj_handle(table, o) : ctx;
		o->pid = getpid();
		o->id = fab->next_id[o->dev][table]++;
		number_object(table, o);
		o->used = true;
	}
	fabric_unlock();
	return o;
}

void obj_free(struct fab_obj *o)
{
	fabric_lock();
	o->used = false;
	fabric_unlock();
}

uint32_t obj_handle(enum obj_table table, const void *obj)
{
	return (uint32_t)(((size_t)((const char *)obj - (const char *)fab) - tables[table].offset) /
	                  tables[table].size);
}

void *obj_at(enum obj_table table, uint32_t handle)
{
	struct fab_obj *o;

	if (handle >= tables[table].count)
		return NULL;
	o = slot_of(table, handle);
	return o->used && o->pid == getpid() ? o : NULL;
}

struct fab_qp *qp_by_number(uint32_t qpn)
{
	uint32_t slot = (qpn & 0x3ff) - 0x100;
	struct fab_qp *qp = slot < MAX_QPS ? &fab->qp[slot] : NULL;

	return qp && qp->o.used && qp->qpn == qpn ? qp : NULL;
}

struct fab_cq *cq_by_number(uint32_t cqn)
{
	uint32_t slot = cqn - 0x400;
	struct fab_cq *cq = slot < MAX_CQS ? &fab->cq[slot] : NULL;

	return cq && cq->o.used ? cq : NULL;
}

struct fab_mr *mr_by_key(uint32_t key)
{
	uint32_t slot = (key >> 8) - 0x200;
	struct fab_mr *mr = slot < MAX_MRS ? &fab->mr[slot] : NULL;

	return mr && mr->o.used && mr->key == key ? mr : NULL;
}
