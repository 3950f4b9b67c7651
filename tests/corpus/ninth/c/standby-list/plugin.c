#include "latchwork.h"

#include <ctype.h>

/* Puts passengers on the standby list of a ferry. An entry has the key of the call that made it. */

static bool named(latch_answer *answer, const char *name) {
  if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "the passenger has no name");
  if (strlen(name) > 120) return latch_fail(answer, LATCH_INVALID_INPUT, "the name has more than 120 bytes");
  return true;
}

static bool dialable(latch_answer *answer, const char *phone) {
  size_t digits = 0;
  if (!phone) return latch_fail(answer, LATCH_INVALID_INPUT, "the phone number is missing");
  for (const char *c = phone; *c; c++) {
    if (isdigit((unsigned char)*c)) digits++;
    else if (!strchr(" +-/()", *c)) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is no phone number", phone);
  }
  if (digits < 5 || digits > 15) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu digits are no phone number", digits);
  return true;
}

static bool listed(const char *key, const char *name, latch_answer *answer) {
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"passenger\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "standby", .resource_id = key, .operation = "create" });
  return true;
}

static bool add(latch_json args, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(args, "name"));
  char *phone = latch_json_string(latch_json_member(args, "phone"));
  if (!named(answer, name)) return false;
  dialable(answer, phone);

  latch_text entry = { 0 };
  latch_put(&entry, "{\"name\":");
  latch_put_string(&entry, name);
  latch_put(&entry, ",\"phone\":");
  latch_put_string(&entry, phone ? phone : "");
  latch_put(&entry, "}");
  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, key, entry.bytes) && listed(key, name, answer);
}

static latch_verdict look(latch_json args, const char *key, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, key, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  listed(key, latch_json_string(latch_json_member(args, "name")), answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Standby.Add",
  .description = "Puts a passenger on the standby list of the ferry.",
  .input = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"phone\":{\"type\":\"string\"}},"
           "\"required\":[\"name\",\"phone\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"entry\":{\"type\":\"string\"},\"passenger\":{\"type\":\"string\"}},"
            "\"required\":[\"entry\",\"passenger\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = add,
  .reconcile = look,
});
