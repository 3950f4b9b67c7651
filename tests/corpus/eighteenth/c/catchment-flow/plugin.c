/* Catchment.Flow: adds up the flow of a river network at its outlets. */
#include "latchwork.h"

#define MOST_OUTLETS 100

static size_t reaches, visited;
static double *flow;
/* The reaches that run into a reach are a list: its first one, and the next one beside each. */
static long *into, *first, *beside;
static long *course;

static latch_json after(latch_json item) {
  const char *at = latch_json_space(latch_json_skip(item.at));
  if (*at != ',') return (latch_json){ NULL };
  return (latch_json){ latch_json_space(at + 1) };
}

/* Returns the flow at the lower end of a reach, and notes the number of reaches of its longest course. */
static double drained(long reach) {
  double total = flow[reach];
  long longest = 0;
  visited++;
  for (long upper = first[reach]; upper >= 0; upper = beside[upper]) {
    total += drained(upper);
    if (course[upper] > longest) longest = course[upper];
  }
  course[reach] = longest + 1;
  return total;
}

static bool read_reaches(latch_json list, latch_answer *answer) {
  reaches = latch_json_count(list);
  if (reaches == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the network has no reach");
  flow = latch_room(reaches * sizeof *flow);
  into = latch_room(reaches * sizeof *into);
  first = latch_room(reaches * sizeof *first);
  beside = latch_room(reaches * sizeof *beside);
  course = latch_room(reaches * sizeof *course);
  size_t i = 0;
  for (latch_json item = latch_json_item(list, 0); item.at; item = after(item), i++) {
    int64_t lower = -1;
    latch_json next = latch_json_member(item, "into");
    if (!latch_json_number(latch_json_member(item, "flow"), &flow[i]) || flow[i] < 0 || flow[i] > 1e6)
      return latch_fail(answer, LATCH_INVALID_INPUT, "reach %zu has no usable flow", i);
    if (!latch_json_is_null(next) && (!latch_json_integer(next, &lower) || lower < 0 || lower >= (int64_t)reaches))
      return latch_fail(answer, LATCH_INVALID_INPUT, "reach %zu runs into a reach that does not exist", i);
    into[i] = (long)lower;
    first[i] = beside[i] = -1;
  }
  for (i = 0; i < reaches; i++) {
    if (into[i] < 0) continue;
    beside[i] = first[into[i]];
    first[into[i]] = (long)i;
  }
  return true;
}

static bool sum(latch_json input, latch_answer *answer) {
  if (!read_reaches(latch_json_member(input, "reaches"), answer)) return false;
  size_t outlets = 0;
  latch_put(&answer->result, "{\"outlets\":[");
  for (size_t i = 0; i < reaches; i++) {
    if (into[i] >= 0) continue;
    if (outlets == MOST_OUTLETS)
      return latch_fail(answer, LATCH_INVALID_INPUT, "a network has at most %d outlets", MOST_OUTLETS);
    double total = drained((long)i);
    latch_putf(&answer->result, "%s{\"reach\":%zu,\"flow\":", outlets++ ? "," : "", i);
    latch_put_number(&answer->result, total);
    latch_putf(&answer->result, ",\"course\":%ld}", course[i]);
  }
  latch_putf(&answer->result, "],\"reaches\":%zu}", reaches);
  /* A reach that no outlet drains is part of a circle. */
  if (visited < reaches)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%zu reaches run in a circle", reaches - visited);
  latch_log(LATCH_INFO, "%zu reaches, %zu outlets", reaches, outlets);
  return true;
}

LATCH_PLUGIN({
  .name = "Catchment.Flow",
  .description = "Adds up the flow of all reaches of a river network at each outlet.",
  .input = "{\"type\":\"object\",\"properties\":{\"reaches\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
           "\"properties\":{\"flow\":{\"type\":\"number\"},\"into\":{\"type\":[\"integer\",\"null\"]}},"
           "\"required\":[\"flow\"],\"additionalProperties\":false}}},"
           "\"required\":[\"reaches\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"outlets\",\"reaches\"]}",
  .handler = sum,
});
