/* Sums the passengers of each ferry line. A day has few lines and many crossings, so that names are interned first and
 * then counted in a small open hash table. */
#include "latchwork.h"

#define SLOTS 61

typedef struct {
  const char *name;
  int64_t passengers;
} line_sum;

static const char *names[SLOTS];
static size_t name_count;
static line_sum sums[SLOTS];

/* Returns one copy of each name, so that two names are equal if their pointers are. */
static const char *intern(const char *name) {
  for (size_t i = 0; i < name_count; i++)
    if (strcmp(names[i], name) == 0) return names[i];
  if (name_count == SLOTS - 1) return NULL;
  return names[name_count++] = name;
}

static line_sum *find(const char *name) {
  size_t at = ((uintptr_t)name >> 4) % SLOTS;
  while (sums[at].name && sums[at].name != name) at = (at + 1) % SLOTS;
  sums[at].name = name;
  return &sums[at];
}

static bool summarize(latch_json input, latch_answer *answer) {
  latch_json crossings = latch_json_member(input, "crossings");
  size_t count = latch_json_count(crossings);
  name_count = 0;
  memset(sums, 0, sizeof sums);
  for (size_t i = 0; i < count; i++) {
    latch_json crossing = latch_json_item(crossings, i);
    char *line = latch_json_string(latch_json_member(crossing, "line"));
    int64_t passengers;
    if (!line || !latch_json_integer(latch_json_member(crossing, "passengers"), &passengers))
      return latch_fail(answer, LATCH_INVALID_INPUT, "crossing %zu has no line or no passengers", i);
    const char *name = intern(line);
    if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d lines", SLOTS - 1);
    find(name)->passengers += passengers;
  }
  latch_put(&answer->result, "{\"lines\":[");
  const char *separator = "";
  for (size_t at = 0; at < SLOTS; at++) {
    if (!sums[at].name) continue;
    latch_putf(&answer->result, "%s{\"line\":", separator);
    latch_put_string(&answer->result, sums[at].name);
    latch_putf(&answer->result, ",\"passengers\":%lld}", (long long)sums[at].passengers);
    separator = ",";
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Ferry.Lines",
  .description = "Sums the passengers of each ferry line.",
  .input = "{\"type\":\"object\",\"properties\":{\"crossings\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
           "\"properties\":{\"line\":{\"type\":\"string\"},\"passengers\":{\"type\":\"integer\",\"minimum\":0,"
           "\"maximum\":5000}},\"required\":[\"line\",\"passengers\"],\"additionalProperties\":false}}},"
           "\"required\":[\"crossings\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"lines\"]}",
  .handler = summarize,
});
