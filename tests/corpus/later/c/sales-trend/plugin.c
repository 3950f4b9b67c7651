/* Sales.Trend: compares the last month of a series with the first one. */
#include "latchwork.h"

enum { MOST = 120 };

static bool trend(latch_json input, latch_answer *answer) {
  char *shop = latch_json_string(latch_json_member(input, "shop"));
  latch_json months = latch_json_member(input, "months");
  size_t count = latch_json_count(months);
  if (!shop) return latch_fail(answer, LATCH_INVALID_INPUT, "shop is missing");
  if (count < 2 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu months: 2 to %d are possible", count, MOST);

  double sales[MOST], sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (!latch_json_number(latch_json_item(months, i), &sales[i]) || sales[i] < 0 || sales[i] > 1e9)
      return latch_fail(answer, LATCH_INVALID_INPUT, "month %zu is not an amount", i);
    sum += sales[i];
  }
  double first = sales[0], last = sales[count - 1];
  double growth = (last - first) / first * 100;
  const char *direction = last > first ? "up" : last < first ? "down" : "level";

  /* The dashboard of the management shows this event. */
  latch_text payload = { 0 };
  latch_put(&payload, "{\"shop\":");
  latch_put_string(&payload, shop);
  latch_put(&payload, ",\"growth_percent\":");
  latch_put_number(&payload, growth);
  latch_put(&payload, "}");
  latch_emit("sales-trend", payload.bytes);

  latch_putf(&answer->result, "{\"direction\":\"%s\",\"average\":", direction);
  latch_put_number(&answer->result, sum / (double)count);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Sales.Trend",
  .description = "Compares the last month of sales with the first one.",
  .input = "{\"type\":\"object\",\"properties\":{\"shop\":{\"type\":\"string\"},\"months\":{\"type\":\"array\","
           "\"items\":{\"type\":\"number\"}}},\"required\":[\"shop\",\"months\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"direction\",\"average\"]}",
  .determinism = LATCH_PURE,
  .handler = trend,
});
