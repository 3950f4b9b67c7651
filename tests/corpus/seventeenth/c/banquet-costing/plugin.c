/* Banquet.Cost: costs a banquet from the price list of the kitchen. */
#include "latchwork.h"

typedef struct {
  char *name;
  int64_t cents;
} dish;

/* Reads one line of the price list, such as `beetroot soup; 420`. Returns false for any other line. */
static bool read_dish(char *line, dish *into) {
  char *mark = strchr(line, ';');
  if (!mark) return false;
  *mark = 0;
  char *end;
  into->name = line;
  into->cents = strtol(mark + 1, &end, 10);
  while (*end == ' ' || *end == '\r') end++;
  return *end == 0 && into->cents > 0 && into->cents < 10000000;
}

/* Returns the price of a dish for one guest, or 0 if the list does not have it. */
static int64_t price_of(const char *list, const char *wanted) {
  latch_text copy = { 0 };
  latch_put(&copy, list);
  char *rest = copy.bytes, *line;
  while ((line = strsep(&rest, "\n"))) {
    dish found;
    if (read_dish(line, &found) && strcmp(found.name, wanted) == 0) return found.cents;
  }
  return 0;
}

/* Reads the price list through the file tool. */
static char *price_list(latch_json input, latch_answer *answer) {
  latch_text args = { 0 };
  latch_put(&args, "{\"path\":");
  latch_put_string(&args, latch_json_string(latch_json_member(input, "prices")));
  latch_put(&args, "}");
  char *reply = latch_call(answer, "File.Read", args.bytes, NULL);
  if (!reply) return NULL;
  latch_json file = latch_json_of(reply);
  char *text = latch_json_string(latch_json_member(file, "text"));
  char *digest = latch_json_string(latch_json_member(file, "sha256"));
  if (!text || !digest) {
    latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the file tool gave no text or no digest");
    return NULL;
  }
  char *expected = latch_json_string(latch_json_member(input, "sha256"));
  if (expected && strcmp(expected, digest) != 0) {
    latch_fail(answer, LATCH_INVALID_INPUT, "the price list is not the agreed one");
    return NULL;
  }
  return text;
}

static bool cost(latch_json input, latch_answer *answer) {
  int64_t guests;
  if (!latch_json_string(latch_json_member(input, "prices")) ||
      !latch_json_integer(latch_json_member(input, "guests"), &guests))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the price list or the number of guests is missing");
  char *list = price_list(input, answer);
  if (!list) return false;

  latch_json dishes = latch_json_member(input, "dishes");
  size_t count = latch_json_count(dishes);
  int64_t total = 0;
  latch_put(&answer->result, "{\"dishes\":[");
  for (size_t i = 0; i < count; i++) {
    char *name = latch_json_string(latch_json_item(dishes, i));
    if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "dish %zu has no name", i + 1);
    int64_t cents = price_of(list, name);
    if (!cents) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the price list has no %s", name);
    total += cents * guests;
    latch_put(&answer->result, i ? ",{\"dish\":" : "{\"dish\":");
    latch_put_string(&answer->result, name);
    latch_putf(&answer->result, ",\"cents\":%lld}", (long long)(cents * guests));
  }
  latch_putf(&answer->result, "],\"total_cents\":%lld}", (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "Banquet.Cost",
  .description = "Costs a banquet from the price list of the kitchen.",
  .input = "{\"type\":\"object\",\"required\":[\"prices\",\"guests\",\"dishes\"],\"properties\":{"
           "\"prices\":{\"type\":\"string\",\"minLength\":1},"
           "\"sha256\":{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{64}$\"},"
           "\"guests\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5000},"
           "\"dishes\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":40,\"items\":{\"type\":\"string\"}}},"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"dishes\",\"total_cents\"]}",
  .handler = cost,
});
