/* Depth.Profile: turns the echo soundings of a survey line into a depth profile. */
#include "latchwork.h"

enum { SECTIONS = 10 };

typedef struct {
  int64_t shallowest, deepest, sum, used;
} section;

static void add(section *to, int64_t depth) {
  if (to->used == 0 || depth < to->shallowest) to->shallowest = depth;
  if (to->used == 0 || depth > to->deepest) to->deepest = depth;
  to->sum += depth;
  to->used++;
}

static int64_t mean(const section *of) { return (of->sum + of->used / 2) / of->used; }

static void put_section(latch_text *text, const section *of) {
  if (of->used == 0) {
    latch_put(text, "null");
    return;
  }
  latch_putf(text, "{\"shallowest_cm\":%lld,\"deepest_cm\":%lld,\"mean_cm\":%lld}", (long long)of->shallowest,
             (long long)of->deepest, (long long)mean(of));
}

static bool profile(latch_json input, latch_answer *answer) {
  char *line = latch_json_string(latch_json_member(input, "line"));
  if (!line || !*line) return latch_fail(answer, LATCH_INVALID_INPUT, "the line has no name");
  int64_t least = 2;
  latch_json_integer(latch_json_member(input, "least_quality"), &least);

  latch_json pings = latch_json_member(input, "pings");
  size_t count = latch_json_count(pings);
  section all = { 0 }, parts[SECTIONS] = { 0 };
  size_t weak = 0;
  for (size_t i = 0; i < count; i++) {
    latch_json ping = latch_json_item(pings, i);
    int64_t depth, quality;
    if (!latch_json_integer(latch_json_member(ping, "depth_cm"), &depth) ||
        !latch_json_integer(latch_json_member(ping, "quality"), &quality))
      return latch_fail(answer, LATCH_INVALID_INPUT, "ping %zu has no depth or no quality", i + 1);
    if (quality < least) {
      weak++;
      continue;
    }
    add(&all, depth);
    add(&parts[i * SECTIONS / count], depth);
  }
  if (all.used == 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "line %s has no ping of quality %d", line, (int)least);

  latch_put(&answer->result, "{\"line\":");
  latch_put_string(&answer->result, line);
  latch_putf(&answer->result, ",\"pings\":%zu,\"weak\":%zu,\"whole\":", count, weak);
  put_section(&answer->result, &all);
  latch_put(&answer->result, ",\"sections\":[");
  for (size_t i = 0; i < SECTIONS; i++) {
    if (i) latch_put(&answer->result, ",");
    put_section(&answer->result, &parts[i]);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Depth.Profile",
  .description = "Turns the echo soundings of a survey line into a depth profile.",
  .input = "{\"type\":\"object\",\"required\":[\"line\",\"pings\"],\"properties\":{\"line\":{\"type\":\"string\"},"
           "\"least_quality\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9},"
           "\"pings\":{\"type\":\"array\",\"maxItems\":20000,\"items\":{\"type\":\"object\","
           "\"required\":[\"depth_cm\",\"quality\"],\"properties\":{"
           "\"depth_cm\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1200000},"
           "\"quality\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9}}}}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"line\",\"pings\",\"weak\",\"whole\",\"sections\"]}",
  .handler = profile,
});
