#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

/* A sheet is longer than an entry of the map, so it is kept in parts. The heading is written last. */
enum { PART = 60000 };

static char *heading_of(const char *sheet) {
  latch_text name = { 0 };
  latch_putf(&name, "sheet/%s", sheet);
  return name.bytes;
}

static char *part_of(const char *sheet, size_t part) {
  latch_text name = { 0 };
  latch_putf(&name, "part/%zu/%s", part, sheet);
  return name.bytes;
}

static bool kept(const char *sheet, const char *heading, latch_answer *answer) {
  latch_put(&answer->result, "{\"sheet\":");
  latch_put_string(&answer->result, sheet);
  latch_putf(&answer->result, ",\"parts\":%zu}", (size_t)strtoul(heading, NULL, 10));
  latch_changed(answer, (latch_change){ .resource_type = "sheet", .resource_id = sheet, .operation = "create", .version = heading });
  return true;
}

static bool keep(latch_json args, latch_answer *answer) {
  char *site = latch_json_string(latch_json_member(args, "site"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!site || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "site and text are texts without a zero character");
  char *sheet = latch_get_invocation().external_key;
  size_t len = strlen(text), parts = (len + PART - 1) / PART;
  for (size_t i = 0; i < parts; i++) {
    latch_text part = { 0 };
    latch_put_bytes(&part, text + i * PART, len - i * PART < PART ? len - i * PART : PART);
    if (!latch_kv_set(answer, part_of(sheet, i), part.bytes)) {
      answer->applied_unknown = answer->applied_unknown || i > 0;
      return false;
    }
  }
  latch_text heading = { 0 };
  latch_putf(&heading, "%zu %s", parts, site);
  if (!latch_kv_set(answer, heading_of(sheet), heading.bytes)) {
    answer->applied_unknown = true;
    return false;
  }
  return kept(sheet, heading.bytes, answer);
}

/* A sheet without its heading is in no book: only the heading leads to the parts. */
static latch_verdict look_up(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *heading;
  if (!latch_kv_get(answer, heading_of(key), &heading)) return LATCH_UNKNOWN;
  if (!heading) return LATCH_DID_NOT_HAPPEN;
  kept(key, heading, answer);
  return LATCH_HAPPENED;
}

static bool discard(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  char *heading;
  bool was_there;
  if (!latch_kv_get(answer, heading_of(key), &heading)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!heading) return latch_fail(answer, LATCH_POLICY_DENIED, "the sheet is not in the book");
  if (!latch_kv_delete(answer, heading_of(key), &was_there)) {
    answer->applied_unknown = true;
    return false;
  }
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the sheet was removed meanwhile");
  size_t parts = strtoul(heading, NULL, 10);
  for (size_t i = 0; i < parts; i++) {
    if (!latch_kv_delete(answer, part_of(key, i), &was_there)) {
      answer->applied_unknown = true;
      return false;
    }
    if (!was_there) {
      latch_fail(answer, LATCH_POLICY_DENIED, "part %zu of the sheet was removed before", i);
      answer->applied_unknown = true;
      return false;
    }
  }
  latch_changed(answer, (latch_change){ .resource_type = "sheet", .resource_id = key, .operation = "delete" });
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *sheet = latch_json_string(latch_json_member(args, "sheet")), *heading;
  if (!sheet) return latch_fail(answer, LATCH_INVALID_INPUT, "sheet is missing");
  if (!latch_kv_get(answer, heading_of(sheet), &heading)) return false;
  if (!heading) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no sheet %s", sheet);
  char *site;
  size_t parts = strtoul(heading, &site, 10);
  latch_text text = { 0 };
  latch_put(&text, "");
  for (size_t i = 0; i < parts; i++) {
    char *part;
    if (!latch_kv_get(answer, part_of(sheet, i), &part)) return false;
    if (!part) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "part %zu of the sheet is missing", i);
    latch_put(&text, part);
  }
  latch_put(&answer->result, "{\"site\":");
  latch_put_string(&answer->result, *site ? site + 1 : site);
  latch_put(&answer->result, ",\"text\":");
  latch_put_string(&answer->result, text.bytes);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  { .name = "Survey.Keep",
    .description = "Keeps the field sheet of a survey.",
    .input = JSON({"type":"object","required":["site","text"],"additionalProperties":false,"properties":{
      "site":{"type":"string","minLength":1,"maxLength":80},"text":{"type":"string","minLength":1,"maxLength":100000}}}),
    .output = JSON({"type":"object","required":["sheet","parts"],"additionalProperties":false,"properties":{
      "sheet":{"type":"string"},"parts":{"type":"integer","minimum":1}}}),
    .effects = LATCH_INTERNAL_WRITE,
    .handler = keep,
    .reconcile = look_up,
    .compensate = discard },
  { .name = "Survey.Show",
    .description = "Shows the field sheet of a survey.",
    .input = JSON({"type":"object","required":["sheet"],"additionalProperties":false,"properties":{
      "sheet":{"type":"string","pattern":"^[A-Za-z0-9_:/~-]{1,128}$"}}}),
    .output = JSON({"type":"object","required":["site","text"],"additionalProperties":false,"properties":{
      "site":{"type":"string"},"text":{"type":"string"}}}),
    .handler = show });
