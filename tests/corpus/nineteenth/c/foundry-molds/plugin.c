/* Mold.Reserve: reserves the casting molds of an order at the foundry, one pattern after the other. */
#include "latchwork.h"

/* The foundry pours on working days only. */
static const char *DAYS[] = { "monday", "tuesday", "wednesday", "thursday", "friday" };

static bool pours_on(const char *day) {
  for (size_t i = 0; i < sizeof DAYS / sizeof *DAYS; i++)
    if (strcmp(DAYS[i], day) == 0) return true;
  return false;
}

/* Returns the arguments of the call that reserves one pattern. */
static char *wanted(const char *order, const char *day, const char *pattern, int64_t count) {
  latch_text args = { 0 };
  latch_put(&args, "{\"order\":");
  latch_put_string(&args, order);
  latch_put(&args, ",\"day\":");
  latch_put_string(&args, day);
  latch_put(&args, ",\"pattern\":");
  latch_put_string(&args, pattern);
  latch_putf(&args, ",\"count\":%lld}", (long long)count);
  return args.bytes;
}

/* The action key lets the foundry order of the same day be reserved only once, also by another job. */
static char *action(const char *order, const char *day) {
  latch_text key = { 0 };
  latch_putf(&key, "foundry:%s:%s", order, day);
  return key.bytes;
}

static bool reserve(latch_json input, latch_answer *answer) {
  char *order = latch_json_string(latch_json_member(input, "order"));
  char *day = latch_json_string(latch_json_member(input, "day"));
  latch_json molds = latch_json_member(input, "molds");
  size_t count = latch_json_count(molds);
  if (!order || !*order || !day) return latch_fail(answer, LATCH_INVALID_INPUT, "order or day is missing");
  if (!pours_on(day)) return latch_fail(answer, LATCH_INVALID_INPUT, "the foundry does not pour on %s", day);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "order %s has no molds", order);
  for (size_t i = 0; i < count; i++) {
    latch_json mold = latch_json_item(molds, i);
    int64_t pieces;
    if (!latch_json_string(latch_json_member(mold, "pattern")) ||
        !latch_json_integer(latch_json_member(mold, "count"), &pieces) || pieces < 1)
      return latch_fail(answer, LATCH_INVALID_INPUT, "order %s: mold %zu is incomplete", order, i + 1);
  }

  char *key = action(order, day);
  int64_t total = 0;
  latch_text boxes = { 0 };
  latch_put(&boxes, "");
  for (size_t i = 0; i < count; i++) {
    latch_json mold = latch_json_item(molds, i);
    int64_t pieces = 0;
    latch_json_integer(latch_json_member(mold, "count"), &pieces);
    char *pattern = latch_json_string(latch_json_member(mold, "pattern"));
    char *reply = latch_call(answer, "Foundry.Reserve", wanted(order, day, pattern, pieces), key);
    if (!reply) return false;
    latch_putf(&boxes, "%s{\"pattern\":", i ? "," : "");
    latch_put_string(&boxes, pattern);
    latch_putf(&boxes, ",\"box\":%s}", latch_json_text(latch_json_member(latch_json_of(reply), "box")));
    total += pieces;
  }
  latch_put(&answer->result, "{\"order\":");
  latch_put_string(&answer->result, order);
  latch_putf(&answer->result, ",\"pieces\":%lld,\"boxes\":[%s]}", (long long)total, boxes.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Mold.Reserve",
  .description = "Reserves the casting molds of an order at the foundry.",
  .input = "{\"type\":\"object\",\"properties\":{\"order\":{\"type\":\"string\"},\"day\":{\"type\":\"string\"},"
           "\"molds\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},\"maxItems\":30}},"
           "\"required\":[\"order\",\"day\",\"molds\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"order\",\"pieces\",\"boxes\"]}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = reserve,
});
