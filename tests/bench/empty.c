/* SPDX-License-Identifier: MIT */
/* What starting any program with these libraries costs. */
int main(void)
{
	return 0;
}
