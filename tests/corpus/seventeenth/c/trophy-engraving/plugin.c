/* Engraving.Order: orders the name plates of a prize giving, one plate for each winner. */
#include "latchwork.h"

enum { MOST = 24, LETTERS = 40 };

static char *plate_key(const char *order, size_t number) {
  latch_text key = { 0 };
  latch_putf(&key, "%s~plate%02zu", order, number);
  return key.bytes;
}

/* Returns the text of a plate: the name, and the prize in a second line. */
static char *plate_text(const char *name, const char *prize) {
  latch_text text = { 0 };
  latch_putf(&text, "%s\n%s", name, prize);
  return text.bytes;
}

static bool order(latch_json args, latch_answer *answer) {
  char *prize = latch_json_string(latch_json_member(args, "prize"));
  if (!prize || !*prize || strlen(prize) > LETTERS)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the prize needs a text of 1 to %d bytes", LETTERS);
  latch_json winners = latch_json_member(args, "winners");
  size_t count = latch_json_count(winners);
  if (count == 0 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "an order has 1 to %d plates", MOST);
  char *texts[MOST];
  for (size_t i = 0; i < count; i++) {
    char *name = latch_json_string(latch_json_item(winners, i));
    if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "winner %zu has no name", i + 1);
    if (strlen(name) > LETTERS) return latch_fail(answer, LATCH_INVALID_INPUT, "%s does not fit on a plate", name);
    texts[i] = plate_text(name, prize);
  }

  char *key = latch_get_invocation().external_key;
  for (size_t i = 0; i < count; i++) {
    char *plate = plate_key(key, i + 1);
    if (!latch_kv_set(answer, plate, texts[i])) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    latch_changed(answer, (latch_change){ .resource_type = "plate", .resource_id = plate, .operation = "create",
                                          .version = texts[i] });
  }
  latch_put(&answer->result, "{\"order\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"plates\":%zu}", count);
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the plate is not ordered any more";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the plate has another text";
}

LATCH_PLUGIN({
  .name = "Engraving.Order",
  .description = "Orders the name plates of a prize giving, one plate for each winner.",
  .input = "{\"type\":\"object\",\"required\":[\"prize\",\"winners\"],\"properties\":{"
           "\"prize\":{\"type\":\"string\",\"minLength\":1},"
           "\"winners\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":24,\"items\":{\"type\":\"string\"}}},"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"order\",\"plates\"],\"properties\":{"
            "\"order\":{\"type\":\"string\"},\"plates\":{\"type\":\"integer\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 86400,
  .handler = order,
  .verify = check,
});
