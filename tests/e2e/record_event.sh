#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# -e: events of the kernel in the same file as our counters, which they do not change. Software
# events stand in for hardware's here: they have no branch stacks, and are recorded without.
. "$(dirname "$0")/lib/common.sh"
cd "$scratch" || exit 1

cat >work.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noinline)) void marked(void) { sink++; }
static void work(const char *what)
{
	printf("%s %d/%ld\n", what, getpid(), syscall(SYS_gettid));
	fflush(stdout);
	for (int i = 0; i < 20000000; i++)
		marked();
}
static void *run(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	work("thread");
	return arg;
}
int main(void)
{
	pthread_t thread;
	work("main");
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	if (!fork()) {
		work("child");
		_exit(0);
	}
	wait(NULL);
	return 3;
}
C
"$cc" -O1 $("$swlbr" cflags --cc "$cc") -o work work.c -lpthread || { fail "build"; exit 1; }
marked_count() { /usr/bin/python3 "$here/lib/marked_count.py" "$1" work; }
script() { perf script -i "$1" -F "$2" 2>/dev/null; }

"$swlbr" record -o plain.data -- ./work >/dev/null 2>err
is "without -e: count" "$(marked_count plain.data)" 60000000
"$swlbr" record -o e.data -e cpu-clock/freq=1000/u,page-faults/period=1/u -- ./work >out 2>err
is "status is the program's" $? 3
is "counts are the same" "$(marked_count e.data)" 60000000
is "each event says once that it has no branch stacks, and what has" \
	"$(grep -c 'recorded without branch stacks: software events have none .*; a hardware event' err)" 2
is "evlist: ours and the kernel's" "$(perf evlist -i e.data 2>/dev/null | grep -v '^#' | tr '\n' ' ')" \
	"swlbr/branches/ swlbr:counters swlbr:value swlbr:lost swlbr:arc cpu-clock/freq=1000/u page-faults/period=1/u "
for file in plain e; do
	"$swlbr" convert -q -i $file.data -f arcs -o $file.arcs work
	"$swlbr" convert -q -i $file.data -f llvm-profdata -o $file.profdata work
done
if cmp -s plain.arcs e.arcs && cmp -s plain.profdata e.profdata && [ -s e.profdata ]; then
	ok "what is converted is the same"
else
	fail "what is converted differs with -e"
fi

script e.data pid,tid,event,ip,sym | grep 'cpu-clock.*marked' >samples
while read -r what ids; do
	if grep -q "$ids " samples; then
		ok "$what: samples in marked(), of $ids"
	else
		fail "$what: no sample of $ids: $(awk '{ print $1 }' samples | sort | uniq -c)"
	fi
done <out
is "samples of nobody else" "$(script e.data pid,tid,event | awk '/cpu-clock/ { print $1 }' | sort -u | grep -vcxf <(cut -d' ' -f2 out))" 0
is "a thread has its name" "$(perf script -i e.data -F comm,tid,event --tid "$(sed -n 's:thread .*/::p' out)" 2>/dev/null |
	awk '/cpu-clock/ { print $1 }' | sort | uniq -c | sort -n | awk 'END { print $2 }')" worker
# A fault or two may come from within the exec, of addresses that nothing is mapped at.
is "libraries are known from the moment they are mapped" \
	"$(script e.data event,ip,sym,dso | awk '/page-faults/ { if (/libc/) known++; if (/unknown/) not++ }
		END { print (known > 5), (not < 3) }')" "1 1"
is "perf orders them by time, both kinds among one another" \
	"$(script e.data time,event | awk '
		$1 + 0 < last { backwards++ }
		{ last = $1 + 0; kernel = /cpu-clock/ }
		/cpu-clock|branches/ && kernel != was { changes++; was = kernel }
		END { print backwards + 0, (changes > 10) ? "mixed" : changes }')" "0 mixed"
is "the summary counts them" "$(sed -n 's/^\[ page-faults.*: \([0-9]*\) samples \]/\1/p' err)" \
	"$(script e.data event | grep -c page-faults)"
is "perf report shows them" "$(perf report -i e.data --no-branch-stack --stdio 2>/dev/null |
	grep -c "of event 'cpu-clock/freq=1000/u'")" 1

# What the machine does not have.
"$swlbr" record -o n.data -e no_such_pmu/event=1/,page-faults:u -- ./work >/dev/null 2>err
is "no such PMU: goes on" $? 3
is "no such PMU: says so" \
	"$(grep -c "warning: no_such_pmu/event=1/: not recorded: this machine has no PMU 'no_such_pmu'" err)" 1
is "no such PMU: others are recorded" "$(perf evlist -i n.data 2>/dev/null | tail -n +6 | head -1)" page-faults:u
is "no such PMU: counts" "$(marked_count n.data)" 60000000
if perf stat -e cycles:u true 2>&1 | grep -q 'not supported'; then
	"$swlbr" record -o c.data -e cycles:u -- ./work >/dev/null 2>err
	is "no hardware counters: goes on" $? 3
	is "no hardware counters: one line says so" "$(grep -c warning err) $(grep -c \
		'cycles:u: not recorded: this machine has no hardware counter for it; record on' err)" "1 1"
	is "no hardware counters: counts" "$(marked_count c.data)" 60000000
else
	"$swlbr" record -o c.data -e cycles:u -- ./work >/dev/null 2>err
	is "hardware: recorded" "$(perf evlist -i c.data 2>/dev/null | grep -c cycles:u)" 1
fi
"$swlbr" record -o x.data -e no_such_event -- ./work >/dev/null 2>err
is "no such event: status" $? 129
is "no such event: says so" "$(grep -c '^perf swlbr: -e no_such_event: no event of that name' err)" 1

# The kernel is left out where it is not permitted, as perf does, under perf's name.
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
	chmod 755 . work && mkdir -m 777 user
	cp "$swlbr" user/perf-swlbr
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all \
		user/perf-swlbr record -o user/u.data -e cpu-clock -- ./work >/dev/null 2>err
	is "not root: recorded without the kernel" "$(perf evlist -f -i user/u.data 2>/dev/null | sed -n 6p)" cpu-clock:u
	is "not root: counts" "$(marked_count user/u.data)" 60000000
else
	echo "skip not root: cannot be another user here, or another user may record the kernel"
fi

# A program without counters: the kernel's samples are kept, with a word.
"$swlbr" record -o w.data -e cpu-clock:u -- bash -c 'for ((i = 0; i < 100000; i++)); do :; done; exit 5' 2>err
is "without counters: status" $? 5
is "without counters: says so" "$(grep -c 'only the events of -e are recorded: .*bash: no counters' err)" 1
is "without counters: samples" "$(script w.data event | grep -c cpu-clock | sed 's/[1-9].*/some/')" some

# Records that the kernel had no room for: the recorder is stopped while 20,000 of them come. The
# kernel tells a loss with the next record of the same CPU's buffer, and after the loss the program
# goes on there, or on another CPU, or ends.
cat >faults.c <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static void fault(int nr)
{
	char *pages = mmap(NULL, nr * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(pages, nr * 4096L, MADV_NOHUGEPAGE);
	for (int i = 0; i < nr; i++)
		pages[i * 4096L] = 1;
	munmap(pages, nr * 4096L);
}
static void run_on(int cpu)
{
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}
int main(int argc, char **argv)
{
	char line[8];
	cpu_set_t all;
	int cpu = sched_getcpu();
	sched_getaffinity(0, sizeof(all), &all);
	run_on(cpu);
	puts("ready"), fflush(stdout);
	fgets(line, sizeof(line), stdin);
	fault(20000);
	for (int other = 0; *argv[1] == 'm' && other < CPU_SETSIZE; other++)
		if (other != cpu && CPU_ISSET(other, &all)) {
			run_on(other);
			break;
		}
	puts("done"), fflush(stdout);
	while (*argv[1] != 'e' && access("stop", F_OK))
		fault(1), usleep(10000);
	return 0;
}
C
"$cc" -O1 $("$swlbr" cflags --cc "$cc") -o faults faults.c || { fail "build"; exit 1; }
wait_for() { for _ in $(seq 200); do grep -q "$1" "$2" 2>/dev/null && return; sleep 0.05; done; }
mkfifo in
for then in stays moves ends; do
	rm -f stop out
	"$swlbr" record -o l.data -e page-faults/period=1/u -- ./faults $then <in >out 2>err &
	recorder=$!
	exec 9>in
	wait_for ready out
	kill -STOP $recorder
	echo go >&9
	wait_for done out
	kill -CONT $recorder
	sleep 1
	touch stop
	wait $recorder
	exec 9>&-
	lost=$(perf script -i l.data --show-lost-events 2>/dev/null |
		awk '/PERF_RECORD_LOST/ { n += $NF } END { print n + 0 }')
	is "$then: records were lost" "$((lost > 5000))" 1
	is "$then: lost records are told, as many as the file says" \
		"$(sed -n 's/.*warning: page-faults.*: \([0-9]*\) records were lost.*/\1/p' err)" "$lost"
	is "$then: what was lost and what was not is all" \
		"$(($(script l.data event | grep -c page-faults) + lost > 20000))" 1
done

# -p: all threads of a process that runs.
./work >out &
"$swlbr" record -q -o p.data -e cpu-clock:u -p $! 2>err
is "-p: samples of the process" "$(script p.data pid,event | awk '/cpu-clock/ { print $1 }' | sort -u | grep -cx $!)" 1
exit $status
