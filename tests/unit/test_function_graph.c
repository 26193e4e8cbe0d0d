// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small pieces of x86-64 code, in the shapes that compilers give them: which counters they update
 * and how, and where their jump tables lead. The assembler makes an image of code, constants, data
 * and counters in one piece; here it is laid at another address.
 */
#if defined(__x86_64__)
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "cfg/function_graph.h"
#include "check.h"

/* Offsets in the image, and what is added for addresses. */
#define CONSTANTS 0x1000
#define DATA	  0x2000
#define COUNTERS  0x3000 /* not stored, as in a file */
#define RECORDS	  0x4000
#define BASE	  0x10000

#define TEXT(...)  #__VA_ARGS__
#define NUMBER(n)  TEXT(n)
#define COUNTER(n) "image + " NUMBER(COUNTERS) " + 8 * " #n "(%rip)"
#define BIAS	   "image + " NUMBER(DATA) "(%rip)"
#define FUNCTION(name, body)                                                                      \
	extern const uint8_t name[], name##_end[];                                                \
	asm(".pushsection .rodata.image0\n.hidden " #name "\n.globl " #name "\n" #name ":\n" body \
	    "\n.globl " #name "_end\n.hidden " #name "_end\n" #name "_end:\nud2\n.popsection")

extern const uint8_t image[];

asm(".pushsection .rodata.image0, \"a\"\n.globl image\n.hidden image\nimage:\n.popsection");

FUNCTION(in_place, "incq " COUNTER(0) "\n ret");
FUNCTION(with_bias,
	 "lea " COUNTER(0) ", %rax\n mov " BIAS ", %rcx\n"
			   "incq 8(%rax,%rcx)\n lea (%rcx,%rax), %rdx\n addq $1, 16(%rdx)\n ret");
FUNCTION(negative, "subq $-1, " COUNTER(3) "\n ret");
FUNCTION(in_register, "mov " COUNTER(2) ", %rax\n add $3, %rax\n inc %rax\n"
					"mov %rax, " COUNTER(2) "\n ret");
FUNCTION(in_two_steps, "mov " COUNTER(2) ", %rax\n add $3, %rax\n mov %rax, " COUNTER(
			       2) "\n"
				  "add $1, %rax\n mov %rax, " COUNTER(2) "\n ret");
FUNCTION(other_counter, "mov " COUNTER(2) ", %rax\n inc %rax\n mov %rax, " COUNTER(4) "\n ret");
FUNCTION(spilled, "sub $24, %rsp\n lea " COUNTER(
			  5) ", %rax\n mov %rax, 8(%rsp)\n"
			     "xor %eax, %eax\n call callee\n mov 8(%rsp), %rdx\n incq (%rdx)\n"
			     "add $24, %rsp\n ret");
FUNCTION(pushed, "lea " COUNTER(5) ", %rax\n push %rax\n call callee\n pop %rdx\n"
				   "incq (%rdx)\n ret");
FUNCTION(kept_by_call,
	 "lea " COUNTER(5) ", %rbx\n lea " COUNTER(6) ", %rcx\n call callee\n"
						      "incq (%rbx)\n incq (%rcx)\n ret");
FUNCTION(slot_written_in_part,
	 "sub $24, %rsp\n lea " COUNTER(
		 5) ", %rax\n mov %rax, 8(%rsp)\n"
		    "movl $1, 12(%rsp)\n mov 8(%rsp), %rdx\n incq (%rdx)\n ret");
FUNCTION(slot_changed, "sub $24, %rsp\n lea " COUNTER(
			       5) ", %rax\n mov %rax, 8(%rsp)\n"
				  "orq $8, 8(%rsp)\n mov 8(%rsp), %rdx\n incq (%rdx)\n ret");
FUNCTION(slot_of_vector,
	 "sub $40, %rsp\n lea " COUNTER(
		 5) ", %rax\n mov %rax, 8(%rsp)\n"
		    "vmovdqu %ymm0, (%rsp)\n mov 8(%rsp), %rdx\n incq (%rdx)\n ret");
FUNCTION(select_set,
	 "cmp %rdi, %rsi\n sete %al\n movzbl %al, %eax\n add %rax, " COUNTER(7) "\n ret");
FUNCTION(select_carry, "cmp %rdi, %rsi\n adcq $0, " COUNTER(7) "\n cmp %rsi, %rdi\n"
							       "sbbq $-1, " COUNTER(8) "\n ret");
FUNCTION(select_masked, "and $1, %edi\n add %rdi, " COUNTER(7) "\n ret");
FUNCTION(select_in_register, "xor %ecx, %ecx\n cmp %rdi, %rsi\n setl %cl\n movzbl %cl, %ecx\n"
			     "add " COUNTER(7) ", %rcx\n mov %rcx, " COUNTER(7) "\n ret");
FUNCTION(sum, "add %rdi, " COUNTER(9) "\n ret");
FUNCTION(trips, "xor %eax, %eax\n1: add $1, %rax\n cmp %rdi, %rax\n jne 1b\n"
		"add %rax, " COUNTER(10) "\n ret");
FUNCTION(reduced,
	 "mov " COUNTER(11) ", %rbx\n xor %ecx, %ecx\n1: lea 1(%rbx,%rcx), %rdx\n"
			    "mov %rdx, " COUNTER(11) "\n inc %rcx\n cmp %rdi, %rcx\n jne 1b\n ret");
FUNCTION(vector, "movups " COUNTER(12) ", %xmm0\n paddq %xmm1, %xmm0\n"
				       "movups %xmm0, " COUNTER(12) "\n ret");
FUNCTION(narrow, "incl " COUNTER(12) "\n movl $1, " COUNTER(13) "\n ret");
FUNCTION(not_a_counter, "incq " BIAS "\n incq 4+" COUNTER(1) "\n incq -8+" COUNTER(0) "\n ret");
FUNCTION(overflowing, "mov $0x7fffffffffffffff, %rax\n1: add $1, %rax\n cmp %rdi, %rax\n"
		      "jne 1b\n add %rax, " COUNTER(10) "\n ret");
FUNCTION(much, "mov " COUNTER(2) ", %rax\n .rept 3\n add $900000000, %rax\n .endr\n"
				 "mov %rax, " COUNTER(2) "\n ret");
FUNCTION(two_ways, "mov " COUNTER(2) ", %rax\n test %rdi, %rdi\n je 1f\n inc %rax\n"
				     "1: mov %rax, " COUNTER(2) "\n ret");
FUNCTION(
	profiled_call,
	"lea image + " NUMBER(
		RECORDS) " + 64(%rip), %rsi\n mov $3, %edx\n"
			 "call instrument_target\n mov %rbx, %rdi\n call *%rax\n call *%rcx\n ret");
FUNCTION(after_noreturn, "lea " COUNTER(5) ", %rbx\n test %rdi, %rdi\n jne 1f\n"
					   "xor %ebx, %ebx\n call never\n1: incq (%rbx)\n ret");
FUNCTION(callee, "ret");
FUNCTION(never, "1: jmp 1b");
FUNCTION(instrument_target, "ret");

#define ADDRESS(label) ".quad " label " - image + " NUMBER(BASE) "\n"

FUNCTION(relative, "lea relative_table(%rip), %rax\n movslq (%rax,%rdi,4), %rcx\n"
		   "add %rax, %rcx\n jmp *%rcx\nr0: incq " COUNTER(
			   0) "\n ret\n"
			      "r1: incq " COUNTER(1) "\n ret\nr2: incq " COUNTER(2) "\n ret");
FUNCTION(absolute, "lea absolute_table(%rip), %rax\n jmp *(%rax,%rdi,8)\n"
		   "a0: incq " COUNTER(0) "\n ret\na1: incq " COUNTER(1) "\n ret");
FUNCTION(far_base, "lea far_table(%rip), %rbx\n1: call callee\n cmp $1, %rax\n ja 2f\n"
		   "movslq (%rbx,%rax,4), %rcx\n add %rbx, %rcx\n jmp *%rcx\n"
		   "f0: incq " COUNTER(0) "\n jmp 1b\nf1: incq " COUNTER(1) "\n jmp 1b\n2: ret");
FUNCTION(guarded, "lea guarded_table(%rip), %rbx\n cmp $1, %edi\n ja 2f\n"
		  "movslq (%rbx,%rdi,4), %rcx\n add %rbx, %rcx\n jmp *%rcx\n"
		  "g0: nop\n jmp 2f\ng1: nop\n nop\n2: ret");
FUNCTION(guarded_by_another, "lea another_table(%rip), %rbx\n cmp $1, %edi\n test %rax, %rax\n"
			     "ja 2f\n movslq (%rbx,%rdi,4), %rcx\n add %rbx, %rcx\n jmp *%rcx\n"
			     "h0: nop\n jmp 2f\nh1: nop\n nop\n2: ret");
/* The second table, which is behind the first, is found when the first has been read. */
FUNCTION(nested, "lea nested_table(%rip), %rax\n movslq (%rax,%rdi,4), %rcx\n add %rax, %rcx\n"
		 "jmp *%rcx\nn0: lea nested_table + 8(%rip), %rax\n"
		 "movslq (%rax,%rsi,4), %rcx\n add %rax, %rcx\n jmp *%rcx\n"
		 ".skip 12, 0x90\nn1: .skip 12, 0x90\nn2: .skip 12, 0x90\nn3: ret");

asm(".pushsection .rodata.image0\n .org " NUMBER(
	CONSTANTS) "\n"
		   "relative_table: .long r0 - relative_table, r1 - relative_table, r2 - relative_table\n"
		   ".long r0 - relative_table + 1, 0x7fffffff\n .balign 8\n"
		   "absolute_table: " ADDRESS("a0") ADDRESS("a1") ADDRESS("a0") ADDRESS(
			   "r0") "far_table: .long f0 - far_table, f1 - far_table, 0\n"
				 /* Entries of the second, taken as the first's, lead to instructions too: to n2 - 8 and so on. */
				 "guarded_table: .long g0 - guarded_table, g1 - guarded_table, g1 - guarded_table + 1, 0\n"
				 "another_table: .long h0 - another_table, h1 - another_table, h1 - another_table + 1, 0\n"
				 "nested_table: .long n0 - nested_table, n3 - nested_table\n"
				 ".long n1 - nested_table - 8, n2 - nested_table - 8, n3 - nested_table - 8\n"
				 ".org " NUMBER(DATA) "\n .quad 0\n .popsection");

static struct memory_segment segments[] = {
	{ .vaddr = BASE, .size = CONSTANTS, .flags = PF_R | PF_X },
	{ .vaddr = BASE + CONSTANTS, .size = DATA - CONSTANTS, .flags = PF_R },
	{ .vaddr = BASE + DATA, .size = 8, .flags = PF_R | PF_W },
};
static const struct memory_image memory = { .segments = segments, .nr_segments = 3 };
static struct value_context context = {
	.arch = &arch_x86_64,
	.image = &memory,
	.counters = { BASE + COUNTERS, 0x100 },
	.bias_vaddr = BASE + DATA,
	.data = { BASE + RECORDS, 0x100 },
	.record_size = 64,
};
static struct function_graph graph;

static uint64_t vaddr_of(const uint8_t *label)
{
	return BASE + (uint64_t)(label - image);
}

static bool build(const uint8_t *start, const uint8_t *end)
{
	const struct code_range range = { .start = vaddr_of(start), .end = vaddr_of(end) };
	struct swlbr_error *error = function_graph_build(&graph, &context, &range);

	if (error)
		printf("# %s\n", error->message);
	swlbr_error_destroy(error);
	return !error;
}

struct wanted_site {
	uint64_t counter;
	enum site_kind kind;
	int64_t k;
	uint32_t block;
};

struct site_case {
	const char *text;
	const uint8_t *start, *end;
	unsigned int nr;
	struct wanted_site site[3];
};

#define CODE(name) name, name##_end

static const struct site_case site_cases[] = {
	{ "increment in place", CODE(in_place), 1, { { 0, SITE_ONE, 1, 0 } } },
	{ "base and bias, added in either order",
	  CODE(with_bias),
	  2,
	  { { 1, SITE_ONE, 1, 0 }, { 2, SITE_ONE, 1, 0 } } },
	{ "subtraction of -1", CODE(negative), 1, { { 3, SITE_ONE, 1, 0 } } },
	{ "load, add, store", CODE(in_register), 1, { { 2, SITE_CONSTANT, 4, 0 } } },
	{ "stored twice: each adds its own",
	  CODE(in_two_steps),
	  2,
	  { { 2, SITE_CONSTANT, 3, 0 }, { 2, SITE_ONE, 1, 0 } } },
	{ "one counter's value stored to another: any number",
	  CODE(other_counter),
	  1,
	  { { 4, SITE_SUM, 0, 0 } } },
	{ "address spilled over a call", CODE(spilled), 1, { { 5, SITE_ONE, 1, 1 } } },
	{ "address pushed over a call", CODE(pushed), 1, { { 5, SITE_ONE, 1, 1 } } },
	{ "registers that a call keeps, and not",
	  CODE(kept_by_call),
	  1,
	  { { 5, SITE_ONE, 1, 1 } } },
	{ "half of a slot overwritten", CODE(slot_written_in_part), 0, { { 0 } } },
	{ "slot changed in memory", CODE(slot_changed), 0, { { 0 } } },
	{ "slot overwritten by a vector", CODE(slot_of_vector), 0, { { 0 } } },
	{ "select by setcc", CODE(select_set), 1, { { 7, SITE_SELECT, 0, 0 } } },
	{ "select by adc and sbb",
	  CODE(select_carry),
	  2,
	  { { 7, SITE_SELECT, 0, 0 }, { 8, SITE_SELECT, 0, 0 } } },
	{ "select by a mask", CODE(select_masked), 1, { { 7, SITE_SELECT, 0, 0 } } },
	{ "select added in a register", CODE(select_in_register), 1, { { 7, SITE_SELECT, 0, 0 } } },
	{ "sum of a register", CODE(sum), 1, { { 9, SITE_SUM, 0, 0 } } },
	{ "trips added behind the loop count in it", CODE(trips), 1, { { 10, SITE_ONE, 1, 1 } } },
	{ "strength-reduced store in a loop", CODE(reduced), 1, { { 11, SITE_ONE, 1, 1 } } },
	{ "vector update of two counters is no site", CODE(vector), 0, { { 0 } } },
	{ "narrow updates are none", CODE(narrow), 0, { { 0 } } },
	{ "other memory, and between two counters", CODE(not_a_counter), 0, { { 0 } } },
	{ "trips from the greatest number on",
	  CODE(overflowing),
	  2,
	  { { 10, SITE_ONE, 1, 1 }, { 10, SITE_CONSTANT, INT64_MAX, 2 } } },
	{ "more than is followed", CODE(much), 1, { { 2, SITE_SUM, 0, 0 } } },
	{ "added on one of two ways", CODE(two_ways), 1, { { 2, SITE_SELECT, 0, 2 } } },
	{ "what a function that never returns changes does not matter",
	  CODE(after_noreturn),
	  1,
	  { { 5, SITE_ONE, 1, 2 } } },
};

static bool has_site(const struct local_site *got, const struct wanted_site *want)
{
	return got->site.counter == want->counter && got->site.kind == want->kind &&
	       got->block == want->block &&
	       (want->kind == SITE_SELECT || want->kind == SITE_SUM || got->site.k == want->k);
}

static void test_sites(void)
{
	const uint64_t noreturn[] = { vaddr_of(never) };

	context.noreturn = noreturn;
	context.nr_noreturn = 1;
	for (size_t i = 0; i < sizeof(site_cases) / sizeof(site_cases[0]); i++) {
		const struct site_case *one = &site_cases[i];
		bool good = build(one->start, one->end) && graph.nr_sites == one->nr;

		for (unsigned int k = 0; good && k < one->nr; k++)
			good = has_site(&graph.sites[k], &one->site[k]);
		check(good, "%s", one->text);
		for (uint32_t k = 0; !good && k < graph.nr_sites; k++)
			printf("# counter %llu kind %d k %lld block %u\n",
			       (unsigned long long)graph.sites[k].site.counter,
			       graph.sites[k].site.kind, (long long)graph.sites[k].site.k,
			       graph.sites[k].block);
	}
	context.nr_noreturn = 0;
	check(build(CODE(after_noreturn)) && graph.nr_sites == 0,
	      "the same where it may return: the address is not known");
}

static bool table_is(uint32_t i, const char *what, uint32_t nr, unsigned int entry_size)
{
	if (i < graph.nr_tables && graph.tables[i].nr == nr &&
	    graph.tables[i].entry_size == entry_size)
		return true;
	printf("# %s: table %u of %u has %u entries\n", what, i, graph.nr_tables,
	       i < graph.nr_tables ? graph.tables[i].nr : 0);
	return false;
}

static void test_tables(void)
{
	check(build(CODE(relative)) && graph.nr_tables == 1 && table_is(0, "relative", 3, 4) &&
		      graph.nr_sites == 3,
	      "a table of offsets ends where one leads to no instruction");
	check(build(CODE(absolute)) && graph.nr_tables == 1 && table_is(0, "absolute", 3, 8) &&
		      graph.nr_sites == 2 && graph.nr_blocks == 3,
	      "a table of addresses ends where one leaves the function");
	check(build(CODE(far_base)) && graph.nr_tables == 1 && table_is(0, "far", 2, 4) &&
		      graph.nr_sites == 2,
	      "the table's address is loaded before the loop");
	check(build(CODE(guarded)) && graph.nr_tables == 1 && table_is(0, "guarded", 2, 4) &&
		      graph.nr_blocks == 5,
	      "the check before the jump ends a table");
	check(build(CODE(guarded_by_another)) && graph.nr_tables == 1 &&
		      table_is(0, "guarded by another", 3, 4),
	      "a comparison before another one does not");
	check(build(CODE(nested)) && graph.nr_tables == 2 && table_is(0, "outer", 2, 4) &&
		      table_is(1, "inner", 3, 4) && graph.nr_blocks == 6,
	      "a table behind a table ends it, and nothing else is cut by what it seemed to have");
}

static void test_calls(void)
{
	context.instrument_target = vaddr_of(instrument_target);
	check(build(CODE(profiled_call)) && graph.nr_blocks == 4 &&
		      graph.blocks[1].value_function == 1 && graph.blocks[1].value_site == 3 &&
		      graph.blocks[2].value_function == UINT32_MAX,
	      "the value site of an indirect call");
	context.instrument_target = 0;
	check(build(CODE(profiled_call)) && graph.blocks[1].value_function == UINT32_MAX,
	      "no value site where values are not profiled");
}

/* Memory and work are bounded by what a function may be, not by what a file says. */
static void test_large(void)
{
	struct memory_segment large = { .vaddr = BASE, .size = 8 << 20, .flags = PF_R | PF_X };
	struct memory_image large_memory = { .segments = &large, .nr_segments = 1 };
	const struct code_range range = { .start = BASE, .end = UINT64_MAX };
	struct swlbr_error *error;

	large.data = malloc(large.size);
	if (!large.data)
		exit(1);
	for (size_t i = 0; i < large.size; i += 2)
		memcpy(large.data + i, "\x74\xfc", 2); /* je to the one before */
	context.image = &large_memory;
	error = function_graph_build(&graph, &context, &range);
	check(!error && graph.range.end == BASE + (4 << 20) && graph.nr_sites == 0 &&
		      graph.nr_blocks == (2 << 20),
	      "a function of 8 MB is cut off");
	swlbr_error_destroy(error);
	memset(large.data + 200000, 0xc3, 1);
	large.size = 200001;
	error = function_graph_build(&graph, &context, &range);
	check(!error && graph.nr_blocks == 100001, "100,000 blocks, each from the one behind");
	swlbr_error_destroy(error);
	free(large.data);
	context.image = &memory;
}

int main(void)
{
	segments[0].data = (uint8_t *)image;
	segments[1].data = (uint8_t *)image + CONSTANTS;
	segments[2].data = (uint8_t *)image + DATA;
	test_sites();
	test_tables();
	test_calls();
	test_large();
	function_graph_deinit(&graph);
	return failures != 0;
}
#else
#include <stdio.h>

int main(void)
{
	puts("skip test_function_graph: its code is x86-64");
	return 0;
}
#endif
