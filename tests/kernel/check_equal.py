#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Two profiles of one workload: all counters of the functions that are the workload's own.

check_equal.py PROFDATA OTHER CONTROL COUNT: functions that CONTROL, made without the workload, has
only zeros of, and one of whose counters is COUNT or more in PROFDATA. Prints "FUNCTION same", or
"FUNCTION" with both rows of counters.
"""
import re
import subprocess
import sys


def counters(profdata):
    text = subprocess.run(["llvm-profdata-19", "show", "--all-functions", "--counts", profdata],
                          capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^  (\S+):\n    Hash: (\S+)\n    Counters: \d+\n    Block counts: \[(.*)\]",
                       text, re.M)
    return {(name, key): [int(count) for count in row.split(", ") if count]
            for name, key, row in found}


profile, other, control = (counters(path) for path in sys.argv[1:4])
least = int(sys.argv[4])
for function, row in sorted(profile.items()):
    if max(row, default=0) < least or any(control.get(function, [1])):
        continue
    same = other.get(function) == row
    print(function[0], "same" if same else f"{row} {other.get(function)}")
