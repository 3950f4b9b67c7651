/* Flight.Pour: draws the wines of a blind tasting and asks the cellar for each of them. */
#include "latchwork.h"

#include <time.h>

#define MOST 60
#define TRIES 2

/* Bottles in the cellar, or -1 if the cellar cannot say. The host has repeated the call already; one more round is
 * enough. */
static int bottles(const char *wine, latch_answer *answer) {
  latch_text args = { 0 };
  latch_put(&args, "{\"wine\":");
  latch_put_string(&args, wine);
  latch_put(&args, "}");
  for (int i = 0; i < TRIES; i++) {
    char *stock = latch_call(answer, "Cellar.Stock", args.bytes, NULL);
    int64_t count;
    if (stock && latch_json_integer(latch_json_member(latch_json_of(stock), "bottles"), &count)) return count > 0 ? 1 : 0;
  }
  return -1;
}

static bool pour(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "wines");
  size_t count = latch_json_count(list);
  int64_t pours;
  if (count > MOST || !latch_json_integer(latch_json_member(input, "pours"), &pours))
    return latch_fail(answer, LATCH_INVALID_INPUT, "at most %d wines", MOST);

  char *wines[MOST];
  for (size_t i = 0; i < count; i++) {
    wines[i] = latch_json_string(latch_json_item(list, i));
    if (!wines[i]) return latch_fail(answer, LATCH_INVALID_INPUT, "wine %zu cannot be read", i + 1);
  }
  for (size_t i = count; i > 1; i--) {
    size_t other = latch_below((uint32_t)i);
    char *moved = wines[i - 1];
    wines[i - 1] = wines[other];
    wines[other] = moved;
  }

  char at[32];
  time_t now = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%d", gmtime(&now));
  int poured = 0, unsure = 0;
  latch_put(&answer->result, "{\"flight\":[");
  for (size_t i = 0; i < count && poured < pours; i++) {
    int there = bottles(wines[i], answer);
    unsure += there < 0;
    if (there <= 0) continue;
    latch_putf(&answer->result, "%s{\"glass\":\"%c\",\"wine\":", poured ? "," : "", 'A' + poured);
    latch_put_string(&answer->result, wines[i]);
    latch_put(&answer->result, "}");
    poured++;
  }
  latch_putf(&answer->result, "],\"unsure\":%d,\"drawn_on\":\"%s\"}", unsure, at);
  return true;
}

LATCH_PLUGIN({
  .name = "Flight.Pour",
  .description = "Draws the wines of a blind tasting from those in the cellar.",
  .input = "{\"type\":\"object\",\"properties\":{\"pours\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":12},"
           "\"wines\":{\"type\":\"array\",\"maxItems\":60,\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":100}}},"
           "\"required\":[\"pours\",\"wines\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"flight\",\"unsure\",\"drawn_on\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = pour,
});
