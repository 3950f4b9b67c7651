/* The book of a mews: which bird moved to which perch, and what the birds weigh. Each call has an entry of its own. */
#include "latchwork.h"

static bool entered(latch_answer *answer, const char *kind, const char *key, const char *text) {
  if (!latch_kv_set(answer, key, text)) return false;
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = kind, .resource_id = key, .operation = "create", .version = text });
  return true;
}

static bool house(latch_json args, latch_answer *answer) {
  char *bird = latch_json_string(latch_json_member(args, "bird"));
  int64_t perch;
  if (!bird || !latch_json_integer(latch_json_member(args, "perch"), &perch))
    return latch_fail(answer, LATCH_INVALID_INPUT, "which bird, which perch?");
  latch_text entry = { 0 };
  latch_putf(&entry, "%lld %s", (long long)perch, bird);
  return entered(answer, "perch", latch_get_invocation().external_key, entry.bytes);
}

/* Called when a job is resumed: is the page still as it was written? */
static const char *housed(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the page was torn out";
  return !change.version || strcmp(found, change.version) == 0 ? NULL : "the page has another text";
}

static bool weigh(latch_json args, latch_answer *answer) {
  char *bird = latch_json_string(latch_json_member(args, "bird"));
  double grams, flying = 0;
  if (!bird || !latch_json_number(latch_json_member(args, "grams"), &grams))
    return latch_fail(answer, LATCH_INVALID_INPUT, "which bird, what weight?");
  if (latch_json_number(latch_json_member(args, "flying_weight"), &flying) && grams > flying * 1.1)
    latch_log(LATCH_WARN, "%s is too heavy to fly", bird);
  latch_text entry = { 0 };
  latch_putf(&entry, "%.1f g %s", grams, bird);
  return entered(answer, "weight", latch_get_invocation().external_key, entry.bytes);
}

LATCH_PLUGIN(
  {
    .name = "Falcon.House",
    .description = "Notes the perch of a bird in the book of the mews.",
    .input = "{\"type\":\"object\",\"properties\":{\"bird\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
             "\"perch\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":99}},\"required\":[\"bird\",\"perch\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"entry\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = house,
    .verify = housed,
  },
  {
    .name = "Falcon.Weigh",
    .description = "Notes the weight of a bird in the book of the mews.",
    .input = "{\"type\":\"object\",\"properties\":{\"bird\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
             "\"grams\":{\"type\":\"number\",\"minimum\":50,\"maximum\":9000},\"flying_weight\":{\"type\":\"number\",\"minimum\":50,\"maximum\":9000}},"
             "\"required\":[\"bird\",\"grams\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"entry\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = weigh,
  });
