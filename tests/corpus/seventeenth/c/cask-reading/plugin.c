/* Reading.Keep: keeps a reading of a whisky cask, with the time at which it was taken down. */
#include "latchwork.h"

#include <time.h>

/* Writes the answer of a kept reading. The line is `SECONDS CASK STRENGTH`. */
static void kept(const char *key, const char *line, latch_answer *answer) {
  latch_changed(answer, (latch_change){ .resource_type = "reading", .resource_id = key, .operation = "create",
                                        .version = line });
  latch_put(&answer->result, "{\"reading\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"taken_at\":%lld,\"line\":", strtoll(line, NULL, 10));
  latch_put_string(&answer->result, line);
  latch_put(&answer->result, "}");
}

static bool keep(latch_json args, latch_answer *answer) {
  char *cask = latch_json_string(latch_json_member(args, "cask"));
  int64_t strength;
  if (!cask || !*cask || strchr(cask, ' '))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the cask needs a number without spaces");
  if (!latch_json_integer(latch_json_member(args, "permille"), &strength))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the strength has to be given in permille");
  if (strength < 350 || strength > 750)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%d permille is no strength of a cask", (int)strength);
  latch_text line = { 0 };
  latch_putf(&line, "%lld %s %d", (long long)time(NULL), cask, (int)strength);
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, key, line.bytes)) return false;
  kept(key, line.bytes, answer);
  return true;
}

/* Called after a crash: looks for the reading of the call. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *line = NULL;
  if (latch_kv_get(answer, key, &line) && line) {
    kept(key, line, answer);
    return LATCH_HAPPENED;
  }
  return LATCH_DID_NOT_HAPPEN;
}

/* Called when a job is resumed. */
static const char *check(latch_change change, latch_answer *answer) {
  char *line = NULL;
  if (latch_kv_get(answer, change.resource_id, &line) && line && change.version)
    return strcmp(line, change.version) == 0 ? NULL : "the reading was corrected";
  return "the reading is missing";
}

LATCH_PLUGIN({
  .name = "Reading.Keep",
  .description = "Keeps a reading of a whisky cask, with the time at which it was taken down.",
  .input = "{\"type\":\"object\",\"required\":[\"cask\",\"permille\"],\"properties\":{"
           "\"cask\":{\"type\":\"string\",\"maxLength\":30},\"permille\":{\"type\":\"integer\"}},"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"reading\",\"taken_at\",\"line\"],\"properties\":{"
            "\"reading\":{\"type\":\"string\"},\"taken_at\":{\"type\":\"integer\"},\"line\":{\"type\":\"string\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = keep,
  .reconcile = find,
  .verify = check,
});
