/* SPDX-License-Identifier: MIT */
#ifndef RDMADIAG_BASE_ERRNO_NAME_H
#define RDMADIAG_BASE_ERRNO_NAME_H

/* "ETIMEDOUT"; NULL: there is no such errno. */
const char *errno_name(int number);

#endif
