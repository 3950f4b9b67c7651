/* Docket.Write: keeps the docket of a delivery to an abbey, under the key of its call. */
#include "latchwork.h"

static const char *GATES[] = { "north", "south", "cellar", "garden" };

static bool is_gate(const char *gate) {
  for (size_t i = 0; i < sizeof GATES / sizeof *GATES; i++)
    if (strcmp(GATES[i], gate) == 0) return true;
  return false;
}

/* Returns the name of the entry that holds the docket of a call. */
static const char *entry_of(const char *key) {
  static char name[64];
  snprintf(name, sizeof name, "docket/%s", key);
  return name;
}

/* The docket is one JSON object: goods, crates and gate. */
static char *docket(const char *goods, int64_t crates, const char *gate) {
  latch_text text = { 0 };
  latch_put(&text, "{\"goods\":");
  latch_put_string(&text, goods);
  latch_putf(&text, ",\"crates\":%lld,\"gate\":", (long long)crates);
  latch_put_string(&text, gate);
  latch_put(&text, "}");
  return text.bytes;
}

static void written(const char *key, const char *text, latch_answer *answer) {
  latch_put(&answer->result, "{\"docket\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"content\":%s}", text);
  latch_changed(answer, (latch_change){
    .resource_type = "docket", .resource_id = key, .operation = "create", .version = text });
}

static bool write_docket(latch_json args, latch_answer *answer) {
  char *goods = latch_json_string(latch_json_member(args, "goods"));
  char *gate = latch_json_string(latch_json_member(args, "gate"));
  int64_t crates;
  if (!goods || !*goods) return latch_fail(answer, LATCH_INVALID_INPUT, "the docket names no goods");
  if (strlen(goods) > 500) return latch_fail(answer, LATCH_INVALID_INPUT, "the goods take more than 500 bytes");
  if (!gate || !is_gate(gate)) return latch_fail(answer, LATCH_INVALID_INPUT, "the abbey has no such gate");
  if (!latch_json_integer(latch_json_member(args, "crates"), &crates) || crates < 1 || crates > 200)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a delivery has 1 to 200 crates");

  char *key = latch_get_invocation().external_key;
  char *text = docket(goods, crates, gate);
  if (!latch_kv_set(answer, entry_of(key), text)) return false;
  latch_log(LATCH_INFO, "%lld crates at the %s gate", (long long)crates, gate);
  written(key, text, answer);
  return true;
}

/* Called after a crash: looks for the docket of the call. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *text;
  if (!latch_kv_get(answer, entry_of(key), &text)) return LATCH_UNKNOWN;
  if (!text) return LATCH_DID_NOT_HAPPEN;
  written(key, text, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Docket.Write",
  .description = "Keeps the docket of a delivery to an abbey.",
  .input = "{\"type\":\"object\",\"properties\":{\"goods\":{\"type\":\"string\"},\"crates\":{\"type\":\"integer\"},"
           "\"gate\":{\"type\":\"string\"}},\"required\":[\"goods\",\"crates\",\"gate\"],"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"docket\",\"content\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = write_docket,
  .reconcile = find,
});
