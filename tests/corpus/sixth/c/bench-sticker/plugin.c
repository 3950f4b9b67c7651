/* Keeps the text of the sticker of a workbench. Each call has a sticker of its own. */
#include "latchwork.h"

static bool put_result(const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"sticker\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  return true;
}

static bool stick(latch_json args, latch_answer *answer) {
  char *bench = latch_json_string(latch_json_member(args, "bench"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!bench || !text || !*text) return latch_fail(answer, LATCH_INVALID_INPUT, "bench or text is missing");
  char *key = latch_get_invocation().external_key;
  latch_text sticker = { 0 };
  latch_putf(&sticker, "%s\n%s", bench, text);
  char *found;
  if (!latch_kv_get(answer, key, &found)) return false;
  /* An earlier try has done the work. */
  if (found && strcmp(found, sticker.bytes) == 0) return put_result(key, answer);
  if (!latch_kv_set(answer, key, sticker.bytes)) return false;
  latch_changed(answer, (latch_change){ "sticker", key, "create", .version = text });
  return put_result(key, answer);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the sticker is missing";
  char *text = strchr(found, '\n');
  return text && change.version && strcmp(text + 1, change.version) == 0 ? NULL : "the sticker has another text";
}

LATCH_PLUGIN({
  .name = "Bench.Stick",
  .description = "Keeps the text of a sticker.",
  .input = "{\"type\":\"object\",\"properties\":{\"bench\":{\"type\":\"string\",\"pattern\":\"^[a-z0-9-]+$\"},"
           "\"text\":{\"type\":\"string\",\"maxLength\":200}},"
           "\"required\":[\"bench\",\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"sticker\":{\"type\":\"string\"}},\"required\":[\"sticker\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 604800,
  .handler = stick,
  .verify = check,
});
