# SPDX-License-Identifier: GPL-2.0-only
# Sourced first by each benchmark: $root, the current folder; what was built; and $scratch, which goes
# when the benchmark ends.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
cd "$root" || exit 1
BUILD=${BUILD:-$root/build}
export WORKLOADS=${WORKLOADS:-$BUILD/workloads}
swlbr=$BUILD/perf-swlbr
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# measure COMMAND…: wall seconds, processor seconds and peak kilobytes of the command alone
measure() { /usr/bin/python3 "$root/tests/bench/lib/measure.py" "$@"; }
