/* The roll of a guild. Nothing is ever erased from the roll: an enrolment that is undone gets a note of withdrawal. */
#include "latchwork.h"

static char *line(const char *page, const char *ref) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", page, ref);
  return name.bytes;
}

/* Writes a line of this call to a page of the roll. */
static bool write_line(latch_answer *answer, const char *page, const char *text) {
  return latch_kv_set(answer, line(page, latch_get_invocation().external_key), text);
}

static char *described(latch_json args) {
  char *name = latch_json_string(latch_json_member(args, "name")), *craft = latch_json_string(latch_json_member(args, "craft"));
  if (!name || !craft) return NULL;
  latch_text text = { 0 };
  latch_putf(&text, "%s, %s", name, craft);
  return text.bytes;
}

static bool enrolled(const char *key, const char *text, latch_answer *answer) {
  latch_put(&answer->result, "{\"ref\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "apprentice", .resource_id = key, .operation = "create", .version = text });
  return true;
}

static bool enrol(latch_json args, latch_answer *answer) {
  char *text = described(args);
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "an apprentice has a name and a craft");
  return write_line(answer, "enrolled", text) && enrolled(latch_get_invocation().external_key, text, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, line("enrolled", key), &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  enrolled(key, described(args), answer);
  return LATCH_HAPPENED;
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *found;
  if (!latch_kv_get(answer, line("enrolled", key), &found)) return false;
  if (!found || strcmp(found, described(args)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the line of the apprentice is not as it was written");
  if (!write_line(answer, "withdrawn", found)) return false;
  latch_put(&answer->result, "{\"withdrawn\":true}");
  latch_changed(answer, (latch_change){ .resource_type = "apprentice", .resource_id = key, .operation = "delete" });
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *ref = latch_json_string(latch_json_member(args, "ref")), *found, *gone;
  if (!ref) return latch_fail(answer, LATCH_INVALID_INPUT, "ref is missing");
  if (!latch_kv_get(answer, line("enrolled", ref), &found) || !latch_kv_get(answer, line("withdrawn", ref), &gone)) return false;
  latch_put(&answer->result, "{\"apprentice\":");
  if (found && !gone) latch_put_string(&answer->result, found);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Apprentice.Enrol",
    .description = "Enrols an apprentice in the roll of the guild.",
    .input = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":100},"
             "\"craft\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60}},\"required\":[\"name\",\"craft\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"ref\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = enrol,
    .reconcile = find,
    .compensate = withdraw,
  },
  {
    .name = "Apprentice.Show",
    .description = "Shows an apprentice who is enrolled and not withdrawn.",
    .input = "{\"type\":\"object\",\"properties\":{\"ref\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":128}},"
             "\"required\":[\"ref\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"apprentice\"]}",
    .handler = show,
  });
