#include "latchwork.h"

typedef struct {
  char *company;
  size_t count;
  latch_text names; /* JSON strings, separated by commas */
} group;

/* The largest group comes first. */
static int by_size(const void *left, const void *right) {
  const group *a = left, *b = right;
  if (a->count != b->count) return a->count > b->count ? -1 : 1;
  return (a->company > b->company) - (a->company < b->company);
}

static group *group_of(group *groups, size_t *made, char *company) {
  for (size_t i = 0; i < *made; i++)
    if (strcmp(groups[i].company, company) == 0) return &groups[i];
  groups[*made] = (group){ .company = company };
  return &groups[(*made)++];
}

static bool print(latch_json input, latch_answer *answer) {
  latch_json visitors = latch_json_member(input, "visitors");
  char *fallback = latch_json_string(latch_json_member(input, "host"));
  size_t count = latch_json_count(visitors), made = 0;
  group *groups = latch_room(count * sizeof *groups);
  for (size_t i = 0; i < count; i++) {
    latch_json visitor = latch_json_item(visitors, i), company = latch_json_member(visitor, "company");
    char *name = latch_json_string(latch_json_member(visitor, "name"));
    if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "visitor %zu has no name", i + 1);
    /* A visitor without a company is a guest of the host. */
    char *from = company.at ? latch_json_string(company) : fallback;
    if (!from) return latch_fail(answer, LATCH_INVALID_INPUT, "visitor %zu has no company and no host", i + 1);
    group *g = group_of(groups, &made, from);
    if (g->count++) latch_put(&g->names, ",");
    latch_put_string(&g->names, name);
  }
  if (made) qsort(groups, made, sizeof *groups, by_size);

  latch_put(&answer->result, "{\"sheets\":[");
  for (size_t i = 0; i < made; i++) {
    latch_put(&answer->result, i ? ",{\"sheet\":" : "{\"sheet\":");
    latch_putf(&answer->result, "%zu,\"company\":", i + 1);
    latch_put_string(&answer->result, groups[i].company);
    latch_putf(&answer->result, ",\"names\":[%s]}", groups[i].names.bytes);
  }
  latch_putf(&answer->result, "],\"badges\":%zu}", count);
  return true;
}

LATCH_PLUGIN({
  .name = "Badge.Print",
  .description = "Arranges the badges of visitors on one sheet for each company, the largest company first.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"host\":{\"type\":\"string\",\"maxLength\":80},"
           "\"visitors\":{\"type\":\"array\",\"maxItems\":200,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"name\":{\"type\":\"string\",\"maxLength\":80},\"company\":{\"type\":\"string\",\"maxLength\":80}},"
           "\"required\":[\"name\"],\"additionalProperties\":false}}},"
           "\"required\":[\"visitors\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"sheets\",\"badges\"],\"properties\":{\"sheets\":{\"type\":\"array\"},"
            "\"badges\":{\"type\":\"integer\"}}}",
  .handler = print,
});
