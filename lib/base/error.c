/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_append(struct error *error, int code, const char *format, ...)
{
	if (!error)
		return;
	va_list args;
	va_start(args, format);
	int length = vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	if (length >= 0 && (size_t)length < sizeof(error->text))
		snprintf(error->text + length, sizeof(error->text) - (size_t)length, ": %s", strerror(-code));
	error->code = code;
}

void error_fill(struct error *error, int code, const char *format, ...)
{
	if (!error)
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	error->code = code;
}
