/* Folio.Issue: notes which nautical charts a vessel has on board, one entry for each chart. */
#include "latchwork.h"

#define MOST_CHARTS 60

typedef struct {
  char *number, *edition;
} chart;

/* Returns the name of the entry of a chart. */
static char *entry(const char *key, const char *number) {
  latch_text name = { 0 };
  latch_putf(&name, "folio:%s:%s", key, number);
  return name.bytes;
}

static bool read_charts(latch_json list, chart *charts, size_t count, latch_answer *answer) {
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    charts[i].number = latch_json_string(latch_json_member(item, "number"));
    charts[i].edition = latch_json_string(latch_json_member(item, "edition"));
    if (!charts[i].number || !*charts[i].number || strlen(charts[i].number) > 40)
      return latch_fail(answer, LATCH_INVALID_INPUT, "chart %zu has no usable number", i + 1);
    if (!charts[i].edition || !*charts[i].edition || strlen(charts[i].edition) > 40)
      return latch_fail(answer, LATCH_INVALID_INPUT, "chart %s has no usable edition", charts[i].number);
    for (size_t k = 0; k < i; k++)
      if (strcmp(charts[k].number, charts[i].number) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "chart %s is listed twice", charts[i].number);
  }
  return true;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *vessel = latch_json_string(latch_json_member(args, "vessel"));
  latch_json list = latch_json_member(args, "charts");
  size_t count = latch_json_count(list);
  if (!vessel || !*vessel) return latch_fail(answer, LATCH_INVALID_INPUT, "the vessel is missing");
  if (count == 0 || count > MOST_CHARTS)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a folio has 1 to %d charts", MOST_CHARTS);
  static chart charts[MOST_CHARTS];
  if (!read_charts(list, charts, count, answer)) return false;

  char *key = latch_get_invocation().external_key;
  for (size_t i = 0; i < count; i++) {
    char *name = entry(key, charts[i].number);
    if (!latch_kv_set(answer, name, charts[i].edition)) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    latch_changed(answer, (latch_change){ .resource_type = "chart", .resource_id = name, .operation = "create",
                                          .version = charts[i].edition });
  }
  latch_put(&answer->result, "{\"vessel\":");
  latch_put_string(&answer->result, vessel);
  latch_put(&answer->result, ",\"folio\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"charts\":%zu}", count);
  return true;
}

/* Called when a job is resumed: compares the edition of a chart with the recorded one. */
static const char *check(latch_change change, latch_answer *answer) {
  char *edition;
  if (!latch_kv_get(answer, change.resource_id, &edition)) return NULL;
  if (!edition) return "the chart is not in the folio";
  return change.version && strcmp(edition, change.version) == 0 ? NULL : "the chart has another edition";
}

LATCH_PLUGIN({
  .name = "Folio.Issue",
  .description = "Notes the charts of a folio that a vessel gets on board.",
  .input = "{\"type\":\"object\",\"properties\":{\"vessel\":{\"type\":\"string\"},\"charts\":{\"type\":\"array\","
           "\"items\":{\"type\":\"object\",\"properties\":{\"number\":{\"type\":\"string\"},"
           "\"edition\":{\"type\":\"string\"}},\"required\":[\"number\",\"edition\"],"
           "\"additionalProperties\":false}}},\"required\":[\"vessel\",\"charts\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"vessel\",\"folio\",\"charts\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = issue,
  .verify = check,
});
