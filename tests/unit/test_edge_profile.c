// SPDX-License-Identifier: GPL-2.0-only
/* An edge profile sums what is the same, and an arcs file gives it back byte for byte. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <swlbr/edge_profile.h>

#include "check.h"
#include "edge_profiles.h"

static char arcs_path[] = "/tmp/swlbr_arcs_XXXXXX", again_path[] = "/tmp/swlbr_arcs_XXXXXX";

static char *read_text(const char *path)
{
	static char text[2][65536];
	static int which;
	FILE *file = fopen(path, "r");
	size_t size = file ? fread(text[which ^= 1], 1, sizeof(text[0]) - 1, file) : 0;

	if (file)
		fclose(file);
	text[which][size] = 0;
	return text[which];
}

static bool write_text(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "w");
	bool ok = file && fwrite(text, 1, size, file) == size;

	return file && !fclose(file) && ok;
}

static void add(struct swlbr_edge_profile *profile, uint32_t from_binary, uint64_t from,
		uint32_t to_binary, uint64_t to, uint64_t nr)
{
	struct swlbr_edge edge = { .from = from,
				   .to = to,
				   .from_binary = from_binary,
				   .to_binary = to_binary,
				   .nr = nr,
				   .mispredicted = 1,
				   .source = SWLBR_SOURCE_HW };

	if (!fine(swlbr_edge_profile_add(profile, &edge)))
		exit(1);
}

static void fill(struct swlbr_edge_profile *profile)
{
	struct swlbr_edge_binary with_id = { .build_id = { .bytes = { 0xab, 1 }, .size = 20 },
					     .path = "/bin/a" };
	struct swlbr_edge_binary odd = { .path = "/tmp/a b\tc\n\\:0x12", .file_offsets = true };
	struct swlbr_edge_binary hex = { .path = "deadbeef" };
	uint32_t a, b, c;

	if (!fine(swlbr_edge_profile_binary(profile, &odd, &b)) ||
	    !fine(swlbr_edge_profile_binary(profile, &with_id, &a)) ||
	    !fine(swlbr_edge_profile_binary(profile, &hex, &c)))
		exit(1);
	for (uint64_t i = 0; i < 5000; i++)
		add(profile, a, 0x1000 + i % 50, a, 0x2000 + i % 100, 1);
	add(profile, b, 0x10, a, 0x20, 7);
	add(profile, a, 0xffffffffffffffff, b, 0, 8);
	add(profile, c, 1, c, 2, UINT64_MAX);
	add(profile, c, 1, c, 2, UINT64_MAX);
}

static void sums(void)
{
	struct swlbr_edge_profile *profile = new_profile();
	const struct swlbr_edge *edges;
	uint64_t sum = 0;
	size_t nr;

	fill(profile);
	nr = swlbr_edge_profile_edges(profile, &edges);
	check(nr == 103, "equal edges are one: %zu of 103", nr);
	for (size_t i = 0; i < nr; i++)
		sum += edges[i].from < 0x2000 && edges[i].from >= 0x1000 ? edges[i].nr : 0;
	check(sum == 5000, "their counts are added: %llu of 5000", (unsigned long long)sum);
	sum = 0;
	for (size_t i = 0; i < nr; i++)
		sum += edges[i].nr == UINT64_MAX && edges[i].mispredicted == 2;
	check(sum == 1, "a count stays at its greatest value instead of wrapping");
	add(profile, 0, 0x10, 1, 0x20, 1);
	check(swlbr_edge_profile_edges(profile, &edges) == 103, "after sorting too");
	swlbr_edge_profile_destroy(profile);
}

static void round_trip(void)
{
	struct swlbr_edge_profile *profile = new_profile(), *again = new_profile();
	bool probed = false;
	char *text;

	fill(profile);
	check(fine(swlbr_arcs_write(profile, arcs_path)), "an arcs file is written");
	check(fine(swlbr_arcs_probe(arcs_path, &probed)) && probed, "and known for one");
	check(fine(swlbr_arcs_read(again, arcs_path)), "and read");
	check(fine(swlbr_arcs_write(again, again_path)), "and written again");
	text = read_text(arcs_path);
	check(!strcmp(text, read_text(again_path)), "the same bytes");
	check(strstr(text,
		     "\nbranch\tab01000000000000000000000000000000000000\t0xffffffffffffffff\t"
		     "/tmp/a b\\011c\\012\\134:0x12:+0x0\t8\t1\t0\thw\n"),
	      "a path with a tab, a newline, a backslash and a colon keeps its row whole");
	check(strstr(text, "\nbranch\t./deadbeef\t0x1\t0x2\t18446744073709551615\t2\t0\thw\n"),
	      "a path like a build-id is told from one");
	swlbr_edge_profile_destroy(profile);
	swlbr_edge_profile_destroy(again);
}

static void refuses(const char *what, const char *rows, const char *message)
{
	static const char header[] = "kind\tbinary\tfrom\tto\tnr\tmispredicted\tcycles\tsource\n";
	struct swlbr_edge_profile *profile = new_profile();
	struct swlbr_error *error;
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", header, rows);
	write_text(arcs_path, text, strlen(text));
	error = swlbr_arcs_read(profile, arcs_path);
	check(error && strstr(error->message, message), "%s: %s", what,
	      error ? error->message : "(read)");
	swlbr_error_destroy(error);
	swlbr_edge_profile_destroy(profile);
}

static void bad_files(void)
{
	refuses("another kind", "jump\t/a\t0x1\t0x2\t3\t0\t0\tsw\n", "(line 2)");
	refuses("a column missing", "branch\t/a\t0x1\t0x2\t3\t0\tsw\n", "8 columns");
	refuses("a column too many", "branch\t/a\t0x1\t0x2\t3\t0\t0\tsw\t\n", "8 columns");
	refuses("no address", "branch\t/a\t1\t0x2\t3\t0\t0\tsw\n", "address");
	refuses("an address over 64 bits", "branch\t/a\t0x10000000000000000\t0x2\t3\t0\t0\tsw\n",
		"address");
	refuses("a negative count", "branch\t/a\t0x1\t0x2\t-3\t0\t0\tsw\n", "count");
	refuses("another source", "branch\t/a\t0x1\t0x2\t3\t0\t0\tsx\n", "source");
	refuses("a range backwards", "range\t/a\t0x3\t0x2\t3\t0\t0\tsw\n", "range");
	refuses("half an escape", "branch\t/a\\01\t0x1\t0x2\t3\t0\t0\tsw\n", "name");
	refuses("a cut line", "branch\t/a\t0x1\t0x2\t3\t0\t0\tsw\nbranch\t/a\t0x",
		"cut off (line 3)");
}

int main(void)
{
	close(mkstemp(arcs_path));
	close(mkstemp(again_path));
	sums();
	round_trip();
	bad_files();
	unlink(arcs_path);
	unlink(again_path);
	return failures != 0;
}
