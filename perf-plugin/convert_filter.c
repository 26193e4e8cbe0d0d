// SPDX-License-Identifier: GPL-2.0-only
/* The options that choose what of a recording counts; spelt as perf's. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "convert.h"

/* Append @text's parts, which commas separate, to a list; the parts are the list's. */
static struct swlbr_error *add_names(const char *const **list, size_t *nr, const char *text)
{
	char *copy = strdup(text), *rest = copy, *part;

	if (!copy)
		return swlbr_error_no_memory();
	while ((part = strsep(&rest, ","))) {
		const char **grown = (const char **)*list;

		if (!*part)
			continue;
		grown = reallocarray(grown, *nr + 1, sizeof(*grown));
		part = strdup(part);
		if (!grown || !part) {
			free(copy);
			free(part);
			return swlbr_error_no_memory();
		}
		grown[(*nr)++] = part;
		*list = grown;
	}
	free(copy);
	return NULL;
}

static struct swlbr_error *add_pids(const pid_t **list, size_t *nr, const char *text)
{
	while (*text) {
		pid_t *grown = reallocarray((pid_t *)*list, *nr + 1, sizeof(*grown));
		uint64_t pid;

		if (!grown)
			return swlbr_error_no_memory();
		*list = grown;
		if (!number_at(&text, 10, ",", &pid) || pid > INT32_MAX)
			return swlbr_error_create(SWLBR_ERROR_FORMAT, "'%s' is not a list of ids",
						  text);
		grown[(*nr)++] = (pid_t)pid;
		text += *text == ',';
	}
	return NULL;
}

/* Seconds with up to nine decimals, as perf script prints them; nothing is not a time. */
static bool parse_seconds(const char *text, const char **end_ret, uint64_t *ret)
{
	uint64_t seconds = 0, part = 0, scale = 1000000000;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (seconds > UINT64_MAX / 1000000000 / 10 - 1)
			return false;
		seconds = 10 * seconds + (uint64_t)(*at - '0');
	}
	if (*at == '.') {
		for (at++; *at >= '0' && *at <= '9'; at++) {
			scale /= 10;
			part += scale * (uint64_t)(*at - '0');
		}
	}
	*end_ret = at;
	*ret = seconds * 1000000000 + part;
	return at != text;
}

/* perf's "start,stop", either may be left out. */
static struct swlbr_error *set_time(struct swlbr_stacks_filter *filter, const char *text)
{
	const char *end = text;
	bool fine = true;

	if (*text != ',')
		fine = parse_seconds(text, &end, &filter->time_begin);
	if (fine && *end == ',' && end[1])
		fine = parse_seconds(end + 1, &end, &filter->time_end) && !*end;
	else if (fine)
		fine = !*end || !strcmp(end, ",");
	if (!fine || (filter->time_end && filter->time_end < filter->time_begin))
		return swlbr_error_create(SWLBR_ERROR_FORMAT,
					  "'%s' is not a time (START,STOP in seconds)", text);
	return NULL;
}

struct swlbr_error *convert_filter_option(struct convert *convert, enum convert_filter option,
					  const char *text)
{
	struct swlbr_stacks_filter *filter = &convert->filter;

	switch (option) {
	case CONVERT_FILTER_PID:
		return add_pids(&filter->pids, &filter->nr_pids, text);
	case CONVERT_FILTER_TID:
		return add_pids(&filter->tids, &filter->nr_tids, text);
	case CONVERT_FILTER_COMM:
		return add_names(&filter->comms, &filter->nr_comms, text);
	case CONVERT_FILTER_EVENT:
		return add_names(&filter->events, &filter->nr_events, text);
	case CONVERT_FILTER_DSO:
		return add_names(&filter->dsos, &filter->nr_dsos, text);
	case CONVERT_FILTER_TIME:
		return set_time(filter, text);
	}
	return NULL;
}

bool convert_is_filtered(const struct convert *convert)
{
	const struct swlbr_stacks_filter *filter = &convert->filter;

	return filter->nr_pids || filter->nr_tids || filter->nr_comms || filter->nr_events ||
	       filter->nr_dsos || filter->time_begin || filter->time_end;
}

static void free_names(const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free((char *)list[i]);
	free((void *)list);
}

void convert_free_filter(struct convert *convert)
{
	struct swlbr_stacks_filter *filter = &convert->filter;

	free((pid_t *)filter->pids);
	free((pid_t *)filter->tids);
	free_names(filter->comms, filter->nr_comms);
	free_names(filter->events, filter->nr_events);
	free_names(filter->dsos, filter->nr_dsos);
}
