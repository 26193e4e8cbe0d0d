// SPDX-License-Identifier: GPL-2.0-only
int cmd_cflags(int argc, char **argv);
int cmd_cflags(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 1;
}
