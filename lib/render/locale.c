/* SPDX-License-Identifier: MIT */
#include "render/locale.h"

#include <locale.h>
#include <stdbool.h>

void locale_learn(void)
{
	static bool learned;
	if (learned)
		return;
	learned = true;
	setlocale(LC_CTYPE, "");
}
