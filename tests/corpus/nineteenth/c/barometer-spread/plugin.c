/* Barometer.Spread: mean and standard deviation of the pressure readings of one weather station. */
#include "latchwork.h"

/* Sums over the readings of a day, from which the mean and the spread follow. */
typedef struct {
  double sum, squares, lowest, highest;
  size_t count;
} tally;

static void add(tally *day, double reading) {
  if (day->count == 0 || reading < day->lowest) day->lowest = reading;
  if (day->count == 0 || reading > day->highest) day->highest = reading;
  day->sum += reading;
  day->squares += reading * reading;
  day->count++;
}

static double mean(const tally *day) { return day->sum / (double)day->count; }

/* The spread is the root of the mean square minus the square of the mean. */
static double spread(const tally *day) {
  double middle = mean(day);
  return sqrt(day->squares / (double)day->count - middle * middle);
}

static const char *weather(const tally *day, double first, double last) {
  if (day->highest - day->lowest < 1.0) return "steady";
  return last > first ? "rising" : "falling";
}

static bool measure(latch_json input, latch_answer *answer) {
  char *station = latch_json_string(latch_json_member(input, "station"));
  latch_json readings = latch_json_member(input, "readings");
  size_t count = latch_json_count(readings);
  if (!station || !*station) return latch_fail(answer, LATCH_INVALID_INPUT, "the station has no name");
  if (count < 2) return latch_fail(answer, LATCH_INVALID_INPUT, "%s: a spread needs two readings or more", station);

  tally day = { 0 };
  double first = 0, last = 0;
  for (size_t i = 0; i < count; i++) {
    double reading;
    if (!latch_json_number(latch_json_item(readings, i), &reading) || reading < 850 || reading > 1100)
      return latch_fail(answer, LATCH_INVALID_INPUT, "%s: reading %zu is no air pressure in hPa", station, i + 1);
    if (i == 0) first = reading;
    last = reading;
    add(&day, reading);
  }
  latch_log(LATCH_INFO, "%s: %zu readings", station, count);

  latch_put(&answer->result, "{\"station\":");
  latch_put_string(&answer->result, station);
  latch_putf(&answer->result, ",\"count\":%zu,\"trend\":\"%s\",\"mean\":", count, weather(&day, first, last));
  latch_put_number(&answer->result, mean(&day));
  latch_put(&answer->result, ",\"spread\":");
  latch_put_number(&answer->result, spread(&day));
  latch_put(&answer->result, ",\"lowest\":");
  latch_put_number(&answer->result, day.lowest);
  latch_put(&answer->result, ",\"highest\":");
  latch_put_number(&answer->result, day.highest);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Barometer.Spread",
  .description = "Computes mean and spread of the pressure readings of a station.",
  .input = "{\"type\":\"object\",\"properties\":{\"station\":{\"type\":\"string\"},"
           "\"readings\":{\"type\":\"array\",\"items\":{\"type\":\"number\"},\"maxItems\":1440}},"
           "\"required\":[\"station\",\"readings\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\","
            "\"required\":[\"station\",\"count\",\"trend\",\"mean\",\"spread\",\"lowest\",\"highest\"],"
            "\"properties\":{\"spread\":{\"type\":\"number\"},\"mean\":{\"type\":\"number\"}}}",
  .determinism = LATCH_PURE,
  .handler = measure,
});
