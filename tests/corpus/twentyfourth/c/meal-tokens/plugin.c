#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

static const char *entry_of(const char *token) {
  latch_text name = { 0 };
  latch_putf(&name, "token/%s", token);
  return name.bytes;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  char *meal = latch_json_string(latch_json_member(args, "meal"));
  if (!guest || !meal) return latch_fail(answer, LATCH_INVALID_INPUT, "guest and meal are texts without a zero character");
  latch_invocation call = latch_get_invocation();
  latch_text line = { 0 };
  latch_putf(&line, "%s for %s", meal, guest);
  /* The token of a guest is written once: a repeated call finds it in the book. */
  if (call.tries_before == 0 && !latch_kv_set(answer, entry_of(call.external_key), line.bytes)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "token", .resource_id = call.external_key, .operation = "create", .version = line.bytes });
  latch_put(&answer->result, "{\"token\":");
  latch_put_string(&answer->result, call.external_key);
  latch_put(&answer->result, "}");
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *token = latch_json_string(latch_json_member(args, "token")), *line;
  if (!token) return latch_fail(answer, LATCH_INVALID_INPUT, "token is missing");
  if (!latch_kv_get(answer, entry_of(token), &line)) return false;
  if (!line) return latch_fail(answer, LATCH_INVALID_INPUT, "the kitchen does not know the token %s", token);
  latch_put(&answer->result, "{\"serve\":");
  latch_put_string(&answer->result, line);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  { .name = "Token.Issue",
    .description = "Issues a meal token for a guest of the hostel.",
    .input = JSON({"type":"object","required":["guest","meal"],"additionalProperties":false,"properties":{
      "guest":{"type":"string","minLength":1,"maxLength":80},"meal":{"type":"string","minLength":1,"maxLength":400}}}),
    .output = JSON({"type":"object","required":["token"],"additionalProperties":false,"properties":{"token":{"type":"string"}}}),
    .effects = LATCH_INTERNAL_WRITE,
    .idempotent_by_key_seconds = 24 * 60 * 60,
    .handler = issue },
  { .name = "Token.Show",
    .description = "Shows the meal of a token.",
    .input = JSON({"type":"object","required":["token"],"additionalProperties":false,"properties":{
      "token":{"type":"string","pattern":"^[A-Za-z0-9_:/~-]{1,128}$"}}}),
    .output = JSON({"type":"object","required":["serve"],"additionalProperties":false,"properties":{"serve":{"type":"string"}}}),
    .handler = show });
