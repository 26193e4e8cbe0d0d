#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Taken-branch overlap of two arcs files: sum of min(share in one, share in the other), per cent.

usage: overlap_arcs.py ONE OTHER

Over the branches with both ends in a binary that either file has.
"""
import sys
from collections import defaultdict


def read(path):
    taken = defaultdict(int)
    with open(path) as file:
        next(file)
        for line in file:
            kind, binary, start, end, count = line.split("\t")[:5]
            if kind == "branch" and ":" not in end and not binary.startswith("["):
                taken[binary, start, end] += int(count)
    return taken


one, other = read(sys.argv[1]), read(sys.argv[2])
shared = {branch for branch in one if branch in other}
total_one, total_other = sum(one.values()), sum(other.values())
print(f"{100 * sum(min(one[b] / total_one, other[b] / total_other) for b in shared):.2f}")
