// SPDX-License-Identifier: GPL-2.0-only
/* x86-64 instructions, byte by byte: where control goes, and what they do to values. */
#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "check.h"

#define VADDR	 0x401000
#define NONE	 ARCH_NO_REGISTER
#define RAX	 0
#define RCX	 1
#define RDX	 2
#define RBX	 3
#define RSP	 4
#define RBP	 5
#define RSI	 6
#define RDI	 7
#define R8	 8
#define R15	 15
#define XMM0	 16
#define BYTES(s) (const uint8_t *)s, sizeof(s) - 1

struct flow_case {
	const char *text;
	const uint8_t *code;
	size_t size;
	enum arch_flow flow;
	uint64_t target;
};

static const struct flow_case flows[] = {
	{ "nop", BYTES("\x90"), ARCH_FLOW_NEXT, 0 },
	{ "jmp short", BYTES("\xeb\x10"), ARCH_FLOW_JUMP, VADDR + 2 + 0x10 },
	{ "jmp short backwards", BYTES("\xeb\xfe"), ARCH_FLOW_JUMP, VADDR },
	{ "jmp near", BYTES("\xe9\x00\x01\x00\x00"), ARCH_FLOW_JUMP, VADDR + 5 + 0x100 },
	{ "je", BYTES("\x74\x05"), ARCH_FLOW_COND, VADDR + 2 + 5 },
	{ "jne near", BYTES("\x0f\x85\xfa\xff\xff\xff"), ARCH_FLOW_COND, VADDR },
	{ "jrcxz", BYTES("\xe3\x02"), ARCH_FLOW_COND, VADDR + 4 },
	{ "loop", BYTES("\xe2\xfe"), ARCH_FLOW_COND, VADDR },
	{ "call", BYTES("\xe8\xfb\xff\xff\xff"), ARCH_FLOW_CALL, VADDR },
	{ "call *%rax", BYTES("\xff\xd0"), ARCH_FLOW_INDIRECT_CALL, 0 },
	{ "call *8(%rax)", BYTES("\xff\x50\x08"), ARCH_FLOW_INDIRECT_CALL, 0 },
	{ "jmp *%rcx", BYTES("\xff\xe1"), ARCH_FLOW_INDIRECT_JUMP, 0 },
	{ "notrack jmp *%rcx", BYTES("\x3e\xff\xe1"), ARCH_FLOW_INDIRECT_JUMP, 0 },
	{ "jmp *(,%rax,8)", BYTES("\xff\x24\xc5\0\0\x60\0"), ARCH_FLOW_INDIRECT_JUMP, 0 },
	{ "ret", BYTES("\xc3"), ARCH_FLOW_RETURN, 0 },
	{ "repz ret", BYTES("\xf3\xc3"), ARCH_FLOW_RETURN, 0 },
	{ "ret $16", BYTES("\xc2\x10\x00"), ARCH_FLOW_RETURN, 0 },
	{ "iretq", BYTES("\x48\xcf"), ARCH_FLOW_STOP, 0 },
	{ "sysretq", BYTES("\x48\x0f\x07"), ARCH_FLOW_STOP, 0 },
	{ "ud2", BYTES("\x0f\x0b"), ARCH_FLOW_STOP, 0 },
	{ "hlt", BYTES("\xf4"), ARCH_FLOW_STOP, 0 },
	{ "int3", BYTES("\xcc"), ARCH_FLOW_STOP, 0 },
	{ "syscall goes on", BYTES("\x0f\x05"), ARCH_FLOW_NEXT, 0 },
	{ "xbegin aborts to its target", BYTES("\xc7\xf8\x10\0\0\0"), ARCH_FLOW_COND,
	  VADDR + 6 + 0x10 },
	{ "xend is no branch", BYTES("\x0f\x01\xd5"), ARCH_FLOW_NEXT, 0 },
	{ "xabort is none outside of transactions", BYTES("\xc6\xf8\x01"), ARCH_FLOW_NEXT, 0 },
	{ "endbr64", BYTES("\xf3\x0f\x1e\xfa"), ARCH_FLOW_NEXT, 0 },
};

static bool decode(const uint8_t *code, size_t size, struct arch_insn *insn)
{
	return arch_x86_64.decode(code, size, VADDR, insn);
}

static void test_flow(void)
{
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		const struct flow_case *one = &flows[i];
		struct arch_insn insn;
		bool good = decode(one->code, one->size, &insn);

		check(good && insn.size == one->size && insn.flow == one->flow &&
			      insn.target == one->target,
		      "flow of %s", one->text);
	}
}

struct op_case {
	const char *text;
	const uint8_t *code;
	size_t size;
	enum arch_op op;
	uint8_t dst, src, base, index, scale, mem_size;
	int64_t imm, disp;
};

static const struct op_case ops[] = {
	{ "mov %rax,%rbx", BYTES("\x48\x89\xc3"), ARCH_OP_MOVE, RBX, RAX, NONE, NONE, 0, 0, 0, 0 },
	{ "mov %eax,%ebx clears the high half", BYTES("\x89\xc3"), ARCH_OP_EXTEND, RBX, RAX, NONE,
	  NONE, 0, 4, 0, 0 },
	{ "mov $-1,%rax", BYTES("\x48\xc7\xc0\xff\xff\xff\xff"), ARCH_OP_CONST, RAX, NONE, NONE,
	  NONE, 0, 0, -1, 0 },
	{ "mov $-1,%eax", BYTES("\xb8\xff\xff\xff\xff"), ARCH_OP_CONST, RAX, NONE, NONE, NONE, 0, 0,
	  0xffffffff, 0 },
	{ "mov 8(%rdi),%rax", BYTES("\x48\x8b\x47\x08"), ARCH_OP_LOAD, RAX, NONE, RDI, NONE, 0, 8,
	  0, 8 },
	{ "mov %r15,-8(%rbp)", BYTES("\x4c\x89\x7d\xf8"), ARCH_OP_STORE, NONE, R15, RBP, NONE, 0, 8,
	  0, -8 },
	{ "movq $7,(%rsp)", BYTES("\x48\xc7\x04\x24\x07\0\0\0"), ARCH_OP_STORE, NONE, NONE, RSP,
	  NONE, 0, 8, 7, 0 },
	{ "mov %al,(%rcx)", BYTES("\x88\x01"), ARCH_OP_STORE, NONE, RAX, RCX, NONE, 0, 1, 0, 0 },
	{ "movaps %xmm0,(%rcx)", BYTES("\x0f\x29\x01"), ARCH_OP_STORE, NONE, XMM0, RCX, NONE, 0, 16,
	  0, 0 },
	{ "lea 0x10(%rip),%rax", BYTES("\x48\x8d\x05\x10\0\0\0"), ARCH_OP_ADDRESS, RAX, NONE, NONE,
	  NONE, 0, 8, 0, VADDR + 7 + 0x10 },
	{ "lea 8(%rdi,%rsi,4),%rax", BYTES("\x48\x8d\x44\xb7\x08"), ARCH_OP_ADDRESS, RAX, NONE, RDI,
	  RSI, 4, 8, 0, 8 },
	{ "lea (%rdi),%eax", BYTES("\x8d\x07"), ARCH_OP_OTHER, NONE, NONE, RDI, NONE, 0, 0, 0, 0 },
	{ "movslq (%rdx,%rax,4),%rax", BYTES("\x48\x63\x04\x82"), ARCH_OP_LOAD, RAX, NONE, RDX, RAX,
	  4, 4, 0, 0 },
	{ "movzbl (%rax),%ecx", BYTES("\x0f\xb6\x08"), ARCH_OP_LOAD, RCX, NONE, RAX, NONE, 0, 1, 0,
	  0 },
	{ "movzbl %al,%eax", BYTES("\x0f\xb6\xc0"), ARCH_OP_EXTEND, RAX, RAX, NONE, NONE, 0, 1, 0,
	  0 },
	{ "add %rcx,%rax", BYTES("\x48\x01\xc8"), ARCH_OP_ADD, RAX, RCX, NONE, NONE, 0, 0, 1, 0 },
	{ "sub $2,%rax", BYTES("\x48\x83\xe8\x02"), ARCH_OP_ADD, RAX, NONE, NONE, NONE, 0, 0, -2,
	  0 },
	{ "sub %rcx,%rax is not followed", BYTES("\x48\x29\xc8"), ARCH_OP_OTHER, NONE, RCX, NONE,
	  NONE, 0, 0, 0, 0 },
	{ "add (%rdx),%rax", BYTES("\x48\x03\x02"), ARCH_OP_ADD_LOAD, RAX, NONE, RDX, NONE, 0, 8, 1,
	  0 },
	{ "incq 0x20(%rax,%rcx)", BYTES("\x48\xff\x44\x08\x20"), ARCH_OP_ADD_MEM, NONE, NONE, RAX,
	  RCX, 1, 8, 1, 0x20 },
	{ "decq (%rax)", BYTES("\x48\xff\x08"), ARCH_OP_ADD_MEM, NONE, NONE, RAX, NONE, 0, 8, -1,
	  0 },
	{ "addq $1,(%rax)", BYTES("\x48\x83\x00\x01"), ARCH_OP_ADD_MEM, NONE, NONE, RAX, NONE, 0, 8,
	  1, 0 },
	{ "lock addq $1,(%rax)", BYTES("\xf0\x48\x83\x00\x01"), ARCH_OP_ADD_MEM, NONE, NONE, RAX,
	  NONE, 0, 8, 1, 0 },
	{ "subq $-128,(%rax)", BYTES("\x48\x83\x28\x80"), ARCH_OP_ADD_MEM, NONE, NONE, RAX, NONE, 0,
	  8, 128, 0 },
	{ "add %rcx,(%rax)", BYTES("\x48\x01\x08"), ARCH_OP_ADD_MEM, NONE, RCX, RAX, NONE, 0, 8, 1,
	  0 },
	{ "incl (%rax) is no counter", BYTES("\xff\x00"), ARCH_OP_OTHER, NONE, NONE, RAX, NONE, 0,
	  4, 1, 0 },
	{ "incq %fs:(%rax) is not followed", BYTES("\x64\x48\xff\x00"), ARCH_OP_OTHER, NONE, NONE,
	  RAX, NONE, 0, 8, 0, 0 },
	{ "incq %gs:(%rax) is not followed", BYTES("\x65\x48\xff\x00"), ARCH_OP_OTHER, NONE, NONE,
	  RAX, NONE, 0, 8, 0, 0 },
	{ "incq %gs:0x20(%rip): a kernel's per-CPU counter", BYTES("\x65\x48\xff\x05\x20\0\0\0"),
	  ARCH_OP_ADD_MEM, NONE, NONE, NONE, NONE, 0, 8, 1, VADDR + 8 + 0x20 },
	{ "adcq $0,(%rax)", BYTES("\x48\x83\x10\x00"), ARCH_OP_ADD_FLAG, NONE, NONE, RAX, NONE, 0,
	  8, 0, 0 },
	{ "adcq $1,(%rax) is no select", BYTES("\x48\x83\x10\x01"), ARCH_OP_OTHER, NONE, NONE, RAX,
	  NONE, 0, 8, 0, 0 },
	{ "sbbq $-1,(%rax)", BYTES("\x48\x83\x18\xff"), ARCH_OP_ADD_FLAG, NONE, NONE, RAX, NONE, 0,
	  8, 0, 0 },
	{ "sbbq $0,(%rax) takes off", BYTES("\x48\x83\x18\x00"), ARCH_OP_OTHER, NONE, NONE, RAX,
	  NONE, 0, 8, 0, 0 },
	{ "sete %dl", BYTES("\x0f\x94\xc2"), ARCH_OP_FLAG, RDX, NONE, NONE, NONE, 0, 0, 0, 0 },
	{ "xor %eax,%eax", BYTES("\x31\xc0"), ARCH_OP_CONST, RAX, NONE, NONE, NONE, 0, 0, 0, 0 },
	{ "xor %eax,%ecx", BYTES("\x31\xc1"), ARCH_OP_OTHER, NONE, NONE, NONE, NONE, 0, 0, 0, 0 },
	{ "and $1,%eax", BYTES("\x83\xe0\x01"), ARCH_OP_AND, RAX, NONE, NONE, NONE, 0, 0, 1, 0 },
	{ "push %rbx", BYTES("\x53"), ARCH_OP_PUSH, NONE, RBX, NONE, NONE, 0, 0, 0, 0 },
	{ "pop %r8", BYTES("\x41\x58"), ARCH_OP_POP, R8, NONE, NONE, NONE, 0, 0, 0, 0 },
	{ "cmp %rcx,%rax", BYTES("\x48\x39\xc8"), ARCH_OP_COMPARE, RAX, RCX, NONE, NONE, 0, 0, 0,
	  0 },
	{ "cmp $9,%ecx", BYTES("\x83\xf9\x09"), ARCH_OP_COMPARE, RCX, NONE, NONE, NONE, 0, 0, 9,
	  0 },
	{ "cmp %ecx,%eax", BYTES("\x39\xc8"), ARCH_OP_OTHER, NONE, NONE, NONE, NONE, 0, 0, 0, 0 },
};

static void test_ops(void)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		const struct op_case *one = &ops[i];
		struct arch_insn insn;
		bool memory = one->mem_size && one->op != ARCH_OP_EXTEND;
		bool good = decode(one->code, one->size, &insn) && insn.op == one->op &&
			    insn.dst == one->dst && insn.src == one->src;

		/* An AND and an ADD of a register have no @imm that counts. */
		if (good && one->src == NONE)
			good = insn.imm == one->imm;
		if (good && memory)
			good = insn.base == one->base && insn.index == one->index &&
			       insn.disp == one->disp && insn.mem_size == one->mem_size &&
			       (one->index == NONE || insn.scale == one->scale);
		check(good, "%s", one->text);
	}
}

struct clobber_case {
	const char *text;
	const uint8_t *code;
	size_t size;
	uint32_t registers;
	bool memory;
};

static const struct clobber_case clobbers[] = {
	{ "mul %rcx writes rax and rdx", BYTES("\x48\xf7\xe1"), 1 << RAX | 1 << RDX, false },
	{ "cpuid writes four", BYTES("\x0f\xa2"), 1 << RAX | 1 << RBX | 1 << RCX | 1 << RDX,
	  false },
	{ "mov %al,%ah is a part of rax", BYTES("\x88\xc4"), 1 << RAX, false },
	{ "vpxor of ymm0 is of xmm0 too", BYTES("\xc5\xfd\xef\xc0"), 1 << XMM0, false },
	{ "xadd writes both", BYTES("\x48\x0f\xc1\x0f"), 1 << RCX, true },
	{ "cmp writes nothing", BYTES("\x48\x39\x08"), 0, false },
	{ "rep stos", BYTES("\xf3\x48\xab"), 1 << RCX | 1 << RDI, true },
	{ "fxsave is larger than is told", BYTES("\x0f\xae\x00"), 0, true },
};

static void test_clobbers(void)
{
	for (size_t i = 0; i < sizeof(clobbers) / sizeof(clobbers[0]); i++) {
		const struct clobber_case *one = &clobbers[i];
		struct arch_insn insn;

		check(decode(one->code, one->size, &insn) && insn.clobbers == one->registers &&
			      insn.writes_memory == one->memory,
		      "%s", one->text);
	}
}

static void test_others(void)
{
	struct arch_insn insn;

	check(!decode(BYTES("\x06"), &insn), "no instruction in 64-bit code");
	check(!decode(BYTES("\xe8\x00\x00"), &insn), "cut short");
	check(!decode((const uint8_t *)"", 0, &insn), "nothing");
	check(decode(BYTES("\x0f\x1f\x44\x00\x00"), &insn) && insn.is_nop, "a long nop is padding");
	check(decode(BYTES("\xcc"), &insn) && insn.is_nop, "int3 is padding");
	check(decode(BYTES("\x74\x00"), &insn) && insn.condition == ARCH_CONDITION_EQUAL &&
		      decode(BYTES("\x75\x00"), &insn) &&
		      insn.condition == ARCH_CONDITION_NOT_EQUAL &&
		      decode(BYTES("\x77\x00"), &insn) && insn.condition == ARCH_CONDITION_ABOVE &&
		      decode(BYTES("\x73\x00"), &insn) &&
		      insn.condition == ARCH_CONDITION_ABOVE_EQUAL &&
		      decode(BYTES("\x7c\x00"), &insn) && insn.condition == ARCH_CONDITION_OTHER,
	      "conditions of branches");
	check(decode(BYTES("\x48\x63\x04\x82"), &insn) && insn.sign_extend &&
		      decode(BYTES("\x8b\x04\x82"), &insn) && !insn.sign_extend,
	      "sign extension");
	check(decode(BYTES("\x48\x0f\x44\xc1"), &insn) && insn.selects &&
		      decode(BYTES("\x0f\x94\xc0"), &insn) && !insn.selects,
	      "a conditional move selects, setcc does not");
	check(decode(BYTES("\xff\xe1"), &insn) && insn.src == RCX &&
		      decode(BYTES("\x0f\xae\x00"), &insn) && insn.mem_size == 255,
	      "the register of an indirect jump; the largest operand");
	check(arch_of_machine(EM_X86_64) == &arch_x86_64 && !arch_of_machine(EM_AARCH64) &&
		      !arch_of_machine(0),
	      "machines");
	/* System V: what a callee saves is rbx, rsp, rbp, r12…r15. */
	check(!(arch_x86_64.call_clobbered & (1 << RBX | 1 << RSP | 1 << RBP | 0xf000)) &&
		      (arch_x86_64.call_clobbered & 0xffff) ==
			      (0xffff & ~(1 << RBX | 1 << RSP | 1 << RBP | 0xf000)),
	      "registers that calls keep");
}

int main(void)
{
	test_flow();
	test_ops();
	test_clobbers();
	test_others();
	return failures != 0;
}
