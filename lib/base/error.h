/* SPDX-License-Identifier: MIT */
/*
 * One convention for errors: a function returns 0 or a negative errno, and where a person will read about it, it fills
 * a struct error with the object and the action: "mlx5_0/1: reading GID 3: Invalid argument". lib/ never prints.
 */
#ifndef RDMADIAG_BASE_ERROR_H
#define RDMADIAG_BASE_ERROR_H

struct error {
	int code; /* negative errno; 0: none */
	char text[320];
};

/* Fills `error` (may be NULL) from "object: action" with the text of `code` appended; returns `code`. */
__attribute__((format(printf, 3, 4))) int error_set(struct error *error, int code, const char *format, ...);
/* The same without the text of the code, for messages that already say why. */
__attribute__((format(printf, 3, 4))) int error_say(struct error *error, int code, const char *format, ...);

#endif
