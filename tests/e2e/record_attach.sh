#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# -p: only what runs while attached is counted; a busy process goes on unharmed after detaching.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1
build_endings || { fail "build"; exit 1; }

wait_for() { for _ in $(seq 200); do grep -q "$1" "$2" 2>/dev/null && return; sleep 0.05; done; }

mkfifo in
LLVM_PROFILE_FILE=own.profraw ./endings attach <in >out &
program=$!
exec 9>in
wait_for ready out
setsid "$swlbr" record -o a.data -p $program 2>err &
recorder=$!
for _ in $(seq 200); do
	grep -q "^TracerPid:.$recorder" /proc/$program/status && break
	sleep 0.05
done
sleep 0.3
echo go >&9
wait_for marked out
kill -INT $recorder
wait $recorder
is "ends by the signal, as perf record" $? 130
is "not traced any more" "$(awk '/TracerPid/ { print $2 }' /proc/$program/status)" 0
touch stop
wait $program
is "the process ends as ever" $? 0
is "the process is unharmed" "$(tail -1 out)" unharmed
is "counts what ran while attached" "$(marked_count a.data)" 128
if grep -q warning err; then fail "no loss: $(cat err)"; else ok "no loss"; fi
llvm-profdata-19 merge -o own.profdata own.profraw &&
	is "the process's own profile holds all" \
		"$(llvm-profdata-19 show --counts --function=marked own.profdata | grep -o '\[.*\]')" '[194]' ||
	fail "the process's own profile: llvm-profdata does not read it"

# Ten threads at work while we come and go: all live on, nothing is reported lost.
cat >threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile long sink[10];
static void *work(void *arg)
{
	for (long i = 0; access("stop2", F_OK); i++)
		for (int k = 0; k < 1000; k++)
			sink[(long)arg] += k & i;
	return arg;
}
int main(void)
{
	pthread_t thread[10];
	for (long i = 0; i < 10; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (int i = 0; i < 10; i++)
		pthread_join(thread[i], NULL);
	puts("unharmed");
	return 3;
}
C
"$cc" -O1 $("$swlbr" cflags --cc "$cc") -o threads threads.c -lpthread
./threads >out2 &
program=$!
for _ in 1 2 3 4 5; do
	setsid "$swlbr" record -q -o t.data -p $program 2>>err2 &
	recorder=$!
	sleep 0.4
	kill -TERM $recorder
	wait $recorder 2>/dev/null
done
touch stop2
wait $program
is "threads: status" "$?" 3
is "threads: unharmed" "$(cat out2)" unharmed
is "threads: no message" "$(cat err2)" ""
is "threads: recorded" "$([ "$(perf script -i t.data | grep -c swlbr:counters)" -ge 1 ] && echo yes)" yes

"$swlbr" record -o x.data -p 4194300 2>err
is "no such process: status" $? 1
says "no such process: says so" err '^perf swlbr: process 4194300: No such process$'
exit $status
