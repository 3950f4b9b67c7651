/* The register of hives that the veterinary office keeps: a hive is entered with its keeper, and struck when it is removed. */
#include "latchwork.h"

static char *entry_name(latch_json args) {
  char *hive = latch_json_string(latch_json_member(args, "hive"));
  latch_text name = { 0 };
  latch_putf(&name, "hive/%s", hive ? hive : "");
  return name.bytes;
}

static void changed(latch_answer *answer, const char *name, const char *operation, const char *keeper) {
  latch_changed(answer, (latch_change){ .resource_type = "hive", .resource_id = name, .operation = operation, .version = keeper });
}

static bool enter(latch_json args, latch_answer *answer) {
  char *keeper = latch_json_string(latch_json_member(args, "keeper")), *name = entry_name(args);
  if (!keeper || !*keeper) return latch_fail(answer, LATCH_INVALID_INPUT, "the keeper is missing");
  if (strlen(keeper) > 200) return latch_fail(answer, LATCH_INVALID_INPUT, "the name of the keeper is too long");
  if (!latch_kv_set(answer, name, keeper)) return false;
  changed(answer, name, "put", keeper);
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, ",\"keeper\":");
  latch_put_string(&answer->result, keeper);
  latch_put(&answer->result, "}");
  return true;
}

static bool strike(latch_json args, latch_answer *answer) {
  char *name = entry_name(args), *keeper;
  bool was_there;
  if (!latch_kv_get(answer, name, &keeper)) return false;
  if (!keeper) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "%s is not in the register", name);
  if (!latch_kv_delete(answer, name, &was_there)) return false;
  changed(answer, name, "delete", keeper);
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, ",\"keeper\":");
  latch_put_string(&answer->result, keeper);
  latch_put(&answer->result, "}");
  return true;
}

/* Compares the register with what the call left in it. Both operators use it: they change the same entries. */
static const char *check(latch_change change, latch_answer *answer) {
  char *keeper;
  if (!latch_kv_get(answer, change.resource_id, &keeper)) return NULL;
  if (!keeper) return "the hive is not in the register";
  if (change.version && strcmp(keeper, change.version) == 0) return NULL;
  latch_text found = { 0 };
  latch_putf(&found, "the hive is registered for %s", keeper);
  return found.bytes;
}

#define HIVE "\"hive\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{1,3}-[0-9]{1,6}$\"}"

LATCH_PLUGIN(
  { .name = "Apiary.Enter",
    .description = "Enters a hive, or gives it to another keeper.",
    .input = "{\"type\":\"object\",\"properties\":{" HIVE ",\"keeper\":{\"type\":\"string\"}},\"required\":[\"hive\",\"keeper\"]}",
    .output = "{\"type\":\"object\",\"required\":[\"entry\",\"keeper\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .determinism = LATCH_EXTERNAL,
    .handler = enter,
    .verify = check },
  { .name = "Apiary.Strike",
    .description = "Strikes a hive off the register.",
    .input = "{\"type\":\"object\",\"properties\":{" HIVE "},\"required\":[\"hive\"]}",
    .output = "{\"type\":\"object\",\"required\":[\"entry\",\"keeper\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .determinism = LATCH_EXTERNAL,
    .handler = strike,
    .verify = check });
