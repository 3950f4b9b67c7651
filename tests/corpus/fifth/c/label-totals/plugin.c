/* Sums amounts by label for a receipt. The result has one member for each label. */
#include "latchwork.h"

#include <ctype.h>

#define MOST 100

typedef struct {
  const char *label;
  int64_t cents;
} total;

/* Writes a label without the blanks that the till pads it with. */
static void put_label(latch_text *text, const char *label) {
  while (isspace((unsigned char)*label)) label++;
  size_t len = strlen(label);
  while (len > 0 && isspace((unsigned char)label[len - 1])) len--;
  latch_text plain = { 0 };
  latch_put_bytes(&plain, label, len);
  latch_put_string(text, plain.bytes);
}

static bool sum(latch_json input, latch_answer *answer) {
  static total totals[MOST];
  size_t used = 0;
  latch_json entries = latch_json_member(input, "entries");
  size_t count = latch_json_count(entries);
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d entries", MOST);
  for (size_t i = 0; i < count; i++) {
    latch_json entry = latch_json_item(entries, i);
    char *label = latch_json_string(latch_json_member(entry, "label"));
    int64_t cents;
    if (!label || !latch_json_integer(latch_json_member(entry, "cents"), &cents))
      return latch_fail(answer, LATCH_INVALID_INPUT, "entry %zu is incomplete", i);
    size_t at = 0;
    while (at < used && strcmp(totals[at].label, label) != 0) at++;
    if (at == used) totals[used++] = (total){ label, 0 };
    totals[at].cents += cents;
  }
  latch_put(&answer->result, "{\"totals\":{");
  for (size_t at = 0; at < used; at++) {
    if (at) latch_put(&answer->result, ",");
    put_label(&answer->result, totals[at].label);
    latch_putf(&answer->result, ":%lld", (long long)totals[at].cents);
  }
  latch_put(&answer->result, "}}");
  return true;
}

LATCH_PLUGIN({
  .name = "Label.Totals",
  .description = "Sums the amounts of each label of a receipt.",
  .input = "{\"type\":\"object\",\"properties\":{\"entries\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
           "\"properties\":{\"label\":{\"type\":\"string\"},\"cents\":{\"type\":\"integer\",\"minimum\":-1000000,"
           "\"maximum\":1000000}},\"required\":[\"label\",\"cents\"],\"additionalProperties\":false}}},"
           "\"required\":[\"entries\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"totals\":{\"type\":\"object\",\"additionalProperties\":"
            "{\"type\":\"integer\"}}},\"required\":[\"totals\"]}",
  .handler = sum,
});
