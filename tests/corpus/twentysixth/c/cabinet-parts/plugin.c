#include "latchwork.h"

/* Lists the parts of a piece of furniture: a tree of assemblies becomes one sorted list with counts and a price. */

enum { MAX_PARTS = 2000 };

typedef struct {
  char *name;
  int64_t cents, count;
} part;

typedef struct {
  part parts[MAX_PARTS];
  size_t count;
  latch_answer *answer;
} bill;

static const int64_t most = 9007199254740991;

/* Adds the parts of one node, `times` times. A node has either parts of its own or a price. The recursion follows the
 * nesting of the input, which has at most 64 levels. */
static bool add(bill *all, latch_json node, int64_t times) {
  latch_answer *answer = all->answer;
  char *name = latch_json_string(latch_json_member(node, "name"));
  if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "a part has no name");
  int64_t count = 1, cents = 0;
  latch_json given = latch_json_member(node, "count");
  if (given.at && (!latch_json_integer(given, &count) || count < 1 || count > 1000000))
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s has a wrong count", name);
  if (times > most / count) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is needed too often", name);
  times *= count;

  latch_json inner = latch_json_member(node, "parts");
  if (latch_json_is(inner, '[')) {
    const char *at = latch_json_space(inner.at + 1);
    if (*at == ']') return latch_fail(answer, LATCH_INVALID_INPUT, "%s is empty", name);
    while (*at && *at != ']') {
      if (!add(all, (latch_json){ at }, times)) return false;
      at = latch_json_space(latch_json_skip(at));
      if (*at == ',') at = latch_json_space(at + 1);
    }
    return true;
  }
  if (!latch_json_integer(latch_json_member(node, "cents"), &cents) || cents < 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s has neither parts nor a price", name);
  if (all->count == MAX_PARTS) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d parts", MAX_PARTS);
  all->parts[all->count++] = (part){ name, cents, times };
  return true;
}

static int by_name(const void *a, const void *b) {
  const part *one = a, *other = b;
  int names = strcmp(one->name, other->name);
  if (names) return names;
  return one->cents < other->cents ? -1 : one->cents > other->cents;
}

static bool list(latch_json input, latch_answer *answer) {
  static bill all;
  all.count = 0;
  all.answer = answer;
  if (!add(&all, input, 1)) return false;
  qsort(all.parts, all.count, sizeof all.parts[0], by_name);

  /* Parts that compare as equal become one line, so the order in which the sort leaves them does not matter. */
  int64_t total = 0;
  latch_text lines = { 0 };
  for (size_t i = 0; i < all.count; ) {
    const part *first = &all.parts[i];
    int64_t count = 0;
    for (; i < all.count && by_name(first, &all.parts[i]) == 0; i++) {
      if (all.parts[i].count > most - count) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is needed too often", first->name);
      count += all.parts[i].count;
    }
    if (first->cents > 0 && count > (most - total) / first->cents)
      return latch_fail(answer, LATCH_INVALID_INPUT, "the price is too large");
    total += count * first->cents;
    latch_put(&lines, lines.len ? "," : "");
    latch_put(&lines, "{\"name\":");
    latch_put_string(&lines, first->name);
    latch_putf(&lines, ",\"cents\":%lld,\"count\":%lld}", (long long)first->cents, (long long)count);
  }
  latch_putf(&answer->result, "{\"lines\":[%s],\"total_cents\":%lld}", lines.bytes, (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "Cabinet.List",
  .description = "Lists the parts of a piece of furniture with their price.",
  .input = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\"},"
           "\"cents\":{\"type\":\"integer\"},\"parts\":{\"type\":\"array\"}},\"required\":[\"name\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"lines\",\"total_cents\"]}",
  .determinism = LATCH_PURE,
  .handler = list,
});
