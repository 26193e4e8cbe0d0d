# SPDX-License-Identifier: GPL-2.0-only
# Provisional; the build proper replaces it.
CC ?= gcc
O ?= build
CFLAGS ?= -O2 -g
SAN ?=
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wshadow $(CFLAGS) $(SAN) -fPIC -Ilib/include -Ilib -I. $(shell pkg-config --cflags libelf libdw libtraceevent zlib libzstd libmd) -I/usr/include
LIBS = $(shell pkg-config --libs libelf libdw libtraceevent zlib libzstd libmd)
LIB_SRC = $(wildcard lib/*/*.c)
LIB_OBJ = $(LIB_SRC:%.c=$(O)/%.o)
BIN_SRC = $(wildcard perf-plugin/*.c pmu/user/*.c)
BIN_OBJ = $(BIN_SRC:%.c=$(O)/%.o)
all: $(O)/perf-swlbr
$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -c -o $@ $<
$(O)/libswlbr.a: $(LIB_OBJ)
	rm -f $@; ar rcs $@ $^
$(O)/perf-swlbr: $(BIN_OBJ) $(O)/libswlbr.a
	$(CC) $(CFLAGS) $(SAN) -o $@ $^ $(LIBS)
-include $(shell find $(O) -name '*.d' 2>/dev/null)
