// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What a binary is known by: its build-id note, or a digest of its loaded segments. */
#include <errno.h>
#include <gelf.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "elf_image.h"

static bool build_id_in_notes(struct swlbr_elf *elf, Elf_Data *data)
{
	size_t offset = 0, name, desc;
	GElf_Nhdr nhdr;

	while (data && (offset = gelf_getnote(data, offset, &nhdr, &name, &desc)) > 0) {
		const char *bytes = data->d_buf;
		size_t size = nhdr.n_descsz;

		if (nhdr.n_type != NT_GNU_BUILD_ID || nhdr.n_namesz != sizeof("GNU") ||
		    memcmp(bytes + name, "GNU", sizeof("GNU")) || !size)
			continue;
		if (size > SWLBR_BUILD_ID_SIZE)
			size = SWLBR_BUILD_ID_SIZE;
		memcpy(elf->build_id.bytes, bytes + desc, size);
		elf->build_id.size = (uint8_t)size;
		return true;
	}
	return false;
}

static bool build_id_in_segments(struct swlbr_elf *elf)
{
	size_t nr;

	if (elf_getphdrnum(elf->handle, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf->handle, (int)i, &phdr) && phdr.p_type == PT_NOTE &&
		    build_id_in_notes(elf, elf_getdata_rawchunk(elf->handle, (int64_t)phdr.p_offset,
								phdr.p_filesz,
								phdr.p_align == 8 ? ELF_T_NHDR8
										  : ELF_T_NHDR)))
			return true;
	}
	return false;
}

static bool build_id_in_sections(struct swlbr_elf *elf)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf->handle, scn))) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_NOTE &&
		    build_id_in_notes(elf, elf_getdata(scn, NULL)))
			return true;
	}
	return false;
}

/* SHA-256 over address, sizes and stored bytes of each loaded segment. */
static struct swlbr_error *digest_segments(struct swlbr_elf *elf)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char buffer[65536];
	SHA2_CTX context;

	SHA256Init(&context);
	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct swlbr_elf_segment *segment = &elf->segments[i];
		uint64_t left = segment->filesz, offset = segment->offset;
		char head[80];
		int n = snprintf(head, sizeof(head), "%llx %llx %llx\n",
				 (unsigned long long)segment->vaddr,
				 (unsigned long long)segment->filesz,
				 (unsigned long long)segment->memsz);

		SHA256Update(&context, (const uint8_t *)head, (size_t)n);
		while (left) {
			ssize_t got = pread(elf->fd, buffer,
					    left < sizeof(buffer) ? left : sizeof(buffer),
					    (off_t)offset);

			if (got < 0 && errno == EINTR)
				continue;
			if (got < 0)
				return swlbr_error_errno(errno, "%s", elf->path);
			if (!got)
				return swlbr_error_create(SWLBR_ERROR_FORMAT,
							  "%s: truncated at byte %llu", elf->path,
							  (unsigned long long)offset);
			SHA256Update(&context, (const uint8_t *)buffer, (size_t)got);
			offset += (uint64_t)got;
			left -= (uint64_t)got;
		}
	}
	SHA256Final(digest, &context);
	memcpy(elf->build_id.bytes, digest + sizeof(digest) - SWLBR_BUILD_ID_SIZE,
	       SWLBR_BUILD_ID_SIZE);
	elf->build_id.bytes[0] = 0xd1;
	elf->build_id.bytes[1] = 0x9e;
	elf->build_id.size = SWLBR_BUILD_ID_SIZE;
	elf->build_id.digest = true;
	return NULL;
}

struct swlbr_error *swlbr_elf_find_build_id(struct swlbr_elf *elf)
{
	if (build_id_in_segments(elf) || build_id_in_sections(elf))
		return NULL;
	return digest_segments(elf);
}

char *swlbr_build_id_format(const struct swlbr_build_id *id, char buffer[41])
{
	static const char digits[] = "0123456789abcdef";
	size_t size = id->size <= SWLBR_BUILD_ID_SIZE ? id->size : SWLBR_BUILD_ID_SIZE;

	for (size_t i = 0; i < size; i++) {
		buffer[2 * i] = digits[id->bytes[i] >> 4];
		buffer[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	buffer[2 * size] = 0;
	return buffer;
}
