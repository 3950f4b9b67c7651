/* Computes the fare of a ferry crossing. The tariff is in the configuration of the plugin, so equal arguments give equal
 * fares under one configuration:
 *
 *   [plugin.config]
 *   tariff = { adult = 480, child = 240, bicycle = 150, car = 1900, metre = 320, night_percent = 25 }
 */
#include "latchwork.h"

enum { FREE_METRES = 5, MOST_CENTS = 1000000 };

/* Reads a price of the tariff: whole cents, from 0 to 10000 in the currency of the line. */
static bool price(latch_json tariff, const char *name, int64_t *cents, latch_answer *answer) {
  if (latch_json_integer(latch_json_member(tariff, name), cents) && *cents >= 0 && *cents <= MOST_CENTS) return true;
  return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "config key tariff has no valid price for %s", name);
}

/* Reads an optional number of the arguments. The schema bounds it. */
static int64_t number(latch_json args, const char *name) {
  int64_t count;
  return latch_json_integer(latch_json_member(args, name), &count) ? count : 0;
}

static void item(latch_text *items, const char *what, int64_t count, int64_t each, int64_t *total) {
  if (count == 0) return;
  latch_putf(items, "%s{\"what\":\"%s\",\"count\":%lld,\"cents\":%lld}", items->len ? "," : "", what, (long long)count, (long long)(count * each));
  *total += count * each;
}

static bool quote(latch_json args, latch_answer *answer) {
  static const char *const sold[] = { "adult", "child", "bicycle", "car" };
  static const char *const counted[] = { "adults", "children", "bicycles", "cars" };
  char *text = latch_config("tariff");
  if (!text) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "config key tariff is missing");
  latch_json tariff = latch_json_of(text);
  if (!latch_json_is(tariff, '{')) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "config key tariff is not a table");

  latch_text items = { 0 };
  int64_t total = 0, cents, percent = 0;
  for (size_t i = 0; i < sizeof sold / sizeof sold[0]; i++) {
    if (!price(tariff, sold[i], &cents, answer)) return false;
    item(&items, sold[i], number(args, counted[i]), cents, &total);
  }
  int64_t metres = number(args, "trailer_metres");
  if (metres > 0 && number(args, "cars") == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "a trailer needs a car");
  if (metres > FREE_METRES) {
    if (!price(tariff, "metre", &cents, answer)) return false;
    item(&items, "metre", metres - FREE_METRES, cents, &total);
  }
  bool night = false;
  latch_json_bool(latch_json_member(args, "night"), &night);
  if (night) {
    if (!price(tariff, "night_percent", &percent, answer)) return false;
    if (percent > 100) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "night_percent of the tariff is above 100");
  }
  /* Halves of a cent are rounded up. */
  int64_t extra = (total * percent + 50) / 100;
  latch_putf(&answer->result, "{\"items\":[%s],\"night_cents\":%lld,\"total_cents\":%lld}", items.bytes ? items.bytes : "",
             (long long)extra, (long long)(total + extra));
  return true;
}

#define COUNT "{\"type\":\"integer\",\"minimum\":0,\"maximum\":500}"

LATCH_PLUGIN({
  .name = "Fare.Quote",
  .description = "Computes the fare of a crossing from the tariff of the configuration.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"adults\":" COUNT ",\"children\":" COUNT
           ",\"bicycles\":" COUNT ",\"cars\":" COUNT ",\"trailer_metres\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":40},"
           "\"night\":{\"type\":\"boolean\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"items\",\"night_cents\",\"total_cents\"],\"properties\":{"
            "\"night_cents\":{\"type\":\"integer\"},\"total_cents\":{\"type\":\"integer\"},\"items\":{\"type\":\"array\","
            "\"items\":{\"type\":\"object\",\"required\":[\"what\",\"count\",\"cents\"]}}}}",
  .determinism = LATCH_PURE,
  .handler = quote,
});
