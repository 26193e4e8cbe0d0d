#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Exact counts of a callgrind run as an arcs file: the oracle of the accuracy tests.

usage: callgrind_arcs.py CALLGRIND_OUT BINARY [OUT]

The run must have been made with --dump-instr=yes --collect-jumps=yes --compress-pos=no. Ranges are
single instructions; branches are the taken jumps (callgrind tells calls and returns apart, and
their counts are left out). Only BINARY's own code is given, by ELF virtual address.
"""
import re
import subprocess
import sys
from collections import defaultdict


def symbols(binary):
    table = {}
    out = subprocess.run(["nm", binary], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwW":
            table.setdefault(words[2], int(words[0], 16))
    return table


def build_id(binary):
    out = subprocess.run(["readelf", "-n", binary], capture_output=True, text=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", out).group(1)


def parse(path, binary_name):
    """-> executions by address, taken by (from, to), and {function name: lowest address seen}"""
    runs, jumps, first = defaultdict(int), defaultdict(int), {}
    names, objects = {}, {}
    here, function, jump, skip, called = False, None, None, False, None

    def name_of(table, text):
        match = re.match(r"\((\d+)\)(?: (.*))?$", text)
        if not match:
            return text
        if match.group(2) is not None:
            table[match.group(1)] = match.group(2)
        return table[match.group(1)]

    for line in open(path):
        line = line.rstrip("\n")
        if line.startswith("ob="):
            here = name_of(objects, line[3:]).endswith("/" + binary_name)
        elif line.startswith("fn="):
            function = name_of(names, line[3:])
            called = None
        elif line.startswith("cob="):
            name_of(objects, line[4:])
        elif line.startswith("cfn="):
            name_of(names, line[4:])
        elif line.startswith("calls="):
            skip = True
        elif line.startswith("jump="):
            words = line[5:].split()
            jump = (int(words[0]), int(words[1], 16))
        elif line.startswith("jcnd="):
            words = line[5:].split()
            jump = (int(words[0].split("/")[0]), int(words[1], 16))
        elif line.startswith("0x"):
            words = line.split()
            address = int(words[0], 16)
            if skip:
                skip, called = False, address
            elif jump:
                if here:
                    jumps[address, jump[1]] += jump[0]
                jump = None
            elif here and address != called:
                # After a call its address stands for the stub that it goes through.
                runs[address] += int(words[2]) if len(words) > 2 else 0
                first[function] = min(first.get(function, address), address)
                called = None
    return runs, jumps, first


def load_bias(first, table):
    """Callgrind gives addresses as loaded; most functions agree on the difference."""
    votes = defaultdict(int)
    for name, address in first.items():
        if name and name.split("'")[0] in table:
            votes[address - table[name.split("'")[0]]] += 1
    return max(votes, key=votes.get)


def main():
    binary = sys.argv[2]
    runs, jumps, first = parse(sys.argv[1], binary.split("/")[-1])
    bias = load_bias(first, symbols(binary))
    ident = build_id(binary)
    rows = []
    for (source, target), count in jumps.items():
        if count:
            rows.append(("branch", source - bias, target - bias, count))
    for address, count in runs.items():
        if count:
            rows.append(("range", address - bias, address - bias, count))
    out = open(sys.argv[3], "w") if len(sys.argv) > 3 else sys.stdout
    out.write("kind\tbinary\tfrom\tto\tnr\tmispredicted\tcycles\tsource\n")
    for kind, start, end, count in sorted(rows):
        out.write(f"{kind}\t{ident}\t{start:#x}\t{end:#x}\t{count}\t0\t0\temu\n")


main()
