/* SPDX-License-Identifier: MIT */
/* Whether this process may still take what a library needs that says nothing where it goes without. */
#ifndef RDMADIAG_BASE_ROOM_H
#define RDMADIAG_BASE_ROOM_H

/*
 * 0; -EMFILE or -ENFILE: some files cannot be opened any more; -ENOMEM: some memory cannot be mapped. As much as
 * loading a provider takes: libibverbs leaves out the devices of one that it could not load, without an error.
 */
int process_room(void);

#endif
