/* SPDX-License-Identifier: MIT */
/* Text of kernels, files and peers, made fit for JSON and for terminals. */
#ifndef RDMADIAG_BASE_UTF8_H
#define RDMADIAG_BASE_UTF8_H

#include <stdbool.h>

bool is_ascii(const char *text);
/* Printable ASCII only: text_for_terminal() would change nothing. */
bool is_plain(const char *text);
/* Valid UTF-8 in malloc'ed memory: bytes that are not become U+FFFD. NULL stays NULL. */
char *utf8_clean(const char *text);
/* The same for people to look at: control characters, which a terminal would obey, become "?" as well. */
char *text_for_terminal(const char *text);

#endif
