/* SPDX-License-Identifier: MIT */
/* What every command expects of the process it runs in, whoever started it. */
#ifndef RDMADIAG_CMD_PROCESS_H
#define RDMADIAG_CMD_PROCESS_H

/*
 * Descriptors 0 to 2 are taken, so that no file or device that is opened later gets what is meant for a standard stream
 * that the caller has closed. A file that reaches the limit of file sizes is an error of write(2) instead of the end.
 */
void process_prepare(void);

#endif
