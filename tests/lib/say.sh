# SPDX-License-Identifier: GPL-2.0-only
# Sourced by tests: what they say, as tests/run.sh counts it, and $status.
status=0

ok() { echo "ok $*"; }
fail() { echo "FAIL $*"; status=1; }

# is NAME GOT WANTED: false if they differ
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		fail "$1: got '$2', expected '$3'"
		return 1
	fi
}
