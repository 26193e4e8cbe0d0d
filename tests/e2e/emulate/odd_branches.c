// SPDX-License-Identifier: GPL-2.0-only
/* Instructions that an emulator's blocks make look like branches, and branches that they hide. */
#include <stdlib.h>

static char from[4096], to[4096];

/* jmp and call to the very next instruction; rep; an instruction on two pages. */
__asm__(".text\n"
	".globl odd, odd_jump, odd_landed, odd_call, odd_called, odd_rep, odd_crossing, odd_end\n"
	".p2align 12\n"
	"odd:\n"
	"odd_jump: jmp odd_landed\n"
	"odd_landed: nop\n"
	"odd_call: call odd_called\n"
	"odd_called: pop %rax\n"
	"mov $1000, %ecx\n"
	"odd_rep: rep movsb\n"
	"jmp 1f\n"
	".skip 4096 - 5 - (. - odd), 0x90\n"
	"1: nop\n"
	"nop\n"
	"odd_crossing: movabs $0x1122334455667788, %rax\n"
	"test %rax, %rax\n"
	"odd_end: ret\n");

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 1;

	for (long i = 0; i < nr; i++) {
		void *source = from, *target = to;

		__asm__ volatile("call odd"
				 : "+S"(source), "+D"(target)
				 :
				 : "rax", "rcx", "memory", "cc");
	}
	return 0;
}
