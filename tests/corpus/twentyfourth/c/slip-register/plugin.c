#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

/* The register has narrow columns, so a slip has a short name. */
typedef struct {
  char text[32];
} slip_name;

static slip_name name_of(const char *key) {
  slip_name name;
  snprintf(name.text, sizeof name.text, "slip/%s", key);
  return name;
}

static bool filed(const char *slip, latch_answer *answer) {
  latch_put(&answer->result, "{\"slip\":");
  latch_put_string(&answer->result, slip);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "slip", .resource_id = slip, .operation = "create" });
  return true;
}

static bool file(latch_json args, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "the text of a slip has no zero character");
  slip_name slip = name_of(latch_get_invocation().external_key);
  return latch_kv_set(answer, slip.text, text) && filed(slip.text, answer);
}

static latch_verdict look_up(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  slip_name slip = name_of(key);
  char *text;
  if (!latch_kv_get(answer, slip.text, &text)) return LATCH_UNKNOWN;
  if (!text) return LATCH_DID_NOT_HAPPEN;
  filed(slip.text, answer);
  return LATCH_HAPPENED;
}

static bool show(latch_json args, latch_answer *answer) {
  char *slip = latch_json_string(latch_json_member(args, "slip")), *text;
  if (!slip) return latch_fail(answer, LATCH_INVALID_INPUT, "slip is missing");
  if (!latch_kv_get(answer, slip, &text)) return false;
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no slip %s", slip);
  latch_put(&answer->result, "{\"text\":");
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  { .name = "Slip.File",
    .description = "Files a delivery slip in the register.",
    .input = JSON({"type":"object","required":["text"],"additionalProperties":false,"properties":{
      "text":{"type":"string","minLength":1,"maxLength":8000}}}),
    .output = JSON({"type":"object","required":["slip"],"additionalProperties":false,"properties":{"slip":{"type":"string"}}}),
    .effects = LATCH_INTERNAL_WRITE,
    .handler = file,
    .reconcile = look_up },
  { .name = "Slip.Show",
    .description = "Shows a delivery slip of the register.",
    .input = JSON({"type":"object","required":["slip"],"additionalProperties":false,"properties":{
      "slip":{"type":"string","pattern":"^slip/[A-Za-z0-9_:/~-]{1,120}$"}}}),
    .output = JSON({"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string"}}}),
    .handler = show });
