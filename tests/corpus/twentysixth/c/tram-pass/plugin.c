#include "latchwork.h"

/* Passes of a tram line. A pass is never deleted, because an inspector has to see that it existed: a void mark beside
 * the pass ends it. */

static char *named(const char *kind, const char *id) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", kind, id);
  return name.bytes;
}

/* The external key names everything that a call creates. */
static char *own_name(const char *kind) { return named(kind, latch_get_invocation().external_key); }

static bool issue(latch_json args, latch_answer *answer) {
  char *rider = latch_json_string(latch_json_member(args, "rider"));
  char *zone = latch_json_string(latch_json_member(args, "zone"));
  if (!rider || !*rider) return latch_fail(answer, LATCH_INVALID_INPUT, "a pass needs a rider");
  if (!zone || strlen(zone) != 1 || !strchr("ABC", *zone)) return latch_fail(answer, LATCH_INVALID_INPUT, "the zones are A, B and C");

  latch_text pass = { 0 };
  latch_putf(&pass, "%s %s", zone, rider);
  if (!latch_kv_set(answer, own_name("pass"), pass.bytes)) return false;

  char *id = latch_get_invocation().external_key;
  latch_changed(answer, (latch_change){ .resource_type = "pass", .resource_id = id, .operation = "create", .version = pass.bytes });
  latch_put(&answer->result, "{\"pass\":");
  latch_put_string(&answer->result, id);
  latch_put(&answer->result, "}");
  return true;
}

static bool end_pass(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  char *pass;
  if (!latch_kv_get(answer, named("pass", key), &pass)) return false;
  if (!pass) return latch_fail(answer, LATCH_POLICY_DENIED, "the pass is not in the register any more");
  if (!latch_kv_set(answer, own_name("void"), pass)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "pass", .resource_id = key, .operation = "void" });
  latch_put(&answer->result, "{}");
  return true;
}

static bool check(latch_json args, latch_answer *answer) {
  char *id = latch_json_string(latch_json_member(args, "pass"));
  if (!id || !*id || strlen(id) > 200) return latch_fail(answer, LATCH_INVALID_INPUT, "this is no number of a pass");
  char *pass, *mark;
  if (!latch_kv_get(answer, named("pass", id), &pass) || !latch_kv_get(answer, named("void", id), &mark)) return false;
  if (!pass) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such pass");
  latch_putf(&answer->result, "{\"valid\":%s,\"zone\":\"%c\"}", mark ? "false" : "true", *pass);
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Pass.Issue",
    .description = "Issues a tram pass for a zone.",
    .input = "{\"type\":\"object\",\"properties\":{\"rider\":{\"type\":\"string\",\"maxLength\":200},\"zone\":{\"type\":\"string\"}},"
             "\"required\":[\"rider\",\"zone\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"pass\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = issue,
    .compensate = end_pass,
  },
  {
    .name = "Pass.Check",
    .description = "Checks whether a tram pass is valid.",
    .input = "{\"type\":\"object\",\"properties\":{\"pass\":{\"type\":\"string\"}},\"required\":[\"pass\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"valid\",\"zone\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = check,
  }
);
