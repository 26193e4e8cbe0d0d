// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/swlbr/: the counters as they are, behind a header that tells which kernel they
 * are of. What they mean is in its vmlinux, for user space to read.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/sections.h>
#include <asm/setup.h>

#include "swlbr.h"

/**
 * struct snapshot - the counters when the file was opened
 * @header: what a reader gets first
 * @values: and then; header.nr_records of them
 */
struct snapshot {
	struct swlbr_header	header;
	u64			*values;
};

static void fill_header(struct swlbr_header *header, const struct cred *cred)
{
	const struct swlbr_engine *engine = swlbr_engine();

	memcpy(header->magic, SWLBR_MAGIC, SWLBR_MAGIC_SIZE);
	header->version = SWLBR_FORMAT_VERSION;
	header->header_size = sizeof(*header);
	header->record_size = sizeof(u64);
	header->nr_cntrs = 1;
	header->nr_records = engine->nr_counters;
	header->kind = SWLBR_KIND_COUNTERS;
	header->engine = engine->id;
	header->build_id_size = swlbr_build_id(header->build_id);
	if (kallsyms_show_value(cred)) {
		header->flags |= SWLBR_HAS_LOAD_OFFSET;
		header->load_offset = kaslr_offset();
	}
}

static int counters_open(struct inode *inode, struct file *file)
{
	struct snapshot *snapshot;
	bool since_boot;
	int err;

	/* They tell as much as events do. */
	err = security_locked_down(LOCKDOWN_PERF);
	if (err)
		return err;
	snapshot = kzalloc(sizeof(*snapshot), GFP_KERNEL);
	if (!snapshot)
		return -ENOMEM;
	snapshot->values = swlbr_sums_since_reset(&since_boot);
	if (!snapshot->values) {
		kfree(snapshot);
		return -ENOMEM;
	}
	fill_header(&snapshot->header, file->f_cred);
	if (since_boot) {
		snapshot->header.flags |= SWLBR_SINCE_BOOT;
		snapshot->header.before_perf = swlbr_before_perf();
	}
	file->private_data = snapshot;
	return 0;
}

static ssize_t counters_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	struct snapshot *snapshot = file->private_data;
	const size_t head = sizeof(snapshot->header);
	loff_t rest;
	ssize_t done;

	if (*at < head)
		return simple_read_from_buffer(to, size, at, &snapshot->header, head);
	rest = *at - head;
	done = simple_read_from_buffer(to, size, &rest, snapshot->values,
				       snapshot->header.nr_records * sizeof(u64));
	if (done > 0)
		*at += done;
	return done;
}

static int counters_release(struct inode *inode, struct file *file)
{
	struct snapshot *snapshot = file->private_data;

	kvfree(snapshot->values);
	kfree(snapshot);
	return 0;
}

static const struct file_operations counters_fops = {
	.owner		= THIS_MODULE,
	.open		= counters_open,
	.read		= counters_read,
	.llseek		= default_llseek,
	.release	= counters_release,
};

static ssize_t reset_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	bool yes;
	int err = kstrtobool_from_user(from, size, &yes);

	if (!err && !yes)
		err = -EINVAL;
	if (!err)
		err = swlbr_reset();
	return err ?: size;
}

static const struct file_operations reset_fops = {
	.owner		= THIS_MODULE,
	.open		= simple_open,
	.write		= reset_write,
	.llseek		= noop_llseek,
};

/* Where all files are. */
struct dentry *swlbr_debugfs;

static int __init export_init(void)
{
	if (!swlbr_engine())
		return 0;
	swlbr_debugfs = debugfs_create_dir("swlbr", NULL);
	debugfs_create_file("counters", 0400, swlbr_debugfs, NULL, &counters_fops);
	debugfs_create_file("reset", 0200, swlbr_debugfs, NULL, &reset_fops);
	return 0;
}
fs_initcall(export_init);
