#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares gcc's auto-profile with the sample profile in text form that it was made beside.

    check_gcov.py FILE.gcov FILE.prof
    check_gcov.py FILE.gcov                 prints what there is
    check_gcov.py FILE.gcov FILE.gcov       of versions 3 and 2
    check_gcov.py --places FILE.gcov        prints function, line and discriminator of each place

Of each line of the text the smallest count of its discriminators must be in the other, and nothing
else; call targets and heads too. Of calls inlined on one line, which are one in the other, it is the
largest. Prints how many lines agreed, or the first that does not. Version 3, whose places have
discriminators, is taken together in the same way; its summary must be that of its own counts.
"""
import re
import struct
import sys


class Gcov:
    def __init__(self, path):
        self.data = open(path, "rb").read()
        self.at = 0
        self.counts, self.heads, self.places = [], [], set()

    def word(self):
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def counter(self):
        low = self.word()
        return low | self.word() << 32

    def expect(self, value):
        got = self.word()
        assert got == value, f"{got:#x} at {self.at - 4}, not {value:#x}"

    def string(self):
        size = self.word()
        self.at += size
        assert self.data[self.at - 1] == 0, f"no NUL at {self.at - 1}"
        return self.data[self.at - size:self.at - 1].decode()

    def place(self):
        word = self.word()
        assert self.version > 2 or not word & 0xffff, "a discriminator, which gcc 12 has not"
        return word >> 16, word & 0xffff

    def body(self, names, path, out, exact):
        name = names[self.word()]
        path, exact = path + (name,), exact + (name,)
        positions, calls, lines = self.word(), self.word(), {}
        for _ in range(positions):
            place, targets, count = self.place(), self.word(), self.counter()
            assert exact + (place,) not in self.places, f"place {place} of {exact} twice"
            self.places.add(exact + (place,))
            self.counts.append(count)
            key = path + (place[0],)
            lines[key] = min(lines.get(key, count), count)
            for _ in range(targets):
                assert self.word() == 7, "a histogram that is none of calls"
                target = key + ("call", names[self.counter()])
                out[target] = out.get(target, 0) + self.counter()
        for key, count in lines.items():
            out[key] = max(out.get(key, 0), count)
        for _ in range(calls):
            place = self.place()
            self.body(names, path + (place[0],), out, exact + (place,))

    def summary(self):
        self.expect(0xA8000000)
        totals = [self.counter() for _ in range(5)]
        assert self.counter() == 16, "gcc has 16 shares"
        return totals, [(self.word(), self.counter(), self.counter()) for _ in range(16)]

    def check_summary(self, totals, shares):
        counts = sorted(self.counts, reverse=True)
        want = [sum(counts), counts[0], max(self.heads), len(counts), len(self.heads)]
        assert totals == want, f"summary {totals}, counts are {want}"
        millionths = [10000] + [100000 * i for i in range(1, 10)] + [
            950000, 990000, 999000, 999900, 999990, 999999]
        for millionth, (cutoff, least, number) in zip(millionths, shares):
            assert cutoff == millionth, f"share {cutoff}, not {millionth}"
            enough = sum(counts) * cutoff // 1000000
            assert sum(c for c in counts if c >= least) >= enough, f"{cutoff}: too few from {least}"
            assert sum(c for c in counts if c > least) < enough, f"{cutoff}: {least} is not the least"
            assert number == sum(1 for c in counts if c >= least), f"{cutoff}: {number} counts"

    def read(self):
        out, summary = {}, None
        self.expect(0x67636461)
        self.version = self.word()
        assert self.version in (2, 3), f"version {self.version}"
        self.expect(0)
        if self.version == 3:
            summary = self.summary()
        self.expect(0xAA000000)
        self.expect(0)
        files = [self.string() for _ in range(self.word())] if self.version == 3 else []
        names = []
        for _ in range(self.word()):
            names.append(self.string())
            if self.version == 3:
                file = self.word()
                assert file < len(files) or file == 0xFFFFFFFF, f"file {file} of {len(files)}"
        assert names[0] == "", "name 0 may be a call target"
        assert len(set(names)) == len(names), "a name twice"
        names = [name.split(".")[0] for name in names]  # as version 2 has them
        for value in (0xAC000000, 0):
            self.expect(value)
        for _ in range(self.word()):
            head = self.counter()
            if self.version == 3:
                assert self.counter() == 0, "a time"
            name = names[struct.unpack_from("<I", self.data, self.at)[0]]
            assert (name, "head") not in out, f"function {name} twice"
            out[(name, "head")] = head
            self.heads.append(head)
            self.body(names, (), out, ())
        for value in (0xAE000000, 0, 0):
            self.expect(value)
        assert self.at == len(self.data), "more after the end"
        if summary:
            self.check_summary(*summary)
        return out


def read_text(path):
    out, lines, stack = {}, {}, []
    for line in open(path):
        depth = len(line) - len(line.lstrip(" "))
        line = line.strip()
        if depth == 0:
            name, _, head = line.rsplit(":", 2)
            stack = [((name.split(".")[0],), name)]
            out[stack[0][0] + ("head",)] = int(head)
            continue
        del stack[depth:]
        place, rest = line.split(": ", 1)
        offset = int(place.split(".")[0])
        if not re.match(r"\d", rest):
            name = rest.rsplit(":", 1)[0]
            stack.append((stack[-1][0] + (offset, name.split(".")[0]), stack[-1][1] + f"@{place}:{name}"))
            continue
        words = rest.split(" ")
        key = stack[-1][0] + (offset,)
        line = key, stack[-1][1]
        lines[line] = min(lines.get(line, int(words[0])), int(words[0]))
        # A name that is no linkage name may have blanks and colons in it.
        for name, count in re.findall(r"(\S.*?):(\d+)(?= |$)", " ".join(words[1:])):
            target = key + ("call", name.split(".")[0])
            out[target] = out.get(target, 0) + int(count)
    for (key, _), count in lines.items():
        out[key] = max(out.get(key, 0), count)
    return out


def main():
    if len(sys.argv) == 2:
        for key, count in Gcov(sys.argv[1]).read().items():
            print(*key, count)
        return
    if sys.argv[1] == "--places":
        gcov = Gcov(sys.argv[2])
        gcov.read()
        for place in sorted(gcov.places, key=str):
            print(place[-2], *place[-1])
        return
    ours = Gcov(sys.argv[1]).read()
    text = Gcov(sys.argv[2]).read() if sys.argv[2].endswith(".gcov") else read_text(sys.argv[2])
    for key in sorted(set(ours) | set(text), key=str):
        if ours.get(key) != text.get(key):
            print(f"{key}: {ours.get(key)}, in the text {text.get(key)}")
            sys.exit(1)
    print(f"{len(ours)} agree")


main()
