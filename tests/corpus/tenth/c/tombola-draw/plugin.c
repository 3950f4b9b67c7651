#include "latchwork.h"

/* Draws the winners of a tombola. The notary publishes the seed beforehand, and the draw can be repeated with it: the
 * generator does not use the random numbers of the job. A name that is entered more than once has one ticket. */

enum { MOST = 500 };

static char *tickets[MOST]; /* one copy of each name */
static size_t ticket_count;

static const char *ticket(char *name) {
  for (size_t i = 0; i < ticket_count; i++)
    if (strcmp(tickets[i], name) == 0) return tickets[i];
  return tickets[ticket_count++] = name;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void put_names(latch_text *text, char **names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (i) latch_put(text, ",");
    latch_put_string(text, names[i]);
  }
}

static bool draw(latch_json input, latch_answer *answer) {
  latch_json names = latch_json_member(input, "names");
  size_t count = latch_json_count(names);
  int64_t seed, prizes;
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d names", MOST);
  if (!latch_json_integer(latch_json_member(input, "seed"), &seed) || seed < 0 || seed > INT32_MAX)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the seed is no number from 0 to %d", INT32_MAX);
  if (!latch_json_integer(latch_json_member(input, "prizes"), &prizes) || prizes < 1 || prizes > MOST)
    return latch_fail(answer, LATCH_INVALID_INPUT, "1 to %d prizes are possible", MOST);

  int repeated = 0;
  ticket_count = 0;
  for (size_t i = 0; i < count; i++) {
    char *name = latch_json_string(latch_json_item(names, i));
    if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "name %d is empty", (int)i);
    if (ticket(name) != name) repeated++; /* another copy was there before */
  }
  /* The order in which the names were entered must not matter. */
  qsort(tickets, ticket_count, sizeof *tickets, by_name);

  srand((unsigned)seed);
  for (size_t i = ticket_count; i > 1; i--) {
    size_t other = (size_t)rand() % i;
    char *held = tickets[i - 1];
    tickets[i - 1] = tickets[other];
    tickets[other] = held;
  }
  size_t winners = (size_t)prizes < ticket_count ? (size_t)prizes : ticket_count;
  latch_log(LATCH_DEBUG, "%d winners with seed %d", (int)winners, (int)seed);
  latch_put(&answer->result, "{\"winners\":[");
  put_names(&answer->result, tickets, winners);
  latch_putf(&answer->result, "],\"tickets\":%d,\"repeated\":%d}", (int)ticket_count, repeated);
  return true;
}

LATCH_PLUGIN({
  .name = "Tombola.Draw",
  .description = "Draws the winners of a tombola with a published seed.",
  .input = "{\"type\":\"object\",\"properties\":{\"names\":{\"type\":\"array\",\"maxItems\":500,"
           "\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":100}},"
           "\"seed\":{\"type\":\"integer\"},\"prizes\":{\"type\":\"integer\"}},\"required\":[\"names\",\"seed\",\"prizes\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"winners\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
            "\"tickets\":{\"type\":\"integer\"},\"repeated\":{\"type\":\"integer\"}},"
            "\"required\":[\"winners\",\"tickets\",\"repeated\"]}",
  .determinism = LATCH_PURE,
  .handler = draw,
});
