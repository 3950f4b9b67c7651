/* Label.Keep: keeps the labels of a fern bed. Each plant of the bed gets an entry of its own. */
#include "latchwork.h"

enum { MOST = 40 };

/* One label as it is kept: bed, place in the bed, name and year. */
static char *label(const char *bed, size_t place, const char *name, int64_t year) {
  latch_text text = { 0 };
  latch_put(&text, "{\"bed\":");
  latch_put_string(&text, bed);
  latch_putf(&text, ",\"place\":%zu,\"name\":", place);
  latch_put_string(&text, name);
  latch_putf(&text, ",\"year\":%lld}", (long long)year);
  return text.bytes;
}

static char *entry_of(const char *key, size_t place) {
  latch_text name = { 0 };
  latch_putf(&name, "label/%s/%zu", key, place);
  return name.bytes;
}

/* Reads the labels of all plants, before the first one is kept. */
static bool read_labels(latch_json args, char *labels[MOST], size_t *count, latch_answer *answer) {
  char *bed = latch_json_string(latch_json_member(args, "bed"));
  latch_json plants = latch_json_member(args, "plants");
  *count = latch_json_count(plants);
  if (!bed || !*bed || strlen(bed) > 100)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a bed has a name of 1 to 100 bytes");
  if (*count < 1 || *count > MOST)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s: a bed has 1 to %d plants", bed, MOST);
  for (size_t i = 0; i < *count; i++) {
    latch_json plant = latch_json_item(plants, i);
    char *name = latch_json_string(latch_json_member(plant, "name"));
    int64_t year;
    if (!name || !*name || strlen(name) > 200)
      return latch_fail(answer, LATCH_INVALID_INPUT, "%s: plant %zu has no name of 1 to 200 bytes", bed, i + 1);
    if (!latch_json_integer(latch_json_member(plant, "year"), &year) || year < 1800 || year > 2100)
      return latch_fail(answer, LATCH_INVALID_INPUT, "%s: %s has no year of planting", bed, name);
    labels[i] = label(bed, i + 1, name, year);
  }
  return true;
}

static bool keep(latch_json args, latch_answer *answer) {
  char *labels[MOST];
  size_t count;
  if (!read_labels(args, labels, &count, answer)) return false;
  char *key = latch_get_invocation().external_key;
  latch_put(&answer->result, "{\"labels\":[");
  for (size_t i = 0; i < count; i++) {
    char *entry = entry_of(key, i + 1);
    if (!latch_kv_set(answer, entry, labels[i])) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    latch_changed(answer, (latch_change){
      .resource_type = "label", .resource_id = entry, .operation = "create", .version = labels[i] });
    latch_putf(&answer->result, "%s", i ? "," : "");
    latch_put_string(&answer->result, entry);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Label.Keep",
  .description = "Keeps the labels of the plants of a fern bed.",
  .input = "{\"type\":\"object\",\"properties\":{\"bed\":{\"type\":\"string\"},"
           "\"plants\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}},"
           "\"required\":[\"bed\",\"plants\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"labels\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = keep,
});
