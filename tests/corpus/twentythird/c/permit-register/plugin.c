/* The register of market permits. A permit has one entry, with the name of its holder. */
#include "latchwork.h"

static char *name_of(const char *number) {
  latch_text name = { 0 };
  latch_putf(&name, "permit/%s", number);
  return name.bytes;
}

static bool done(const char *number, const char *operation, const char *holder, latch_answer *answer) {
  latch_changed(answer, (latch_change){ .resource_type = "permit", .resource_id = number, .operation = operation, .version = holder });
  latch_put(&answer->result, "{\"permit\":");
  latch_put_string(&answer->result, number);
  latch_put(&answer->result, "}");
  return true;
}

static bool enter(latch_json args, latch_answer *answer) {
  char *number = latch_json_string(latch_json_member(args, "permit"));
  char *holder = latch_json_string(latch_json_member(args, "holder"));
  if (!number || !holder || strspn(holder, " ") == strlen(holder))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the permit has no number or no holder");
  return latch_kv_set(answer, name_of(number), holder) && done(number, "set", holder, answer);
}

static bool revoke(latch_json args, latch_answer *answer) {
  char *number = latch_json_string(latch_json_member(args, "permit"));
  bool was_there;
  if (!number) return latch_fail(answer, LATCH_INVALID_INPUT, "the permit has no number");
  if (!latch_kv_delete(answer, name_of(number), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_INVALID_INPUT, "permit %s is not in the register", number);
  return done(number, "delete", NULL, answer);
}

/* Compares the register with the recorded change of a permit. */
static const char *check(latch_change change, latch_answer *answer) {
  char *holder;
  if (!latch_kv_get(answer, name_of(change.resource_id), &holder)) return NULL;
  if (!holder) return "the permit is not in the register";
  if (!change.version) return NULL;
  return strcmp(holder, change.version) == 0 ? NULL : "the permit has another holder";
}

static bool look_up(latch_json args, latch_answer *answer) {
  char *number = latch_json_string(latch_json_member(args, "permit")), *holder;
  if (!number) return latch_fail(answer, LATCH_INVALID_INPUT, "the permit has no number");
  if (!latch_kv_get(answer, name_of(number), &holder)) return false;
  latch_put(&answer->result, "{\"holder\":");
  if (holder) latch_put_string(&answer->result, holder);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

#define NUMBER "\"permit\":{\"type\":\"string\",\"pattern\":\"^M-[0-9]{1,6}$\"}"
#define ONLY_NUMBER "{\"type\":\"object\",\"required\":[\"permit\"],\"additionalProperties\":false,\"properties\":{" NUMBER "}}"

LATCH_PLUGIN({
  .name = "Permit.Enter",
  .description = "Enters the holder of a market permit.",
  .input = "{\"type\":\"object\",\"required\":[\"permit\",\"holder\"],\"additionalProperties\":false,\"properties\":{" NUMBER
           ",\"holder\":{\"type\":\"string\",\"maxLength\":120}}}",
  .output = "{\"type\":\"object\",\"required\":[\"permit\"],\"properties\":{\"permit\":{\"type\":\"string\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = enter,
  .verify = check,
}, {
  .name = "Permit.Revoke",
  .description = "Removes a market permit from the register.",
  .input = ONLY_NUMBER,
  .output = "{\"type\":\"object\",\"required\":[\"permit\"],\"properties\":{\"permit\":{\"type\":\"string\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = revoke,
  .verify = check,
}, {
  .name = "Permit.LookUp",
  .description = "Returns the holder of a market permit, or null.",
  .input = ONLY_NUMBER,
  .output = "{\"type\":\"object\",\"required\":[\"holder\"],\"properties\":{\"holder\":{\"type\":[\"string\",\"null\"]}}}",
  .handler = look_up,
});
