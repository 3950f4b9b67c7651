/* Sums the entries of a parish cash book by fund. Fund names are interned, so that equal names have one copy and can be
 * compared by pointer. */
#include "latchwork.h"

enum { SLOTS = 512, MOST_ENTRIES = 240 };

typedef struct {
  const char *fund;
  int64_t cents;
  int entries;
} total;

static const char *names[SLOTS];
static size_t name_count;
static total totals[SLOTS];

static const char *intern(const char *name) {
  for (size_t i = 0; i < name_count; i++)
    if (strcmp(names[i], name) == 0) return names[i];
  return names[name_count++] = latch_copy(name);
}

/* Finds the total of an interned name. The table is larger than the longest cash book, so a free slot exists. */
static total *total_of(const char *fund) {
  size_t slot = ((uintptr_t)fund >> 3) * 2654435761u % SLOTS;
  while (totals[slot].fund && totals[slot].fund != fund) slot = (slot + 1) % SLOTS;
  totals[slot].fund = fund;
  return &totals[slot];
}

static bool sum_up(latch_json input, latch_answer *answer) {
  latch_json entries = latch_json_member(input, "entries");
  size_t count = latch_json_count(entries);
  if (count > MOST_ENTRIES) return latch_fail(answer, LATCH_INVALID_INPUT, "the cash book has too many entries");

  int64_t balance = 0;
  for (size_t i = 0; i < count; i++) {
    latch_json entry = latch_json_item(entries, i);
    char *fund = latch_json_string(latch_json_member(entry, "fund"));
    int64_t cents;
    if (!fund || !*fund) return latch_fail(answer, LATCH_INVALID_INPUT, "entry %zu has no fund", i + 1);
    if (!latch_json_integer(latch_json_member(entry, "cents"), &cents))
      return latch_fail(answer, LATCH_INVALID_INPUT, "entry %zu has no amount", i + 1);
    total *sum = total_of(intern(fund));
    sum->cents += cents;
    sum->entries++;
    balance += cents;
  }

  latch_put(&answer->result, "{\"funds\":[");
  bool first = true;
  for (size_t i = 0; i < SLOTS; i++) {
    if (!totals[i].fund) continue;
    latch_put(&answer->result, first ? "{\"fund\":" : ",{\"fund\":");
    latch_put_string(&answer->result, totals[i].fund);
    latch_putf(&answer->result, ",\"entries\":%d,\"cents\":%lld}", totals[i].entries, (long long)totals[i].cents);
    first = false;
  }
  latch_putf(&answer->result, "],\"balance_cents\":%lld}", (long long)balance);
  return true;
}

LATCH_PLUGIN({
  .name = "Fund.SumUp",
  .description = "Sums the entries of a cash book by fund.",
  .input = "{\"type\":\"object\",\"required\":[\"entries\"],\"additionalProperties\":false,\"properties\":{"
           "\"entries\":{\"type\":\"array\",\"maxItems\":240,\"items\":{\"type\":\"object\",\"required\":[\"fund\",\"cents\"],"
           "\"additionalProperties\":false,\"properties\":{\"fund\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":40},"
           "\"cents\":{\"type\":\"integer\",\"minimum\":-100000000,\"maximum\":100000000}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"funds\",\"balance_cents\"],\"properties\":{\"balance_cents\":{\"type\":\"integer\"},"
            "\"funds\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"fund\",\"entries\",\"cents\"]}}}}",
  .handler = sum_up,
});
