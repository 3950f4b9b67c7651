/* Card.Set: sets the dosing card of a swimming pool, and keeps what the card said before. */
#include "latchwork.h"

static char *card_name(latch_json args) {
  char *pool = latch_json_string(latch_json_member(args, "pool"));
  if (!pool || !*pool || strlen(pool) > 40) return NULL;
  latch_text name = { 0 };
  latch_putf(&name, "card/%s", pool);
  return name.bytes;
}

static bool card_text(latch_json args, latch_text *text) {
  int64_t chlorine, acid;
  if (!latch_json_integer(latch_json_member(args, "chlorine_mg"), &chlorine) || chlorine < 0 || chlorine > 5000)
    return false;
  if (!latch_json_integer(latch_json_member(args, "acid_ml"), &acid) || acid < 0 || acid > 5000) return false;
  latch_putf(text, "{\"chlorine_mg\":%d,\"acid_ml\":%d}", (int)chlorine, (int)acid);
  return true;
}

static bool set(latch_json args, latch_answer *answer) {
  char *name = card_name(args), *before = NULL;
  latch_text text = { 0 };
  if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "the pool needs a name of 1 to 40 bytes");
  if (!card_text(args, &text))
    return latch_fail(answer, LATCH_INVALID_INPUT, "chlorine and acid have to be between 0 and 5000");
  if (!latch_kv_get(answer, name, &before)) latch_log(LATCH_WARN, "no earlier card of %s", name);
  if (!latch_kv_set(answer, name, text.bytes)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "card", .resource_id = name, .operation = "update",
                                        .version = text.bytes });
  latch_put(&answer->result, "{\"card\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, ",\"before\":");
  if (before) latch_put_string(&answer->result, before);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "there is no card";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the card says something else";
}

/* Puts the earlier card back if the card still says what the call wrote. */
static bool put_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  char *name = card_name(args), *found, *before = latch_json_string(latch_json_member(result, "before"));
  latch_text text = { 0 };
  bool was_there;
  if (!name || !card_text(args, &text)) return latch_fail(answer, LATCH_INVALID_INPUT, "the call set no card");
  if (!latch_kv_get(answer, name, &found)) return false;
  if (!found || strcmp(found, text.bytes) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the card was changed or removed");
  if (before) {
    if (!latch_kv_set(answer, name, before)) return false;
  } else {
    if (!latch_kv_delete(answer, name, &was_there)) return false;
    if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the card was removed");
  }
  latch_changed(answer, (latch_change){ .resource_type = "card", .resource_id = name,
                                        .operation = before ? "update" : "delete", .version = before });
  return true;
}

LATCH_PLUGIN({
  .name = "Card.Set",
  .description = "Sets the dosing card of a swimming pool.",
  .input = "{\"type\":\"object\",\"required\":[\"pool\",\"chlorine_mg\",\"acid_ml\"],\"properties\":{"
           "\"pool\":{\"type\":\"string\"},\"chlorine_mg\":{\"type\":\"integer\"},\"acid_ml\":{\"type\":\"integer\"}},"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"card\",\"before\"],\"properties\":{\"card\":{\"type\":\"string\"},"
            "\"before\":{\"type\":[\"string\",\"null\"]}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = set,
  .verify = check,
  .compensate = put_back,
});
