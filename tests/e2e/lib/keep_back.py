# SPDX-License-Identifier: GPL-2.0-only
"""Keep a program from its processor whenever it unloads a library.

usage: keep_back.py CPU PIDFILE LIBRARY SECONDS
Waits for PIDFILE; then, each time that the process, which runs on CPU alone, is seen waiting in
munmap with the library still mapped, takes the processor for SECONDS at real-time priority. When
the process is gone, prints how often the munmap had still not happened at the end of that.
"""
import os
import sys
import time

MUNMAP = 11  # x86-64


def main():
    cpu, pid_file, library, seconds = sys.argv[1:]
    os.sched_setaffinity(0, [int(cpu)])
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    pid, kept = "", 0
    while not pid:
        time.sleep(0.001)
        if os.path.exists(pid_file):
            with open(pid_file) as file:
                pid = file.read().strip()

    def is_mapped():
        with open(f"/proc/{pid}/maps") as file:
            return library in file.read()

    try:
        while True:
            time.sleep(0.00002)
            with open(f"/proc/{pid}/syscall") as file:
                call = file.read().split()
            if not call or call[0] != str(MUNMAP) or not is_mapped():
                continue
            until = time.monotonic() + float(seconds)
            while time.monotonic() < until:
                pass
            kept += is_mapped()
            time.sleep(0.002)
    except OSError:  # it has ended
        pass
    print(kept)


main()
