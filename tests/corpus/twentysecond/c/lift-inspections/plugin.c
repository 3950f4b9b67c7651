#include "latchwork.h"

#include <ctype.h>

/* Orders the yearly inspection of each lift of a building. */

typedef struct {
  char *lift, *unit, *remark;
} visit;

/* Lift ids come from several lists: "L 2", "l2" and "L-2" are the lift L2. */
static char *unit_of(const char *lift) {
  latch_text unit = { 0 };
  latch_put(&unit, "");
  for (const char *c = lift; *c; c++) {
    char upper = (char)toupper((unsigned char)*c);
    if (*c != ' ' && *c != '-') latch_put_bytes(&unit, &upper, 1);
  }
  return unit.bytes;
}

static char *key_of(const char *building, const char *unit, int64_t year) {
  latch_text key = { 0 };
  latch_put(&key, "[");
  latch_put_string(&key, building);
  latch_put(&key, ",");
  latch_put_string(&key, unit);
  latch_putf(&key, ",%lld]", (long long)year);
  return key.bytes;
}

static bool order(latch_json input, latch_answer *answer) {
  char *building = latch_json_string(latch_json_member(input, "building"));
  int64_t year = 0;
  if (!building || !latch_json_integer(latch_json_member(input, "year"), &year))
    return latch_fail(answer, LATCH_INVALID_INPUT, "building or year is missing");

  visit visits[40];
  size_t count = 0;
  latch_json lifts = latch_json_member(input, "lifts");
  for (latch_json item; (item = latch_json_item(lifts, count)).at; count++) {
    visit made = { .lift = latch_json_string(latch_json_member(item, "lift")),
                   .remark = latch_json_string(latch_json_member(item, "remark")) };
    if (!made.lift) return latch_fail(answer, LATCH_INVALID_INPUT, "lift %zu has no id", count + 1);
    made.unit = unit_of(made.lift);
    if (!*made.unit) return latch_fail(answer, LATCH_INVALID_INPUT, "lift %zu has an empty id", count + 1);
    for (size_t i = 0; i < count; i++)
      if (strcmp(visits[i].lift, made.lift) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "lift %s is listed twice", made.lift);
    visits[count] = made;
  }

  latch_put(&answer->result, "{\"orders\":[");
  for (size_t i = 0; i < count; i++) {
    latch_text args = { 0 };
    latch_put(&args, "{\"building\":");
    latch_put_string(&args, building);
    latch_put(&args, ",\"unit\":");
    latch_put_string(&args, visits[i].unit);
    latch_putf(&args, ",\"year\":%lld,\"remark\":", (long long)year);
    latch_put_string(&args, visits[i].remark ? visits[i].remark : "");
    latch_put(&args, "}");
    char *made = latch_call(answer, "Inspection.Order", args.bytes, key_of(building, visits[i].unit, year));
    if (!made) return false;
    char *number = latch_json_string(latch_json_member(latch_json_of(made), "number"));
    if (!number) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the order of %s has no number", visits[i].unit);
    if (i) latch_put(&answer->result, ",");
    latch_put(&answer->result, "{\"lift\":");
    latch_put_string(&answer->result, visits[i].lift);
    latch_put(&answer->result, ",\"number\":");
    latch_put_string(&answer->result, number);
    latch_put(&answer->result, "}");
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "LiftYear.Order",
  .description = "Orders the yearly inspection of each lift of a building.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"building\",\"year\",\"lifts\"],\"properties\":{"
           "\"building\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
           "\"year\":{\"type\":\"integer\",\"minimum\":2020,\"maximum\":2100},"
           "\"lifts\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":40,\"items\":{\"type\":\"object\","
           "\"additionalProperties\":false,\"required\":[\"lift\"],\"properties\":{"
           "\"lift\":{\"type\":\"string\",\"maxLength\":20},\"remark\":{\"type\":\"string\",\"maxLength\":200}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"orders\"],\"properties\":{\"orders\":{\"type\":\"array\",\"items\":{"
            "\"type\":\"object\",\"required\":[\"lift\",\"number\"]}}}}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = order,
});
