# SPDX-License-Identifier: GPL-2.0-only
"""measure.py COMMAND…: wall seconds, processor seconds and peak kilobytes of a command that succeeds."""
import os
import sys
import time

quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
start = time.monotonic()
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(pid, 0)
wall = time.monotonic() - start
if status:
    sys.exit("FAIL " + " ".join(sys.argv[1:]))
print(f"{wall:.3f} {usage.ru_utime + usage.ru_stime:.3f} {usage.ru_maxrss}")
