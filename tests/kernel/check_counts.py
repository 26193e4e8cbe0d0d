#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Functions of a kernel counted by itself and by the machine that emulated it.

check_counts.py VMLINUX PROFDATA ARCS FUNCTION...: how often each FUNCTION, which has one counter and
is inlined nowhere, ran by the counters and by ARCS, whose ranges hold its first instruction. Prints
"FUNCTION COUNTED EMULATED", "-" where one does not know the function.
"""
import re
import subprocess
import sys

vmlinux, profdata, arcs, functions = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


start = {}
for line in output("nm", vmlinux).splitlines():
    address, kind, name = line.split()
    if kind in "tT":
        start[name] = int(address, 16)
counted = {}
for found in re.finditer(r"^  (\S+):\n    Hash: \S+\n    Counters: 1\n    Block counts: \[(\d+)\]",
                         output("llvm-profdata-19", "show", "--all-functions", "--counts", profdata),
                         re.M):
    counted[found[1]] = int(found[2])
emulated = dict.fromkeys((start[name] for name in functions if name in start), 0)
wanted = sorted(emulated)
with open(arcs) as file:
    for line in file:
        row = line.split("\t")
        if row[0] != "range" or not row[2].startswith("0x"):
            continue
        first, last = int(row[2], 16), int(row[3], 16)
        for address in wanted:
            if first <= address <= last:
                emulated[address] += int(row[4])
for name in functions:
    print(name, counted.get(name, "-"), emulated.get(start.get(name), "-"))
