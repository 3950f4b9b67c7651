/* Pew.Seat: finds a pew for each family at a wedding, so that no family is divided. */
#include "latchwork.h"

#include <time.h>

enum { MOST = 60 };

/* The state of the mixing generator, which the host's generator starts. */
static uint64_t state;

static uint32_t below(uint32_t bound) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)((state >> 32) % bound);
}

/* Reads a list of sizes and returns their sum, or -1 if one of them is not a whole number above 0. */
static int64_t sizes(latch_json list, int64_t *into, size_t count, int64_t *largest) {
  int64_t sum = 0;
  *largest = 0;
  for (size_t i = 0; i < count; i++) {
    if (!latch_json_integer(latch_json_item(list, i), &into[i]) || into[i] < 1) return -1;
    sum += into[i];
    if (into[i] > *largest) *largest = into[i];
  }
  return sum;
}

/* Seats the families in a random order, each in the first pew with room. Returns true if all have a pew. */
static bool attempt(const int64_t *families, size_t count, const int64_t *pews, size_t rows, size_t *pew_of) {
  size_t order[MOST];
  int64_t room[MOST];
  for (size_t i = 0; i < count; i++) order[i] = i;
  for (size_t i = count; i > 1; i--) {
    size_t other = below((uint32_t)i), held = order[i - 1];
    order[i - 1] = order[other];
    order[other] = held;
  }
  memcpy(room, pews, rows * sizeof *pews);
  for (size_t i = 0; i < count; i++) {
    size_t row = 0;
    while (row < rows && room[row] < families[order[i]]) row++;
    if (row == rows) return false;
    room[row] -= families[order[i]];
    pew_of[order[i]] = row;
  }
  return true;
}

static bool seat(latch_json input, latch_answer *answer) {
  latch_json families = latch_json_member(input, "families"), pews = latch_json_member(input, "pews");
  size_t count = latch_json_count(families), rows = latch_json_count(pews);
  if (count == 0 || count > MOST || rows == 0 || rows > MOST)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a plan has 1 to %d families and 1 to %d pews", MOST, MOST);
  int64_t family[MOST], pew[MOST], largest, longest;
  int64_t guests = sizes(families, family, count, &largest), seats = sizes(pews, pew, rows, &longest);
  if (guests < 0 || seats < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "a size is not a whole number above 0");
  if (guests > seats) return latch_fail(answer, LATCH_INVALID_INPUT, "%lld guests need more seats", (long long)guests);
  if (largest > longest) return latch_fail(answer, LATCH_INVALID_INPUT, "the largest family fits into no pew");

  latch_random(&state, sizeof state);
  state |= 1;
  size_t pew_of[MOST];
  time_t until = time(NULL) + 2;
  bool all = false;
  while (!all && time(NULL) < until)
    for (int round = 0; round < 500 && !all; round++) all = attempt(family, count, pew, rows, pew_of);
  if (!all) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "no order of the families was found that fits");

  latch_put(&answer->result, "{\"pews\":[");
  for (size_t i = 0; i < count; i++) latch_putf(&answer->result, "%s%zu", i ? "," : "", pew_of[i] + 1);
  latch_putf(&answer->result, "],\"guests\":%lld,\"free\":%lld}", (long long)guests, (long long)(seats - guests));
  return true;
}

LATCH_PLUGIN({
  .name = "Pew.Seat",
  .description = "Finds a pew for each family.",
  .input = "{\"type\":\"object\",\"properties\":{\"families\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"
           "\"pews\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},"
           "\"required\":[\"families\",\"pews\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"pews\",\"guests\",\"free\"]}",
  .determinism = LATCH_STABLE,
  .handler = seat,
});
