/* Sledge.Lend: lends a sledge of a mountain hut to a guest. The loan can be taken back. */
#include "latchwork.h"

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "loan/%s", key);
  return name.bytes;
}

/* The text of a loan in the map. */
static char *loan_text(latch_json args, const char *state) {
  latch_text text = { 0 };
  latch_put(&text, "{\"sledge\":");
  latch_put(&text, latch_json_text(latch_json_member(args, "sledge")));
  latch_put(&text, ",\"guest\":");
  latch_put(&text, latch_json_text(latch_json_member(args, "guest")));
  latch_putf(&text, ",\"state\":\"%s\"}", state);
  return text.bytes;
}

/* Writes the loan with its present state. */
static bool put_loan(latch_json args, const char *state, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, entry_name(key), loan_text(args, state))) return false;
  latch_changed(answer, (latch_change){ .resource_type = "loan", .resource_id = key,
                                        .operation = strcmp(state, "out") ? "update" : "create", .version = state });
  return true;
}

static void lent(latch_json args, const char *key, latch_answer *answer) {
  latch_putf(&answer->result, "{\"sledge\":%s,\"loan\":", latch_json_text(latch_json_member(args, "sledge")));
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
}

static bool lend(latch_json args, latch_answer *answer) {
  int64_t sledge;
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  if (!latch_json_integer(latch_json_member(args, "sledge"), &sledge) || sledge < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the sledge has no number");
  if (!guest || !*guest) return latch_fail(answer, LATCH_INVALID_INPUT, "the guest has no name");
  if (!put_loan(args, "out", answer)) return false;
  lent(args, latch_get_invocation().external_key, answer);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, entry_name(key), &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  if (strcmp(found, loan_text(args, "out"))) return LATCH_UNKNOWN;
  lent(args, key, answer);
  latch_changed(answer, (latch_change){ .resource_type = "loan", .resource_id = key, .operation = "create", .version = "out" });
  return LATCH_HAPPENED;
}

/* Marks the loan as withdrawn. The entry stays for the book of the hut. */
static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *found;
  if (!latch_kv_get(answer, entry_name(key), &found)) return false;
  if (!found || strcmp(found, loan_text(args, "out")))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the loan was changed or removed");
  return put_loan(args, "withdrawn", answer);
}

LATCH_PLUGIN({
  .name = "Sledge.Lend",
  .description = "Lends a sledge to a guest.",
  .input = "{\"type\":\"object\",\"required\":[\"sledge\",\"guest\"],\"additionalProperties\":false,\"properties\":{"
           "\"sledge\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":500},"
           "\"guest\":{\"type\":\"string\",\"maxLength\":100}}}",
  .output = "{\"type\":\"object\",\"required\":[\"sledge\",\"loan\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = lend,
  .reconcile = find,
  .compensate = withdraw,
});
