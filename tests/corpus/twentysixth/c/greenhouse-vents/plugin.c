#include "latchwork.h"

/* Keeps the wanted opening of the roof vents of each greenhouse. The controller of a greenhouse reads the entry. */

static bool set_vents(latch_json args, latch_answer *answer) {
  char *house = latch_json_string(latch_json_member(args, "house"));
  int64_t opening;
  if (!house || !*house || strlen(house) > 40) return latch_fail(answer, LATCH_INVALID_INPUT, "the greenhouse has no name");
  if (!latch_json_integer(latch_json_member(args, "percent"), &opening) || opening < 0 || opening > 100)
    return latch_fail(answer, LATCH_INVALID_INPUT, "an opening is 0 to 100 percent");

  latch_text entry = { 0 }, wanted = { 0 };
  latch_putf(&entry, "vents/%s", house);
  latch_putf(&wanted, "%lld", (long long)opening);
  if (!latch_kv_set(answer, entry.bytes, wanted.bytes)) return false;

  latch_changed(answer, (latch_change){ .resource_type = "vents", .resource_id = house, .operation = "update", .version = wanted.bytes });
  latch_put(&answer->result, "{\"house\":");
  latch_put_string(&answer->result, house);
  latch_putf(&answer->result, ",\"percent\":%lld}", (long long)opening);
  return true;
}

static bool show_vents(latch_json args, latch_answer *answer) {
  char *house = latch_json_string(latch_json_member(args, "house"));
  if (!house || !*house || strlen(house) > 40) return latch_fail(answer, LATCH_INVALID_INPUT, "the greenhouse has no name");
  latch_text entry = { 0 };
  latch_putf(&entry, "vents/%s", house);
  char *wanted;
  if (!latch_kv_get(answer, entry.bytes, &wanted)) return false;
  latch_putf(&answer->result, "{\"percent\":%s}", wanted ? wanted : "null");
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Vents.Set",
    .description = "Sets the opening of the roof vents of a greenhouse.",
    .input = "{\"type\":\"object\",\"properties\":{\"house\":{\"type\":\"string\"},\"percent\":{\"type\":\"integer\"}},"
             "\"required\":[\"house\",\"percent\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"house\",\"percent\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    /* The same opening set once more is the same opening. */
    .idempotent_by_key_seconds = 86400,
    .handler = set_vents,
  },
  {
    .name = "Vents.Show",
    .description = "Shows the wanted opening of the roof vents of a greenhouse.",
    .input = "{\"type\":\"object\",\"properties\":{\"house\":{\"type\":\"string\"}},\"required\":[\"house\"],"
             "\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"percent\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = show_vents,
  }
);
