/* Allotment.Draw: draws the order of the applicants for the free garden plots of a season. */
#include "latchwork.h"

static const size_t MOST_APPLICANTS = 50000;

/* Returns the item after this one, or a missing value at the end of the array. */
static latch_json after(latch_json item) {
  const char *at = latch_json_space(latch_json_skip(item.at));
  if (*at != ',') return (latch_json){ NULL };
  return (latch_json){ latch_json_space(at + 1) };
}

static void swap(char **list, size_t one, size_t other) {
  char *kept = list[one];
  list[one] = list[other];
  list[other] = kept;
}

static void put_names(latch_text *text, char **list, size_t from, size_t to) {
  latch_put(text, "[");
  for (size_t i = from; i < to; i++) {
    if (i > from) latch_put(text, ",");
    latch_put_string(text, list[i]);
  }
  latch_put(text, "]");
}

static bool draw(latch_json input, latch_answer *answer) {
  char *season = latch_json_string(latch_json_member(input, "season"));
  latch_json names = latch_json_member(input, "applicants");
  int64_t plots;
  if (!season || !*season) return latch_fail(answer, LATCH_INVALID_INPUT, "the season is missing");
  if (!latch_json_integer(latch_json_member(input, "plots"), &plots) || plots < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "there is no free plot");
  size_t count = latch_json_count(names);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "there are no applicants");
  if (count > MOST_APPLICANTS)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%zu applicants are too many for one draw", count);

  char **list = latch_room(count * sizeof *list);
  size_t read = 0;
  for (latch_json item = latch_json_item(names, 0); item.at; item = after(item)) {
    char *name = latch_json_string(item);
    if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "applicant %zu has no name", read + 1);
    list[read++] = name;
  }

  /* Every order of the applicants has the same chance. The rest of the order is the waiting list. */
  for (size_t left = count; left > 1; left--) swap(list, left - 1, latch_below((uint32_t)left));

  size_t given = (size_t)plots < count ? (size_t)plots : count;
  latch_log(LATCH_INFO, "season %s: %zu plots for %zu applicants", season, given, count);
  latch_put(&answer->result, "{\"season\":");
  latch_put_string(&answer->result, season);
  latch_put(&answer->result, ",\"plots\":");
  put_names(&answer->result, list, 0, given);
  latch_put(&answer->result, ",\"waiting\":");
  put_names(&answer->result, list, given, count);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Allotment.Draw",
  .description = "Draws which applicants get a garden plot, and the order of the waiting list.",
  .input = "{\"type\":\"object\",\"properties\":{\"season\":{\"type\":\"string\"},\"plots\":{\"type\":\"integer\"},"
           "\"applicants\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
           "\"required\":[\"season\",\"plots\",\"applicants\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"season\",\"plots\",\"waiting\"]}",
  .determinism = LATCH_STABLE,
  .handler = draw,
});
