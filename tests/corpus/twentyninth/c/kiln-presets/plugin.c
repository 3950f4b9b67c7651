#include "latchwork.h"

/* Firing presets of the kilns of a pottery. */

static char *entry_of(const char *preset) {
  latch_text name = { 0 };
  latch_putf(&name, "preset/%s", preset);
  return name.bytes;
}

static bool put(latch_json args, latch_answer *answer) {
  char *preset = latch_json_string(latch_json_member(args, "preset"));
  int64_t peak, ramp, soak;
  if (!preset || !latch_json_integer(latch_json_member(args, "peak_celsius"), &peak) ||
      !latch_json_integer(latch_json_member(args, "ramp_per_hour"), &ramp) ||
      !latch_json_integer(latch_json_member(args, "soak_minutes"), &soak))
    return latch_fail(answer, LATCH_INVALID_INPUT, "preset, peak_celsius, ramp_per_hour or soak_minutes is missing");
  if (peak > 1000 && ramp > 150) return latch_fail(answer, LATCH_INVALID_INPUT, "stoneware cracks at %lld degrees per hour", (long long)ramp);

  char version[64];
  snprintf(version, sizeof version, "%lld/%lld/%lld", (long long)peak, (long long)ramp, (long long)soak);
  if (!latch_kv_set(answer, entry_of(preset), version)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "kiln preset", .resource_id = preset, .operation = "update", .version = version });
  latch_put(&answer->result, "{\"preset\":");
  latch_put_string(&answer->result, preset);
  latch_putf(&answer->result, ",\"curve\":\"%s\"}", version);
  return true;
}

static const char *is_put(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, entry_of(change.resource_id), &found)) return NULL;
  if (!found) return "the preset is missing";
  return strcmp(found, change.version) == 0 ? NULL : "the preset has another curve";
}

static bool retire(latch_json args, latch_answer *answer) {
  char *preset = latch_json_string(latch_json_member(args, "preset"));
  if (!preset) return latch_fail(answer, LATCH_INVALID_INPUT, "preset is missing");
  char *entry = entry_of(preset), *found;
  bool was_there;
  if (!latch_kv_get(answer, entry, &found)) return false;
  if (!found) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no preset %s", preset);
  if (!latch_kv_delete(answer, entry, &was_there)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "kiln preset", .resource_id = entry, .operation = "delete" });
  latch_put(&answer->result, "{\"preset\":");
  latch_put_string(&answer->result, preset);
  latch_putf(&answer->result, ",\"curve\":\"%s\"}", found);
  return true;
}

static const char *is_retired(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  return found ? "the preset is there again" : NULL;
}

#define NAME "\"preset\":{\"type\":\"string\",\"pattern\":\"^[a-z0-9-]{1,40}$\"}"

LATCH_PLUGIN(
  {
    .name = "Kiln.PutPreset",
    .description = "Stores the firing curve of a preset.",
    .input = "{\"type\":\"object\",\"properties\":{" NAME ",\"peak_celsius\":{\"type\":\"integer\",\"minimum\":500,\"maximum\":1320},"
             "\"ramp_per_hour\":{\"type\":\"integer\",\"minimum\":20,\"maximum\":300},"
             "\"soak_minutes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":240}},"
             "\"required\":[\"preset\",\"peak_celsius\",\"ramp_per_hour\",\"soak_minutes\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"preset\",\"curve\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .determinism = LATCH_EXTERNAL,
    .handler = put,
    .verify = is_put,
  },
  {
    .name = "Kiln.RetirePreset",
    .description = "Removes a preset.",
    .input = "{\"type\":\"object\",\"properties\":{" NAME "},\"required\":[\"preset\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"preset\",\"curve\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .determinism = LATCH_EXTERNAL,
    .handler = retire,
    .verify = is_retired,
  });
