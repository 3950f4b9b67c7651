#include "latchwork.h"

/* Coats of a theatre cloakroom. A token is the key of the deposit. A coat that was handed out has a slip beside its
 * token. */
static const char *slip(void) {
  latch_text name = { 0 };
  latch_putf(&name, "slip of %s", latch_get_invocation().external_key);
  return name.bytes;
}

static const char *tag(latch_json args) {
  latch_text text = { 0 };
  latch_put(&text, "{\"coat\":");
  latch_put_string(&text, latch_json_string(latch_json_member(args, "coat")));
  latch_put(&text, ",\"hook\":");
  latch_put(&text, latch_json_text(latch_json_member(args, "hook")));
  latch_put(&text, "}");
  return text.bytes;
}

static void deposited(const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"token\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "coat", .resource_id = key, .operation = "create" });
}

static bool deposit(latch_json args, latch_answer *answer) {
  int64_t hook = 0;
  latch_json_integer(latch_json_member(args, "hook"), &hook);
  if (hook == 13) return latch_fail(answer, LATCH_INVALID_INPUT, "the house has no hook 13");
  const char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, key, tag(args))) return false;
  deposited(key, answer);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  if (!latch_kv_get(answer, key, &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  deposited(key, answer);
  return LATCH_HAPPENED;
}

/* Hands the coat out: the slip closes the token. */
static bool hand_out(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *found, *closed;
  if (!latch_kv_get(answer, key, &found) || !latch_kv_get(answer, slip(), &closed)) return false;
  if (!found || closed || strcmp(found, tag(args)) != 0) return latch_fail(answer, LATCH_POLICY_DENIED, "the coat is not on its hook");
  if (!latch_kv_set(answer, slip(), "handed out")) return false;
  latch_changed(answer, (latch_change){ .resource_type = "coat", .resource_id = key, .operation = "delete" });
  return true;
}

static bool look(latch_json args, latch_answer *answer) {
  char *token = latch_json_string(latch_json_member(args, "token")), *found, *closed;
  latch_text name = { 0 };
  latch_putf(&name, "slip of %s", token);
  if (!latch_kv_get(answer, token, &found) || !latch_kv_get(answer, name.bytes, &closed)) return false;
  if (!found) return latch_fail(answer, LATCH_INVALID_INPUT, "token %s was never given out", token);
  latch_putf(&answer->result, "{\"hanging\":%s,\"tag\":%s}", closed ? "false" : "true", found);
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Cloak.Deposit",
    .description = "Takes a coat and gives a token for it.",
    .input = "{\"type\":\"object\",\"properties\":{\"coat\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z][A-Za-z ,-]{0,199}$\"},"
             "\"hook\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":600}},\"required\":[\"coat\",\"hook\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"token\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = deposit,
    .reconcile = find,
    .compensate = hand_out,
  },
  {
    .name = "Cloak.Look",
    .description = "Shows the tag of a token and whether its coat still hangs.",
    .input = "{\"type\":\"object\",\"properties\":{\"token\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_:/~-]{1,128}$\"}},"
             "\"required\":[\"token\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"hanging\",\"tag\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = look,
  });
