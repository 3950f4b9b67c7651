/* Draws the garden plots of an allotment club by lot. Random numbers and the time come from the host: they differ between
 * jobs and are the same whenever the step of a job runs again. The operator is therefore stable. */
#include "latchwork.h"

#include <time.h>

enum { MOST_PEOPLE = 200, MOST_PLOTS = 100 };

static bool read_names(latch_json list, char **names, size_t most, size_t *count, const char *what, latch_answer *answer) {
  *count = latch_json_count(list);
  if (*count > most) return latch_fail(answer, LATCH_INVALID_INPUT, "there are more than %zu %s", most, what);
  for (size_t i = 0; i < *count; i++) {
    names[i] = latch_json_string(latch_json_item(list, i));
    if (!names[i]) return latch_fail(answer, LATCH_INVALID_INPUT, "entry %zu of the %s cannot be read", i + 1, what);
    for (size_t k = 0; k < i; k++)
      if (strcmp(names[k], names[i]) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "entry %zu of the %s is there twice", i + 1, what);
  }
  return true;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Fisher-Yates, with unbiased numbers of the host. */
static void shuffle(char **names, size_t count) {
  for (size_t i = count; i > 1; i--) {
    size_t k = latch_below((uint32_t)i);
    char *kept = names[i - 1];
    names[i - 1] = names[k];
    names[k] = kept;
  }
}

static void put_list(latch_text *into, char **names, size_t count) {
  latch_put(into, "[");
  for (size_t i = 0; i < count; i++) {
    if (i) latch_put(into, ",");
    latch_put_string(into, names[i]);
  }
  latch_put(into, "]");
}

static bool draw(latch_json input, latch_answer *answer) {
  char *people[MOST_PEOPLE], *plots[MOST_PLOTS];
  size_t people_count, plot_count;
  if (!read_names(latch_json_member(input, "people"), people, MOST_PEOPLE, &people_count, "people", answer) ||
      !read_names(latch_json_member(input, "plots"), plots, MOST_PLOTS, &plot_count, "plots", answer))
    return false;

  /* The order of the request must not matter, so the names are sorted before they are mixed. */
  qsort(people, people_count, sizeof people[0], by_text);
  shuffle(people, people_count);
  size_t winners = people_count < plot_count ? people_count : plot_count;

  char at[32];
  time_t now = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  latch_log(LATCH_INFO, "job %s drew %zu of %zu people at %s", latch_get_context().job_id, winners, people_count, at);

  latch_text event = { 0 };
  latch_putf(&event, "{\"drawn\":%zu,\"waiting\":%zu}", winners, people_count - winners);
  latch_emit("allotment.drawn", event.bytes);

  latch_putf(&answer->result, "{\"drawn_at\":\"%s\",\"lots\":[", at);
  for (size_t i = 0; i < winners; i++) {
    latch_put(&answer->result, i ? ",{\"plot\":" : "{\"plot\":");
    latch_put_string(&answer->result, plots[i]);
    latch_put(&answer->result, ",\"person\":");
    latch_put_string(&answer->result, people[i]);
    latch_put(&answer->result, "}");
  }
  latch_put(&answer->result, "],\"waiting_list\":");
  put_list(&answer->result, people + winners, people_count - winners);
  latch_put(&answer->result, "}");
  return true;
}

#define NAMES(most) "{\"type\":\"array\",\"maxItems\":" most ",\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80}}"

LATCH_PLUGIN({
  .name = "Allotment.Draw",
  .description = "Draws the people who get a garden plot, and the order of the waiting list.",
  .input = "{\"type\":\"object\",\"required\":[\"people\",\"plots\"],\"additionalProperties\":false,\"properties\":{"
           "\"people\":" NAMES("200") ",\"plots\":" NAMES("100") "}}",
  .output = "{\"type\":\"object\",\"required\":[\"drawn_at\",\"lots\",\"waiting_list\"],\"properties\":{\"drawn_at\":{\"type\":\"string\"},"
            "\"lots\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"plot\",\"person\"]}},"
            "\"waiting_list\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}",
  .determinism = LATCH_STABLE,
  .handler = draw,
});
