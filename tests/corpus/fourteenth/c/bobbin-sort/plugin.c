/* Lace.Wind: lists the bobbins that have to be wound for a lace pattern, grouped by thread. */
#include "latchwork.h"

enum { MOST = 256 };

typedef struct {
  const char *thread; /* shared by all pairs with this thread */
  int64_t bobbins;
  int64_t metres;
} pair;

static pair pairs[MOST];
static const char *threads[MOST];
static size_t thread_count;

/* Returns the one copy of a name, so that equal names can be compared as pointers. */
static const char *shared_name(const char *name) {
  for (size_t i = 0; i < thread_count; i++)
    if (strcmp(threads[i], name) == 0) return threads[i];
  return threads[thread_count++] = name;
}

/* Brings pairs of one thread together, the longest first. */
static int by_thread(const void *left, const void *right) {
  const pair *a = left, *b = right;
  if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
  if (a->metres != b->metres) return a->metres > b->metres ? -1 : 1;
  return a->bobbins < b->bobbins ? -1 : a->bobbins > b->bobbins;
}

static bool wind(latch_json input, latch_answer *answer) {
  latch_json given = latch_json_member(input, "pairs");
  size_t count = latch_json_count(given);
  if (count < 1 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "a pattern has 1 to %d pairs", MOST);
  thread_count = 0;
  for (size_t i = 0; i < count; i++) {
    latch_json one = latch_json_item(given, i);
    char *thread = latch_json_string(latch_json_member(one, "thread"));
    if (!thread || !*thread) return latch_fail(answer, LATCH_INVALID_INPUT, "pair %zu has no thread", i + 1);
    pairs[i].thread = shared_name(thread);
    if (!latch_json_integer(latch_json_member(one, "bobbins"), &pairs[i].bobbins) ||
        !latch_json_integer(latch_json_member(one, "metres"), &pairs[i].metres))
      return latch_fail(answer, LATCH_INVALID_INPUT, "pair %zu has no bobbins or metres", i + 1);
  }
  qsort(pairs, count, sizeof pairs[0], by_thread);

  int64_t total = 0;
  latch_put(&answer->result, "{\"order\":[");
  for (size_t i = 0; i < count; i++) {
    total += pairs[i].bobbins * pairs[i].metres;
    latch_putf(&answer->result, "%s{\"thread\":", i ? "," : "");
    latch_put_string(&answer->result, pairs[i].thread);
    latch_putf(&answer->result, ",\"bobbins\":%lld,\"metres\":%lld}", (long long)pairs[i].bobbins, (long long)pairs[i].metres);
  }
  latch_putf(&answer->result, "],\"threads\":%zu,\"metres\":%lld}", thread_count, (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "Lace.Wind",
  .description = "Lists the bobbins of a lace pattern, grouped by thread.",
  .input = "{\"type\":\"object\",\"required\":[\"pairs\"],\"additionalProperties\":false,\"properties\":{"
           "\"pairs\":{\"type\":\"array\",\"maxItems\":256,\"items\":{\"type\":\"object\",\"required\":[\"thread\",\"bobbins\",\"metres\"],"
           "\"properties\":{\"thread\":{\"type\":\"string\",\"maxLength\":60},"
           "\"bobbins\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":500},"
           "\"metres\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":500}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"order\",\"threads\",\"metres\"]}",
  .handler = wind,
});
