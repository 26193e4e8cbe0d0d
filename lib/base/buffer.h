/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_BASE_BUFFER_H
#define SWLBR_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Bytes that grow. Zeroed is empty. Without memory @failed is set and nothing more is added: one
 * look at it at the end is enough.
 */
struct buffer {
	uint8_t *data;
	size_t size, max;
	bool failed;
};

void buffer_bytes(struct buffer *buffer, const void *data, size_t size);
/** Little-endian. */
void buffer_u32(struct buffer *buffer, uint32_t value);
void buffer_u64(struct buffer *buffer, uint64_t value);
/** Unsigned LEB128. */
void buffer_uleb128(struct buffer *buffer, uint64_t value);
void buffer_free(struct buffer *buffer);

#endif
