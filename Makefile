# SPDX-License-Identifier: GPL-2.0-only
#
#   make demo              on a fresh Debian 12: sets up, builds, shows the main job
#   make check             sets up, builds, tests
#   make check-kernel      sets up, builds an instrumented kernel, tests it in a virtual machine
#   make check-kernel-full all that is tried of it; make bench-kernel: what it costs
#   make all bench bench-accuracy fuzz man format-check install clean
#
#   prefix= DESTDIR=       where install puts things (/usr/local)
#   O=                     build folder (build)
#   CROSS_COMPILE=         prefix of the tools, as in aarch64-linux-gnu-
#   SAN=                   extra flags of sanitizers, for compiling and linking
#
# A new source, test or man page in the folders named here needs no edit.

O ?= build
prefix ?= /usr/local
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
mandir ?= $(prefix)/share/man
# Where perf looks; in a prefix of its own a place like it.
dlfilterdir ?= $(if $(filter /usr /usr/local,$(prefix)),$(shell perf --exec-path 2>/dev/null || \
	echo $(prefix)/libexec/perf-core),$(prefix)/libexec/perf-core)/dlfilters
completiondir ?= $(prefix)/share/bash-completion/completions

ifeq ($(origin CC),default)
CC = $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR = $(CROSS_COMPILE)ar
endif
INSTALL ?= install
CFLAGS ?= -O2 -g
# Built by scripts/setup.sh.
LIBPERF ?= $(O)/libperf

# The version's one place is cmd.h; the soname has its first number.
VERSION := $(shell sed -n 's/^.define SWLBR_VERSION "\(.*\)"/\1/p' perf-plugin/cmd.h)
SONAME := libswlbr.so.$(firstword $(subst ., ,$(VERSION)))

# pkg-config is asked when the first compiler runs, not before: setup may have to install both.
PACKAGES = libelf libtraceevent zlib libzstd libmd
PKG_CONFIG ?= $(shell command -v $(CROSS_COMPILE)pkg-config || echo pkg-config)
once = $(eval $(1) := $(2))$($(1))
PACKAGE_CFLAGS = $(call once,PACKAGE_CFLAGS,$(shell $(PKG_CONFIG) --cflags $(PACKAGES)))
PACKAGE_LIBS = $(call once,PACKAGE_LIBS,$(shell $(PKG_CONFIG) --libs $(PACKAGES)))

BASE_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -fPIC
ALL_CFLAGS = $(BASE_CFLAGS) $(CFLAGS) $(SAN) \
	-Ilib/include -Ilib -I. -I$(LIBPERF)/include $(PACKAGE_CFLAGS)
# Zydis has no .pc file in Debian 12.
LIBS = $(LIBPERF)/lib/libperf.a $(PACKAGE_LIBS) -lZydis -lm -lpthread

LIB_SRC := $(wildcard lib/*/*.c)
RECORDER_SRC := $(wildcard pmu/user/*.c pmu/qemu/*.c)
COMMAND_SRC := $(wildcard perf-plugin/*.c)
PLUGIN_SRC := $(wildcard perf-plugin/traceevent/*.c)
QEMU_PLUGIN_SRC := $(wildcard pmu/qemu/plugin/*.c pmu/qemu/branch_*.c) pmu/qemu/guest.c
UNIT_SRC := $(wildcard tests/unit/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
MAN_SRC := $(wildcard Documentation/perf-swlbr*.txt)

LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o)
COMMAND_OBJ := $(patsubst %.c,$(O)/%.o,$(COMMAND_SRC) $(RECORDER_SRC))
PLUGIN_OBJ := $(PLUGIN_SRC:%.c=$(O)/%.o)
PLUGIN := $(if $(PLUGIN_SRC),$(O)/plugin_swlbr.so)
# perf's dlfilters need its header, which is in the package of perf.
DLFILTER_SRC := $(if $(wildcard /usr/include/perf/perf_dlfilter.h),\
	$(wildcard perf-plugin/dlfilter/*.c))
DLFILTER_OBJ := $(DLFILTER_SRC:%.c=$(O)/%.o)
DLFILTER := $(if $(DLFILTER_SRC),$(O)/dlfilter-swlbr.so)
QEMU_PLUGIN_OBJ := $(QEMU_PLUGIN_SRC:%.c=$(O)/qemu-plugin/%.o)
QEMU_PLUGIN := $(O)/qemu-swlbr.so
UNIT_TESTS := $(UNIT_SRC:%.c=$(O)/%)
FUZZERS := $(FUZZ_SRC:%.c=$(O)/%)
MAN_PAGES := $(MAN_SRC:Documentation/%.txt=$(O)/man/%.1)
MAN_TOOL := $(if $(USE_ASCIIDOCTOR),asciidoctor,asciidoc)
HAVE_MAN_TOOLS := $(shell command -v $(MAN_TOOL) >/dev/null && \
	{ [ $(MAN_TOOL) = asciidoctor ] || command -v xmlto >/dev/null; } && echo y)

LIBRARIES := $(O)/libswlbr.a $(O)/libswlbr.so $(O)/$(SONAME)
# What unit tests may link besides the library: everything of the program but its main().
PROGRAM_PARTS := $(O)/perf-swlbr.a

.PHONY: all programs demo check check-kernel check-kernel-full run-check-kernel \
	run-check-kernel-full bench-kernel run-bench-kernel bench bench-accuracy fuzz install install-man clean man docs format \
	format-check unit-tests run-demo run-check run-bench run-bench-accuracy run-fuzz FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: programs $(if $(HAVE_MAN_TOOLS),man)
programs: $(O)/perf-swlbr $(LIBRARIES) $(PLUGIN) $(QEMU_PLUGIN) $(DLFILTER)
unit-tests: $(UNIT_TESTS)

# These begin on a machine that may have no compiler yet.
demo: setup = demo
bench bench-accuracy fuzz: setup = check
# With CHECK_KERNEL=yes the kernel's test is one of them.
check: setup = $(if $(filter yes,$(CHECK_KERNEL)),ci,check)
export CHECK_KERNEL
check-kernel bench-kernel: setup = check-kernel
check-kernel-full: setup = check-kernel-full
demo check check-kernel check-kernel-full bench-kernel bench bench-accuracy fuzz:
	@scripts/setup.sh --build-dir $(O) $(setup)
	@+$(MAKE) --no-print-directory run-$@

JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
ASAN_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
ASAN_ARGS = O=$(O)/asan LIBPERF=$(LIBPERF) SAN="$(ASAN_FLAGS)" CFLAGS="-O1 -g"
FUZZ_ARGS = O=$(O)/fuzz LIBPERF=$(LIBPERF) CC=clang-19 CFLAGS="-O1 -g" \
	SAN="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"

run-demo:
	@+$(MAKE) --no-print-directory -s $(JOBS) all
	@BUILD=$(abspath $(O)) scripts/demo.sh

run-check:
	@+$(MAKE) --no-print-directory -s $(JOBS) all
	@+$(MAKE) --no-print-directory -s $(JOBS) programs unit-tests $(ASAN_ARGS)
	@BUILD=$(abspath $(O)) BUILD_ASAN=$(abspath $(O)/asan) tests/run.sh $(TESTS)

run-check-kernel:
	@+$(MAKE) --no-print-directory -s $(JOBS) programs
	@BUILD=$(abspath $(O)) tests/kernel/check_kernel.sh $(KERNEL)

run-check-kernel-full:
	@+$(MAKE) --no-print-directory -s $(JOBS) programs
	@BUILD=$(abspath $(O)) tests/kernel/check_kernel_full.sh

run-bench-kernel:
	@+$(MAKE) --no-print-directory -s $(JOBS) programs
	@BUILD=$(abspath $(O)) tests/kernel/bench_overhead.sh $(KERNEL)

run-bench:
	@+$(MAKE) --no-print-directory -s $(JOBS) all
	@BUILD=$(abspath $(O)) BUILD_ASAN=$(abspath $(O)/asan) tests/run.sh --bench $(TESTS)

run-bench-accuracy:
	@+$(MAKE) --no-print-directory -s $(JOBS) all
	@BUILD=$(abspath $(O)) tests/accuracy/accuracy.sh

# Each fuzzer for FUZZ_SECONDS, from the seeds in tests/fuzz/corpus/NAME where there are some.
FUZZ_SECONDS ?= 30
run-fuzz:
	@+$(MAKE) --no-print-directory -s $(JOBS) $(FUZZ_SRC:%.c=$(O)/fuzz/%) $(FUZZ_ARGS)
	@set -e; for fuzzer in $(notdir $(FUZZ_SRC:.c=)); do \
		mkdir -p $(O)/fuzz/corpus/$$fuzzer; \
		seeds=tests/fuzz/corpus/$$fuzzer; [ -d $$seeds ] || seeds=; \
		echo "fuzzing $$fuzzer for $(FUZZ_SECONDS) s"; \
		$(O)/fuzz/tests/fuzz/$$fuzzer -max_total_time=$(FUZZ_SECONDS) -verbosity=0 \
			-print_final_stats=1 -artifact_prefix=$(O)/fuzz/ \
			$(O)/fuzz/corpus/$$fuzzer $$seeds; \
	done

$(LIBPERF)/lib/libperf.a:
	@echo "$@ is missing: scripts/setup.sh build installs what a build needs, and makes it" >&2
	@exit 1

# Rebuilt when the flags change.
$(O)/flags: FORCE | $(LIBPERF)/lib/libperf.a
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(LDFLAGS))' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(O)/libswlbr.a: $(LIB_OBJ)
	rm -f $@ && $(AR) rcs $@ $^

$(O)/$(SONAME): $(LIB_OBJ) lib/libswlbr.map
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) \
		-Wl,--version-script=lib/libswlbr.map $(if $(SAN),,-Wl,-z,defs) \
		-o $@ $(LIB_OBJ) $(LIBS)

$(O)/libswlbr.so: $(O)/$(SONAME)
	ln -sf $(SONAME) $@

$(PROGRAM_PARTS): $(filter-out %/perf-swlbr.o,$(COMMAND_OBJ))
	rm -f $@ && $(AR) rcs $@ $^

$(O)/perf-swlbr: $(COMMAND_OBJ) $(O)/libswlbr.a
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

$(O)/plugin_swlbr.so: $(PLUGIN_OBJ)
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -shared -o $@ $^

# For another program, the emulator, which exports what is undefined here and knows no sanitizer.
$(O)/qemu-plugin/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -fvisibility=hidden -I. -Ilib $(CPPFLAGS) -MMD -MP -c -o $@ $<

# Nothing of it is seen by perf but what perf calls, and nothing of perf by it: perf has some
# functions of a libtraceevent of its own, so that ours is linked in.
$(O)/dlfilter-swlbr.so: $(DLFILTER_OBJ) $(PROGRAM_PARTS) $(O)/libswlbr.a
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -shared -Wl,-Bsymbolic -Wl,--exclude-libs,ALL \
		-o $@ $^ $(subst -ltraceevent,-l:libtraceevent.a,$(LIBS))

$(QEMU_PLUGIN): $(QEMU_PLUGIN_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ -lZydis -lpthread

$(O)/perf-plugin/record_emulate.o: CPPFLAGS += -DSWLBR_LIBDIR='"$(libdir)"'

$(UNIT_TESTS): %: %.o $(PROGRAM_PARTS) $(O)/libswlbr.a
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

$(FUZZERS): %: %.o $(PROGRAM_PARTS) $(O)/libswlbr.a
	$(CC) $(CFLAGS) $(SAN) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)

# Manual pages, as perf makes its own: asciidoc and xmlto, or USE_ASCIIDOCTOR=1.
man docs: $(MAN_PAGES)

ifdef USE_ASCIIDOCTOR
$(O)/man/%.1: Documentation/%.txt Documentation/asciidoctor-extensions.rb
	@mkdir -p $(@D)
	asciidoctor -b manpage -d manpage -a compat-mode -I Documentation \
		-r asciidoctor-extensions -a mansource=perf -a 'manmanual=perf Manual' \
		-a perf_version=$(VERSION) -o $@ $<
else
$(O)/man/%.1: $(O)/man/%.xml
	@xmlto -o $(@D) --skip-validation man $< 2>$<.log || { cat $<.log >&2; exit 1; }

# asciidoc is a module of the system's Python, which another Python in PATH would hide.
$(O)/man/%.xml: Documentation/%.txt Documentation/asciidoc.conf
	@mkdir -p $(@D)
	PATH=/usr/bin:$$PATH asciidoc -b docbook -d manpage -f Documentation/asciidoc.conf \
		-a perf_version=$(VERSION) -o $@ $<
endif

# The format of the version that is checked; other versions of clang-format differ.
CLANG_FORMAT ?= clang-format-14
# Kernel code is in the kernel's own style, which its checkpatch.pl checks.
FORMATTED = '*.c' '*.h' ':!pmu/kernel' ':!pmu/include'
format-check:
	git ls-files -z $(FORMATTED) | xargs -0r $(CLANG_FORMAT) --dry-run -Werror

format:
	git ls-files -z $(FORMATTED) | xargs -0r $(CLANG_FORMAT) -i

to = $(DESTDIR)$(1)
install: all $(if $(HAVE_MAN_TOOLS),install-man)
	$(INSTALL) -d $(call to,$(bindir)) $(call to,$(libdir)/pkgconfig) \
		$(call to,$(includedir)/swlbr) $(call to,$(completiondir))
	$(INSTALL) $(O)/perf-swlbr $(call to,$(bindir))
	$(INSTALL) -m 644 $(O)/libswlbr.a $(call to,$(libdir))
	$(INSTALL) $(O)/$(SONAME) $(call to,$(libdir)/libswlbr.so.$(VERSION))
	ln -sf libswlbr.so.$(VERSION) $(call to,$(libdir)/$(SONAME))
	ln -sf $(SONAME) $(call to,$(libdir)/libswlbr.so)
	$(INSTALL) -m 644 lib/include/swlbr/*.h $(call to,$(includedir)/swlbr)
	sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(libdir)|' \
		-e 's|@includedir@|$(includedir)|' -e 's|@version@|$(VERSION)|' \
		-e 's|@requires@|$(PACKAGES)|' lib/libswlbr.pc.in \
		>$(call to,$(libdir)/pkgconfig/libswlbr.pc)
	$(INSTALL) -d $(call to,$(libdir)/swlbr)
	$(INSTALL) $(QEMU_PLUGIN) $(call to,$(libdir)/swlbr)
	$(INSTALL) -m 644 perf-plugin/perf-swlbr-completion.bash \
		$(call to,$(completiondir)/perf-swlbr)
ifneq ($(DLFILTER),)
	$(INSTALL) -d $(call to,$(dlfilterdir))
	$(INSTALL) $(DLFILTER) $(call to,$(dlfilterdir))
endif
ifneq ($(PLUGIN),)
	$(INSTALL) -d $(call to,$(libdir)/traceevent/plugins)
	$(INSTALL) $(PLUGIN) $(call to,$(libdir)/traceevent/plugins)
endif

install-man: man
	$(INSTALL) -d $(call to,$(mandir)/man1)
	$(INSTALL) -m 644 $(MAN_PAGES) $(call to,$(mandir)/man1)

# libperf and the workloads stay: they are setup's, and cost time and network. So do kernels.
clean:
	rm -rf $(filter-out $(O)/libperf $(O)/workloads $(O)/kernel-%,$(wildcard $(O)/*))

-include $(QEMU_PLUGIN_OBJ:.o=.d) $(patsubst %.c,$(O)/%.d,$(LIB_SRC) $(RECORDER_SRC) $(COMMAND_SRC) $(PLUGIN_SRC) $(DLFILTER_SRC) \
	$(UNIT_SRC) $(FUZZ_SRC))
