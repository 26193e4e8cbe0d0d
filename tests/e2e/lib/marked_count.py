# SPDX-License-Identifier: GPL-2.0-only
"""How often marked() ran, by a perf.data: an oracle of its own, from `perf script` and readelf.

usage: marked_count.py PERF.DATA BINARY...
Finds marked()'s data record in each binary (clang 19's layout) and sums its first counter over all
swlbr:counters rows of that binary's build-id.
"""
import hashlib
import re
import struct
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def counter_index(binary):
    sections = {}
    for line in output("readelf", "-SW", binary).splitlines():
        row = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)", line)
        if row:
            sections[row[1]] = [int(word, 16) for word in row.groups()[1:]]
    address, offset, size = sections["__llvm_prf_data"]
    counters = sections["__llvm_prf_cnts"][0]
    name = struct.unpack("<Q", hashlib.md5(b"marked").digest()[:8])[0]
    with open(binary, "rb") as file:
        data = file.read()[offset : offset + size]
    for at in range(0, size, 64):
        record = struct.unpack_from("<QQQ", data, at)
        if record[0] == name:
            return ((address + at + record[2]) % 2**64 - counters) // 8
    sys.exit(f"{binary}: no data record of marked()")


def build_id(binary):
    return re.search(r"Build ID: (\S+)", output("readelf", "-n", binary))[1]


index = {build_id(binary): counter_index(binary) for binary in sys.argv[2:]}
total = 0
for line in output("perf", "script", "-f", "-i", sys.argv[1], "-F", "event,trace").splitlines():
    row = re.search(r"swlbr:counters: build_id=(\S+) engine=1 first=(\d+) nr=(\d+) value=(.*)", line)
    if row and row[1] in index:
        at = index[row[1]] - int(row[2])
        if 0 <= at < int(row[3]):
            total += int(row[4].split()[at])
print(total)
