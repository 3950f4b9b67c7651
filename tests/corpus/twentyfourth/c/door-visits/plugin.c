#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

typedef struct {
  int64_t house, flat;
} door;

static bool order(latch_json input, latch_answer *answer) {
  char *street = latch_json_string(latch_json_member(input, "street"));
  char *month = latch_json_string(latch_json_member(input, "month"));
  if (!street || !month) return latch_fail(answer, LATCH_INVALID_INPUT, "street and month are texts");
  latch_json list = latch_json_member(input, "doors");
  size_t count = latch_json_count(list);
  door *doors = latch_room(count * sizeof(door));
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    if (!latch_json_integer(latch_json_member(item, "house"), &doors[i].house) ||
        !latch_json_integer(latch_json_member(item, "flat"), &doors[i].flat))
      return latch_fail(answer, LATCH_INVALID_INPUT, "door %zu has no numbers", i);
    /* One visit of a door in a month is enough, so a list that has a door twice is a mistake of the office. */
    for (size_t k = 0; k < i; k++)
      if (doors[k].house == doors[i].house && doors[k].flat == doors[i].flat)
        return latch_fail(answer, LATCH_INVALID_INPUT, "house %lld flat %lld is listed twice", (long long)doors[i].house, (long long)doors[i].flat);
  }

  latch_text visits = { 0 };
  latch_put(&visits, "[");
  for (size_t i = 0; i < count; i++) {
    latch_text args = { 0 }, key = { 0 };
    latch_put(&args, "{\"street\":");
    latch_put_string(&args, street);
    latch_put(&args, ",\"month\":");
    latch_put_string(&args, month);
    latch_putf(&args, ",\"house\":%lld,\"flat\":%lld}", (long long)doors[i].house, (long long)doors[i].flat);
    /* The month is part of the key, because the meters are read every month. */
    latch_put(&key, "[\"visit\",");
    latch_put_string(&key, street);
    latch_put(&key, ",");
    latch_put_string(&key, month);
    latch_putf(&key, ",\"%lld%lld\"]", (long long)doors[i].house, (long long)doors[i].flat);
    char *reply = latch_call(answer, "Visit.Order", args.bytes, key.bytes);
    if (!reply) return false;
    char *visit = latch_json_string(latch_json_member(latch_json_of(reply), "visit"));
    if (!visit) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the order of house %lld flat %lld has no number", (long long)doors[i].house, (long long)doors[i].flat);
    if (i) latch_put(&visits, ",");
    latch_put_string(&visits, visit);
  }
  latch_put(&visits, "]");
  latch_putf(&answer->result, "{\"ordered\":%zu,\"visits\":%s}", count, visits.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Meters.Visit",
  .description = "Orders the monthly meter reading for each door of a street.",
  .input = JSON({"type":"object","required":["street","month","doors"],"additionalProperties":false,"properties":{
    "street":{"type":"string","minLength":1,"maxLength":80},
    "month":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}$"},
    "doors":{"type":"array","minItems":1,"maxItems":200,"items":{"type":"object","required":["house","flat"],"additionalProperties":false,"properties":{
      "house":{"type":"integer","minimum":1,"maximum":9999},"flat":{"type":"integer","minimum":1,"maximum":999}}}}}}),
  .output = JSON({"type":"object","required":["ordered","visits"],"additionalProperties":false,"properties":{
    "ordered":{"type":"integer"},"visits":{"type":"array","items":{"type":"string"}}}}),
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = order,
});
