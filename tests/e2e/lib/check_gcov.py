#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares gcc's auto-profile with the sample profile in text form that it was made beside.

    check_gcov.py FILE.gcov FILE.prof
    check_gcov.py FILE.gcov

Of each line of the text the smallest count of its discriminators must be in the other, and nothing
else; call targets and heads too. Of calls inlined on one line, which are one in the other, it is the
largest. Prints how many lines agreed, or the first that does not. Without
a text, prints what there is.
"""
import re
import struct
import sys


class Gcov:
    def __init__(self, path):
        self.data = open(path, "rb").read()
        self.at = 0

    def word(self):
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def counter(self):
        low = self.word()
        return low | self.word() << 32

    def expect(self, value):
        got = self.word()
        assert got == value, f"{got:#x} at {self.at - 4}, not {value:#x}"

    def body(self, names, path, out):
        path = path + (names[self.word()],)
        positions, calls = self.word(), self.word()
        for _ in range(positions):
            line, targets, count = self.word() >> 16, self.word(), self.counter()
            assert path + (line,) not in out, f"line {line} of {path} twice"
            out[path + (line,)] = count
            for _ in range(targets):
                self.word()
                name = names[self.counter()]
                out[path + (line, "call", name)] = self.counter()
        for _ in range(calls):
            line = self.word() >> 16
            self.body(names, path + (line,), out)

    def read(self):
        out = {}
        for value in (0x67636461, 2, 0, 0xAA000000, 0):
            self.expect(value)
        names = []
        for _ in range(self.word()):
            size = self.word()
            names.append(self.data[self.at:self.at + size - 1].decode())
            self.at += size
        assert names[0] == "", "name 0 may be a call target"
        for value in (0xAC000000, 0):
            self.expect(value)
        for _ in range(self.word()):
            head = self.counter()
            name = names[struct.unpack_from("<I", self.data, self.at)[0]]
            out[(name, "head")] = head
            self.body(names, (), out)
        for value in (0xAE000000, 0, 0):
            self.expect(value)
        assert self.at == len(self.data), "more after the end"
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
    ours, text = Gcov(sys.argv[1]).read(), read_text(sys.argv[2])
    for key in sorted(set(ours) | set(text), key=str):
        if ours.get(key) != text.get(key):
            print(f"{key}: {ours.get(key)}, in the text {text.get(key)}")
            sys.exit(1)
    print(f"{len(ours)} agree")


main()
