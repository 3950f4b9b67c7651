#include "latchwork.h"

/* Merges the stops of several tours into one list, each stop once, in the order of first mention. */
static const char **names;
static size_t name_count;

/* Returns the same pointer for equal texts, so that stops are compared by address. */
static const char *interned(const char *text) {
  for (size_t i = 0; i < name_count; i++)
    if (strcmp(names[i], text) == 0) return names[i];
  names = realloc(names, (name_count + 1) * sizeof *names);
  if (!names) abort();
  return names[name_count++] = text;
}

static bool merge(latch_json input, latch_answer *answer) {
  latch_json tours = latch_json_member(input, "tours");
  names = NULL, name_count = 0;
  size_t mentions = 0;
  const char *last = NULL;
  for (size_t t = 0; t < latch_json_count(tours); t++) {
    latch_json tour = latch_json_item(tours, t);
    for (size_t s = 0; s < latch_json_count(tour); s++) {
      char *text = latch_json_string(latch_json_item(tour, s));
      if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "tour %zu has a stop that is no text", t + 1);
      const char *stop = interned(text);
      if (stop != last) mentions++;
      last = stop;
    }
  }
  latch_put(&answer->result, "{\"stops\":[");
  for (size_t i = 0; i < name_count; i++) {
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, names[i]);
  }
  latch_putf(&answer->result, "],\"legs\":%zu}", mentions);
  return true;
}

LATCH_PLUGIN({
  .name = "Stops.Merge",
  .description = "Merges the stops of several tours.",
  .input = "{\"type\":\"object\",\"required\":[\"tours\"],\"properties\":{\"tours\":{\"type\":\"array\",\"items\":{\"type\":\"array\","
           "\"items\":{\"type\":\"string\"}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"stops\",\"legs\"],\"properties\":{\"stops\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
            "\"legs\":{\"type\":\"integer\"}}}",
  .handler = merge,
});
