#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Signals to the recorder: the program is asked to end, its counts are kept; a recorder that is
# killed leaves no file and does no harm.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
build_endings || { fail "build"; exit 1; }

cat >work.sh <<'S'
trap 'echo asked; exit 5' TERM
./endings exit
echo started
while :; do sleep 0.05; done
S
cat >lives.sh <<'S'
echo started
sleep 1
/bin/echo alive
./endings status
echo "status $?"
S
# record COMMAND…: x.data, of it and of nothing before
record() { rm -f x.data; "$swlbr" record -q -o x.data -- "$@"; }
wait_for() { for _ in $(seq 200); do grep -q "$1" "$2" 2>/dev/null && return; sleep 0.05; done; }

for signal in TERM INT HUP; do
	rm -f out x.data
	setsid "$swlbr" record -o x.data -- bash work.sh >out 2>err &
	recorder=$!
	wait_for started out
	kill -$signal $recorder
	wait $recorder 2>/dev/null
	is "SIG$signal: the program is asked to end" "$(tail -1 out)" asked
	is "SIG$signal: what ran is in the file" "$(marked_count x.data)" 100
done

rm -f out x.data
setsid bash -c 'echo $$ >pid; exec "$0" record -o x.data -- bash lives.sh >out 2>err' "$swlbr" &
wait_for started out
kill -KILL "$(cat pid)"
wait $! 2>/dev/null
wait_for status out
is "killed recorder: the program lives on and runs others" "$(tail -2 out | tr '\n' ' ')" \
	"alive status 7 "
is "killed recorder: no half file" "$(ls -A | grep x.data)" ""

# Descendants that outlive the program are waited for.
record bash -c 'setsid bash -c "sleep 0.5; ./endings exit" & exit 4'
is "daemon: status is the program's" $? 4
is "daemon: its counts are there" "$(marked_count x.data)" 100

# The environment: a profile of the program's own only if the user asked for it.
rm -f default*.profraw own.profraw
record ./endings exit || fail "record"
is "no stray .profraw" "$(ls | grep -c profraw)" 0
LLVM_PROFILE_FILE=own.profraw record ./endings exit
is "LLVM_PROFILE_FILE is the user's" "$(ls own.profraw)" own.profraw
# Continuous mode moves the counters into the file's mapping.
LLVM_PROFILE_FILE=continuous%c.profraw record ./endings exit
is "continuous mode" "$(marked_count x.data)" 100
strip -o stripped endings
LLVM_PROFILE_FILE=continuous2%c.profraw record ./stripped exit
is "continuous mode, stripped" "$(marked_count x.data)" 100
LLVM_PROFILE_FILE=continuous3%c.profraw record ./endings fork 2>err
is "continuous mode, fork: counted once" "$(marked_count x.data)" 117
is "continuous mode, fork: says what may be missing" "$(grep -c 'continuous mode' err)" 1
# Threads with more than 1000 signals a second are told of, once; two of 997 a second are not.
cat >timer.c <<'SOURCE'
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static void on_alarm(int signal) { (void)signal; }

int main(int argc, char **argv)
{
	long us = argc > 1 ? atol(argv[1]) : 1000;
	struct itimerval every = { { 0, us }, { 0, us } };
	time_t end = time(NULL) + 5;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	while (time(NULL) < end)
		continue;
	return 0;
}
SOURCE
# shellcheck disable=SC2046
"$cc" -O1 $("$swlbr" cflags --cc "$cc") -o timer timer.c
for us in 400 1003; do
	"$swlbr" record -o timer.data -- sh -c "./timer $us & ./timer $us & wait" 2>timer.err
	is "two timers of $us us: status, and how often it is told" \
		"$? $(grep -c 'more than 1000 signals a second' timer.err)" "0 $((us < 1000))"
done
exit $status
