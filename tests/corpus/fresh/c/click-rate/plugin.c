#include "latchwork.h"

static bool number(latch_json of, const char *name, int64_t *into) {
  return latch_json_integer(latch_json_member(of, name), into) && *into >= 0;
}

static bool rate(latch_json input, latch_answer *answer) {
  latch_json banners = latch_json_member(input, "banners");
  size_t count = latch_json_count(banners);
  double best = 0;
  latch_put(&answer->result, "{\"rates\":[");
  for (size_t i = 0; i < count; i++) {
    latch_json banner = latch_json_item(banners, i);
    int64_t shown, clicked;
    if (!number(banner, "shown", &shown) || !number(banner, "clicked", &clicked) || clicked > shown)
      return latch_fail(answer, LATCH_INVALID_INPUT, "banner %zu was clicked more often than it was shown", i);
    double percent = 100.0 * (double)clicked / (double)shown;
    if (percent > best) best = percent;
    latch_putf(&answer->result, "%s%.2f", i ? "," : "", percent);
  }
  latch_putf(&answer->result, "],\"best\":%.2f}", best);
  return true;
}

LATCH_PLUGIN({
  .name = "Banner.Rate",
  .description = "Computes how often each banner was clicked, in percent.",
  .input = "{\"type\":\"object\",\"properties\":{\"banners\":{\"type\":\"array\",\"maxItems\":500,\"items\":{\"type\":\"object\","
           "\"properties\":{\"shown\":{\"type\":\"integer\",\"minimum\":0},\"clicked\":{\"type\":\"integer\",\"minimum\":0}},"
           "\"required\":[\"shown\",\"clicked\"]}}},\"required\":[\"banners\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"rates\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}},"
            "\"best\":{\"type\":\"number\"}},\"required\":[\"rates\",\"best\"]}",
  .determinism = LATCH_PURE,
  .handler = rate,
});
