# SPDX-License-Identifier: GPL-2.0-only
"""Taken-edge overlap of the branch stacks of a perf.data with the exact counts of an arcs file.

usage: overlap.py PERF.DATA ARCS
Each entry of a stack counts 1. Overlap = sum over edges of min(share in the stacks, share in the
arcs). The stacks come from `perf script`, addresses from its mapping events and readelf. Prints
the overlap in percent, the entries, and the taken branches of the arcs file.
"""
import bisect
import collections
import re
import subprocess
import sys

MAPPING = re.compile(r"PERF_RECORD_MMAP2 (-?\d+)/\d+: \[(0x\w+)\((0x\w+)\) @ (\w+) <(\w+)>\]: \S+ (.*)")


def lines(*command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        yield from process.stdout


def segments(path):
    """[(offset, end, virtual address)] of a file's executable segments."""
    found = []
    for line in lines("readelf", "-lW", path):
        row = re.match(r" +LOAD +(0x\w+) (0x\w+) \S+ (0x\w+) \S+ R E", line)
        if row:
            offset, address, size = (int(word, 16) for word in row.groups())
            found.append((offset, offset + size, address))
    return found


class Process:
    """Where the code of a process is: runtime addresses to (build-id, virtual address)."""

    def __init__(self):
        self.starts, self.mappings, self.known = [], {}, {}

    def add(self, start, size, offset, build_id, path):
        if start not in self.mappings:
            bisect.insort(self.starts, start)
        self.mappings[start] = start + size, offset, build_id, segments(path)
        self.known.clear()

    def resolve(self, address):
        if address not in self.known:
            self.known[address] = self.look_up(address)
        return self.known[address]

    def look_up(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0:
            return None
        start = self.starts[at]
        end, file_offset, build_id, parts = self.mappings[start]
        for first, last, virtual in parts:
            if first <= address - start + file_offset < last and address < end:
                return build_id, address - start + file_offset - first + virtual
        return None


def read_stacks(path):
    edges, processes = collections.Counter(), collections.defaultdict(Process)
    for line in lines("perf", "script", "-f", "-i", path, "-F", "pid,brstack,event",
                      "--show-mmap-events"):
        row = MAPPING.search(line)
        if row:
            processes[int(row[1])].add(int(row[2], 16), int(row[3], 16), int(row[4], 0), row[5],
                                       row[6])
            continue
        words = line.split()
        if not words or not words[0].isdigit():
            continue
        process = processes[int(words[0])]
        for word in words[1:]:
            if word.startswith("0x"):
                ends = word.split("/")
                edges[process.resolve(int(ends[0], 16)), process.resolve(int(ends[1], 16))] += 1
    return edges


def read_arcs(path):
    edges = collections.Counter()
    with open(path) as file:
        next(file)
        for line in file:
            kind, binary, start, end, nr = line.split("\t")[:5]
            if kind == "branch":
                other, _, address = end.rpartition(":")
                edges[(binary, int(start, 16)), (other or binary, int(address, 16))] += int(nr)
    return edges


def main():
    stacks, arcs = read_stacks(sys.argv[1]), read_arcs(sys.argv[2])
    entries, taken = sum(stacks.values()), sum(arcs.values())
    if not entries or not taken:
        sys.exit("nothing to compare")
    overlap = sum(min(nr / entries, arcs[edge] / taken) for edge, nr in stacks.items())
    foreign = sum(nr for edge, nr in stacks.items() if not arcs[edge])
    print(f"{100 * overlap:.2f} % overlap, {entries} entries, {foreign} of them of edges that were "
          f"not taken, {taken} taken branches")


main()
