#include "latchwork.h"

/* Orders the trucks of one week: one trip order for each depot that has stone to fetch. */

enum { MAX_LOADS = 60 };

static bool haul(latch_json input, latch_answer *answer) {
  char *week = latch_json_string(latch_json_member(input, "week"));
  latch_json loads = latch_json_member(input, "loads");
  size_t count = latch_json_count(loads);
  if (!week || strlen(week) != 8) return latch_fail(answer, LATCH_INVALID_INPUT, "the week is not like 2026-W02");
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "there is nothing to fetch");
  if (count > MAX_LOADS) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d depots", MAX_LOADS);

  char *depots[MAX_LOADS];
  int64_t tonnes[MAX_LOADS];
  for (size_t i = 0; i < count; i++) {
    latch_json load = latch_json_item(loads, i);
    depots[i] = latch_json_string(latch_json_member(load, "depot"));
    if (!depots[i] || !*depots[i]) return latch_fail(answer, LATCH_INVALID_INPUT, "load %zu has no depot", i);
    if (!latch_json_integer(latch_json_member(load, "tonnes"), &tonnes[i]) || tonnes[i] < 1)
      return latch_fail(answer, LATCH_INVALID_INPUT, "load %zu has no tonnes", i);
    for (size_t k = 0; k < i; k++)
      if (strcmp(depots[k], depots[i]) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "depot %s is listed twice", depots[i]);
  }

  latch_text orders = { 0 };
  for (size_t i = 0; i < count; i++) {
    latch_text args = { 0 };
    latch_put(&args, "{\"week\":");
    latch_put_string(&args, week);
    latch_put(&args, ",\"depot\":");
    latch_put_string(&args, depots[i]);
    latch_putf(&args, ",\"tonnes\":%lld}", (long long)tonnes[i]);

    /* One trip order for each week and depot, also if the job is submitted again. */
    char action[64];
    snprintf(action, sizeof action, "haulage/%s/%s", week, depots[i]);

    char *given = latch_call(answer, "Truck.Dispatch", args.bytes, action);
    if (!given) return false;
    char *order = latch_json_string(latch_json_member(latch_json_of(given), "order"));
    if (!order) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the dispatcher gave no order number");
    latch_put(&orders, i ? "," : "");
    latch_put_string(&orders, order);
  }
  latch_putf(&answer->result, "{\"orders\":[%s]}", orders.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Haulage.Order",
  .description = "Orders the trucks of a quarry for one week.",
  .input = "{\"type\":\"object\",\"properties\":{\"week\":{\"type\":\"string\"},\"loads\":{\"type\":\"array\",\"items\":"
           "{\"type\":\"object\",\"properties\":{\"depot\":{\"type\":\"string\"},\"tonnes\":{\"type\":\"integer\"}},"
           "\"required\":[\"depot\",\"tonnes\"]}}},\"required\":[\"week\",\"loads\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"orders\"]}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = haul,
});
