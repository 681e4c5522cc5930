/* SPDX-License-Identifier: MIT */
/* The user's characters: what nl_langinfo(3), wcwidth(3) and libsmartcols go by. */
#ifndef RDMADIAG_RENDER_LOCALE_H
#define RDMADIAG_RENDER_LOCALE_H

/*
 * Which characters there are, and how wide (LC_CTYPE of the environment); numbers and orders stay the same everywhere.
 * Asked for where an answer depends on it only: reading a locale takes a dozen system calls, and most output is ASCII.
 * Not for several threads.
 */
void locale_learn(void);

#endif
