// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "event_parse.h"

#define PMUS	     "/sys/bus/event_source/devices"
#define DEFAULT_FREQ 4000 /* Hz, as perf record */
#define MAX_DEPTH    2	  /* a PMU's event stands for terms, which name no other event */

static const struct named_event {
	const char *name;
	uint32_t type;
	uint64_t config;
} named_events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
};

/* The first line of a file of a PMU's folder; false if it cannot be read. */
static bool read_pmu_file(const char *pmu, const char *folder, const char *name, char line[256])
{
	char path[sizeof(PMUS) + 512];
	FILE *file;
	bool read;

	if (strlen(pmu) + strlen(folder) + strlen(name) > 500 || strchr(name, '/'))
		return false;
	snprintf(path, sizeof(path), PMUS "/%s/%s%s", pmu, folder, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(line, 256, file);
	fclose(file);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

/* Put @value into the bits of @format, as in "config:0-7,32-35". */
static bool set_field(struct perf_event_attr *attr, const char *format, uint64_t value)
{
	__u64 *word = NULL;
	const char *bits = strchr(format, ':');
	unsigned int first, last;
	int used;

	if (!strncmp(format, "config:", 7))
		word = &attr->config;
	else if (!strncmp(format, "config1:", 8))
		word = &attr->config1;
	else if (!strncmp(format, "config2:", 8))
		word = &attr->config2;
	while (word && bits && *bits) {
		uint64_t mask;

		if (sscanf(++bits, "%u%n", &first, &used) != 1)
			return false;
		bits += used;
		last = first;
		if (*bits == '-') {
			if (sscanf(++bits, "%u%n", &last, &used) != 1)
				return false;
			bits += used;
		}
		if (first > last || last > 63)
			return false;
		mask = last - first == 63 ? ~0ULL : (1ULL << (last - first + 1)) - 1;
		*word = (*word & ~(mask << first)) | (value & mask) << first;
		value = last - first == 63 ? 0 : value >> (last - first + 1);
		if (*bits && *bits != ',')
			return false;
	}
	return word && !value;
}

static struct swlbr_error *parse_terms(struct perf_event_attr *attr, const char *pmu, char *terms,
				       int depth);

/* @pmu is NULL for the terms of an event with a name. */
static struct swlbr_error *parse_term(struct perf_event_attr *attr, const char *pmu, char *term,
				      int depth)
{
	char *equals = strchr(term, '='), line[256];
	uint64_t value = 1;

	if (equals) {
		*equals = '\0';
		if (!number_in(equals + 1, 0, 0, UINT64_MAX, &value))
			return swlbr_error_create(SWLBR_ERROR_FORMAT, "%s=%s: not a number", term,
						  equals + 1);
	}
	if (equals && !strcmp(term, "period") && value) {
		attr->freq = 0;
		attr->sample_period = value;
		return NULL;
	}
	if (equals && !strcmp(term, "freq") && value) {
		attr->freq = 1;
		attr->sample_freq = value;
		return NULL;
	}
	if (pmu && equals && !strcmp(term, "config"))
		attr->config = value;
	else if (pmu && equals && !strcmp(term, "config1"))
		attr->config1 = value;
	else if (pmu && equals && !strcmp(term, "config2"))
		attr->config2 = value;
	else if (pmu && read_pmu_file(pmu, "format/", term, line) && set_field(attr, line, value))
		return NULL;
	else if (pmu && !equals && depth < MAX_DEPTH && read_pmu_file(pmu, "events/", term, line))
		return parse_terms(attr, pmu, line, depth + 1);
	else
		return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
					  "no such term, or out of range: %s", term);
	return NULL;
}

static struct swlbr_error *parse_terms(struct perf_event_attr *attr, const char *pmu, char *terms,
				       int depth)
{
	struct swlbr_error *error = NULL;
	char *rest = terms, *term;

	while (!error && (term = strsep(&rest, ",")))
		if (*term)
			error = parse_term(attr, pmu, term, depth);
	return error;
}

static struct swlbr_error *parse_modifiers(struct event_request *request, const char *modifiers)
{
	struct perf_event_attr *attr = &request->attr;
	bool user = strchr(modifiers, 'u'), kernel = strchr(modifiers, 'k');
	unsigned int precise = 0;

	for (const char *p = modifiers; *p; p++) {
		if (*p == 'p' && precise < 3)
			precise++;
		else if (*p != 'u' && *p != 'k')
			return swlbr_error_create(SWLBR_ERROR_NOT_FOUND,
						  "modifiers are u, k and p, not '%s'", modifiers);
	}
	attr->precise_ip = precise;
	request->modified = user || kernel;
	if (request->modified) {
		attr->exclude_user = !user;
		attr->exclude_kernel = !kernel;
		attr->exclude_hv = 1;
	}
	return NULL;
}

static const struct named_event *find_named(const char *name)
{
	for (size_t i = 0; i < sizeof(named_events) / sizeof(*named_events); i++)
		if (!strcmp(named_events[i].name, name))
			return &named_events[i];
	return NULL;
}

/* @name, and between slashes @terms or NULL. */
static struct swlbr_error *parse_event(struct event_request *request, const char *name, char *terms)
{
	const struct named_event *named = find_named(name);
	struct perf_event_attr *attr = &request->attr;
	char line[256];
	uint64_t value;

	if (named) {
		attr->type = named->type;
		attr->config = named->config;
		return terms ? parse_terms(attr, NULL, terms, 0) : NULL;
	}
	if (*name == 'r' && number_in(name + 1, 16, 0, UINT64_MAX, &value) && !strchr(name, 'x')) {
		attr->type = PERF_TYPE_RAW;
		attr->config = value;
		return terms ? parse_terms(attr, NULL, terms, 0) : NULL;
	}
	if (!terms)
		return swlbr_error_create(
			SWLBR_ERROR_NOT_FOUND,
			"no event of that name: cycles, instructions, branches, cpu-clock, page-faults, …, rNNN or PMU/terms/");
	if (!*name || strchr(name, '.') || !read_pmu_file(name, "", "type", line)) {
		if (asprintf(&request->missing, "this machine has no PMU '%s'", name) < 0)
			return swlbr_error_no_memory();
		return NULL;
	}
	attr->type = (uint32_t)strtoul(line, NULL, 10);
	return parse_terms(attr, name, terms, 0);
}

static struct swlbr_error *parse_one(struct event_request *request)
{
	char *text = strdup(request->name), *terms, *modifiers;
	struct swlbr_error *error;

	if (!text)
		return swlbr_error_no_memory();
	request->attr.freq = 1;
	request->attr.sample_freq = DEFAULT_FREQ;
	terms = strchr(text, '/');
	modifiers = terms ? strchr(terms + 1, '/') : strchr(text, ':');
	if (terms && !modifiers) {
		error = swlbr_error_create(SWLBR_ERROR_FORMAT, "a '/' is missing after the terms");
	} else {
		if (terms)
			*terms++ = '\0';
		if (modifiers)
			*modifiers++ = '\0';
		if (terms && *modifiers == ':')
			modifiers++;
		error = parse_event(request, text, terms);
		if (!error && modifiers)
			error = parse_modifiers(request, modifiers);
	}
	free(text);
	return error ? swlbr_error_prefix(error, "%s", request->name) : NULL;
}

static struct swlbr_error *add_request(struct event_list *list, const char *text, size_t size)
{
	struct event_request *request;

	request = reallocarray(list->requests, list->nr + 1, sizeof(*request));
	if (!request)
		return swlbr_error_no_memory();
	list->requests = request;
	request += list->nr;
	*request = (struct event_request){ .name = strndup(text, size) };
	if (!request->name)
		return swlbr_error_no_memory();
	list->nr++;
	return parse_one(request);
}

struct swlbr_error *event_list_parse(struct event_list *list, const char *text)
{
	struct swlbr_error *error = NULL;

	do {
		bool inside = false;
		size_t size = 0;

		for (; text[size] && (inside || text[size] != ','); size++)
			inside ^= text[size] == '/';
		error = add_request(list, text, size);
		text += size;
	} while (!error && *text++);
	return error;
}

void event_list_deinit(struct event_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->requests[i].name);
		free(list->requests[i].missing);
	}
	free(list->requests);
}
