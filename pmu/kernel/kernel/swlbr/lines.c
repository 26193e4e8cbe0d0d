// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/swlbr/lines: which straight line of code a counter counts, and which branches
 * are at its ends. "perf swlbr map" finds that out from vmlinux, once. The PMU draws its branch
 * stacks from it; without, they are empty.
 */
#define pr_fmt(fmt) "swlbr: " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/sections.h>

#include "swlbr.h"

static struct swlbr_lines __rcu *the_lines;
static DEFINE_MUTEX(lines_lock);

/* More than this for each counter is no table of this kernel. */
#define LINES_PER_COUNTER	64

/**
 * struct upload - a table while it is written
 * @lock: of the rest
 * @header: comes first, whole
 * @lines: then these
 * @size: bytes of them
 * @done: how many are there
 */
struct upload {
	struct mutex		lock;	/* several may write */
	struct swlbr_header	header;
	u8			*lines;
	size_t			size;
	size_t			done;
};

/**
 * swlbr_lines() - the table that is in use
 *
 * Context: in an RCU read-side section, which interrupts are.
 * Return: NULL if there is none.
 */
const struct swlbr_lines *swlbr_lines(void)
{
	return rcu_dereference_check(the_lines, rcu_read_lock_sched_held());
}

static int check_header(const struct swlbr_header *header)
{
	u8 id[SWLBR_ID_SIZE];
	u32 size = swlbr_build_id(id);

	if (memcmp(header->magic, SWLBR_MAGIC, SWLBR_MAGIC_SIZE) ||
	    header->version != SWLBR_FORMAT_VERSION || header->kind != SWLBR_KIND_LINES ||
	    header->header_size != sizeof(*header) ||
	    header->record_size != sizeof(struct swlbr_line))
		return -EINVAL;
	/* Another kernel's addresses would name other functions. */
	if (!size || header->build_id_size != size || memcmp(header->build_id, id, size) ||
	    header->engine != swlbr_engine()->id)
		return -ESTALE;
	if (!header->nr_records ||
	    header->nr_records > swlbr_engine()->nr_counters * LINES_PER_COUNTER ||
	    header->nr_records > U32_MAX)
		return -EINVAL;
	return 0;
}

static int check_line(const struct swlbr_line *line, u32 last_counter)
{
	const u64 text_size = _etext - _text;

	if (line->counter < last_counter || line->counter >= swlbr_engine()->nr_counters)
		return -EINVAL;
	if (line->into_from >= text_size || line->out_to >= text_size ||
	    line->out_from >= text_size || line->into_to > line->out_from)
		return -EINVAL;
	if (line->into_kind >= PERF_BR_MAX || line->out_kind >= PERF_BR_MAX || line->reserved)
		return -EINVAL;
	return 0;
}

static void free_lines(struct swlbr_lines *lines)
{
	if (!lines)
		return;
	kvfree(lines->first);
	kvfree(lines->lines);
	kfree(lines);
}

/* The upload's lines, if all are good. */
static struct swlbr_lines *make_lines(struct upload *upload)
{
	const struct swlbr_line *from = (const struct swlbr_line *)upload->lines;
	const u64 nr_counters = swlbr_engine()->nr_counters;
	struct swlbr_lines *lines;
	u64 counter = 0, i;

	for (i = 0; i < upload->header.nr_records; i++) {
		int err = check_line(&from[i], i ? from[i - 1].counter : 0);

		if (err)
			return ERR_PTR(err);
		if (!(i % 4096))
			cond_resched();
	}
	lines = kzalloc(sizeof(*lines), GFP_KERNEL);
	if (!lines)
		return ERR_PTR(-ENOMEM);
	lines->first = kvmalloc_array(nr_counters + 1, sizeof(*lines->first), GFP_KERNEL);
	if (!lines->first) {
		kfree(lines);
		return ERR_PTR(-ENOMEM);
	}
	for (i = 0; i < upload->header.nr_records; i++)
		while (counter <= from[i].counter)
			lines->first[counter++] = i;
	while (counter <= nr_counters)
		lines->first[counter++] = upload->header.nr_records;
	lines->lines = (struct swlbr_line *)upload->lines;
	upload->lines = NULL;
	return lines;
}

static int use_lines(struct upload *upload)
{
	struct swlbr_lines *lines = make_lines(upload), *old;

	if (IS_ERR(lines))
		return PTR_ERR(lines);
	mutex_lock(&lines_lock);
	old = rcu_replace_pointer(the_lines, lines, lockdep_is_held(&lines_lock));
	mutex_unlock(&lines_lock);
	synchronize_rcu();
	free_lines(old);
	return 0;
}

static int lines_open(struct inode *inode, struct file *file)
{
	struct upload *upload = kzalloc(sizeof(*upload), GFP_KERNEL);

	if (!upload)
		return -ENOMEM;
	mutex_init(&upload->lock);
	file->private_data = upload;
	return 0;
}

static ssize_t begin_upload(struct upload *upload, const char __user *from, size_t size)
{
	int err;

	if (size < sizeof(upload->header))
		return -EINVAL;
	if (copy_from_user(&upload->header, from, sizeof(upload->header)))
		return -EFAULT;
	err = check_header(&upload->header);
	if (err)
		return err;
	upload->size = upload->header.nr_records * sizeof(struct swlbr_line);
	upload->lines = kvmalloc(upload->size, GFP_KERNEL);
	return upload->lines ? sizeof(upload->header) : -ENOMEM;
}

static ssize_t write_upload(struct upload *upload, const char __user *from, size_t size)
{
	int err;

	if (!upload->size)
		return begin_upload(upload, from, size);
	if (!upload->lines || size > upload->size - upload->done)
		return -EINVAL;
	if (copy_from_user(upload->lines + upload->done, from, size))
		return -EFAULT;
	upload->done += size;
	if (upload->done < upload->size)
		return size;
	/* The writer of the last byte hears whether the table is good. */
	err = use_lines(upload);
	return err ?: size;
}

static ssize_t lines_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct upload *upload = file->private_data;
	ssize_t done;

	mutex_lock(&upload->lock);
	done = write_upload(upload, from, size);
	mutex_unlock(&upload->lock);
	return done;
}

static int lines_release(struct inode *inode, struct file *file)
{
	struct upload *upload = file->private_data;

	if (upload->size && upload->done < upload->size)
		pr_warn_ratelimited("a table of lines ended early, and is not used\n");
	kvfree(upload->lines);
	kfree(upload);
	return 0;
}

static const struct file_operations lines_fops = {
	.owner		= THIS_MODULE,
	.open		= lines_open,
	.write		= lines_write,
	.llseek		= noop_llseek,
	.release	= lines_release,
};

static int __init lines_init(void)
{
	if (swlbr_engine())
		debugfs_create_file("lines", 0200, swlbr_debugfs, NULL, &lines_fops);
	return 0;
}
late_initcall(lines_init);
