/* Corpus of steps whose mistake shows if one member changes in all elements at once, or if an array continues. Each bad_*
   step breaks a rule of the checker. The good_* step next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <stdint.h>

enum { ROWS_MAX = 16, LEVELS_MAX = 20 };

/* A comparison with a limit is false for NaN. */
static bool reading(latch_json input, latch_answer *answer, bool is_finite) {
  const char *text = latch_json_string(latch_json_member(input, "text")), *colon = text ? strchr(text, ':') : NULL;
  if (!colon) return latch_fail(answer, LATCH_INVALID_INPUT, "a reading has a name and a number");
  double number = strtod(colon + 1, NULL);
  if (number < 0 || number > 100 || (is_finite && number != number))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the number is out of range");
  latch_put(&answer->result, "{\"number\":");
  latch_put_number(&answer->result, number);
  latch_put(&answer->result, "}");
  return true;
}
static bool bad_reading(latch_json input, latch_answer *answer) { return reading(input, answer, false); }
static bool good_reading(latch_json input, latch_answer *answer) { return reading(input, answer, true); }

static uint64_t divisor(uint64_t a, uint64_t b) { return b ? divisor(b, a % b) : a; }

/* The least common multiple of several numbers can be too large for a double. */
static bool cycle(latch_json input, latch_answer *answer, bool is_text) {
  latch_json bells = latch_json_member(input, "bells");
  uint64_t ticks = 1;
  for (size_t i = 0; i < latch_json_count(bells); i++) {
    int64_t every = 0;
    if (!latch_json_integer(latch_json_member(latch_json_item(bells, i), "every"), &every) || every < 1)
      return latch_fail(answer, LATCH_INVALID_INPUT, "a bell never rings");
    uint64_t factor = (uint64_t)every / divisor(ticks, (uint64_t)every);
    if (__builtin_mul_overflow(ticks, factor, &ticks)) return latch_fail(answer, LATCH_INVALID_INPUT, "the cycle has no end");
  }
  latch_putf(&answer->result, is_text ? "{\"ticks\":\"%llu\"}" : "{\"ticks\":%llu}", (unsigned long long)ticks);
  return true;
}
static bool bad_cycle(latch_json input, latch_answer *answer) { return cycle(input, answer, false); }
static bool good_cycle(latch_json input, latch_answer *answer) { return cycle(input, answer, true); }

/* No bird is at home if all birds lack the minutes. */
static bool winner(latch_json input, latch_answer *answer, bool is_checked) {
  latch_json birds = latch_json_member(input, "birds");
  char *ring = NULL;
  double least = 0;
  for (size_t i = 0; i < latch_json_count(birds); i++) {
    double minutes;
    if (!latch_json_number(latch_json_member(latch_json_item(birds, i), "minutes"), &minutes)) continue;
    if (ring && minutes >= least) continue;
    ring = latch_json_string(latch_json_member(latch_json_item(birds, i), "ring"));
    least = minutes;
  }
  if (!ring && is_checked) return latch_fail(answer, LATCH_INVALID_INPUT, "no bird is at home");
  latch_put(&answer->result, "{");
  if (ring) {
    latch_put(&answer->result, "\"winner\":");
    latch_put_string(&answer->result, ring);
  }
  latch_put(&answer->result, "}");
  return true;
}
static bool bad_winner(latch_json input, latch_answer *answer) { return winner(input, answer, false); }
static bool good_winner(latch_json input, latch_answer *answer) { return winner(input, answer, true); }

/* The order of a table that is hashed by address. */
static int by_address(const void *one, const void *other) {
  uint32_t a = (uint32_t)(uintptr_t)*(double *const *)one * 2654435761u, b = (uint32_t)(uintptr_t)*(double *const *)other * 2654435761u;
  return a < b ? -1 : a > b;
}

/* A sum of fractions depends on the order of the additions. */
static bool total(latch_json input, latch_answer *answer, bool is_by_address) {
  latch_json sales = latch_json_member(input, "sales");
  size_t count = latch_json_count(sales);
  double *all[ROWS_MAX], sum = 0;
  if (count > ROWS_MAX) return latch_fail(answer, LATCH_INVALID_INPUT, "at most 16 sales are possible");
  for (size_t i = 0; i < count; i++) {
    all[i] = calloc(1, sizeof *all[i]);
    if (!latch_json_number(latch_json_member(latch_json_item(sales, i), "euro"), all[i]))
      return latch_fail(answer, LATCH_INVALID_INPUT, "a sale has no price");
  }
  if (is_by_address) qsort(all, count, sizeof all[0], by_address);
  for (size_t i = 0; i < count; i++) sum += *all[i];
  latch_put(&answer->result, "{\"sum\":");
  latch_put_number(&answer->result, sum);
  latch_put(&answer->result, "}");
  return true;
}
static bool bad_total(latch_json input, latch_answer *answer) { return total(input, answer, true); }
static bool good_total(latch_json input, latch_answer *answer) { return total(input, answer, false); }

/* One level for each climb. The points are in the order of their distance. */
static bool profile(latch_json input, latch_answer *answer, bool is_bounded) {
  latch_json points = latch_json_member(input, "points");
  double before_km = -1, before_m = 0;
  int levels = 0;
  bool was_climb = false;
  for (size_t i = 0; i < latch_json_count(points); i++) {
    double km, m;
    latch_json point = latch_json_item(points, i);
    if (!latch_json_number(latch_json_member(point, "km"), &km) || !latch_json_number(latch_json_member(point, "m"), &m) || km <= before_km)
      return latch_fail(answer, LATCH_INVALID_INPUT, "a point is not after the point before");
    bool is_climb = i && m > before_m;
    if (is_climb && !was_climb) levels++;
    was_climb = is_climb;
    before_km = km;
    before_m = m;
  }
  if (is_bounded && levels > LEVELS_MAX) return latch_fail(answer, LATCH_INVALID_INPUT, "more than 20 climbs");
  latch_put(&answer->result, "{\"climbs\":");
  for (int i = 0; i < levels; i++) latch_put(&answer->result, "[");
  if (!levels) latch_put(&answer->result, "null");
  for (int i = 0; i < levels; i++) latch_put(&answer->result, "]");
  latch_put(&answer->result, "}");
  return true;
}
static bool bad_profile(latch_json input, latch_answer *answer) { return profile(input, answer, false); }
static bool good_profile(latch_json input, latch_answer *answer) { return profile(input, answer, true); }

/* A part needs parts by their positions. The recursion has one level for each part of a chain. */
static int level_of(latch_json parts, const size_t *needs, size_t count, size_t at, int depth) {
  volatile char room[256] = { 0 };
  if (depth < 0 || at >= count || needs[at] >= count) return 1 + room[0];
  return 1 + level_of(parts, needs, count, needs[at], depth - 1);
}
static bool levels(latch_json input, latch_answer *answer, int depth_max) {
  latch_json parts = latch_json_member(input, "parts");
  size_t count = latch_json_count(parts), *needs = calloc(count + 1, sizeof *needs), i = 0;
  const char *at = latch_json_item(parts, 0).at;
  for (; i < count; i++) {
    int64_t need = -1;
    latch_json_integer(latch_json_item(latch_json_member((latch_json){ at }, "needs"), 0), &need);
    needs[i] = need < 0 ? count : (size_t)need;
    at = latch_json_space(latch_json_skip(at));
    at = latch_json_space(at + 1);
  }
  if (depth_max > (int)count) depth_max = (int)count;
  int levels = count ? level_of(parts, needs, count, 0, depth_max) : 0;
  if (levels > depth_max) return latch_fail(answer, LATCH_INVALID_INPUT, "a chain is too long or a ring");
  latch_putf(&answer->result, "{\"levels\":%d}", levels);
  return true;
}
static bool bad_levels(latch_json input, latch_answer *answer) { return levels(input, answer, 1000000); }
static bool good_levels(latch_json input, latch_answer *answer) { return levels(input, answer, 50); }

/* A doll holds the next smaller one, which has to fit between its walls. */
static bool dolls(latch_json input, latch_answer *answer, int levels_max) {
  latch_json all = latch_json_member(input, "dolls");
  double room = -1, height, wall;
  int levels = 0;
  for (size_t i = latch_json_count(all); i-- > 0;) {
    latch_json doll = latch_json_item(all, i);
    latch_json_number(latch_json_member(doll, "mm"), &height);
    latch_json_number(latch_json_member(doll, "wall"), &wall);
    if (room >= 0 && height > room) continue;
    room = height - 2 * wall;
    levels++;
  }
  if (levels > levels_max) return latch_fail(answer, LATCH_INVALID_INPUT, "more than 20 dolls");
  for (int i = 0; i < levels; i++) latch_put(&answer->result, "{\"holds\":");
  latch_put(&answer->result, "null");
  for (int i = 0; i < levels; i++) latch_put(&answer->result, "}");
  return true;
}
static bool bad_dolls(latch_json input, latch_answer *answer) { return dolls(input, answer, 100000); }
static bool good_dolls(latch_json input, latch_answer *answer) { return dolls(input, answer, LEVELS_MAX); }

/* An object with a key for each boat has a key twice if a boat lands twice. */
static bool landings(latch_json input, latch_answer *answer, bool is_array) {
  latch_json all = latch_json_member(input, "landings");
  latch_text args = { 0 };
  latch_put(&args, is_array ? "[" : "{");
  for (size_t i = 0; i < latch_json_count(all); i++) {
    if (i) latch_put(&args, ",");
    latch_put_string(&args, latch_json_string(latch_json_member(latch_json_item(all, i), "boat")));
    if (!is_array) latch_put(&args, ":1");
  }
  latch_put(&args, is_array ? "]" : "}");
  char *quota = latch_call(answer, "Quota.Check", args.bytes, NULL);
  if (!quota) return false;
  latch_putf(&answer->result, "{\"quota\":%s}", quota);
  return true;
}
static bool bad_landings(latch_json input, latch_answer *answer) { return landings(input, answer, false); }
static bool good_landings(latch_json input, latch_answer *answer) { return landings(input, answer, true); }

#define OBJECT(required, members) "{\"type\":\"object\",\"required\":[" required "],\"properties\":{" members "}}"
#define ROWS(name, most, required, members) \
  OBJECT("\"" name "\"", "\"" name "\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":" most ",\"items\":" OBJECT(required, members) "}")
#define TEXT(name) "\"" name "\":{\"type\":\"string\",\"maxLength\":40}"
#define NUMBER(name, kind, most) "\"" name "\":{\"type\":\"" kind "\",\"minimum\":0,\"maximum\":" most "}"
#define READING .input = OBJECT("\"text\"", TEXT("text"))
#define CYCLE .input = ROWS("bells", "8", "\"every\"", TEXT("note") "," NUMBER("every", "integer", "100000"))
#define WINNER .input = ROWS("birds", "90", "\"ring\"", TEXT("ring") "," NUMBER("minutes", "number", "900")), .output = OBJECT("\"winner\"", "")
#define TOTAL .input = ROWS("sales", "16", "\"euro\"", TEXT("author") "," NUMBER("euro", "number", "900"))
#define PROFILE .input = ROWS("points", "5000", "\"km\",\"m\"", NUMBER("km", "number", "99") "," NUMBER("m", "number", "9000"))
#define LANDINGS .input = ROWS("landings", "90", "\"boat\"", TEXT("boat")), .determinism = LATCH_EXTERNAL
#define NEEDS "\"needs\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":0}}"
#define LEVELS .input = ROWS("parts", "20000", "\"needs\"", TEXT("name") "," NEEDS)
#define DOLLS .input = ROWS("dolls", "200", "\"mm\",\"wall\"", NUMBER("mm", "number", "5000") "," NUMBER("wall", "number", "99"))
#define STEP(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }

LATCH_PLUGIN(
  STEP("Bad.Reading", bad_reading, READING), STEP("Good.Reading", good_reading, READING), STEP("Bad.Cycle", bad_cycle, CYCLE),
  STEP("Good.Cycle", good_cycle, CYCLE), STEP("Bad.Winner", bad_winner, WINNER), STEP("Good.Winner", good_winner, WINNER),
  STEP("Bad.Total", bad_total, TOTAL), STEP("Good.Total", good_total, TOTAL), STEP("Bad.Profile", bad_profile, PROFILE),
  STEP("Good.Profile", good_profile, PROFILE), STEP("Bad.Landings", bad_landings, LANDINGS),
  STEP("Good.Landings", good_landings, LANDINGS), STEP("Bad.Levels", bad_levels, LEVELS), STEP("Good.Levels", good_levels, LEVELS),
  STEP("Bad.Dolls", bad_dolls, DOLLS), STEP("Good.Dolls", good_dolls, DOLLS));
