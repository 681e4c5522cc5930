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

/*
 * error_set(error, code, format, ...) fills `error` (may be NULL) from "object: action" with the text of `code`
 * appended; error_say() does without that text, for messages that already say why. Both are `code`. They are macros so
 * that whoever analyses a caller sees that a negative code leaves it negative.
 */
#define error_set(error, code, ...) error_code((error), (code), error_append, __VA_ARGS__)
#define error_say(error, code, ...) error_code((error), (code), error_fill, __VA_ARGS__)
#define error_code(error, code, fill, ...)                                                                             \
	__extension__({                                                                                                \
		const int error_code_ = (code);                                                                        \
		fill((error), error_code_, __VA_ARGS__);                                                               \
		error_code_;                                                                                           \
	})

__attribute__((format(printf, 3, 4))) void error_append(struct error *error, int code, const char *format, ...);
__attribute__((format(printf, 3, 4))) void error_fill(struct error *error, int code, const char *format, ...);

#endif
