#include "latchwork.h"

enum { MOST = 1000 };

/* Zero without a sign. */
static double plain(double number) { return number == 0 ? 0 : number; }

static bool fit(latch_json input, latch_answer *answer) {
  latch_json points = latch_json_member(input, "points");
  size_t count = latch_json_count(points);
  if (count < 2 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "points: 2 to %d", MOST);
  double sum_x = 0, sum_y = 0, *x = latch_room(count * sizeof *x), *y = latch_room(count * sizeof *y);
  for (size_t i = 0; i < count; i++) {
    latch_json point = latch_json_item(points, i);
    if (!latch_json_number(latch_json_item(point, 0), &x[i]) || !latch_json_number(latch_json_item(point, 1), &y[i]) ||
        fabs(x[i]) > 1e6 || fabs(y[i]) > 1e6)
      return latch_fail(answer, LATCH_INVALID_INPUT, "point %zu: two numbers up to 1e6", i);
    sum_x += x[i];
    sum_y += y[i];
  }
  double mean_x = sum_x / (double)count, mean_y = sum_y / (double)count, spread = 0, both = 0;
  for (size_t i = 0; i < count; i++) {
    spread += (x[i] - mean_x) * (x[i] - mean_x);
    both += (x[i] - mean_x) * (y[i] - mean_y);
  }
  double slope = both / spread;
  /* All points above each other, or almost so: there is no slope. */
  if (!isfinite(slope) || fabs(slope) > 1e8) {
    latch_put(&answer->result, "{\"slope\":null,\"start\":null}");
    return true;
  }
  double start = mean_y - slope * mean_x;
  latch_put(&answer->result, "{\"slope\":");
  latch_put_number(&answer->result, plain(slope));
  latch_put(&answer->result, ",\"start\":");
  latch_put_number(&answer->result, plain(start));
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Line.Fit",
  .description = "Fits a line to points.",
  .input = "{\"type\":\"object\",\"properties\":{\"points\":{\"type\":\"array\",\"items\":{\"type\":\"array\",\"minItems\":2,"
           "\"maxItems\":2,\"items\":{\"type\":\"number\"}}}},\"required\":[\"points\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"slope\":{\"type\":[\"number\",\"null\"]},\"start\":{\"type\":[\"number\",\"null\"]}},"
            "\"required\":[\"slope\",\"start\"]}",
  .determinism = LATCH_PURE,
  .handler = fit,
});
