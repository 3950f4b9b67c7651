/* Reads the levels of a river gauge from the archive, page by page, and summarizes them. */
#include "latchwork.h"

#include <unistd.h>

enum { MOST_PAGES = 200 };

typedef struct {
  double low, high, sum;
  int count;
} summary;

/* Asks for one page. The archive answers with a failure while its tapes are being changed, so wait for it. */
static char *page(const char *gauge, const char *cursor, latch_answer *answer) {
  latch_text args = { 0 };
  latch_put(&args, "{\"gauge\":");
  latch_put_string(&args, gauge);
  if (cursor) {
    latch_put(&args, ",\"cursor\":");
    latch_put_string(&args, cursor);
  }
  latch_put(&args, "}");
  for (unsigned pause = 30; ; pause = pause < 900 ? pause * 2 : 900) {
    char *got = latch_call(answer, "Archive.Page", args.bytes, NULL);
    if (got) return got;
    if (answer->code != LATCH_DEPENDENCY_UNAVAILABLE && answer->code != LATCH_RATE_LIMIT) return NULL;
    latch_log(LATCH_INFO, "the archive is busy, pausing for %u s", pause);
    sleep(pause);
  }
}

static bool add(latch_json levels, summary *all) {
  size_t count = latch_json_count(levels);
  for (size_t i = 0; i < count; i++) {
    double level;
    if (!latch_json_number(latch_json_item(levels, i), &level)) return false;
    if (!all->count || level < all->low) all->low = level;
    if (!all->count || level > all->high) all->high = level;
    all->sum += level;
    all->count++;
  }
  return true;
}

static bool summarize(latch_json input, latch_answer *answer) {
  char *gauge = latch_json_string(latch_json_member(input, "gauge"));
  if (!gauge || !*gauge) return latch_fail(answer, LATCH_INVALID_INPUT, "the gauge has no name");
  summary all = { 0 };
  char *cursor = NULL;
  int pages = 0;
  do {
    if (pages == MOST_PAGES) return latch_fail(answer, LATCH_INVALID_INPUT, "%s has more than %d pages", gauge, MOST_PAGES);
    char *got = page(gauge, cursor, answer);
    if (!got) return false;
    pages++;
    if (!add(latch_json_member(latch_json_of(got), "levels"), &all))
      return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "page %d of %s has a level that is no number", pages, gauge);
    cursor = latch_json_string(latch_json_member(latch_json_of(got), "next"));
  } while (cursor);

  if (!all.count) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "%s has no levels", gauge);
  latch_putf(&answer->result, "{\"pages\":%d,\"levels\":%d,\"low\":", pages, all.count);
  latch_put_number(&answer->result, all.low);
  latch_put(&answer->result, ",\"high\":");
  latch_put_number(&answer->result, all.high);
  latch_put(&answer->result, ",\"mean\":");
  latch_put_number(&answer->result, all.sum / all.count);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Gauge.Summarize",
  .description = "Summarizes the archived levels of a river gauge.",
  .input = "{\"type\":\"object\",\"required\":[\"gauge\"],\"properties\":{\"gauge\":{\"type\":\"string\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"pages\",\"levels\",\"low\",\"high\",\"mean\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = summarize,
});
