// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "values.h"

static const struct value unknown = { .kind = VALUE_UNKNOWN };

static struct value constant(int64_t v)
{
	return (struct value){ .kind = VALUE_CONST, .v = v };
}

static struct value plus(struct value value, int64_t n)
{
	value.v = (int64_t)((uint64_t)value.v + (uint64_t)n);
	return value;
}

static bool same(const struct value *a, const struct value *b)
{
	return a->kind == b->kind && a->v == b->v && a->k == b->k && a->origin == b->origin;
}

/* What a register holds more than its counter, at most: all else is an unknown sum. */
#define MAX_ADDED 1000000000

/* False if @count would hold too much more than its counter. */
static bool hold_more(struct value *count, int64_t more)
{
	if (more < -MAX_ADDED || more > MAX_ADDED || count->k + more < -MAX_ADDED ||
	    count->k + more > MAX_ADDED)
		return false;
	count->k += (int32_t)more;
	return true;
}

static struct value count_plus(struct value count, struct value other)
{
	bool plain = count.kind == VALUE_COUNT;

	if (other.kind == VALUE_CONST && hold_more(&count, other.v))
		return count;
	if (plain && other.kind == VALUE_TRIPS && other.origin && hold_more(&count, other.v)) {
		count.kind = VALUE_COUNT_TRIPS;
		count.origin = other.origin;
		return count;
	}
	if (plain && !count.k &&
	    (other.kind == VALUE_BOOL || (other.kind == VALUE_TRIPS && !other.v)))
		count.kind = VALUE_COUNT_BOOL;
	else
		count.kind = VALUE_COUNT_SUM;
	return count;
}

static bool is_count(const struct value *value)
{
	return value->kind >= VALUE_COUNT;
}

/* The v of a count: its counter, and 1 + the instruction that loaded it (0: not known). */
#define LOADED_SHIFT 40

static int64_t count_v(uint64_t counter, uint32_t loaded)
{
	return (int64_t)(counter | (uint64_t)loaded << LOADED_SHIFT);
}

static uint64_t counter_of(const struct value *count)
{
	return (uint64_t)count->v & ((1ULL << LOADED_SHIFT) - 1);
}

static uint32_t loaded_of(const struct value *count)
{
	return (uint32_t)((uint64_t)count->v >> LOADED_SHIFT);
}

/* @a + @b, where the more telling kind is made the left one. */
static struct value add(struct value a, struct value b)
{
	if (is_count(&b) || (b.kind == VALUE_CONST && !is_count(&a))) {
		struct value swap = a;

		a = b;
		b = swap;
	}
	if (is_count(&a))
		return is_count(&b) ? unknown : count_plus(a, b);
	if (a.kind != VALUE_CONST)
		return unknown;
	switch (b.kind) {
	case VALUE_CONST:
	case VALUE_BIASED:
	case VALUE_STACK:
	case VALUE_INDEXED:
		return plus(b, a.v);
	case VALUE_TABLE32:
		return a.v == b.v ? (struct value){ .kind = VALUE_JUMP32, .v = b.v } : unknown;
	case VALUE_UNKNOWN:
	case VALUE_BOOL:
	case VALUE_TRIPS:
		return (struct value){ .kind = VALUE_INDEXED, .v = a.v };
	default:
		return unknown;
	}
}

static struct value scaled(struct value value, unsigned int scale)
{
	if (scale <= 1)
		return value;
	if (value.kind == VALUE_CONST)
		return constant((int64_t)((uint64_t)value.v * scale));
	return unknown;
}

static struct value get(const struct value_state *state, uint8_t reg)
{
	return reg < ARCH_REGISTERS ? state->reg[reg] : unknown;
}

static void set(struct value_state *state, uint8_t reg, struct value value)
{
	if (reg < ARCH_REGISTERS)
		state->reg[reg] = value;
}

/* base + index * scale + disp */
static struct value address_of(const struct value_state *state, const struct arch_insn *insn)
{
	struct value address = constant(insn->disp);

	if (insn->base != ARCH_NO_REGISTER)
		address = add(address, get(state, insn->base));
	if (insn->index != ARCH_NO_REGISTER)
		address = add(address, scaled(get(state, insn->index), insn->scale));
	return address;
}

/* True if @address is a counter's, which @counter_ret is told. */
static bool is_counter(const struct value_context *context, const struct value *address,
		       uint64_t *counter_ret)
{
	uint64_t offset = (uint64_t)address->v - context->counters.vaddr;

	if ((address->kind != VALUE_CONST && address->kind != VALUE_BIASED) ||
	    offset >= context->counters.size || offset % 8)
		return false;
	*counter_ret = offset / 8;
	return true;
}

static struct value_slot *find_slot(struct value_state *state, int64_t offset)
{
	for (unsigned int i = 0; i < state->nr_slots; i++) {
		if (state->slot[i].offset == offset)
			return &state->slot[i];
	}
	return NULL;
}

/* Spilled addresses are; the small numbers of the program are not. */
static bool worth_a_slot(const struct value *value)
{
	if (value->kind == VALUE_CONST)
		return (uint64_t)value->v >= 4096;
	return value->kind > VALUE_UNKNOWN && value->kind != VALUE_BOOL;
}

/* @size bytes from @offset on were written to: what slots had there is gone. */
static void forget_slots(struct value_state *state, int64_t offset, unsigned int size)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < state->nr_slots; i++) {
		uint64_t behind = (uint64_t)state->slot[i].offset - (uint64_t)offset + 7;

		if (behind >= (uint64_t)size + 7)
			state->slot[kept++] = state->slot[i];
	}
	state->nr_slots = kept;
}

static void store_slot(struct value_state *state, int64_t offset, struct value value)
{
	forget_slots(state, offset, 8);
	if (worth_a_slot(&value) && state->nr_slots < VALUE_SLOTS)
		state->slot[state->nr_slots++] =
			(struct value_slot){ .offset = offset, .value = value };
}

static struct value load_slot(struct value_state *state, int64_t offset)
{
	const struct value_slot *slot = find_slot(state, offset);

	return slot ? slot->value : unknown;
}

static struct value load_fixed(const struct value_context *context, uint64_t vaddr,
			       const struct arch_insn *insn)
{
	uint64_t word;
	uint32_t half;

	if (vaddr == context->bias_vaddr && vaddr && insn->mem_size == 8)
		return (struct value){ .kind = VALUE_BIASED };
	if (!memory_image_is_constant(context->image, vaddr)) {
		if (context->bias_vaddr || insn->mem_size != 8)
			return unknown;
		return (struct value){ .kind = VALUE_BIASED };
	}
	if (insn->mem_size == 8 && memory_image_u64(context->image, vaddr, &word))
		return constant((int64_t)word);
	if (insn->mem_size == 4 && memory_image_u32(context->image, vaddr, &half))
		return constant(insn->sign_extend ? (int64_t)(int32_t)half : (int64_t)half);
	return unknown;
}

#define LOWEST_TABLE 0x238 /* behind an ELF header and nine program headers */

static struct value load(const struct value_context *context, struct value_state *state,
			 const struct arch_insn *insn, uint32_t number)
{
	struct value address = address_of(state, insn);
	uint64_t counter;

	if (insn->mem_size == 8 && is_counter(context, &address, &counter))
		return (struct value){ .kind = VALUE_COUNT,
				       .v = count_v(counter,
						    number < VALUE_MAX_ORIGIN ? number + 1 : 0) };
	switch (address.kind) {
	case VALUE_CONST:
		return load_fixed(context, (uint64_t)address.v, insn);
	case VALUE_STACK:
		return insn->mem_size == 8 ? load_slot(state, address.v) : unknown;
	case VALUE_INDEXED:
		/* Offsets in structures are no tables: the headers are before any. */
		if ((uint64_t)address.v < LOWEST_TABLE ||
		    !memory_image_is_constant(context->image, (uint64_t)address.v))
			return unknown;
		if (insn->mem_size == 4 && insn->sign_extend)
			return (struct value){ .kind = VALUE_TABLE32, .v = address.v };
		if (insn->mem_size == 8)
			return (struct value){ .kind = VALUE_TABLE64, .v = address.v };
		return unknown;
	default:
		return unknown;
	}
}

static unsigned int constant_site(struct value_site *ret, uint64_t counter, int64_t k)
{
	*ret = (struct value_site){ .counter = counter, .k = k };
	ret->kind = k == 1 ? SITE_ONE : SITE_CONSTANT;
	return k != 0;
}

/* The trip count of a loop, added when it has ended: each trip counts where it is counted. */
static unsigned int trips_sites(struct value_site sites[2], uint64_t counter, uint32_t origin,
				int64_t k)
{
	sites[0] = (struct value_site){
		.counter = counter, .k = 1, .kind = SITE_ONE, .place = origin
	};
	return 1 + constant_site(&sites[1], counter, k);
}

static unsigned int site(struct value_site sites[2], uint64_t counter, struct value added)
{
	switch (added.kind) {
	case VALUE_CONST:
		return constant_site(sites, counter, added.v);
	case VALUE_TRIPS:
		if (added.origin)
			return trips_sites(sites, counter, added.origin, added.v);
		if (added.v)
			break;
		/* fall through */
	case VALUE_BOOL:
		sites[0] = (struct value_site){ .counter = counter, .kind = SITE_SELECT };
		return 1;
	default:
		break;
	}
	sites[0] = (struct value_site){ .counter = counter, .kind = SITE_SUM };
	return 1;
}

static struct value source_of(const struct value_state *state, const struct arch_insn *insn)
{
	return insn->src == ARCH_NO_REGISTER ? constant(insn->imm) : get(state, insn->src);
}

/* A register that holds the counter and more is stored back to it. */
static unsigned int store_count(struct value_site sites[2], const struct value *count)
{
	uint64_t counter = counter_of(count);
	unsigned int nr;

	switch (count->kind) {
	case VALUE_COUNT:
		return constant_site(sites, counter, count->k);
	case VALUE_COUNT_BOOL:
		return site(sites, counter, (struct value){ .kind = VALUE_BOOL });
	case VALUE_COUNT_TRIPS:
		if (!count->origin) /* 0 or 1 more: two ways met */
			return count->k
				       ? site(sites, counter, unknown)
				       : site(sites, counter, (struct value){ .kind = VALUE_BOOL });
		nr = trips_sites(sites, counter, count->origin, count->k);
		break;
	default:
		nr = site(sites, counter, unknown);
		break;
	}
	sites[0].loaded = loaded_of(count);
	return nr;
}

/* Memory has become @added more: what registers hold is so much less than it. */
static void counter_grew(struct value_state *state, uint64_t counter, int64_t added)
{
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++) {
		struct value *value = &state->reg[i];

		if (is_count(value) && counter_of(value) == counter &&
		    (added == INT64_MIN || !hold_more(value, -added)))
			value->kind = VALUE_COUNT_SUM;
	}
}

/*
 * Memory is what @stored holds: a register with the same sum is the counter, whatever was added;
 * another one is something else than it by an unknown sum.
 */
static void counter_stored(struct value_state *state, uint64_t counter, const struct value *stored)
{
	struct value was = *stored;

	for (unsigned int i = 0; i < ARCH_REGISTERS; i++) {
		struct value *value = &state->reg[i];

		if (!is_count(value) || counter_of(value) != counter)
			continue;
		if (was.kind != VALUE_COUNT || !hold_more(value, -(int64_t)was.k))
			*value = (struct value){ .kind = VALUE_COUNT_SUM, .v = was.v };
	}
}

static unsigned int store(const struct value_context *context, struct value_state *state,
			  const struct arch_insn *insn, struct value_site sites[2])
{
	struct value address = address_of(state, insn), value = source_of(state, insn);
	uint64_t counter;

	if (address.kind == VALUE_STACK) {
		if (insn->mem_size == 8)
			store_slot(state, address.v, value);
		else
			forget_slots(state, address.v, insn->mem_size);
		return 0;
	}
	if (insn->mem_size != 8 || !is_counter(context, &address, &counter))
		return 0;
	if (!is_count(&value) || counter_of(&value) != counter)
		return site(sites, counter, unknown);
	if (insn->src < ARCH_REGISTERS)
		counter_stored(state, counter, &state->reg[insn->src]);
	return store_count(sites, &value);
}

static unsigned int add_to_memory(const struct value_context *context, struct value_state *state,
				  const struct arch_insn *insn, struct value_site sites[2])
{
	struct value address = address_of(state, insn), value = source_of(state, insn);
	uint64_t counter;

	if (insn->op == ARCH_OP_ADD_FLAG)
		value = (struct value){ .kind = VALUE_BOOL };
	if (is_counter(context, &address, &counter)) {
		if (value.kind == VALUE_CONST)
			counter_grew(state, counter, value.v);
		return site(sites, counter, value);
	}
	if (address.kind == VALUE_STACK)
		forget_slots(state, address.v, insn->mem_size);
	return 0;
}

static struct value masked(struct value value, int64_t mask)
{
	if (value.kind == VALUE_CONST || value.kind == VALUE_STACK) {
		value.v &= mask; /* a stack pointer being aligned */
		return value;
	}
	return mask == 1 ? (struct value){ .kind = VALUE_BOOL } : unknown;
}

static struct value extended(struct value value, unsigned int size)
{
	if (value.kind == VALUE_BOOL)
		return value;
	if (value.kind == VALUE_CONST && size < 8)
		return constant((int64_t)((uint64_t)value.v & ((1ULL << (8 * size)) - 1)));
	return unknown;
}

static void clobber(struct value_state *state, uint32_t registers)
{
	while (registers) {
		state->reg[__builtin_ctz(registers)] = unknown;
		registers &= registers - 1;
	}
}

/* @value + 1 by instruction @number: the next trip of the loop that it counts. */
static bool next_trip(struct value *value, uint32_t number)
{
	if ((value->kind != VALUE_TRIPS && value->kind != VALUE_COUNT_TRIPS) ||
	    number >= VALUE_MAX_ORIGIN || (value->origin && value->origin != number + 1))
		return false;
	value->origin = number + 1;
	return true;
}

/* What @insn puts in its destination register. */
static struct value result_of(const struct value_context *context, struct value_state *state,
			      const struct arch_insn *insn, uint32_t number)
{
	struct value value;

	switch (insn->op) {
	case ARCH_OP_MOVE:
		return get(state, insn->src);
	case ARCH_OP_CONST:
		return constant(insn->imm);
	case ARCH_OP_ADDRESS:
		value = get(state, insn->base);
		if (insn->index == ARCH_NO_REGISTER && insn->disp == 1 && next_trip(&value, number))
			return value;
		return address_of(state, insn);
	case ARCH_OP_LOAD:
		return load(context, state, insn, number);
	case ARCH_OP_ADD:
		value = get(state, insn->dst);
		if (insn->src == ARCH_NO_REGISTER && insn->imm == 1 && next_trip(&value, number))
			return value;
		return add(value, source_of(state, insn));
	case ARCH_OP_ADD_LOAD:
		return add(get(state, insn->dst), load(context, state, insn, number));
	case ARCH_OP_FLAG:
		return (struct value){ .kind = VALUE_BOOL };
	case ARCH_OP_AND:
		return masked(get(state, insn->dst), insn->imm);
	case ARCH_OP_EXTEND:
		return extended(get(state, insn->src), insn->mem_size);
	default:
		return unknown;
	}
}

/* An instruction of which only what it writes to is known. */
static void write_unknown(struct value_state *state, const struct arch_insn *insn)
{
	struct value address;

	if (insn->writes_memory && insn->has_memory) {
		address = address_of(state, insn);
		if (address.kind == VALUE_STACK)
			forget_slots(state, address.v, insn->mem_size);
	}
	clobber(state, insn->clobbers);
}

static void push(const struct value_context *context, struct value_state *state,
		 const struct arch_insn *insn)
{
	struct value *sp = &state->reg[context->arch->stack_pointer];

	if (sp->kind != VALUE_STACK)
		return;
	*sp = plus(*sp, -8);
	store_slot(state, sp->v, get(state, insn->src));
}

static void pop(const struct value_context *context, struct value_state *state,
		const struct arch_insn *insn)
{
	struct value *sp = &state->reg[context->arch->stack_pointer];
	struct value value = unknown;

	if (sp->kind == VALUE_STACK) {
		value = load_slot(state, sp->v);
		*sp = plus(*sp, 8);
	}
	set(state, insn->dst, value);
}

unsigned int value_state_step(const struct value_context *context, struct value_state *state,
			      const struct arch_insn *insn, uint32_t number,
			      struct value_site sites[2])
{
	struct value value;

	if (insn->flow == ARCH_FLOW_CALL || insn->flow == ARCH_FLOW_INDIRECT_CALL) {
		clobber(state, context->arch->call_clobbered);
		return 0;
	}
	switch (insn->op) {
	case ARCH_OP_STORE:
		return store(context, state, insn, sites);
	case ARCH_OP_ADD_MEM:
	case ARCH_OP_ADD_FLAG:
		return add_to_memory(context, state, insn, sites);
	case ARCH_OP_PUSH:
		push(context, state, insn);
		return 0;
	case ARCH_OP_POP:
		pop(context, state, insn);
		return 0;
	case ARCH_OP_OTHER:
	case ARCH_OP_COMPARE:
		write_unknown(state, insn);
		return 0;
	default:
		value = result_of(context, state, insn, number);
		clobber(state, insn->clobbers);
		set(state, insn->dst, value);
		return 0;
	}
}

struct value value_jump_target(const struct value_context *context, const struct value_state *state,
			       const struct arch_insn *insn)
{
	struct value_state copy;

	if (!insn->has_memory)
		return insn->src == ARCH_NO_REGISTER ? unknown : get(state, insn->src);
	copy.nr_slots = 0;
	memcpy(copy.reg, state->reg, sizeof(copy.reg));
	return load(context, &copy, insn, 0);
}

bool value_site_of_call(const struct value_context *context, const struct value_state *state,
			uint32_t *function_ret, uint32_t *site_ret)
{
	struct value record = get(state, context->arch->argument[1]);
	struct value site = get(state, context->arch->argument[2]);
	uint64_t offset = (uint64_t)record.v - context->data.vaddr;

	if (record.kind != VALUE_CONST || site.kind != VALUE_CONST || !context->record_size ||
	    offset >= context->data.size || offset % context->record_size ||
	    (uint64_t)site.v > UINT16_MAX)
		return false;
	*function_ret = (uint32_t)(offset / context->record_size);
	*site_ret = (uint32_t)site.v;
	return true;
}

static bool tells_number(const struct value *value)
{
	return value->kind == VALUE_CONST || value->kind == VALUE_TRIPS;
}

/* True if the trips of @a are counted nearer to instruction @number than those of @b. */
static bool nearer(const struct value *a, const struct value *b, uint32_t number)
{
	return a->kind == VALUE_TRIPS && b->kind == VALUE_TRIPS &&
	       labs((long)a->origin - (long)number) < labs((long)b->origin - (long)number);
}

void value_state_equal(struct value_state *state, const struct arch_insn *compare, uint32_t number)
{
	struct value *a = &state->reg[compare->dst], *b = &state->reg[compare->src];

	if (tells_number(b) && (!tells_number(a) || nearer(b, a, number)))
		*a = *b;
	else if (tells_number(a))
		*b = *a;
}

void value_state_forget(struct value_state *state)
{
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		state->reg[i] = unknown;
	state->nr_slots = 0;
	state->reached = true;
}

void value_state_enter(const struct value_context *context, struct value_state *state)
{
	value_state_forget(state);
	state->reg[context->arch->stack_pointer] = (struct value){ .kind = VALUE_STACK };
}

static bool one_more(const struct value *a, const struct value *b)
{
	return (uint64_t)a->v == (uint64_t)b->v + 1;
}

/* Counts of one counter, which differ by what was added on the way. */
static struct value meet_counts(const struct value *into, const struct value *from)
{
	struct value sum = { .kind = VALUE_COUNT_SUM, .v = into->v };
	struct value trips = { .kind = VALUE_COUNT_TRIPS, .v = into->v, .k = into->k };

	if (into->v != from->v) { /* loaded at different places */
		sum.v = count_v(counter_of(into), 0);
		return sum;
	}
	if (into->kind == VALUE_COUNT && from->kind == VALUE_COUNT && from->k == into->k + 1)
		return trips;
	if (into->kind == VALUE_COUNT && from->kind == VALUE_COUNT_TRIPS &&
	    (from->k == into->k || from->k + 1 == into->k))
		return *from;
	if (into->kind == VALUE_COUNT_TRIPS && from->kind == VALUE_COUNT &&
	    (from->k == into->k || (from->k == into->k + 1 && !into->origin)))
		return *into;
	if (into->kind == VALUE_COUNT_TRIPS && from->kind == VALUE_COUNT_TRIPS &&
	    into->k == from->k && (!into->origin || !from->origin))
		return into->origin ? *into : *from;
	return sum;
}

/*
 * A loop's header: @into came from before it, @from from its end. What began as a constant and is
 * one more the next time counts trips; which instruction does is seen when it is come to again. A
 * block behind the loop had the constant of the first trip before.
 */
static struct value meet(const struct value *into, const struct value *from)
{
	struct value trips = { .kind = VALUE_TRIPS, .v = into->v };

	if (same(into, from))
		return *into;
	if (is_count(into) && is_count(from) && counter_of(into) == counter_of(from))
		return meet_counts(into, from);
	if (into->kind == VALUE_CONST && from->kind == VALUE_CONST && one_more(from, into))
		return trips;
	if (into->kind == VALUE_CONST && from->kind == VALUE_TRIPS &&
	    (from->v == into->v || one_more(into, from)))
		return *from;
	if (into->kind != VALUE_TRIPS)
		return unknown;
	if (from->kind == VALUE_CONST &&
	    (from->v == into->v || (one_more(from, into) && !into->origin)))
		return *into;
	if (from->kind == VALUE_TRIPS && from->v == into->v && (!into->origin || !from->origin))
		return into->origin ? *into : *from;
	return unknown;
}

bool value_state_meet(struct value_state *into, const struct value_state *from)
{
	bool changed = false;
	unsigned int kept = 0;

	if (!into->reached) {
		memcpy(into->reg, from->reg, sizeof(into->reg));
		memcpy(into->slot, from->slot, from->nr_slots * sizeof(into->slot[0]));
		into->nr_slots = from->nr_slots;
		into->reached = true;
		return true;
	}
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++) {
		struct value met;

		if (into->reg[i].kind == VALUE_UNKNOWN)
			continue;
		met = meet(&into->reg[i], &from->reg[i]);
		if (same(&met, &into->reg[i]))
			continue;
		into->reg[i] = met;
		changed = true;
	}
	for (unsigned int i = 0; i < into->nr_slots; i++) {
		const struct value_slot *other =
			find_slot((struct value_state *)from, into->slot[i].offset);

		if (other && same(&other->value, &into->slot[i].value))
			into->slot[kept++] = into->slot[i];
	}
	changed |= kept != into->nr_slots;
	into->nr_slots = kept;
	return changed;
}
