#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# All that is tried of the kernel's part, for which it builds ten kernels.
#
#   tests/kernel/check_kernel_full.sh
#
# Environment: BUILD (folder with perf-swlbr, and for the kernels).
set -u
here=$(dirname "$(realpath "$0")")
BUILD=${BUILD:-$(dirname "$(dirname "$here")")/build}
export BUILD
unset KERNEL_BUILD KERNEL_OFF
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# Scripts that end badly without saying why count as one failure.
check()
{
	local ended from

	echo "== $*"
	from=$(grep -c '^FAIL ' "$said")
	"$here/$1" "${@:2}" 2>&1 | tee -a "$said"
	ended=${PIPESTATUS[0]}
	if [ "$ended" != 0 ] && [ "$(grep -c '^FAIL ' "$said")" = "$from" ]; then
		echo "FAIL $*: ended with status $ended" | tee -a "$said"
	fi
}

check check_off.sh 6.1
check check_off.sh 6.12
check check_kernel.sh 6.1
check check_kernel.sh 6.12
check check_profgen.sh 6.1
check check_profile_use.sh 6.1
check check_debug.sh 6.1
check bench_overhead.sh 6.1

passed=$(grep -c '^ok ' "$said") failed=$(grep -c '^FAIL ' "$said")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
