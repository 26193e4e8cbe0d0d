#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# An instrumented kernel in a virtual machine, with the distribution's perf: counts are exact, the
# PMU gives perf what it asks for, and what comes out of the machine becomes profiles here.
#
#   tests/kernel/check_kernel.sh [VERSION]     of package linux-source-VERSION (6.1)
#
# Environment: BUILD (folder with perf-swlbr), KERNEL_BUILD (keeps the kernel; BUILD/kernel-VERSION).
# Prints "ok NAME" and "FAIL NAME why", as the tests of tests/e2e do.
. "$(dirname "$(realpath "$0")")/lib/start.sh"
out=$counting

# count PROFILE FUNCTION: the first counter of a function
count()
{
	llvm-profdata-19 show --function="$2" --counts "$1" |
		sed -n 's/^ *Block counts: \[\([0-9]*\).*/\1/p' | head -n 1
}

# --- the graft ---

graft=$repository/scripts/kernel-graft.sh
tree=$scratch/tree
sum_of() { (cd "$1" && find . -type f | LC_ALL=C sort | xargs md5sum | md5sum; find . -type d | wc -l); }
mkdir "$tree"
tar -C "$tree" --strip-components=1 -xJf "/usr/src/linux-source-$version.tar.xz" \
	$(printf "linux-source-$version/%s " Makefile arch/Kconfig arch/x86/kernel \
		include/asm-generic include/linux include/uapi/linux kernel/Makefile \
		kernel/module scripts)
cp -a "$tree" "$scratch/plain"
before=$(sum_of "$tree")
"$graft" "$tree"
once=$(sum_of "$tree")
# The version is compared in one line, in the header that would not be in a kernel's own tree; a
# description and who signs it are a patch's; and of the top Makefile's line that has its name in it
# many others are there.
(cd "$scratch" && diff -urN --no-dereference plain tree) >"$scratch/graft.patch"
perl "$tree/scripts/checkpatch.pl" --no-tree --terse --show-types --ignore COMMIT_MESSAGE \
	--ignore MISSING_SIGN_OFF --ignore EMBEDDED_FILENAME "$scratch/graft.patch" \
	>"$scratch/checkpatch" 2>/dev/null
is "checkpatch has nothing to say but of the version" \
	"$(sed -n 's/.*: \(WARNING\|ERROR\):\([A-Z_]*\):.*/\2/p; s/^total: //p' "$scratch/checkpatch" |
		sed 's/, [0-9]* lines checked//' | paste -sd' ')" \
	"LINUX_VERSION_CODE CONSTANT_COMPARISON 0 errors, 2 warnings"
rm -rf "$scratch/plain"
"$graft" "$tree"
is "grafting twice is grafting once" "$(sum_of "$tree")" "$once"
[ "$once" != "$before" ] && ok "it does something" || fail "it does something"
"$graft" "$tree" --revert
is "--revert leaves the tree as it was" "$(sum_of "$tree")" "$before"
sed -i 's/PERCPU_DECRYPTED_SECTION/&_2/' "$tree/include/asm-generic/vmlinux.lds.h"
before=$(sum_of "$tree")
"$graft" "$tree" 2>"$scratch/err"
is "a tree where a line is missing: refused, and left as it was" \
	"$? $(grep -c 'not just one line' "$scratch/err") $(sum_of "$tree")" "1 1 $before"
sed -i 's/^PATCHLEVEL = .*/PATCHLEVEL = 99/' "$tree/Makefile"
"$graft" "$tree" 2>"$scratch/err"
is "another version: refused" "$? $(grep -c 'is Linux 6.99' "$scratch/err")" "1 1"
rm -rf "$tree"

"$guest" build "$version" "$out" CONFIG_SWLBR=y >"$scratch/log" 2>&1 ||
	{ fail "build of Linux $version: $(tail -n 5 "$scratch/log")"; exit 1; }
is "the build has no warning" "$(grep -ci warning "$scratch/log")" 0
vmlinux=$out/build/vmlinux

# --- the engine ---

"$out/build/scripts/swlbr_percpu" --check "$vmlinux" >"$scratch/check"
is "all counters are per CPU, none where nothing may count" $? 0
# Linux 6.12 does not keep the relocations in vmlinux.
cp "$vmlinux" "$scratch/rewritten"
"$out/build/scripts/swlbr_percpu" "$scratch/rewritten" 2>"$scratch/err"
is "a second rewrite is refused" \
	"$? $(grep -cE 'refers to a counter in a way|no update of a counter' "$scratch/err")" "1 1"
is "and does nothing" "$(cmp "$vmlinux" "$scratch/rewritten" 2>&1)" ""

boot counts "$out/build" 2 <<'RUN'
cd /sys/kernel/debug/swlbr
cat counters >/share/boot
echo 1 >reset
busy getppid 100000 0
cat counters >/share/one
echo 1 >reset
busy getppid 100000 0 1
cat counters >/share/two
grep ' _text$' /proc/kallsyms >/share/text
RUN
offset_of() { od -An -tu8 -j72 -N8 "$1" | tr -d ' '; }
# There are some hundred bases: two boots in a row have the same once in a while.
for _ in 1 2 3; do
	boot again "$out/build" 1 <<-'RUN'
		cat /sys/kernel/debug/swlbr/counters >/share/boot
	RUN
	[ "$(offset_of "$scratch/counts/boot")" = "$(offset_of "$scratch/again/boot")" ] || break
done
for name in boot one two; do
	"$swlbr" convert -i "$scratch/counts/$name" -f llvm-profdata -o "$scratch/$name.profdata" \
		"$vmlinux" 2>"$scratch/$name.err" || fail "convert: $(cat "$scratch/$name.err")"
	"$swlbr" convert -q -i "$scratch/counts/$name" -f llvm-profraw -o "$scratch/$name.profraw" \
		"$vmlinux"
	is "$name: llvm-profdata makes the same of the .profraw" \
		"$(llvm-profdata-19 merge -text -o - "$scratch/$name.profraw" 2>&1 | md5sum)" \
		"$(llvm-profdata-19 merge -text -o - "$scratch/$name.profdata" | md5sum)"
done
for name in boot one two; do
	"$swlbr" convert -i "$scratch/counts/$name" -f arcs -o "$scratch/$name.arcs" "$vmlinux" \
		2>"$scratch/err"
	is "$name: counters agree with each other and with the code" \
		"$? $(grep -c disagree "$scratch/err")" "0 0"
done
is "getppid x 100,000 on one CPU: exact" "$(count "$scratch/one.profdata" __x64_sys_getppid)" 100000
is "getppid x 100,000 on each of two: exact" "$(count "$scratch/two.profdata" __x64_sys_getppid)" \
	200000
is "boot code is in the first, which says so" \
	"$(grep -c 'boot code (__init): [1-9]' "$scratch/boot.err") $(grep -c 'from boot on' "$scratch/boot.err")" \
	"1 1"
is "code from before perf existed ran once" "$(count "$scratch/boot.profdata" trap_init)" 1
is "after a reset it is said to be one" "$(grep -c 'from a reset on ]' "$scratch/one.err")" 1
before=$(sed -n 's/.*from boot on, \([0-9.]*\) % of it before perf existed.*/\1/p' "$scratch/boot.err")
is "what was counted before perf existed is told ($before %)" \
	"$(awk -v part="$before" 'BEGIN { print (part > 5 && part < 99.9) }')" 1

text=$(nm "$vmlinux" | sed -n 's/ T _text$//p')
is "the load offset is that of the run" "$(offset_of "$scratch/counts/boot")" \
	"$((0x$(cut -d' ' -f1 "$scratch/counts/text") - 0x$text))"
[ "$(offset_of "$scratch/counts/boot")" != "$(offset_of "$scratch/again/boot")" ] &&
	ok "two boots, two bases" || fail "two boots, two bases: $(offset_of "$scratch/again/boot")"

# The machine counts too, every instruction, over the same boot. Each of these has one counter, is
# inlined nowhere, and does not run between the reading of the counters and the machine's end.
functions="
	simple_strtoul sysfs_create_groups kern_path_create memblock_free_pages
	acpi_device_is_present kobject_init_and_add dev_set_name acpi_is_valid_space_id
	acpi_ut_dword_byte_swap rcu_sync_init set_pte_vaddr_p4d vfs_fchmod _dev_info mpc_ioapic_id
	get_cpu_cacheinfo acpi_get_cpuid vp_modern_get_queue_enable swiotlb_init raw_proc_init
	pnp_register_driver pci_acpi_add_bus_pm_notifier mm_cache_init ip_tunnel_core_init
	inet_peer_base_init e820__range_update cgroup_init_early acpi_debugfs_init x86_init_noop
	device_create init_irq_alloc_info acpi_ds_initialize_region pci_reset_supported
	subsys_system_register register_die_notifier pci_lock_rescan_remove dev_uc_init
	atomic_notifier_chain_register printk_sysctl_init nsproxy_cache_init mark_rodata_ro
	ip_init acpi_apd_init zone_sizes_init simple_strtoull acpi_dev_get_resources
	acpi_dev_free_resource_list register_pernet_subsys read_pci_config_16 early_memremap
	set_pte_vaddr
"
RECORDER="$swlbr record -q --emulate=counts --kernel=$vmlinux -o $scratch/truth.arcs --" \
	APPEND=nokaslr ACCEL=tcg,thread=single boot twice "$out/build" 1 <<'RUN'
cat /sys/kernel/debug/swlbr/counters >/share/end
RUN
"$swlbr" convert -q -i "$scratch/twice/end" -f llvm-profdata -o "$scratch/end.profdata" "$vmlinux"
"$here/check_counts.py" "$vmlinux" "$scratch/end.profdata" "$scratch/truth.arcs" $functions \
	>"$scratch/both" || fail "check_counts.py"
is "50 functions: counted as often as the emulator saw them run" \
	"$(awk '$2 == $3 && $2 > 0 { n++; next } { print } END { print n }' "$scratch/both" | tail -n 6)" 50

# --- modules ---

cp -r "$here/module" "$scratch/module"
env -u MAKEFLAGS -u MAKELEVEL -u O -u CFLAGS make -s -C "$out/source" O="$out/build" LLVM=-19 \
	ARCH=x86_64 M="$scratch/module" modules >"$scratch/log" 2>&1 ||
	fail "build of modules: $(tail -n 5 "$scratch/log")"
has_counters() { readelf -SW "$1" | grep -q ' __llvm_prf_cnts ' && echo yes || echo no; }
is "modules of the tree and others have no counters, unless somebody asks for them" \
	"$(for module in "$out/build/lib/crc7.ko" "$scratch"/module/{plain,counted}.ko; do
		has_counters "$module"
	done | paste -sd' ')" "no no yes"
mkdir "$scratch/modules"
cp "$out/build/lib/crc7.ko" "$scratch"/module/{plain,counted}.ko "$scratch/modules/"
boot modules "$out/build" 1 <<'RUN'
for module in crc7 plain counted; do
	insmod $module.ko 2>&1
	echo "$module: $?"
done
lsmod | cut -d' ' -f1 | grep -v Module | sort | paste -sd' ' -
RUN
is "modules without counters load, one with counters is refused" \
	"$(cat "$scratch/modules/said")" "crc7: 0
plain: 0
insmod: can't insert 'counted.ko': invalid module format
counted: 8
crc7 plain"
is "and the kernel says why" \
	"$(grep -o 'swlbr: counted: modules may not count' "$scratch/modules/dmesg" | sort -u)" \
	"swlbr: counted: modules may not count"

# --- the PMU ---

"$swlbr" map --kernel-table "$vmlinux" >"$scratch/lines" 2>"$scratch/err" ||
	fail "map --kernel-table: $(cat "$scratch/err")"
"$here/check_stacks.py" --table "$vmlinux" $((0x$text)) "$scratch/lines" >"$scratch/checked" 2>"$scratch/err"
is "the table: all of its $(awk '{ print $2 }' "$scratch/checked") lines are straight ones between two branches" \
	"$(awk '{ print ($2 > 100000), $3 }' "$scratch/checked")" "1 0" || cat "$scratch/err"
mkdir -p "$scratch/pmu"
cp "$scratch/lines" "$scratch/pmu/lines"
boot pmu "$out/build" 2 <<'RUN'
swlbr=/sys/kernel/debug/swlbr
tell() { echo "$1: $?"; }
record() { name=$1; shift; perf record -o /tmp/data "$@" >/tmp/said 2>&1; tell "$name"
	cp /tmp/data /share/$name.data; rm -f /tmp/data; }
(head -c 52 lines; printf X; tail -c +54 lines) >/tmp/other
cat /tmp/other >$swlbr/lines 2>/tmp/err; grep -c Stale /tmp/err
(head -c 2000088 lines; printf '\377\377\377\377'; tail -c +2000093 lines) >/tmp/bad
cat /tmp/bad >$swlbr/lines 2>/tmp/err; grep -c Invalid /tmp/err
record empty -e swlbr// -b -a busy stat 100 0
cat lines >$swlbr/lines; tell lines
perf list 2>/dev/null | grep -c 'swlbr/branches/'; tell list
record any -e swlbr// -b -a busy stat 20000 0 1
record raw -e swlbr// -b -R -a busy stat 20000 0 1
record any_k -e swlbr// -j any,k -a busy pipe 5000 0
record any_call -e swlbr// -j any_call,k -a busy stat 20000 0
record any_ret -e swlbr// -j any_ret,k -a busy stat 20000 0
record cond -e swlbr// -j cond,k -a busy stat 20000 0
record ind_call -e swlbr// -j ind_call,k -a busy stat 20000 0
record period -e swlbr// -c 50000 -b -a busy stat 20000 0
record rate -e swlbr// -F 500 -b -a busy stat 20000 0
record task -e swlbr// -b busy stat 20000 0
record two -e swlbr// -e swlbr/branches/ -b -a busy stat 5000 0
record beside -e swlbr// -e cpu-clock -a busy stat 20000 0
record user_branches -e swlbr// -j any,u -a true
record no_kernel -e swlbr//u -a true
grep -c 'The swlbr//u event is not supported' /tmp/said
record callgraph -e swlbr// --call-graph lbr -a true
record in_tx -e swlbr// -j any,in_tx,k -a true
perf report -i /share/raw.data -b --stdio --sort symbol_from,symbol_to >/share/report 2>/dev/null
tell report
perf stat -x, -o /share/stat -e swlbr/branches/ -C 0 busy getppid 100000 0; tell stat
perf stat -x, -o /share/many -C 0 $(printf ' -e swlbr//%.0s' $(seq 33)) busy getppid 1000 0
tell "33 at once"
chmod 755 / /tmp; chmod 1777 /tmp
echo 2 >/proc/sys/kernel/perf_event_paranoid
# What somebody without rights may try; none of it is to give a sample.
for event in "-e swlbr//" "-e swlbr// -b -R" "-e swlbr//u" "-e swlbr//u -b" "-e swlbr//u -j any,k" \
	"-e swlbr// -j any,u" "-e swlbr//uH -R" "-e swlbr//u -g" "-e cpu-clock:u -e swlbr//u"; do
	su -s /bin/sh nobody -c "perf record -o /tmp/nobody $event busy getppid 1000 0" \
		>/tmp/said 2>&1; tell "nobody $event"
	grep -c 'Access to performance monitoring and observability operations is limited' /tmp/said
	[ -s /tmp/nobody ] && echo "a file of $(wc -c </tmp/nobody) bytes"
	rm -f /tmp/nobody
done
su -s /bin/sh nobody -c 'perf stat -e swlbr/branches/ true' >/tmp/said 2>&1; tell "nobody stat"
su -s /bin/sh nobody -c 'perf record -o /tmp/nobody -e cpu-clock:u busy getppid 10000 0' \
	>/tmp/said 2>&1; tell "nobody cpu-clock:u"
rm -f /tmp/nobody
echo 1 >/proc/sys/kernel/perf_event_paranoid
su -s /bin/sh nobody -c 'perf record -o /tmp/nobody -e swlbr// -b busy getppid 10000 0' \
	>/tmp/said 2>&1; tell "nobody, who may"
echo 2 >/proc/sys/kernel/perf_event_paranoid
su -s /bin/sh nobody -c 'cat /sys/kernel/debug/swlbr/counters' 2>/dev/null | wc -c
for many in equal:20000:swlbr// group:20000:{swlbr//,swlbr//}:S control:0:swlbr//; do
	name=${many%%:*}; many=${many#*:}
	echo 1 >$swlbr/reset
	record $name -F 1000 -m 4M -e ${many#*:} -R -C 1 -- busy many ${many%%:*} 1
	cat $swlbr/counters >/share/$name
done
RUN
wanted="1
1
empty: 0
lines: 0
1
list: 0
any: 0
raw: 0
any_k: 0
any_call: 0
any_ret: 0
cond: 0
ind_call: 0
period: 0
rate: 0
task: 0
two: 0
beside: 0
user_branches: 255
no_kernel: 255
1
callgraph: 255
in_tx: 255
report: 0
stat: 0
33 at once: 0
nobody -e swlbr//: 255
1
nobody -e swlbr// -b -R: 255
1
nobody -e swlbr//u: 255
1
nobody -e swlbr//u -b: 255
1
nobody -e swlbr//u -j any,k: 255
1
nobody -e swlbr// -j any,u: 255
1
nobody -e swlbr//uH -R: 255
1
nobody -e swlbr//u -g: 255
1
nobody -e cpu-clock:u -e swlbr//u: 255
1
nobody stat: 255
nobody cpu-clock:u: 0
nobody, who may: 0
0
equal: 0
group: 0
control: 0"
is "what is to work works, and what is refused is refused" \
	"$(diff <(echo "$wanted") "$scratch/pmu/said")" ""

samples() { perf report -i "$scratch/pmu/$1.data" --stats 2>/dev/null |
	sed -n "s/^ *${2:-SAMPLE} events: *\([0-9]*\).*/\1/p" | head -n 1; }
stacks() { perf script -i "$scratch/pmu/$1.data" -F ip,brstack 2>/dev/null >"$scratch/$1.stacks"; }
pmu_offset=$(offset_of "$scratch/pmu/equal")
is "without a table the stacks are empty" "$(stacks empty; grep -c 0x "$scratch/empty.stacks")" 0
recordings="any raw any_k task period rate two any_call any_ret cond"
for name in $recordings; do
	stacks $name
done
(cd "$scratch" && "$here/check_stacks.py" "$vmlinux" "$pmu_offset" $(printf '%s.stacks ' $recordings)) \
	>"$scratch/checked" 2>"$scratch/err" || fail "check_stacks.py: $(tail -n 1 "$scratch/err")"
for name in $recordings; do
	is "$name: each stack is branches around a straight line" \
		"$(awk -v name="$name.stacks" '$1 == name { print ($2 > 0), $3 }' "$scratch/checked")" "1 0" ||
		cat "$scratch/err"
done
kinds() { grep -oE '/[A-Z_]+ ' "$scratch/$1.stacks" | sort -u | tr -d '/\n '; }
is "any_call: only calls" "$(kinds any_call | sed 's/CALL//; s/IND_CALL//')" ""
is "any_ret: only returns" "$(kinds any_ret)" RET
is "cond: only conditional branches" "$(kinds cond)" COND
[ "$(samples period)" -gt 0 ] && perf script -i "$scratch/pmu/period.data" -F period 2>/dev/null |
	awk '$1 > 0 { n++; sum += $1 } END { exit !(n && sum / n > 10000) }' &&
	ok "-c: a sample stands for about as many" || fail "-c: $(samples period) samples"
for name in any raw two equal group; do
	is "$name: nothing lost" "$(samples $name LOST)$(samples $name LOST_SAMPLES)" ""
done
is "perf stat counts" "$(awk -F, '/swlbr/ { print ($1 + 0 > 100000) }' "$scratch/pmu/stat")" 1
# Linux 6.1 does not schedule the last one; later ones let them take turns, and tell how long each had.
is "perf stat of 33 events on a CPU: one too many, which it says" \
	"$(awk -F, '/swlbr/ { nr++; counted += $1 + 0 > 1000; less += $1 == "<not counted>" || $5 < 100 }
		END { print nr, (counted >= 32), (less > 0) }' "$scratch/pmu/many")" "33 1 1"
is "perf report has branches of the kernel" "$(grep -c '\[k\].*\[k\]' "$scratch/pmu/report" |
	awk '{ print ($1 > 20) }')" 1
perf script -i "$scratch/pmu/any.data" -F +brstackinsn --vmlinux "$vmlinux" 2>/dev/null >"$scratch/insns"
is "brstackinsn finds instructions" "$(grep -c 'insn: 65 48 ff 05' "$scratch/insns" | awk '{ print ($1 > 100) }')" 1

# One profile from samples of an event that began after a reset and one from the export, both of the
# same work. Functions are compared that nothing but this work calls. An event that leads a group has
# the others read for each of its samples, which must not change what they are.
for from in control equal equal.data group group.data; do
	"$swlbr" convert -q -i "$scratch/pmu/$from" -f llvm-profdata -o "$scratch/$from.profdata" \
		"$vmlinux" 2>"$scratch/err" || fail "convert of $from: $(cat "$scratch/err")"
done
for name in equal group; do
	is "$name: the samples' deltas are exact" \
		"$(count "$scratch/$name.data.profdata" __x64_sys_getppid)" 20000
	is "$name: and so is the export" "$(count "$scratch/$name.profdata" __x64_sys_getppid)" 20000
	"$here/check_equal.py" "$scratch/$name".{profdata,data.profdata} "$scratch/control.profdata" 20000 \
		>"$scratch/same" || fail "check_equal.py"
	is "$name: $(wc -l <"$scratch/same") functions of the work are compared" \
		"$(awk 'END { print (NR > 30) }' "$scratch/same")" 1
	is "$name: all their counters are the same from samples and from the export" \
		"$(awk '$2 != "same"' "$scratch/same")" ""
done

"$swlbr" inject -q -i "$scratch/pmu/raw.data" -o "$scratch/walks" "$vmlinux" 2>"$scratch/err"
is "inject" "$?$(cat "$scratch/err")" 0
for from in "$scratch/walks" "$scratch/pmu/raw.data"; do
	"$swlbr" convert -q -i "$from" -f llvm-profdata -o - "$vmlinux" | md5sum
done >"$scratch/sums"
is "inject: the same counters" "$(uniq "$scratch/sums" | wc -l)" 1
perf script -i "$scratch/walks" -F ip,brstack 2>/dev/null | grep 0x >"$scratch/walks.stacks"
is "inject: long stacks" "$(awk '{ n += NF - 1 } END { print (NR > 1000 && n / NR > 16) }' \
	"$scratch/walks.stacks")" 1
(cd "$scratch" && "$here/check_stacks.py" --walks "$vmlinux" "$pmu_offset" walks.stacks) \
	>"$scratch/checked" 2>"$scratch/err"
is "inject: each range of them is a straight line" \
	"$(awk '{ print ($2 > 0), $3 }' "$scratch/checked")" "1 0" || head -n 5 "$scratch/err"
is "inject: stacks of both CPUs" "$(perf script -i "$scratch/walks" -F cpu,event 2>/dev/null |
	grep branches | awk '{ nr[$1]++ } END { for (cpu in nr) if (nr[cpu] > 1000) print cpu }' |
	sort | paste -sd' ')" "[000] [001]"

# Two programs, one after the other: stacks are to be theirs, and of their time.
# The clock goes with the instructions, so that there are as many ticks wherever this runs.
mkdir -p "$scratch/tasks"
cp "$scratch/lines" "$scratch/tasks/lines"
ACCEL=tcg,thread=single boot tasks "$out/build" 1 -icount shift=0,sleep=off <<'RUN'
cat lines >/sys/kernel/debug/swlbr/lines
cp /bin/busy /tmp/stater
cp /bin/busy /tmp/piper
perf record -o /tmp/data -e swlbr// -b -R -m 4M -a \
	sh -c '/tmp/stater stat 20000 0; /tmp/piper pipe 10000 0' >/dev/null 2>&1
cp /tmp/data /share/data
RUN
"$swlbr" inject -q -i "$scratch/tasks/data" -o "$scratch/comms" "$vmlinux" 2>"$scratch/err"
is "inject: of two programs" "$?$(cat "$scratch/err")" 0
perf script -i "$scratch/comms" -F comm,cpu,time,event,brstacksym --vmlinux "$vmlinux" \
	2>/dev/null | grep 'swlbr/branches/:' >"$scratch/comms.script"
perf script -i "$scratch/tasks/data" -F comm,period 2>/dev/null >"$scratch/comms.periods"
is "inject: stacks are of their time" "$(awk '{ time = $3 + 0 }
	$1 == "stater" && time > last { last = time }
	$1 == "piper" && (!first || time < first) { first = time }
	END { print (last && first > last) }' "$scratch/comms.script")" 1
# What a tick finds is the running thread's, also what another has counted since it was last looked at.
is "inject: and of what their thread did" "$(awk '/pipe_(read|write)/ { pipe[$1]++ } { all[$1]++ }
	END { print (pipe["piper"] > all["piper"] / 10), (pipe["stater"] < all["stater"] / 50) }' \
	"$scratch/comms.script")" "1 1"
is "inject: as many for a thread as it counted" "$(awk 'NR == FNR { counted[$1] += $2; sum += $2; next }
	{ drawn[$1]++; nr++ }
	END { for (comm in counted) {
		off = counted[comm] / sum - drawn[comm] / nr
		if (off > 0.1 || off < -0.1)
			print comm, counted[comm] / sum, drawn[comm] / nr
	} print (nr > 10000) }' "$scratch/comms.periods" "$scratch/comms.script")" 1
"$swlbr" inject -q -i "$scratch/tasks/data" -o "$scratch/many" --interval 10 "$vmlinux"
is "inject: --interval" "$? $(perf script -i "$scratch/many" -F comm 2>/dev/null | grep -c piper |
	awk '{ print ($1 > 1000) }')" "0 1"
"$swlbr" inject -q -i "$scratch/tasks/data" -o "$scratch/none" --interval 0 "$vmlinux" 2>/dev/null
is "inject: intervals of nothing are refused" $? 129
"$swlbr" convert -i "$scratch/pmu/raw.data" -f arcs -o "$scratch/arcs" "$vmlinux" 2>"$scratch/err"
is "raw samples become an edge profile" "$? $(grep -c '^branch' "$scratch/arcs" | awk '{ print ($1 > 1000) }')" \
	"0 1"

# An emulated clock that goes with the instructions: then time does not depend on this machine.
mkdir -p "$scratch"/{time,noise}
cp "$scratch/lines" "$scratch/time/lines"
cp "$scratch/lines" "$scratch/noise/lines"
ACCEL=tcg,thread=single boot time "$out/build" 1 -icount shift=0,sleep=off <<'RUN'
cat lines >/sys/kernel/debug/swlbr/lines
perf record -F 1000 -o /tmp/a -e swlbr// -b -R -a busy stat 200000 0 >/dev/null 2>&1
perf record -F 4000 -o /tmp/a -e swlbr// -b -R -a busy stat 200000 0 >/dev/null 2>&1
cat /sys/kernel/debug/swlbr/scanners
RUN
is "no tick takes more than a quarter of its time ($(tail -n 1 "$scratch/time/said"))" \
	"$(awk '$1 == 0 { print ($2 > 500), $7 }' "$scratch/time/said")" "1 0"

# What the PMU adds to the counters, with that clock too. Seen: 98 increments for a tick while the
# CPU computes; 18,000 a second while it is idle, which at 4,000 ticks would be 700,000.
ACCEL=tcg,thread=single boot noise "$out/build" 1 -icount shift=0,sleep=off <<'RUN'
cat lines >/sys/kernel/debug/swlbr/lines
for mode in idle spin; do noise 0 1 $mode; noise 4000 1 $mode; done
RUN
counted() { awk -v run="$1 $2 1:" 'index($0, run) == 1 { print $4, $5 }' "$scratch/noise/said"; }
is "a tick adds no more than 130 increments" \
	"$(echo "$(counted spin 0) $(counted spin 4000)" |
		awk '{ print ($4 > 3900), (($3 - $1) / $4 < 130) }')" "1 1"
is "on an idle CPU all ticks of a second no more than 30,000" \
	"$(echo "$(counted idle 0) $(counted idle 4000)" |
		awk '{ print ($4 > 90 && $4 < 200), ($3 - $1 < 30000) }')" "1 1"

mkdir -p "$scratch/stress"
cp "$scratch/lines" "$scratch/stress/lines"
boot stress "$out/build" 2 <<'RUN'
swlbr=/sys/kernel/debug/swlbr
cat lines >$swlbr/lines
perf record -F 4000 -o /tmp/a -e swlbr// -b -a -- sleep 60 >/dev/null 2>&1 &
(while :; do cat $swlbr/counters $swlbr/scanners >/dev/null; echo 1 >$swlbr/reset; done) &
(while :; do cat lines >$swlbr/lines; done) &
(while :; do busy pipe 1000 0 1; busy fork 10 0 1; done) &
cycles 500
wait %1
RUN
is "1,000 starts and stops, resets and reads meanwhile" \
	"$(grep -c '^[1-9][0-9]* bytes of records' "$scratch/stress/said")" 1

exit $status
