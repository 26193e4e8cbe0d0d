// SPDX-License-Identifier: GPL-2.0-only
// A kernel for QEMU's aarch64 machine "virt": 1,000 calls of marked() with 100 exceptions among
// them, then the machine is switched off.
	.text
	.globl	_start, marked, system_call, resumed, handler
_start:
	adr	x0, vectors
	msr	vbar_el1, x0
	isb
	adr	x0, stack_end
	mov	sp, x0
	mov	x19, #1000
1:	bl	marked
	subs	x19, x19, #1
	b.ne	1b
	mov	x19, #100
system_call:
2:	svc	#0
resumed:
	subs	x19, x19, #1
	b.ne	2b
	ldr	w0, =0x84000008		// PSCI SYSTEM_OFF
	hvc	#0
3:	b	3b
marked:
	add	x20, x20, #1
	ret

	.p2align 11
vectors:
	.skip	0x200			// current exception level, its own stack: synchronous
handler:
	add	x21, x21, #1
	eret
	.p2align 11
	.skip	4096
stack_end:
