/* SPDX-License-Identifier: MIT */
#include "base/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SHORTEST = 3, SHOWN = 5, LONGEST = 40, NOT_NEAR = 100 };

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* How many letters were left out, added, taken for others or swapped with their neighbour. */
static uint32_t slips(const char *a, const char *b)
{
	size_t rows = strlen(a), columns = strlen(b);
	uint32_t cost[LONGEST + 1][LONGEST + 1];
	if (rows > LONGEST || columns > LONGEST)
		return NOT_NEAR;
	for (size_t i = 0; i <= rows; i++)
		for (size_t j = 0; j <= columns; j++) {
			if (!i || !j) {
				cost[i][j] = (uint32_t)(i + j);
				continue;
			}
			cost[i][j] = least(
			        least(cost[i - 1][j], cost[i][j - 1]) + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
		}
	return cost[rows][columns];
}

/* A longer form, as topology for topo, is as near as one slip. Short words have many neighbours. */
static uint32_t difference(const char *typed, const char *word)
{
	size_t length = strlen(typed), begins = strlen(word);
	if (begins >= SHORTEST && !strncasecmp(typed, word, begins))
		return 1;
	uint32_t found = slips(typed, word);
	return length >= SHORTEST && found && found <= (length > 5 ? 2 : 1) ? found : NOT_NEAR;
}

void nearest_try(struct nearest *nearest, const char *word, const char *shown)
{
	shown = shown ? shown : word;
	if (strlen(nearest->typed) >= SHORTEST && strcasestr(word, nearest->typed)) {
		size_t used = strlen(nearest->text);
		bool fits = nearest->holding < SHOWN && used + strlen(shown) + 8 < sizeof(nearest->text);
		if (fits)
			snprintf(nearest->text + used, sizeof(nearest->text) - used, "%s%s", used ? ", " : "; is it ",
			        shown);
		nearest->holding++;
		return;
	}
	uint32_t found = difference(nearest->typed, word);
	if (found == NOT_NEAR || (nearest->difference && nearest->difference <= found))
		return;
	nearest->difference = found;
	snprintf(nearest->close, sizeof(nearest->close), "%s", shown);
}

const char *nearest_text(struct nearest *nearest)
{
	size_t used = strlen(nearest->text);
	if (used)
		snprintf(nearest->text + used, sizeof(nearest->text) - used, "%s?",
		        nearest->holding > SHOWN ? " …" : "");
	else if (nearest->difference)
		snprintf(nearest->text, sizeof(nearest->text), "; is it %s?", nearest->close);
	return nearest->text;
}
