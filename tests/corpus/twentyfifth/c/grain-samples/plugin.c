#include "latchwork.h"

/* Samples of grain in the store room of a mill. The label names the place of a sample; a new sample takes the place of
 * the old one. */
static const char *place(latch_json args) {
  latch_text name = { 0 };
  latch_putf(&name, "sample %s", latch_json_string(latch_json_member(args, "label")));
  return name.bytes;
}

static void changed(latch_answer *answer, const char *id, const char *operation, const char *sample) {
  latch_changed(answer, (latch_change){ .resource_type = "sample", .resource_id = id, .operation = operation, .version = sample });
}

static bool store(latch_json args, latch_answer *answer) {
  const char *id = place(args), *sample = latch_json_text(latch_json_member(args, "sample"));
  if (!latch_kv_set(answer, id, sample)) return false;
  latch_put(&answer->result, "{\"place\":");
  latch_put_string(&answer->result, id);
  latch_put(&answer->result, "}");
  changed(answer, id, "update", sample);
  return true;
}

static bool discard(latch_json args, latch_answer *answer) {
  const char *id = place(args);
  char *sample;
  bool was_there;
  if (!latch_kv_get(answer, id, &sample)) return false;
  if (!sample) return latch_fail(answer, LATCH_INVALID_INPUT, "the store room has no %s", id);
  if (!latch_kv_delete(answer, id, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_INVALID_INPUT, "%s was discarded by another hand", id);
  latch_putf(&answer->result, "{\"discarded\":%s}", sample);
  changed(answer, id, "delete", sample);
  return true;
}

/* The record names the sample, and the store room has to agree with it. */
static const char *check(latch_change change, latch_answer *answer) {
  char *sample;
  if (!latch_kv_get(answer, change.resource_id, &sample)) return NULL;
  if (!sample) return "the place is empty";
  return strcmp(sample, change.version) == 0 ? NULL : "the place has another sample";
}

#define LABEL "\"label\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{1,3}-[0-9]{1,5}$\"}"

LATCH_PLUGIN(
  {
    .name = "Sample.Store",
    .description = "Puts a sample of grain into its place.",
    .input = "{\"type\":\"object\",\"properties\":{" LABEL ",\"sample\":{\"type\":\"object\",\"properties\":{"
             "\"grain\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},\"moisture\":{\"type\":\"number\",\"minimum\":0,\"maximum\":100},"
             "\"notes\":{\"type\":\"string\",\"maxLength\":5000}},\"required\":[\"grain\",\"moisture\"],\"additionalProperties\":false}},"
             "\"required\":[\"label\",\"sample\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"place\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = store,
    .verify = check,
  },
  {
    .name = "Sample.Discard",
    .description = "Discards a sample of grain.",
    .input = "{\"type\":\"object\",\"properties\":{" LABEL "},\"required\":[\"label\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"discarded\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = discard,
    .verify = check,
  });
