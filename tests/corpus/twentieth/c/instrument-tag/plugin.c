/* Tag.Issue: gives a tag to an instrument that a workshop takes in for repair. The time on the tag decides the order in
 * which the instruments are repaired. */
#include "latchwork.h"

#include <time.h>

/* The tag of an instrument that comes in now. */
static char *new_tag(const char *serial, const char *owner) {
  char at[32];
  time_t now = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  latch_text text = { 0 };
  latch_put(&text, "{\"serial\":");
  latch_put_string(&text, serial);
  latch_put(&text, ",\"owner\":");
  latch_put_string(&text, owner);
  latch_putf(&text, ",\"taken_in\":\"%s\"}", at);
  return text.bytes;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *serial = latch_json_string(latch_json_member(args, "serial"));
  char *owner = latch_json_string(latch_json_member(args, "owner"));
  if (!serial || !*serial) return latch_fail(answer, LATCH_INVALID_INPUT, "the instrument has no serial number");
  if (!owner || !*owner) return latch_fail(answer, LATCH_INVALID_INPUT, "the instrument has no owner");

  /* A tag that an earlier try of the call has written stays as it is. */
  char *key = latch_get_invocation().external_key, *tag = NULL;
  if (!latch_kv_get(answer, key, &tag)) latch_log(LATCH_WARN, "tag %s: %s", key, answer->message);
  if (!tag) {
    tag = new_tag(serial, owner);
    if (!latch_kv_set(answer, key, tag)) return false;
  }

  latch_put(&answer->result, "{\"id\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"tag\":%s}", tag);
  latch_changed(answer, (latch_change){ .resource_type = "tag", .resource_id = key, .operation = "create" });
  return true;
}

/* Shows a tag. */
static bool show(latch_json args, latch_answer *answer) {
  char *id = latch_json_string(latch_json_member(args, "id")), *tag;
  if (!id || !*id) return latch_fail(answer, LATCH_INVALID_INPUT, "the id of the tag is missing");
  if (!latch_kv_get(answer, id, &tag)) return false;
  if (!tag) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no tag %s", id);
  latch_putf(&answer->result, "{\"tag\":%s}", tag);
  return true;
}

LATCH_PLUGIN({
  .name = "Tag.Issue",
  .description = "Gives a tag to an instrument that is taken in.",
  .input = "{\"type\":\"object\",\"properties\":{\"serial\":{\"type\":\"string\",\"maxLength\":60},"
           "\"owner\":{\"type\":\"string\",\"maxLength\":120}},"
           "\"required\":[\"serial\",\"owner\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"id\",\"tag\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 3 * 24 * 3600,
  .handler = issue,
}, {
  .name = "Tag.Show",
  .description = "Shows a tag.",
  .input = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\",\"maxLength\":128}},"
           "\"required\":[\"id\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"tag\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = show,
});
