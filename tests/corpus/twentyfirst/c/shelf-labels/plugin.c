#include "latchwork.h"

static char *entry(const char *shelf) {
  latch_text name = { 0 };
  latch_putf(&name, "label/%s", shelf);
  return name.bytes;
}

static bool set(latch_json args, latch_answer *answer) {
  char *shelf = latch_json_string(latch_json_member(args, "shelf"));
  char *label = latch_json_string(latch_json_member(args, "label"));
  if (!shelf || !label) return latch_fail(answer, LATCH_INVALID_INPUT, "shelf or label are no texts");
  char *previous;
  if (!latch_kv_get(answer, entry(shelf), &previous)) return false;
  if (!latch_kv_set(answer, entry(shelf), label)) return false;
  latch_changed(answer, (latch_change){
    .resource_type = "label", .resource_id = shelf, .operation = "update", .version = label });
  latch_put(&answer->result, "{\"shelf\":");
  latch_put_string(&answer->result, shelf);
  latch_put(&answer->result, ",\"previous\":");
  latch_put_string(&answer->result, previous ? previous : "");
  latch_put(&answer->result, "}");
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *label;
  if (!latch_kv_get(answer, entry(change.resource_id), &label)) return NULL;
  if (!label) return "the shelf has no label";
  return strcmp(label, change.version) == 0 ? NULL : "the shelf has another label";
}

/* Called when the job is cancelled or undone. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  char *shelf = latch_json_string(latch_json_member(args, "shelf"));
  char *label = latch_json_string(latch_json_member(args, "label"));
  char *previous = latch_json_string(latch_json_member(result, "previous"));
  char *present;
  if (!latch_kv_get(answer, entry(shelf), &present)) return false;
  if (!present || strcmp(present, label) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "shelf %s has another label now", shelf);
  bool was_there;
  if (previous && *previous) {
    if (!latch_kv_set(answer, entry(shelf), previous)) return false;
  } else if (!latch_kv_delete(answer, entry(shelf), &was_there)) {
    return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "label", .resource_id = shelf, .operation = "restore" });
  return true;
}

static bool read(latch_json args, latch_answer *answer) {
  char *shelf = latch_json_string(latch_json_member(args, "shelf")), *label;
  if (!shelf) return latch_fail(answer, LATCH_INVALID_INPUT, "the shelf is no text");
  if (!latch_kv_get(answer, entry(shelf), &label)) return false;
  if (!label) return latch_fail(answer, LATCH_INVALID_INPUT, "shelf %s has no label", shelf);
  latch_put(&answer->result, "{\"label\":");
  latch_put_string(&answer->result, label);
  latch_put(&answer->result, "}");
  return true;
}

#define SHELF "\"shelf\":{\"type\":\"string\",\"pattern\":\"^[A-Z]-[0-9]{1,3}$\"}"

LATCH_PLUGIN({
  .name = "Label.Set",
  .description = "Sets the label of a shelf. An empty label marks the shelf as free.",
  .input = "{\"type\":\"object\",\"properties\":{" SHELF ",\"label\":{\"type\":\"string\",\"maxLength\":60}},"
           "\"required\":[\"shelf\",\"label\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"shelf\":{\"type\":\"string\"},\"previous\":{\"type\":\"string\"}},"
            "\"required\":[\"shelf\",\"previous\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = set,
  .verify = check,
  .compensate = take_back,
}, {
  .name = "Label.Read",
  .description = "Returns the label of a shelf.",
  .input = "{\"type\":\"object\",\"properties\":{" SHELF "},\"required\":[\"shelf\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"label\":{\"type\":\"string\"}},\"required\":[\"label\"]}",
  .effects = LATCH_READ_ONLY,
  .handler = read,
});
