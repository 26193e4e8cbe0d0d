// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>

#include <Zydis/Zydis.h>

#include "branch_kind.h"

static ZydisDecoder decoder;
static pthread_once_t decoder_once = PTHREAD_ONCE_INIT;

static void init_decoder(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

static enum branch_kind kind_of(const ZydisDecodedInstruction *insn, bool direct)
{
	static const ZydisInstructionAttributes repeats =
		ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return BRANCH_EXCEPTION_RETURN;
	case ZYDIS_MNEMONIC_XBEGIN: /* goes to its handler on an abort, which is no branch */
		return BRANCH_NONE;
	default:
		break;
	}
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return BRANCH_CONDITIONAL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? BRANCH_JUMP : BRANCH_INDIRECT_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return direct ? BRANCH_CALL : BRANCH_INDIRECT_CALL;
	case ZYDIS_CATEGORY_RET:
		return BRANCH_RETURN;
	default:
		return insn->attributes & repeats ? BRANCH_REPEAT : BRANCH_NONE;
	}
}

struct branch branch_decode_x86_64(const uint8_t *code, size_t size, uint64_t vaddr)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	struct branch branch = { .kind = BRANCH_NONE };
	ZyanStatus status;

	pthread_once(&decoder_once, init_decoder);
	status = ZydisDecoderDecodeFull(&decoder, code, size, &insn, operands);
	if (!ZYAN_SUCCESS(status)) {
		branch.incomplete = status == ZYDIS_STATUS_NO_MORE_DATA;
		return branch;
	}
	branch.direct = insn.operand_count && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
			operands[0].imm.is_relative;
	branch.kind = kind_of(&insn, branch.direct);
	if (branch.direct)
		branch.target = vaddr + insn.length + (uint64_t)operands[0].imm.value.s;
	return branch;
}
