#include "latchwork.h"

#include <time.h>

/* Chooses the lots of a delivery that the goods inwards department opens. */
static bool choose(latch_json input, latch_answer *answer) {
  latch_json lots = latch_json_member(input, "lots");
  size_t count = latch_json_count(lots);
  int64_t wanted;
  if (!latch_json_integer(latch_json_member(input, "open"), &wanted) || wanted < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "open must be a positive number of lots");
  if ((size_t)wanted > count) wanted = (int64_t)count;

  srand((unsigned)time(NULL));
  size_t *order = latch_room(count * sizeof *order);
  for (size_t i = 0; i < count; i++) order[i] = i;
  for (size_t i = count; i > 1; i--) {
    size_t other = (size_t)rand() % i, kept = order[i - 1];
    order[i - 1] = order[other];
    order[other] = kept;
  }

  latch_put(&answer->result, "{\"lots\":[");
  for (int64_t i = 0; i < wanted; i++)
    latch_putf(&answer->result, "%s%s", i ? "," : "", latch_json_text(latch_json_item(lots, order[i])));
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Inspection.Choose",
  .description = "Chooses the lots of a delivery that are opened for inspection.",
  .input = "{\"type\":\"object\",\"required\":[\"lots\",\"open\"],\"properties\":{\"lots\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
           "\"open\":{\"type\":\"integer\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"lots\"],\"properties\":{\"lots\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}",
  .handler = choose,
});
