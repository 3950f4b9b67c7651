#include "latchwork.h"

#include <time.h>

#define JSON(...) #__VA_ARGS__

/* The gauges are noted on hourly sheets. Returns the name of a line on the sheet of this hour. */
static char *line_name(const char *key) {
  time_t now = time(NULL);
  char sheet[16];
  strftime(sheet, sizeof sheet, "%Y%m%d%H", gmtime(&now));
  latch_text name = { 0 };
  latch_putf(&name, "sheet/%s/%s", sheet, key);
  return name.bytes;
}

static bool note(latch_json args, latch_answer *answer) {
  char *gauge = latch_json_string(latch_json_member(args, "gauge"));
  int64_t level;
  if (!gauge || !latch_json_integer(latch_json_member(args, "level_mm"), &level))
    return latch_fail(answer, LATCH_INVALID_INPUT, "gauge is a text without a zero character, level_mm an integer");
  char *name = line_name(latch_get_invocation().external_key), *line;
  if (!latch_kv_get(answer, name, &line)) return false;
  if (!line) {
    latch_text made = { 0 };
    latch_putf(&made, "%lld mm at %s", (long long)level, gauge);
    line = made.bytes;
    if (!latch_kv_set(answer, name, line)) return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "line", .resource_id = name, .operation = "create", .version = line });
  latch_put(&answer->result, "{\"line\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, ",\"text\":");
  latch_put_string(&answer->result, line);
  latch_put(&answer->result, "}");
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(args, "line")), *line;
  if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "line is missing");
  if (!latch_kv_get(answer, name, &line)) return false;
  if (!line) return latch_fail(answer, LATCH_INVALID_INPUT, "no sheet has the line %s", name);
  latch_put(&answer->result, "{\"text\":");
  latch_put_string(&answer->result, line);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  { .name = "Tide.Note",
    .description = "Notes the level of a tide gauge on the hourly sheet.",
    .input = JSON({"type":"object","required":["gauge","level_mm"],"additionalProperties":false,"properties":{
      "gauge":{"type":"string","minLength":1,"maxLength":80},"level_mm":{"type":"integer","minimum":-20000,"maximum":20000}}}),
    .output = JSON({"type":"object","required":["line","text"],"additionalProperties":false,"properties":{
      "line":{"type":"string"},"text":{"type":"string"}}}),
    .effects = LATCH_INTERNAL_WRITE,
    .idempotent_by_key_seconds = 3 * 24 * 60 * 60,
    .handler = note },
  { .name = "Tide.Show",
    .description = "Shows a line of an hourly sheet.",
    .input = JSON({"type":"object","required":["line"],"additionalProperties":false,"properties":{
      "line":{"type":"string","pattern":"^sheet/[0-9]{10}/[A-Za-z0-9_:/~-]{1,128}$"}}}),
    .output = JSON({"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string"}}}),
    .handler = show });
