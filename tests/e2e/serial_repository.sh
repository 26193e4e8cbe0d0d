#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The tree: licences by folder, format, setting up, installing.
. "$(dirname "$0")/lib/common.sh"
root=$(cd "$here/../.." && pwd)
cd "$root" || exit 1
# files [PATTERN]: the tree's files whose names are like that, a line each
if git rev-parse --git-dir >/dev/null 2>&1; then
	repository=yes
	files() { git ls-files "$@"; }
else
	repository=
	files() { find . -path ./build -prune -o -type f -name "${1-*}" -print | sed 's|^\./||'; }
fi

# licence_of PATH: what its SPDX line must say; empty where none is asked for
licence_of()
{
	case $1 in
	LICENSES/* | COPYING | *.md | *.txt | .gitignore | */.gitignore | tests/golden/* | \
		tests/fuzz/corpus/*) ;;
	lib/*) echo "LGPL-2.1-only OR BSD-2-Clause" ;;
	pmu/include/*) echo "GPL-2.0 WITH Linux-syscall-note" ;;
	*) echo "GPL-2.0-only" ;;
	esac
}
wrong= seen=0
while read -r file; do
	wanted=$(licence_of "$file")
	[ -n "$wanted" ] && [ -f "$file" ] || continue
	seen=$((seen + 1))
	got=$(head -3 "$file" | sed -n 's/.*SPDX-License-Identifier: //p' | sed 's| *\*/$||; s| *-->$||')
	[ "$got" = "$wanted" ] || wrong+=" $file ($got)"
done < <(files)
is "each file has the licence of its folder" "$wrong $((seen > 200))" " 1"
for licence in GPL-2.0-only LGPL-2.1-only BSD-2-Clause Linux-syscall-note; do
	[ -s "LICENSES/$licence" ] || fail "LICENSES/$licence is missing"
done

if [ -z "$repository" ]; then
	echo "skip format: no repository here, and make format-check asks git for the files"
elif command -v clang-format-14 >/dev/null; then
	make -s format-check >"$scratch/format" 2>&1
	is "clang-format has nothing to say" "$? $(grep -m3 error: "$scratch/format")" "0 "
else
	echo "skip format: no clang-format-14"
fi

wrong= seen=0
while read -r file; do
	bash -n "$file" 2>/dev/null || wrong+=" $file"
	seen=$((seen + 1))
done < <(files '*.sh')
is "scripts parse" "$wrong $((seen > 40))" " 1"

scripts/setup.sh --list >"$scratch/list"
is "setup --list: packages, one a line, sorted" \
	"$? $(grep -cvE '^[a-z0-9][a-z0-9+.-]+$' "$scratch/list") $(sort -cu "$scratch/list" && echo sorted) $(
		[ "$(wc -l <"$scratch/list")" -gt 30 ] && echo many)" "0 0 sorted many"
if [ "$(id -u)" = 0 ] && apt-get --version >/dev/null 2>&1; then
	apt-get -s install --no-install-recommends $(cat "$scratch/list") >"$scratch/apt" 2>&1
	is "setup --list: apt-get knows them all" "$? $(grep -m1 '^E:' "$scratch/apt")" "0 "
else
	echo "skip setup --list: whether apt-get knows them all: not root, or no apt-get"
fi
start=$(date +%s%N)
scripts/setup.sh --build-dir "$BUILD" build
is "setup: nothing is missing now" $? 0
spent=$((($(date +%s%N) - start) / 1000000))
is "setup: takes under a second then ($spent ms)" "$([ $spent -lt 1000 ] && echo yes)" yes
# Without root, and a package missing: dpkg-query and id as they would answer.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho 1000\n' >"$scratch/bin/id"
printf '#!/bin/sh\n/usr/bin/dpkg-query "$@" | grep -v libelf-dev\n' >"$scratch/bin/dpkg-query"
chmod +x "$scratch"/bin/*
PATH=$scratch/bin:$PATH scripts/setup.sh --build-dir "$BUILD" build >"$scratch/out" 2>"$scratch/err"
is "setup without root: status 1" $? 1
is "setup without root: what is missing, and how to get it" \
	"$(grep -c 'missing packages: libelf-dev' "$scratch/err") $(grep -c \
		'apt-get install --no-install-recommends libelf-dev' "$scratch/err")" "1 1"

# Built already: this only copies.
make -s O="$BUILD" DESTDIR="$scratch/root" prefix=/usr libdir=/usr/lib/swlbr-test install \
	>"$scratch/log" 2>&1
is "install under DESTDIR" "$? $(tail -1 "$scratch/log")" "0 "
installed=$scratch/root/usr
for file in bin/perf-swlbr lib/swlbr-test/libswlbr.so.0 lib/swlbr-test/libswlbr.a \
	lib/swlbr-test/traceevent/plugins/plugin_swlbr.so include/swlbr/elf.h \
	share/bash-completion/completions/perf-swlbr; do
	[ -e "$installed/$file" ] || fail "install: $file"
done
is "the shared library's soname" \
	"$(readelf -d "$installed/lib/swlbr-test/libswlbr.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')" \
	libswlbr.so.0
is "the shared library shows only swlbr_ names" \
	"$(nm -D --defined-only "$installed/lib/swlbr-test/libswlbr.so" |
		awk '$2 != "A" && $3 !~ /^swlbr_/' | head -3)" ""
is "perf-swlbr does not need the shared library" \
	"$(readelf -d "$installed/bin/perf-swlbr" | grep -c libswlbr)" 0

# A user of the library, with what pkg-config says.
cat >"$scratch/user.c" <<'C'
#include <stdio.h>
#include <swlbr/elf.h>
#include <swlbr/counters.h>
#include <swlbr/perfdata.h>
int main(int argc, char **argv)
{
	struct swlbr_elf *elf;
	char text[41];
	struct swlbr_error *error = swlbr_elf_open(argv[argc - 1], &elf);

	if (error) {
		puts(error->message);
		return 1;
	}
	puts(swlbr_build_id_format(swlbr_elf_build_id(elf), text));
	swlbr_elf_close(elf);
}
C
export PKG_CONFIG_PATH=$installed/lib/swlbr-test/pkgconfig PKG_CONFIG_SYSROOT_DIR=$scratch/root
is "pkg-config knows the version" "$(pkg-config --modversion libswlbr)" \
	"$("$swlbr" --version | sed 's/.* //')"
gcc -Wall -Werror -o "$scratch/user" "$scratch/user.c" $(pkg-config --cflags --libs libswlbr) \
	>"$scratch/log" 2>&1
is "a program links with the library" "$? $(head -1 "$scratch/log")" "0 "
is "and works with it" \
	"$(LD_LIBRARY_PATH=$installed/lib/swlbr-test "$scratch/user" "$swlbr")" \
	"$(readelf -n "$swlbr" | sed -n 's/.*Build ID: //p')"
exit $status
