// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * x86-64, decoded by Zydis. Registers are numbered as in the instruction encoding: rax, rcx, rdx,
 * rbx, rsp, rbp, rsi, rdi, r8…r15.
 */
#include <elf.h>
#include <pthread.h>

#include <Zydis/Zydis.h>

#include "arch.h"

#define RSP 4

static ZydisDecoder decoder;
static pthread_once_t decoder_once = PTHREAD_ONCE_INIT;

static void init_decoder(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

/* The 64-bit register that @name is a part of, ARCH_NO_REGISTER for others (vectors, flags). */
static uint8_t register_number(ZydisRegister name)
{
	if (name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15)
		return (uint8_t)(name - ZYDIS_REGISTER_RAX);
	if (name >= ZYDIS_REGISTER_EAX && name <= ZYDIS_REGISTER_R15D)
		return (uint8_t)(name - ZYDIS_REGISTER_EAX);
	if (name >= ZYDIS_REGISTER_AX && name <= ZYDIS_REGISTER_R15W)
		return (uint8_t)(name - ZYDIS_REGISTER_AX);
	if (name >= ZYDIS_REGISTER_AL && name <= ZYDIS_REGISTER_BL)
		return (uint8_t)(name - ZYDIS_REGISTER_AL);
	if (name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH)
		return (uint8_t)(name - ZYDIS_REGISTER_AH);
	if (name >= ZYDIS_REGISTER_SPL && name <= ZYDIS_REGISTER_R15B)
		return (uint8_t)(name - ZYDIS_REGISTER_SPL + RSP);
	return ARCH_NO_REGISTER;
}

/* The number of the vector register that @name is or has as its low part. */
static uint8_t vector_number(ZydisRegister name)
{
	if (name >= ZYDIS_REGISTER_XMM0 && name <= ZYDIS_REGISTER_XMM15)
		return (uint8_t)(name - ZYDIS_REGISTER_XMM0 + 16);
	if (name >= ZYDIS_REGISTER_YMM0 && name <= ZYDIS_REGISTER_YMM15)
		return (uint8_t)(name - ZYDIS_REGISTER_YMM0 + 16);
	if (name >= ZYDIS_REGISTER_ZMM0 && name <= ZYDIS_REGISTER_ZMM15)
		return (uint8_t)(name - ZYDIS_REGISTER_ZMM0 + 16);
	return ARCH_NO_REGISTER;
}

static bool is_register(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_memory(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static bool is_immediate(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static enum arch_condition condition_of(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_JZ:
		return ARCH_CONDITION_EQUAL;
	case ZYDIS_MNEMONIC_JNZ:
		return ARCH_CONDITION_NOT_EQUAL;
	case ZYDIS_MNEMONIC_JNBE:
		return ARCH_CONDITION_ABOVE;
	case ZYDIS_MNEMONIC_JNB:
		return ARCH_CONDITION_ABOVE_EQUAL;
	default:
		return ARCH_CONDITION_OTHER;
	}
}

static void set_flow(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		     struct arch_insn *ret)
{
	bool direct = insn->operand_count && is_immediate(&operands[0]) &&
		      operands[0].imm.is_relative;

	if (direct)
		ret->target = ret->vaddr + ret->size + (uint64_t)operands[0].imm.value.s;
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		if (!direct) /* xend */
			break;
		ret->flow = ARCH_FLOW_COND;
		ret->condition = condition_of(insn->mnemonic);
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (insn->mnemonic == ZYDIS_MNEMONIC_XABORT) /* nothing outside of transactions */
			break;
		ret->flow = direct ? ARCH_FLOW_JUMP : ARCH_FLOW_INDIRECT_JUMP;
		break;
	case ZYDIS_CATEGORY_CALL:
		ret->flow = direct ? ARCH_FLOW_CALL : ARCH_FLOW_INDIRECT_CALL;
		break;
	case ZYDIS_CATEGORY_RET:
		ret->interrupt_return = insn->mnemonic == ZYDIS_MNEMONIC_IRET ||
					insn->mnemonic == ZYDIS_MNEMONIC_IRETD ||
					insn->mnemonic == ZYDIS_MNEMONIC_IRETQ;
		ret->flow = ret->interrupt_return ? ARCH_FLOW_STOP : ARCH_FLOW_RETURN;
		break;
	case ZYDIS_CATEGORY_SYSRET: /* to a program, not to a caller */
		ret->flow = ARCH_FLOW_STOP;
		break;
	default:
		switch (insn->mnemonic) {
		case ZYDIS_MNEMONIC_UD0:
		case ZYDIS_MNEMONIC_UD1:
		case ZYDIS_MNEMONIC_UD2:
		case ZYDIS_MNEMONIC_HLT:
		case ZYDIS_MNEMONIC_INT3:
			ret->flow = ARCH_FLOW_STOP;
			break;
		default:
			break;
		}
	}
	if ((ret->flow == ARCH_FLOW_INDIRECT_JUMP || ret->flow == ARCH_FLOW_INDIRECT_CALL) &&
	    is_register(&operands[0]))
		ret->src = register_number(operands[0].reg.value);
}

static void set_memory(const ZydisDecodedOperand *operand, struct arch_insn *ret)
{
	ret->has_memory = true;
	ret->mem_size = operand->size / 8 < UINT8_MAX ? (uint8_t)(operand->size / 8) : UINT8_MAX;
	ret->disp = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
	ret->base = register_number(operand->mem.base);
	ret->index = register_number(operand->mem.index);
	ret->scale = operand->mem.scale;
	if (operand->mem.base == ZYDIS_REGISTER_RIP)
		ret->disp += (int64_t)(ret->vaddr + ret->size);
	/*
	 * Thread-local: the segment's base is not known. A kernel's per-CPU counters are updated so,
	 * and relative to rip: that gives what vmlinux has for their address.
	 */
	if (operand->mem.segment == ZYDIS_REGISTER_FS ||
	    (operand->mem.segment == ZYDIS_REGISTER_GS && operand->mem.base != ZYDIS_REGISTER_RIP))
		ret->has_memory = false;
}

static void set_clobbers(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
			 struct arch_insn *ret)
{
	for (unsigned int i = 0; i < insn->operand_count; i++) {
		uint8_t number;

		if (!(operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (is_memory(&operands[i])) {
			ret->writes_memory = true;
			continue;
		}
		if (!is_register(&operands[i]))
			continue;
		number = register_number(operands[i].reg.value);
		if (number == ARCH_NO_REGISTER)
			number = vector_number(operands[i].reg.value);
		if (number != ARCH_NO_REGISTER)
			ret->clobbers |= 1U << number;
	}
}

/* add, sub, inc, dec: @imm is what is added where the source is no register. */
static void set_add(const ZydisDecodedOperand *dst, const ZydisDecodedOperand *src, int64_t sign,
		    struct arch_insn *ret)
{
	int64_t imm = 1;

	if (src && is_immediate(src))
		imm = src->imm.value.s;
	if (src && is_register(src)) {
		ret->src = register_number(src->reg.value);
		if (sign < 0 || ret->src == ARCH_NO_REGISTER)
			return;
	}
	if (is_memory(dst) && dst->size == 64) {
		ret->op = ARCH_OP_ADD_MEM;
	} else if (is_register(dst) && dst->size == 64) {
		ret->dst = register_number(dst->reg.value);
		ret->op = src && is_memory(src) ? ARCH_OP_ADD_LOAD : ARCH_OP_ADD;
		if (ret->op == ARCH_OP_ADD_LOAD && sign < 0)
			ret->op = ARCH_OP_OTHER;
	}
	ret->imm = sign * imm;
}

static void set_move(const ZydisDecodedOperand *dst, const ZydisDecodedOperand *src,
		     struct arch_insn *ret)
{
	if (is_memory(dst)) {
		ret->op = ARCH_OP_STORE;
		if (is_register(src))
			ret->src = register_number(src->reg.value);
		else
			ret->imm = src->imm.value.s;
		if (is_register(src) && ret->src == ARCH_NO_REGISTER)
			ret->src = vector_number(src->reg.value);
		if (is_register(src) && ret->src == ARCH_NO_REGISTER)
			ret->op = ARCH_OP_OTHER;
		return;
	}
	ret->dst = register_number(dst->reg.value);
	if (ret->dst == ARCH_NO_REGISTER)
		ret->dst = vector_number(dst->reg.value);
	if (ret->dst == ARCH_NO_REGISTER || (dst->size < 32))
		return;
	if (is_memory(src)) {
		ret->op = ARCH_OP_LOAD;
	} else if (is_immediate(src)) {
		ret->op = ARCH_OP_CONST;
		ret->imm = dst->size == 32 ? (int64_t)(uint32_t)src->imm.value.u : src->imm.value.s;
	} else {
		ret->src = register_number(src->reg.value);
		if (ret->src == ARCH_NO_REGISTER)
			ret->src = vector_number(src->reg.value);
		if (ret->src == ARCH_NO_REGISTER)
			return;
		ret->op = ARCH_OP_MOVE;
		if (dst->size == 32) { /* a 32-bit move clears the high half */
			ret->op = ARCH_OP_EXTEND;
			ret->mem_size = 4;
		}
	}
}

/* movzx, movsx, movsxd */
static void set_extend(const ZydisDecodedOperand *dst, const ZydisDecodedOperand *src, bool sign,
		       struct arch_insn *ret)
{
	ret->dst = register_number(dst->reg.value);
	if (ret->dst == ARCH_NO_REGISTER || dst->size < 32)
		return;
	if (is_memory(src)) {
		ret->op = ARCH_OP_LOAD;
		ret->sign_extend = sign && dst->size == 64;
	} else if (!sign) {
		ret->src = register_number(src->reg.value);
		ret->op = ARCH_OP_EXTEND;
		ret->mem_size = (uint8_t)(src->size / 8);
	}
}

static void set_xor_or_and(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *dst,
			   const ZydisDecodedOperand *src, struct arch_insn *ret)
{
	if (!is_register(dst) || dst->size < 32)
		return;
	if (insn->mnemonic == ZYDIS_MNEMONIC_AND) {
		if (!is_immediate(src))
			return;
		ret->op = ARCH_OP_AND;
		ret->imm = src->imm.value.s;
	} else if (is_register(src) && src->reg.value == dst->reg.value) {
		ret->op = ARCH_OP_CONST;
	} else {
		return;
	}
	ret->dst = register_number(dst->reg.value);
}

/* adc $0, m: adds the carry flag; sbb $-1, m: adds one less the carry flag. */
static void set_add_flag(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *dst,
			 const ZydisDecodedOperand *src, struct arch_insn *ret)
{
	int64_t unless = insn->mnemonic == ZYDIS_MNEMONIC_SBB ? -1 : 0;

	if (is_memory(dst) && dst->size == 64 && is_immediate(src) && src->imm.value.s == unless)
		ret->op = ARCH_OP_ADD_FLAG;
}

static void set_op(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		   struct arch_insn *ret)
{
	const ZydisDecodedOperand *dst = &operands[0], *src = &operands[1];

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVAPS:
		set_move(dst, src, ret);
		break;
	case ZYDIS_MNEMONIC_MOVZX:
		set_extend(dst, src, false, ret);
		break;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		set_extend(dst, src, true, ret);
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (dst->size == 64) {
			ret->op = ARCH_OP_ADDRESS;
			ret->dst = register_number(dst->reg.value);
		}
		break;
	case ZYDIS_MNEMONIC_INC:
		set_add(dst, NULL, 1, ret);
		break;
	case ZYDIS_MNEMONIC_DEC:
		set_add(dst, NULL, -1, ret);
		break;
	case ZYDIS_MNEMONIC_ADD:
		set_add(dst, src, 1, ret);
		break;
	case ZYDIS_MNEMONIC_SUB:
		set_add(dst, src, -1, ret);
		break;
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_SBB:
		set_add_flag(insn, dst, src, ret);
		break;
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_AND:
		set_xor_or_and(insn, dst, src, ret);
		break;
	case ZYDIS_MNEMONIC_CMP:
		if (is_register(dst) && is_register(src) && dst->size == 64) {
			ret->op = ARCH_OP_COMPARE;
			ret->dst = register_number(dst->reg.value);
			ret->src = register_number(src->reg.value);
		} else if (is_register(dst) && is_immediate(src)) {
			ret->op = ARCH_OP_COMPARE;
			ret->dst = register_number(dst->reg.value);
			ret->imm = src->imm.value.s;
		}
		break;
	case ZYDIS_MNEMONIC_PUSH:
		ret->op = ARCH_OP_PUSH;
		ret->src = is_register(dst) ? register_number(dst->reg.value) : ARCH_NO_REGISTER;
		ret->imm = is_immediate(dst) ? dst->imm.value.s : 0;
		ret->has_memory = false;
		break;
	case ZYDIS_MNEMONIC_POP:
		ret->op = ARCH_OP_POP;
		ret->dst = is_register(dst) ? register_number(dst->reg.value) : ARCH_NO_REGISTER;
		ret->has_memory = false;
		break;
	default:
		break;
	}
}

/* setcc writes one byte; the compiler clears the register before, or extends it after. */
static bool is_setcc(const ZydisDecodedInstruction *insn)
{
	return insn->meta.category == ZYDIS_CATEGORY_SETCC;
}

static bool decode(const uint8_t *code, size_t size, uint64_t vaddr, struct arch_insn *ret)
{
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	pthread_once(&decoder_once, init_decoder);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &insn, operands)))
		return false;
	*ret = (struct arch_insn){
		.vaddr = vaddr,
		.size = insn.length,
		.dst = ARCH_NO_REGISTER,
		.src = ARCH_NO_REGISTER,
		.base = ARCH_NO_REGISTER,
		.index = ARCH_NO_REGISTER,
	};
	ret->is_nop = insn.meta.category == ZYDIS_CATEGORY_NOP ||
		      insn.meta.category == ZYDIS_CATEGORY_WIDENOP ||
		      insn.mnemonic == ZYDIS_MNEMONIC_INT3;
	ret->selects = insn.meta.category == ZYDIS_CATEGORY_CMOV;
	for (unsigned int i = 0; i < insn.operand_count_visible; i++) {
		if (is_memory(&operands[i]))
			set_memory(&operands[i], ret);
	}
	set_flow(&insn, operands, ret);
	set_clobbers(&insn, operands, ret);
	if (is_setcc(&insn) && is_register(&operands[0])) {
		ret->op = ARCH_OP_FLAG;
		ret->dst = register_number(operands[0].reg.value);
		return true;
	}
	/* Without the memory operand (thread-local) only what it clobbers is known. */
	for (unsigned int i = 0; i < insn.operand_count_visible; i++) {
		if (is_memory(&operands[i]) && !ret->has_memory)
			return true;
	}
	if (insn.operand_count_visible)
		set_op(&insn, operands, ret);
	return true;
}

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.machine = EM_X86_64,
	.stack_pointer = RSP,
	/* System V: rax, rcx, rdx, rsi, rdi, r8…r11 and all vectors */
	.call_clobbered = 0xffff0fc7,
	.argument = { 7, 6, 2 },
	.min_insn = 1,
	.max_insn = 15,
	.decode = decode,
};
