#include "latchwork.h"

static bool parse(latch_json input, latch_answer *answer) {
  char *query = latch_json_string(latch_json_member(input, "query"));
  if (!query) return latch_fail(answer, LATCH_INVALID_INPUT, "query is missing");
  if (*query == '?') query++;
  size_t count = 0;
  latch_put(&answer->result, "{\"parameters\":{");
  for (char *pair = strtok(query, "&"); pair; pair = strtok(NULL, "&"), count++) {
    char *value = strchr(pair, '=');
    if (value) *value++ = 0;
    if (count) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, pair);
    latch_put(&answer->result, ":");
    latch_put_string(&answer->result, value ? value : "");
  }
  latch_putf(&answer->result, "},\"count\":%zu}", count);
  return true;
}

LATCH_PLUGIN({
  .name = "Query.Parse",
  .description = "Parses the query of an address.",
  .input = "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\"}},"
           "\"required\":[\"query\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"parameters\",\"count\"]}",
  .determinism = LATCH_PURE,
  .handler = parse,
});
