/* SPDX-License-Identifier: MIT */
/* The command line, words separated by NUL or line ends: ends with a status of the contract, whatever is asked for. */
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int rdmadiag_main(int argc, char **argv);
int __lsan_is_turned_off(void);

/* What main() leaves allocated goes with the process. */
int __lsan_is_turned_off(void)
{
	return 1;
}

enum { WORDS = 16 };

/* Nothing is written but below a directory of its own, and nothing waits for a peer. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	char directory[] = "/tmp/rdmadiag-fuzz.XXXXXX";
	if (!mkdtemp(directory) || chdir(directory) || !freopen("/dev/null", "w", stdout))
		exit(1);
	return 0;
}

static int is_harmless(char *word)
{
	return !strchr(word, '/') && strncmp(word, "--listen", 4) != 0 && strncmp(word, "--watch", 3) != 0 &&
	       strncmp(word, "--peer", 4) != 0 && strncmp(word, "--interval", 4) != 0 && strncmp(word, "--to", 4) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *words[WORDS + 2] = { "rdmadiag" }, *state = NULL;
	int count = 1;
	if (!text)
		return 0;
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] ? (char)data[i] : '\n';
	text[size] = '\0';
	for (char *word = strtok_r(text, "\n", &state); word && count <= WORDS; word = strtok_r(NULL, "\n", &state))
		if (is_harmless(word))
			words[count++] = word;
	optind = 0;
	int status = rdmadiag_main(count, words);
	if (status < 0 || status > 3)
		abort();
	free(text);
	return 0;
}
