// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

void buffer_bytes(struct buffer *buffer, const void *data, size_t size)
{
	if (buffer->failed)
		return;
	if (size > buffer->max - buffer->size) {
		size_t max = 2 * (buffer->size + size);
		uint8_t *grown = realloc(buffer->data, max);

		if (!grown) {
			buffer->failed = true;
			return;
		}
		buffer->data = grown;
		buffer->max = max;
	}
	if (size)
		memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
}

static void put_uint(struct buffer *buffer, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	buffer_bytes(buffer, bytes, size);
}

void buffer_u32(struct buffer *buffer, uint32_t value)
{
	put_uint(buffer, value, 4);
}

void buffer_u64(struct buffer *buffer, uint64_t value)
{
	put_uint(buffer, value, 8);
}

void buffer_uleb128(struct buffer *buffer, uint64_t value)
{
	uint8_t bytes[10];
	size_t size = 0;

	do {
		bytes[size] = value & 0x7f;
		value >>= 7;
		if (value)
			bytes[size] |= 0x80;
		size++;
	} while (value);
	buffer_bytes(buffer, bytes, size);
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}
