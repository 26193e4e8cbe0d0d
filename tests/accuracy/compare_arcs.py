#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How far an estimated edge profile is from the truth.

usage: compare_arcs.py TRUTH ESTIMATE BINARY [--worst N] [--inside]

Both are arcs files. Compared inside functions with counters (those that the branch map says are
instrumented), by ELF virtual address:
  edge overlap   sum of min(t/T, x/X) over taken jumps, conditional, direct, indirect and tail calls
  edge error     sum |x - t| / sum t over them, not normalised
  block error    the same over instructions
  with calls     overlap and error over all taken branches: calls and returns too
--inside leaves out jumps to another function's begin: callgrind takes them for calls.
--worst N tells the functions and the jumps that cost most.
$SWLBR is the perf-swlbr to ask for the branch map.
"""
import argparse
import os
import re
import subprocess
from bisect import bisect_right
from collections import defaultdict

import arcs


class Functions:
    """The instrumented functions of a binary."""

    def __init__(self, binary):
        out = subprocess.run([os.environ.get("SWLBR", "perf-swlbr"), "map", "--dump", binary],
                             capture_output=True, text=True, check=True).stdout
        found = re.finditer(r"^0x([0-9a-f]+)-0x([0-9a-f]+) (\S+):(.*)", out, re.M)
        self.spans = sorted((int(row[1], 16), int(row[2], 16), row[3]) for row in found
                            if "no increments" not in row[4])
        self.starts = [span[0] for span in self.spans]
        self.begins = set(self.starts)

    def name(self, address):
        """None outside of them."""
        at = bisect_right(self.starts, address) - 1
        return self.spans[at][2] if at >= 0 and address < self.spans[at][1] else None


def choose(branches, functions, wanted):
    return {edge: count for edge, count in branches.items()
            if wanted(edge) and functions.name(edge[0]) and functions.name(edge[1])}


def errors(truth, estimate):
    """-> overlap and error, in percent, and the differences."""
    total_t, total_x = sum(truth.values()), sum(estimate.values())
    if not total_t or not total_x:
        raise SystemExit("nothing to compare: no counts in functions with counters")
    overlap = sum(min(truth[edge] / total_t, estimate[edge] / total_x)
                  for edge in truth if edge in estimate)
    differences = {edge: estimate.get(edge, 0) - truth.get(edge, 0)
                   for edge in set(truth) | set(estimate)}
    return 100 * overlap, 100 * sum(map(abs, differences.values())) / total_t, differences


def print_worst(nr, functions, truth, estimate, edges, blocks, total_runs):
    total = sum(truth.values())
    by_function = defaultdict(lambda: [0, 0])
    for edge, difference in edges.items():
        by_function[functions.name(edge[0])][0] += abs(difference)
    for address, difference in blocks.items():
        by_function[functions.name(address)][1] += abs(difference)
    for name, (edge, block) in sorted(by_function.items(), key=lambda item: -item[1][0])[:nr]:
        print(f"  {name}: edge error {100 * edge / total:.3f} % "
              f"block error {100 * block / total_runs:.3f} %")
    for edge, difference in sorted(edges.items(), key=lambda item: -abs(item[1]))[:nr]:
        print(f"  {edge[0]:#x} -> {edge[1]:#x} ({functions.name(edge[0])}): "
              f"truth {truth.get(edge, 0)}, estimate {estimate.get(edge, 0)}, {difference:+}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("truth")
    parser.add_argument("estimate")
    parser.add_argument("binary")
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--inside", action="store_true")
    options = parser.parse_args()
    addresses, code = arcs.instructions(options.binary)
    functions, name = Functions(options.binary), arcs.build_id(options.binary)

    def is_jump(edge):
        return (code.get(edge[0], "").startswith("j") and
                not (options.inside and edge[1] in functions.begins and
                     functions.name(edge[0]) != functions.name(edge[1])))

    truth, truth_ranges = arcs.read(options.truth, name)
    estimate, estimate_ranges = arcs.read(options.estimate, name)
    all_overlap, all_error, _ = errors(choose(truth, functions, lambda edge: True),
                                       choose(estimate, functions, lambda edge: True))
    truth, estimate = choose(truth, functions, is_jump), choose(estimate, functions, is_jump)
    overlap, error, edges = errors(truth, estimate)
    truth_runs, estimate_runs = (
        {address: count for address, count in arcs.executions(ranges, addresses).items()
         if functions.name(address)} for ranges in (truth_ranges, estimate_ranges))
    _, block_error, blocks = errors(truth_runs, estimate_runs)
    print(f"taken {sum(truth.values())} instructions {sum(truth_runs.values())} "
          f"edge-overlap {overlap:.2f} % edge-error {error:.2f} % "
          f"block-error {block_error:.2f} % "
          f"with-calls-overlap {all_overlap:.2f} % with-calls-error {all_error:.2f} %")
    print_worst(options.worst, functions, truth, estimate, edges, blocks, sum(truth_runs.values()))


main()
