#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How far an estimated edge profile is from the truth.

usage: compare_arcs.py TRUTH ESTIMATE BINARY [--worst N]

Both are arcs files. Compared inside functions with counters (those that the branch map says are
instrumented), by ELF virtual address:
  edge overlap   sum of min(t/T, x/X) over taken jumps
  edge error     sum |x - t| / sum t, not normalised
  block error    the same over instructions
"""
import re
import subprocess
import sys
from bisect import bisect_right
from collections import defaultdict


def read(path):
    jumps, ranges = defaultdict(int), []
    with open(path) as file:
        next(file)
        for line in file:
            kind, binary, start, end, count = line.split("\t")[:5]
            if ":" in end or not binary[0] in "0123456789abcdef":
                continue
            if kind == "branch":
                jumps[int(start, 16), int(end, 16)] += int(count)
            else:
                ranges.append((int(start, 16), int(end, 16), int(count)))
    return jumps, ranges


def instructions(binary):
    """-> sorted addresses, their mnemonics"""
    out = subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn", binary],
                         capture_output=True, text=True, check=True).stdout
    code = {}
    for line in out.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\s+(\S+)", line)
        if match:
            code[int(match.group(1), 16)] = match.group(2)
    return sorted(code), code


def functions(swlbr, binary):
    """-> sorted (start, end, name) of the instrumented functions"""
    out = subprocess.run([swlbr, "map", "--dump", binary], capture_output=True, text=True,
                         check=True).stdout
    found = []
    for line in out.splitlines():
        match = re.match(r"0x([0-9a-f]+)-0x([0-9a-f]+) (\S+):(.*)", line)
        if match and "no increments" not in match.group(4):
            found.append((int(match.group(1), 16), int(match.group(2), 16), match.group(3)))
    return sorted(found)


def spread(ranges, addresses):
    """Executions of each instruction."""
    change = defaultdict(int)
    for start, end, count in ranges:
        change[start] += count
        change[addresses[bisect_right(addresses, end)] if end < addresses[-1] else 1 << 63] -= count
    runs, now = {}, 0
    for address in addresses:
        now += change.get(address, 0)
        if now:
            runs[address] = now
    return runs


def main():
    arguments = sys.argv[1:]
    worst = 0
    if "--worst" in arguments:
        at = arguments.index("--worst")
        worst = int(arguments[at + 1])
        del arguments[at:at + 2]
    truth_path, estimate_path, binary = arguments
    swlbr = __import__("os").environ.get("SWLBR", "perf-swlbr")
    addresses, code = instructions(binary)
    spans = functions(swlbr, binary)
    starts = [span[0] for span in spans]
    begins = set(starts)

    def function_of(address):
        at = bisect_right(starts, address) - 1
        return spans[at][2] if at >= 0 and address < spans[at][1] else None

    def is_jump(edge):
        """Callgrind takes a jump to another function's begin for a call: those are left out."""
        source, target = function_of(edge[0]), function_of(edge[1])
        return (code.get(edge[0], "").startswith("j") and source and target and
                (source == target or edge[1] not in begins))

    truth, truth_ranges = read(truth_path)
    estimate, estimate_ranges = read(estimate_path)
    truth = {edge: count for edge, count in truth.items() if is_jump(edge)}
    estimate = {edge: count for edge, count in estimate.items() if is_jump(edge)}
    total_t, total_x = sum(truth.values()), sum(estimate.values())
    overlap = sum(min(truth[edge] / total_t, estimate[edge] / total_x)
                  for edge in truth if edge in estimate)
    differences = {edge: estimate.get(edge, 0) - truth.get(edge, 0)
                   for edge in set(truth) | set(estimate)}
    error = sum(map(abs, differences.values())) / total_t
    truth_runs = spread(truth_ranges, addresses)
    estimate_runs = spread(estimate_ranges, addresses)
    runs = {address: estimate_runs.get(address, 0) - truth_runs.get(address, 0)
            for address in set(truth_runs) | set(estimate_runs) if function_of(address)}
    total_runs = sum(count for address, count in truth_runs.items() if function_of(address))
    block_error = sum(map(abs, runs.values())) / total_runs
    print(f"taken {total_t} instructions {total_runs} edge-overlap {100 * overlap:.2f} % "
          f"edge-error {100 * error:.2f} % block-error {100 * block_error:.2f} %")
    if worst:
        by_function = defaultdict(lambda: [0, 0])
        for edge, difference in differences.items():
            by_function[function_of(edge[0])][0] += abs(difference)
        for address, difference in runs.items():
            by_function[function_of(address)][1] += abs(difference)
        for name, (edges, insns) in sorted(by_function.items(), key=lambda item: -item[1][0])[:worst]:
            print(f"  {name}: edge error {100 * edges / total_t:.3f} % "
                  f"block error {100 * insns / total_runs:.3f} %")
        for edge, difference in sorted(differences.items(), key=lambda item: -abs(item[1]))[:worst]:
            print(f"  {edge[0]:#x} -> {edge[1]:#x} ({function_of(edge[0])}): "
                  f"truth {truth.get(edge, 0)}, estimate {estimate.get(edge, 0)}")


main()
