// SPDX-License-Identifier: GPL-2.0-only
/* A module for tests: it loads, and tells how it was built. */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>

static int __init test_init(void)
{
	pr_info("%s loaded\n", KBUILD_MODNAME);
	return 0;
}
module_init(test_init);

static void __exit test_exit(void)
{
}
module_exit(test_exit);

MODULE_DESCRIPTION("Test of what swlbr does with modules");
MODULE_LICENSE("GPL");
