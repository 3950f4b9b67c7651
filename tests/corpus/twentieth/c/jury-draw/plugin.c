/* Jury.Draw: draws the jurors of a trial by lot from the list of electors, and substitutes after them. */
#include "latchwork.h"

/* Reads the numbers of the electors in the order of the list. Returns NULL if one of them is not a text. */
static char **electors(latch_json list, size_t count) {
  char **numbers = latch_room(count * sizeof *numbers);
  latch_json item = latch_json_item(list, 0);
  for (size_t i = 0; i < count; i++) {
    numbers[i] = latch_json_string(item);
    if (!numbers[i]) return NULL;
    item.at = latch_json_space(latch_json_skip(item.at));
    if (*item.at == ',') item.at = latch_json_space(item.at + 1);
  }
  return numbers;
}

/* Mixes the list so that every order is equally likely. */
static void mix(char **numbers, size_t count) {
  for (size_t i = count; i > 1; i--) {
    size_t other = latch_below((uint32_t)i);
    char *held = numbers[i - 1];
    numbers[i - 1] = numbers[other];
    numbers[other] = held;
  }
}

static void put_list(latch_text *into, char **numbers, size_t count) {
  latch_put(into, "[");
  for (size_t i = 0; i < count; i++) {
    if (i) latch_put(into, ",");
    latch_put_string(into, numbers[i]);
  }
  latch_put(into, "]");
}

static bool draw(latch_json input, latch_answer *answer) {
  char *trial = latch_json_string(latch_json_member(input, "trial"));
  latch_json list = latch_json_member(input, "electors");
  int64_t jurors, substitutes;
  if (!trial || !*trial) return latch_fail(answer, LATCH_INVALID_INPUT, "the trial has no number");
  if (!latch_json_integer(latch_json_member(input, "jurors"), &jurors) ||
      !latch_json_integer(latch_json_member(input, "substitutes"), &substitutes))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the numbers of jurors and substitutes are missing");
  size_t count = latch_json_count(list);
  if ((int64_t)count < jurors + substitutes)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the list has only %zu electors", count);
  char **numbers = electors(list, count);
  if (!numbers) return latch_fail(answer, LATCH_INVALID_INPUT, "the number of an elector is not a text");

  mix(numbers, count);
  latch_put(&answer->result, "{\"trial\":");
  latch_put_string(&answer->result, trial);
  latch_put(&answer->result, ",\"jurors\":");
  put_list(&answer->result, numbers, (size_t)jurors);
  latch_put(&answer->result, ",\"substitutes\":");
  put_list(&answer->result, numbers + jurors, (size_t)substitutes);
  latch_putf(&answer->result, ",\"electors\":%zu}", count);
  return true;
}

LATCH_PLUGIN({
  .name = "Jury.Draw",
  .description = "Draws jurors and substitutes from the electors of a district.",
  .input = "{\"type\":\"object\",\"properties\":{\"trial\":{\"type\":\"string\"},"
           "\"jurors\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":24},"
           "\"substitutes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":24},"
           "\"electors\":{\"type\":\"array\",\"maxItems\":20000,\"items\":{\"type\":\"string\"}}},"
           "\"required\":[\"trial\",\"jurors\",\"substitutes\",\"electors\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"trial\",\"jurors\",\"substitutes\",\"electors\"]}",
  .determinism = LATCH_STABLE,
  .handler = draw,
});
