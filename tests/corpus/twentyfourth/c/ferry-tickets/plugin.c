#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

/* The ticket office is asked this number of times before the harbour sells the ticket. */
enum { ROUNDS = 2 };

typedef struct {
  char *name, *cabin;
} traveller;

static bool may_pass(latch_code code) { return code <= LATCH_DEPENDENCY_UNAVAILABLE; }

/* Buys the ticket of one traveller. Returns the answer of the seller, or NULL with a failed answer. */
static char *buy(latch_answer *answer, const char *args, const char *key, const char **seller) {
  for (int round = 0; round < ROUNDS; round++) {
    *seller = "office";
    char *reply = latch_call(answer, "Office.Sell", args, key);
    if (reply) return reply;
    /* A sale that may have happened is not made at another place. */
    if (answer->applied_unknown || !may_pass(answer->code)) return NULL;
    latch_log(LATCH_WARN, "round %d at the office failed", round + 1);
  }
  *seller = "harbour";
  return latch_call(answer, "Harbour.Sell", args, key);
}

static bool sell(latch_json input, latch_answer *answer) {
  char *sailing = latch_json_string(latch_json_member(input, "sailing"));
  char *day = latch_json_string(latch_json_member(input, "day"));
  if (!sailing || !day) return latch_fail(answer, LATCH_INVALID_INPUT, "sailing and day are texts");
  latch_json list = latch_json_member(input, "travellers");
  size_t count = latch_json_count(list);
  traveller *all = latch_room(count * sizeof(traveller));
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    all[i].name = latch_json_string(latch_json_member(item, "name"));
    all[i].cabin = latch_json_string(latch_json_member(item, "cabin"));
    if (!all[i].name || !all[i].cabin) return latch_fail(answer, LATCH_INVALID_INPUT, "traveller %zu has no name or no cabin", i);
    for (size_t k = 0; k < i; k++)
      if (strcmp(all[k].name, all[i].name) == 0 && strcmp(all[k].cabin, all[i].cabin) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "%s in cabin %s is listed twice", all[i].name, all[i].cabin);
  }

  latch_put(&answer->result, "{\"tickets\":[");
  for (size_t i = 0; i < count; i++) {
    latch_text args = { 0 }, key = { 0 };
    latch_put(&args, "{\"sailing\":");
    latch_put_string(&args, sailing);
    latch_put(&args, ",\"day\":");
    latch_put_string(&args, day);
    latch_put(&args, ",\"name\":");
    latch_put_string(&args, all[i].name);
    latch_put(&args, ",\"cabin\":");
    latch_put_string(&args, all[i].cabin);
    latch_put(&args, "}");
    latch_put(&key, "[\"ticket\",");
    latch_put_string(&key, sailing);
    latch_put(&key, ",");
    latch_put_string(&key, day);
    latch_put(&key, ",");
    latch_put_string(&key, all[i].name);
    latch_put(&key, ",");
    latch_put_string(&key, all[i].cabin);
    latch_put(&key, "]");
    const char *seller;
    char *reply = buy(answer, args.bytes, key.bytes, &seller);
    if (!reply) return false;
    char *ticket = latch_json_string(latch_json_member(latch_json_of(reply), "ticket"));
    if (!ticket) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the ticket of %s has no number", all[i].name);
    latch_putf(&answer->result, "%s{\"seller\":\"%s\",\"ticket\":", i ? "," : "", seller);
    latch_put_string(&answer->result, ticket);
    latch_put(&answer->result, "}");
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Ferry.Book",
  .description = "Buys the ferry tickets of a group.",
  .input = JSON({"type":"object","required":["sailing","day","travellers"],"additionalProperties":false,"properties":{
    "sailing":{"type":"string","minLength":1,"maxLength":40},
    "day":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
    "travellers":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","required":["name","cabin"],"additionalProperties":false,"properties":{
      "name":{"type":"string","minLength":1,"maxLength":80},"cabin":{"type":"string","minLength":1,"maxLength":10}}}}}}),
  .output = JSON({"type":"object","required":["tickets"],"additionalProperties":false,"properties":{
    "tickets":{"type":"array","items":{"type":"object","required":["seller","ticket"],"additionalProperties":false,"properties":{
      "seller":{"enum":["office","harbour"]},"ticket":{"type":"string"}}}}}}),
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = sell,
});
