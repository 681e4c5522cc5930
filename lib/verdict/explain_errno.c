/* SPDX-License-Identifier: MIT */
/* What an errno says at a step of the set-up: the same number means different things at different calls. */
#include "verdict/explain.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define L(layer) LAYER_BIT(LAYER_##layer)
#define MODIFY "ibv_modify_qp(3); "
#define GID_TABLE "kernel, rdma_get_gid_attr() in drivers/infiniband/core/cache.c"
#define RESOLVE "kernel, rdma_addr_find_l2_eth_by_grh() in drivers/infiniband/core/addr.c"
#define MEMLOCK "kernel, ib_umem_get() in drivers/infiniband/core/umem.c; getrlimit(2)"
#define CGROUP "kernel, Documentation/admin-guide/cgroup-v2.rst"
#define UVERBS "kernel, ib_uverbs_open() in drivers/infiniband/core/uverbs_main.c"
#define COMMANDS "kernel, drivers/infiniband/core/uverbs_cmd.c"

/* Calls that are a command of the adapter. */
#define SILENT(call)                                                                                                   \
	{ call, ETIMEDOUT,                                                                                             \
		{ "The adapter did not answer a command.", L(DEVICE) | L(KERNEL) | L(PLATFORM),                        \
		        "Read the kernel log.", COMMANDS } },                                                          \
	{                                                                                                              \
		call, EIO,                                                                                             \
		{                                                                                                      \
			"The adapter refused or did not answer the command.", L(DEVICE) | L(KERNEL) | L(PLATFORM),     \
			        "Read the kernel log.", COMMANDS                                                       \
		}                                                                                                      \
	}

/* Changes of what there is already. */
#define CROWDED(call)                                                                                                  \
	{                                                                                                              \
		call, ENOMEM,                                                                                          \
		{                                                                                                      \
			"The kernel had no memory for the command, or the adapter no room for the change.",            \
			        L(CONFIGURATION) | L(KERNEL) | L(DEVICE),                                              \
			        "Look at the memory cgroup and at free memory, then at the adapter's limits.",         \
			        "ibv_modify_qp(3)"                                                                     \
		}                                                                                                      \
	}

static const struct errno_explanation errno_table[] = {
	{ "ibv_get_device_list", ENOSYS,
	        { "libibverbs finds no RDMA support of the kernel: ib_uverbs is not loaded, or sysfs is not to be "
	          "seen.",
	                L(CONFIGURATION), "Load ib_uverbs and the adapter's driver; see that /sys is mounted.",
	                "ibv_get_device_list(3)" } },
	{ "ibv_get_device_list", EPERM,
	        { "This process may not look at RDMA devices.", L(CONFIGURATION), "Check permission and namespaces.",
	                "ibv_get_device_list(3)" } },
	{ "ibv_get_device_list", ENODEV,
	        { "The kernel has the device and libibverbs does not: the kernel made no uverbs device for it, or no "
	          "provider library for its driver is installed here, in a container for example.",
	                L(CONFIGURATION),
	                "Load ib_uverbs; install the providers of libibverbs (rdma-core, ibverbs-providers) where the "
	                "program runs; rdmadiag check tells which of them it is.",
	                "ibv_get_device_list(3)" } },
	{ "ibv_get_device_list", EMFILE,
	        { "This process has too many open files, and libibverbs leaves out what it could not look at.",
	                L(CONFIGURATION) | L(APPLICATION), "See RLIMIT_NOFILE.", "open(2)" } },
	{ "ibv_get_device_list", ENFILE,
	        { "The host has too many open files, and libibverbs leaves out what it could not look at.",
	                L(CONFIGURATION), "See /proc/sys/fs/file-nr and file-max.", "open(2)" } },
	{ "ibv_get_device_list", ENOMEM,
	        { "This process may map no more memory, and libibverbs leaves out a provider that it could not load.",
	                L(CONFIGURATION) | L(APPLICATION), "See RLIMIT_AS and the memory cgroup.", "mmap(2)" } },
	{ "find-device", ETIMEDOUT,
	        { "The kernel did not answer in time, so whether there is such a device is not known: a driver blocks, "
	          "or this process gets hardly any CPU.",
	                L(KERNEL) | L(DEVICE) | L(PLATFORM) | L(CONFIGURATION),
	                "Read the kernel log for hung tasks; look at cpu.max and cpu.stat of the cgroup.",
	                "sysfs, class/infiniband" } },
	{ "find-device", EAGAIN,
	        { "No further process may be started here, so nobody could look for the device.",
	                L(CONFIGURATION) | L(APPLICATION) | L(KERNEL),
	                "See RLIMIT_NPROC (ulimit -u) and pids.max of the cgroup, and how many processes there are.",
	                "fork(2)" } },
	{ "find-device", ENOMEM,
	        { "There is no memory for one more process, so nobody could look for the device.",
	                L(CONFIGURATION) | L(APPLICATION) | L(KERNEL), "See memory.max of the cgroup and RLIMIT_AS.",
	                "fork(2)" } },
	{ "find-device", ENODEV,
	        { "There is no RDMA device of this name here, or none at all.", L(CONFIGURATION) | L(APPLICATION),
	                "Run rdmadiag topo; a device may be in another network namespace, or its driver not loaded.",
	                "sysfs, class/infiniband" } },
	{ "find-device", EINVAL,
	        { "The device has no port of this number.", L(APPLICATION) | L(CONFIGURATION),
	                "See the ports in rdmadiag topo.", "sysfs, class/infiniband" } },
	{ "ibv_query_gid_table", EINVAL,
	        { "The GID table of the port has no such index.", L(CONFIGURATION),
	                "Run `rdmadiag gid` and take an index that is in use.", "ibv_query_gid_ex(3)" } },
	{ "ibv_query_port", EINVAL,
	        { "The device has no port of this number.", L(APPLICATION), "See the ports in rdmadiag topo.",
	                "ibv_query_port(3)" } },
	{ "ibv_open_device", EACCES,
	        { "This process may not open the device file, by its mode or by a security module.", L(CONFIGURATION),
	                "Check the mode of /dev/infiniband/uverbsN (0666 with the distribution's udev rules) and the "
	                "security policy.",
	                UVERBS "; open(2)" } },
	{ "ibv_open_device", EPERM,
	        { "The device cgroup or the RDMA network namespace does not let this process open the device.",
	                L(CONFIGURATION),
	                "Give the container the device, or see `rdma system show` for the namespace mode.", UVERBS } },
	{ "ibv_open_device", ENOENT,
	        { "The device file is missing here, as in a container that was given the sysfs tree only.",
	                L(CONFIGURATION),
	                "Pass /dev/infiniband/uverbsN into the container, or see why udev did not make it.",
	                UVERBS "; open(2)" } },
	{ "ibv_open_device", ENODEV,
	        { "The device is going away, or no provider library knows it.",
	                L(KERNEL) | L(PROVIDER) | L(CONFIGURATION) | L(PLATFORM) | L(DEVICE),
	                "See that the provider's package is installed and that the driver still has the device.",
	                UVERBS } },
	{ "ibv_open_device", ENXIO,
	        { "The driver gave the device up while its file was still there.", L(KERNEL) | L(DEVICE),
	                "Read the kernel log for a reset or removal.", UVERBS } },
	{ "ibv_open_device", EIO,
	        { "The driver could not reach the adapter, or the adapter refused a command.",
	                L(DEVICE) | L(KERNEL) | L(PLATFORM), "Read the kernel log.", UVERBS } },
	{ "ibv_open_device", ENOMEM,
	        { "No memory, or no room left in the adapter for one more context.",
	                L(CONFIGURATION) | L(DEVICE) | L(KERNEL),
	                "Look at the memory and rdma cgroups, then at the adapter's limits.", UVERBS } },
	{ "ibv_open_device", EAGAIN,
	        { "The rdma cgroup allows no further handle, or the driver has the adapter switched off, as mlx5 after "
	          "an error of it.",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE) | L(PLATFORM),
	                "See rdma.max and rdma.current of the cgroup, then the kernel log for errors of the adapter.",
	                CGROUP "; mlx5_ib_alloc_ucontext() in drivers/infiniband/hw/mlx5/main.c" } },
	{ "ibv_open_device", EMFILE,
	        { "This process has too many open files.", L(CONFIGURATION) | L(APPLICATION), "See RLIMIT_NOFILE.",
	                "open(2)" } },
	{ "ibv_open_device", ENFILE,
	        { "The host has too many open files.", L(CONFIGURATION), "See /proc/sys/fs/file-nr and file-max.",
	                "open(2)" } },
	{ "ibv_create_comp_channel", EMFILE,
	        { "This process has too many open files.", L(CONFIGURATION) | L(APPLICATION), "See RLIMIT_NOFILE.",
	                "kernel, ib_uverbs_create_comp_channel() in drivers/infiniband/core/uverbs_cmd.c" } },
	{ "ibv_create_comp_channel", ENFILE,
	        { "The host has too many open files.", L(CONFIGURATION), "See /proc/sys/fs/file-nr and file-max.",
	                "kernel, ib_uverbs_create_comp_channel() in drivers/infiniband/core/uverbs_cmd.c" } },
	{ "ibv_alloc_pd", EAGAIN,
	        { "The rdma cgroup allows no further object of this kind, or the driver wants it tried again.",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE), "See rdma.max and rdma.current of the cgroup.",
	                CGROUP } },
	{ "ibv_create_cq", EAGAIN,
	        { "The rdma cgroup allows no further object of this kind, or the driver wants it tried again.",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE), "See rdma.max and rdma.current of the cgroup.",
	                CGROUP } },
	{ "ibv_reg_mr", EAGAIN,
	        { "The rdma cgroup allows no further object of this kind, or the driver wants it tried again.",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE), "See rdma.max and rdma.current of the cgroup.",
	                CGROUP } },
	{ "ibv_create_qp", EAGAIN,
	        { "The rdma cgroup allows no further object of this kind, or the driver wants it tried again.",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE), "See rdma.max and rdma.current of the cgroup.",
	                CGROUP } },
	{ "ibv_open_device", ETIMEDOUT,
	        { "The adapter did not answer a command.", L(DEVICE) | L(KERNEL) | L(PLATFORM), "Read the kernel log.",
	                UVERBS } },
	SILENT("ibv_alloc_pd"),
	SILENT("ibv_create_cq"),
	SILENT("ibv_reg_mr"),
	SILENT("ibv_create_qp"),
	SILENT("INIT"),
	SILENT("ibv_query_device"),
	SILENT("ibv_query_port"),
	CROWDED("INIT"),
	CROWDED("RTR"),
	CROWDED("RTS"),
	{ "ibv_alloc_pd", ENOMEM,
	        { "No memory, or no room left in the adapter for one more protection domain.",
	                L(CONFIGURATION) | L(DEVICE) | L(KERNEL), "See max_pd and what `rdma resource show` counts.",
	                "ibv_alloc_pd(3)" } },
	{ "ibv_reg_mr", ENOMEM,
	        { "The pages could not be locked, in most cases because RLIMIT_MEMLOCK is smaller than the buffer and "
	          "the process has no CAP_IPC_LOCK.",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE),
	                "Raise memlock for the service or the container, then look at max_mr and free memory.",
	                MEMLOCK } },
	{ "ibv_reg_mr", EINVAL,
	        { "Access flags that do not go together (remote write needs local write), or a length that the adapter "
	          "does not take.",
	                L(APPLICATION) | L(PROVIDER) | L(DEVICE), "Check flags, length and max_mr_size.",
	                "ibv_reg_mr(3)" } },
	{ "ibv_reg_mr", EFAULT,
	        { "The range is not mapped, or it is memory that cannot be pinned, such as device memory without a "
	          "peer driver.",
	                L(APPLICATION) | L(CONFIGURATION) | L(KERNEL),
	                "Check the address; for GPU memory the peer memory module.", MEMLOCK } },
	{ "ibv_reg_mr", EPERM,
	        { "The pages may not be pinned for writing, as with a read-only mapping, or nothing may be locked at "
	          "all.",
	                L(APPLICATION) | L(CONFIGURATION), "Check memlock, and the mapping's protection.", MEMLOCK } },
	{ "ibv_reg_mr", EOPNOTSUPP,
	        { "The adapter or the driver does not support this kind of region.", L(APPLICATION) | L(DEVICE),
	                "Compare the flags with the device's capabilities.", "ibv_reg_mr(3)" } },
	{ "ibv_create_cq", ENOMEM,
	        { "The queue's memory could not be locked (RLIMIT_MEMLOCK), or the adapter has no room.",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE), "Raise memlock; compare with max_cq.", MEMLOCK } },
	{ "ibv_create_cq", EPERM,
	        { "The queue's memory may not be locked: RLIMIT_MEMLOCK is 0, and the process has no CAP_IPC_LOCK.",
	                L(CONFIGURATION) | L(KERNEL), "Raise memlock.", MEMLOCK } },
	{ "ibv_create_cq", EINVAL,
	        { "More entries than max_cqe, or a completion vector that does not exist.",
	                L(APPLICATION) | L(PROVIDER) | L(DEVICE), "Compare with ibv_devinfo -v.",
	                "ibv_create_cq(3)" } },
	{ "ibv_create_qp", ENOMEM,
	        { "The queues' memory could not be locked (RLIMIT_MEMLOCK), or the adapter has no room.",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE), "Raise memlock; compare with max_qp.", MEMLOCK } },
	{ "ibv_create_qp", EPERM,
	        { "The queues' memory may not be locked: RLIMIT_MEMLOCK is 0, and the process has no CAP_IPC_LOCK.",
	                L(CONFIGURATION) | L(KERNEL), "Raise memlock.", MEMLOCK } },
	{ "ibv_create_qp", EINVAL,
	        { "Something was asked for beyond the device's limits (work requests, segments, inline data), or "
	          "protection domain and connection belong to different devices.",
	                L(APPLICATION) | L(PROVIDER) | L(DEVICE), "Compare the request with ibv_devinfo -v.",
	                "ibv_create_qp(3)" } },
	{ "ibv_create_qp", EOPNOTSUPP,
	        { "The device does not have this transport, as not every RDMA device offers reliable connections, or "
	          "its provider or driver does not have what was asked for, as the extended calls (--api wr).",
	                L(APPLICATION) | L(PROVIDER) | L(KERNEL) | L(DEVICE),
	                "Use the device's own transport, plain calls, or another device.", "ibv_create_qp(3)" } },
	{ "ibv_create_qp", ENOSYS,
	        { "The provider does not implement this kind of queue pair.", L(APPLICATION) | L(PROVIDER),
	                "See the provider's manual.", "ibv_create_qp(3)" } },
	{ "operation", EOPNOTSUPP,
	        { "The transport of this device does not have the operation that was asked for.", L(APPLICATION),
	                "Ask for another operation (--op), or take another device.", "RFC 5040; ibv_post_send(3)" } },
	{ "INIT", EACCES,
	        { "Who refuses it looks at rights: on InfiniBand a security module that has labels for partition keys "
	          "(SELinux).",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE),
	                "Look for refusals in the audit log (ausearch -m avc), and at the policy for partition keys.",
	                "kernel, ib_security_modify_qp() in drivers/infiniband/core/security.c" } },
	{ "INIT", EINVAL,
	        { "The port, the partition key index or the access flags are not valid for this queue pair.",
	                L(APPLICATION) | L(CONFIGURATION) | L(KERNEL) | L(DEVICE),
	                "Check port number and P_Key index; on InfiniBand the partitions that the subnet manager gave.",
	                MODIFY "INIT" } },
	{ "RTR", ENODATA,
	        { "The GID table has no entry at this index: the slot is empty, or it became empty since it was "
	          "chosen.",
	                L(CONFIGURATION), "Run `rdmadiag gid` and take an index that is in use.", GID_TABLE } },
	{ "RTR", ENODEV,
	        { "The GID at this index has no netdev here, or a global route is missing on an Ethernet port.",
	                L(CONFIGURATION) | L(APPLICATION), "Run `rdmadiag gid`: netdev and state of the index.",
	                GID_TABLE } },
	{ "RTR", EACCES,
	        { "The route to the other end's address prohibits it, or a security module refuses the partition key.",
	                L(CONFIGURATION) | L(KERNEL) | L(DEVICE),
	                "Look at `ip route get` for the other end's address, then at the audit log (ausearch -m avc).",
	                "ip-route(8); " RESOLVE } },
	{ "RTR", EINVAL,
	        { "An attribute is not acceptable: GIDs of different families, an MTU above the port's, or an index "
	          "out of range.",
	                L(CONFIGURATION) | L(APPLICATION) | L(KERNEL) | L(DEVICE),
	                "Compare GID family, type and MTU of both ends.", MODIFY RESOLVE } },
	{ "RTR", ETIMEDOUT,
	        { "The neighbour for the other end's GID did not answer: ARP or neighbour discovery found nobody. "
	          "After a minute instead of a second it is a command that the firmware did not answer.",
	                L(CONFIGURATION) | L(NETWORK) | L(REMOTE_DEVICE) | L(DEVICE),
	                "Ping the other end's address over the GID's netdev; a link-local GID reaches its own segment "
	                "only.",
	                RESOLVE } },
	{ "RTR", ENETUNREACH,
	        { "There is no route from the GID's netdev to the other end's address.",
	                L(CONFIGURATION) | L(NETWORK) | L(DEVICE),
	                "Look at `ip route get` for the other end's address, and whether the netdev is up.",
	                RESOLVE } },
	{ "RTR", EHOSTUNREACH,
	        { "The other end's address cannot be reached from the GID's netdev: no route, or the neighbour is "
	          "known to be gone.",
	                L(CONFIGURATION) | L(NETWORK) | L(REMOTE_DEVICE), "Look at `ip route get` and `ip neigh`.",
	                RESOLVE } },
	{ "RTR", EIO,
	        { "The adapter refused or did not answer the command.", L(DEVICE) | L(KERNEL) | L(PLATFORM),
	                "Read the kernel log.", "ibv_modify_qp(3)" } },
	{ "RTS", EINVAL,
	        { "An attribute is not acceptable, or the queue pair is not in RTR.",
	                L(APPLICATION) | L(KERNEL) | L(DEVICE), "Check timeout, retry counts and the state.",
	                MODIFY "RTS" } },
	SILENT("RTS"),
	{ "ibv_post_send", ENOMEM,
	        { "The send queue is full, as where requests are posted faster than they complete; some "
	          "providers, mlx5 among them, have it for too many segments and too much inline data as well.",
	                L(APPLICATION) | L(PROVIDER),
	                "Wait for completions, or make the queue deeper; unsignaled requests keep their slots until a "
	                "signaled one completes. Where few are outstanding, compare segments and inline bytes "
	                "with what the queue pair was given.",
	                "ibv_post_send(3)" } },
	{ "ibv_post_send", EINVAL,
	        { "The provider refused the request: operation, segments, inline length or queue pair state.",
	                L(APPLICATION) | L(PROVIDER), "Look at the request that bad_wr names.", "ibv_post_send(3)" } },
	{ "ibv_post_send", ENOTCONN,
	        { "The connection of this iWARP queue pair has ended, or was never made.",
	                L(APPLICATION) | L(PROVIDER) | L(KERNEL),
	                "See on both ends which of them ended the connection, and why (kernel log).",
	                "kernel, siw_post_send() in drivers/infiniband/sw/siw/siw_verbs.c" } },
	{ "ibv_post_send", EFAULT,
	        { "The request list points to memory that is not mapped.", L(APPLICATION) | L(PROVIDER),
	                "Look at the request that bad_wr names.", "ibv_post_send(3)" } },
	{ "ibv_post_send", EIO,
	        { "The device is gone or in an error state.", L(DEVICE) | L(KERNEL) | L(PLATFORM),
	                "Read the kernel log.", "ibv_post_send(3)" } },
	{ "getaddrinfo", ENOENT,
	        { "Nobody knows an address of this name: neither the name servers nor the hosts file.",
	                L(CONFIGURATION), "Check the spelling and `getent hosts NAME`, or give the address itself.",
	                "getaddrinfo(3)" } },
	{ "getaddrinfo", EAGAIN,
	        { "The name servers did not answer.", L(CONFIGURATION) | L(NETWORK),
	                "Give the address itself, and look at the name servers of this host.", "getaddrinfo(3)" } },
	{ "getaddrinfo", EIO,
	        { "The name servers answered with an error.", L(CONFIGURATION) | L(NETWORK),
	                "Give the address itself, and look at the name servers of this host.", "getaddrinfo(3)" } },
	{ "listen", EADDRINUSE,
	        { "Another program of this host has this TCP port, or another listener.", L(CONFIGURATION),
	                "See who has the port (ss -ltnp), or take another one.", "bind(2)" } },
	{ "listen", EADDRNOTAVAIL,
	        { "The address is not one of this host, or not there yet.", L(CONFIGURATION),
	                "Look at the addresses of this host (ip addr), or listen on all of them.", "bind(2)" } },
	{ "listen", EACCES,
	        { "This process may not listen on that port: one below 1024 needs a privilege, and a security "
	          "policy may forbid any.",
	                L(CONFIGURATION), "Take a port above 1023, or look at the security policy.",
	                "bind(2); ip(7)" } },
	{ "listen", EAFNOSUPPORT,
	        { "This host has no IP of the version of that address: IPv6 is off.", L(CONFIGURATION),
	                "Listen on an address of the other version.", "socket(2)" } },
	{ "connect", ECONNREFUSED,
	        { "The answer was that nobody listens on this port; a filter of either host, or one in between, may "
	          "say so, too.",
	                L(REMOTE_APPLICATION) | L(CONFIGURATION),
	                "Start `rdmadiag probe --listen` there, check address and port, then filters that reject.",
	                "connect(2)" } },
	{ "connect", ETIMEDOUT,
	        { "Nobody answered the TCP connection.", L(CONFIGURATION) | L(NETWORK) | L(REMOTE_APPLICATION),
	                "Check the address, then filters of both hosts and the way between.", "connect(2)" } },
	{ "connect", EHOSTUNREACH,
	        { "The peer's host cannot be reached over IP.", L(CONFIGURATION) | L(NETWORK),
	                "Look at `ip route get` and `ip neigh`.", "connect(2)" } },
	{ "connect", ENETUNREACH,
	        { "There is no route to the peer's host.", L(CONFIGURATION) | L(NETWORK), "Look at `ip route get`.",
	                "connect(2)" } },
	{ "connect", EINVAL,
	        { "This host's kernel refuses to send to that address, as where the route to it is a blackhole, or a "
	          "link-local address comes without its interface.",
	                L(CONFIGURATION), "Look at `ip route get` for the peer's address; write fe80::1%eth0.",
	                "ip-route(8); ipv6(7)" } },
	{ "connect", EACCES,
	        { "A local filter or policy forbids the connection.", L(CONFIGURATION),
	                "Look at the local packet filter.", "connect(2)" } },
	{ "connect", EPERM,
	        { "A local filter or policy forbids the connection.", L(CONFIGURATION),
	                "Look at the local packet filter.", "connect(2)" } },
	{ "connect", ECONNRESET,
	        { "The peer closed the connection at once.", L(REMOTE_APPLICATION) | L(CONFIGURATION) | L(NETWORK),
	                "See what listens there.", "connect(2)" } },
	{ "control", ECONNRESET,
	        { "The peer's host closed the control connection: the process ended, or something in between reset it.",
	                L(REMOTE_APPLICATION) | L(NETWORK) | L(CONFIGURATION), "Look at the peer's process.",
	                "tcp(7)" } },
	{ "control", EPIPE,
	        { "The peer had already closed the control connection.",
	                L(REMOTE_APPLICATION) | L(NETWORK) | L(CONFIGURATION), "Look at the peer's process.",
	                "tcp(7)" } },
	{ "control", ETIMEDOUT,
	        { "The peer did not answer on the control connection before the deadline: its host is cut off, its "
	          "process stopped, or it waits for its own kernel or adapter.",
	                L(REMOTE_APPLICATION) | L(REMOTE_DEVICE) | L(KERNEL) | L(NETWORK) | L(CONFIGURATION),
	                "See whether the peer's process still runs, and what its own document says.", "tcp(7)" } },
	{ "control", EPROTO,
	        { "What answered does not speak this program's protocol, or another version of it.",
	                L(CONFIGURATION) | L(REMOTE_APPLICATION), "Check the port, and the versions of both ends.",
	                "rdmadiag-probe(8)" } },
	{ "control", EPROTONOSUPPORT,
	        { "The other end is this program, with another version of the protocol.",
	                L(CONFIGURATION) | L(REMOTE_APPLICATION), "Install one version on both ends.",
	                "rdmadiag-probe(8)" } },
	{ "control", EBUSY,
	        { "The listener serves another peer at the moment.", L(CONFIGURATION) | L(REMOTE_APPLICATION),
	                "Try again later.", "rdmadiag-probe(8)" } },
	{ "rdma_create_event_channel", ENODEV,
	        { "The connection manager of the kernel is not there for this process: no /dev/infiniband/rdma_cm.",
	                L(CONFIGURATION), "Load rdma_ucm, and pass the device file into the container.",
	                "rdma_create_event_channel(3)" } },
	{ "rdma_create_event_channel", ENOENT,
	        { "The connection manager of the kernel is not there for this process: no /dev/infiniband/rdma_cm.",
	                L(CONFIGURATION), "Load rdma_ucm, and pass the device file into the container.",
	                "rdma_create_event_channel(3)" } },
	{ "rdma_create_event_channel", EACCES,
	        { "This process may not open /dev/infiniband/rdma_cm.", L(CONFIGURATION),
	                "Check the mode of /dev/infiniband/rdma_cm.", "rdma_create_event_channel(3)" } },
	{ "rdma_resolve_addr", ENODEV,
	        { "No RDMA device has a netdev with a way to this address, as on InfiniBand without an IPoIB address.",
	                L(CONFIGURATION), "Give the RDMA port's netdev an address, or use verbs with a GID index.",
	                "rdma_resolve_addr(3)" } },
	{ "rdma_resolve_addr", ETIMEDOUT,
	        { "The neighbour did not answer.", L(CONFIGURATION) | L(NETWORK) | L(REMOTE_DEVICE),
	                "Ping the address.", "rdma_resolve_addr(3)" } },
	{ "rdma_resolve_addr", ENETUNREACH,
	        { "There is no route to this address.", L(CONFIGURATION) | L(NETWORK), "Look at `ip route get`.",
	                "rdma_resolve_addr(3)" } },
	{ "rdma_resolve_addr", EHOSTUNREACH,
	        { "The address cannot be reached.", L(CONFIGURATION) | L(NETWORK),
	                "Look at `ip route get` and `ip neigh`.", "rdma_resolve_addr(3)" } },
	{ "rdma_resolve_route", ETIMEDOUT,
	        { "The path to the peer could not be found out: on InfiniBand the subnet manager did not answer.",
	                L(CONFIGURATION) | L(NETWORK), "Look at the subnet manager.", "rdma_resolve_route(3)" } },
	{ "rdma_listen", EADDRNOTAVAIL,
	        { "The address is not of this host, or not there yet.", L(CONFIGURATION),
	                "Look at the addresses of the port's netdev (ip addr).", "rdma_bind_addr(3)" } },
	{ "rdma_listen", ENODEV,
	        { "No RDMA device has a netdev with this address.", L(CONFIGURATION),
	                "Look at the addresses of the port's netdev (ip addr).", "rdma_bind_addr(3)" } },
	{ "rdma_get_request", ETIMEDOUT,
	        { "The other end's connection did not come in time.",
	                L(CONFIGURATION) | L(KERNEL) | L(NETWORK) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION),
	                "Look at packet filters for TCP on the way, and at what the other end says.",
	                "rdma_get_request(3)" } },
	{ "rdma_accept", ETIMEDOUT,
	        { "The other end did not complete its connection in time.",
	                L(CONFIGURATION) | L(KERNEL) | L(NETWORK) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION),
	                "Look at packet filters for TCP on the way, and at what the other end says.",
	                "rdma_accept(3)" } },
	{ "rdma_connect", ECONNREFUSED,
	        { "The peer rejected the connection: nobody listens on this RDMA port.",
	                L(REMOTE_APPLICATION) | L(CONFIGURATION), "Start the listener there.", "rdma_connect(3)" } },
	{ "rdma_connect", ETIMEDOUT,
	        { "The peer's connection manager did not answer.",
	                L(CONFIGURATION) | L(NETWORK) | L(REMOTE_DEVICE) | L(REMOTE_APPLICATION), "Look at the peer.",
	                "rdma_connect(3)" } },
	{ "rdma_connect", ECONNRESET,
	        { "The connection was reset while it was being made: the peer's program ended or refused it, or "
	          "something in between cut it.",
	                L(REMOTE_APPLICATION) | L(CONFIGURATION) | L(NETWORK), "See what listens there.",
	                "rdma_connect(3)" } },
	{ "rdma_connect", EHOSTUNREACH,
	        { "The peer's host cannot be reached over IP.", L(CONFIGURATION) | L(NETWORK) | L(REMOTE_DEVICE),
	                "Look at `ip route get` and `ip neigh`.", "rdma_connect(3)" } },
	{ "rdma_connect", ENETUNREACH,
	        { "There is no route to the peer's host.", L(CONFIGURATION) | L(NETWORK), "Look at `ip route get`.",
	                "rdma_connect(3)" } },
};

/* Other ways to write a step. */
static const struct {
	const char *alias, *step;
} aliases[] = {
	{ "open", "ibv_open_device" },
	{ "exchange", "control" },
	{ "ready", "control" },
	{ "done", "control" },
	{ "ok", "control" },
	{ "accept", "control" },
	{ "ibv_modify_qp RTR", "RTR" },
	{ "ibv_modify_qp RTS", "RTS" },
	{ "ibv_modify_qp INIT", "INIT" },
	{ "IBV_QPS_RTR", "RTR" },
	{ "IBV_QPS_RTS", "RTS" },
	{ "IBV_QPS_INIT", "INIT" },
	{ "post", "ibv_post_send" },
	{ "ibv_wr_complete", "ibv_post_send" },
	{ "ibv_reg_mr_iova", "ibv_reg_mr" },
	{ "ibv_create_cq_ex", "ibv_create_cq" },
	{ "ibv_create_qp_ex", "ibv_create_qp" },
	{ "rdma_create_qp", "ibv_create_qp" },
};

bool explain_errno_is_borrowed(const char *step)
{
	return !strcmp(step, "getaddrinfo") || !strcmp(step, "find-device") || !strcmp(step, "ibv_get_device_list");
}

const char *explain_step(const char *step)
{
	for (size_t i = 0; step && i < ARRAY_SIZE(aliases); i++)
		if (!strcasecmp(aliases[i].alias, step))
			return aliases[i].step;
	for (size_t i = 0; step && i < ARRAY_SIZE(errno_table); i++) {
		const char *name = errno_table[i].step;
		if (!strcasecmp(name, step) || (!strncmp(name, "ibv_", 4) && !strcasecmp(name + 4, step)))
			return name;
	}
	return NULL;
}

const struct errno_explanation *explain_errno(const char *step, int64_t error)
{
	const char *name = explain_step(step);
	for (size_t i = 0; name && i < ARRAY_SIZE(errno_table); i++)
		if (!strcmp(errno_table[i].step, name) && errno_table[i].error == error)
			return &errno_table[i];
	return NULL;
}

const struct errno_explanation *explain_errno_table(size_t *count)
{
	*count = ARRAY_SIZE(errno_table);
	return errno_table;
}
