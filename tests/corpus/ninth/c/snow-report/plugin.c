#include "latchwork.h"

#include <time.h>
#include <unistd.h>

/* Writes the snow report of a resort. The stations at the slopes are asked in turn, since one of them is often
   frozen or busy. */

enum { ROUNDS = 3 };

static char *ask(latch_answer *answer, const char *station) {
  latch_text args = { 0 };
  latch_put(&args, "{\"station\":");
  latch_put_string(&args, station);
  latch_put(&args, "}");
  return latch_call(answer, "Station.Read", args.bytes, NULL);
}

static bool report(latch_json input, latch_answer *answer) {
  latch_json stations = latch_json_member(input, "stations");
  size_t count = latch_json_count(stations);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no station");

  time_t began = time(NULL);
  char *reading = NULL, *station = NULL;
  size_t first = latch_below((uint32_t)count); /* spreads the load over the stations */
  for (int round = 0; round < ROUNDS && !reading; round++) {
    for (size_t i = 0; i < count && !reading; i++) {
      station = latch_json_string(latch_json_item(stations, (first + i) % count));
      if (!station) return latch_fail(answer, LATCH_INVALID_INPUT, "a station is no text");
      reading = ask(answer, station);
      if (!reading && answer->code == LATCH_INVALID_INPUT) return false;
    }
    if (!reading && round + 1 < ROUNDS) sleep(60 + latch_below(30));
  }
  if (!reading) return false;

  double depth;
  if (!latch_json_number(latch_json_member(latch_json_of(reading), "depth_cm"), &depth) || !(depth >= 0 && depth <= 2000))
    return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "station %s sent no usable depth", station);

  char at[32];
  time_t now = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%dT%H:%MZ", gmtime(&now));
  char *id = latch_uuid();
  latch_put(&answer->result, "{\"station\":");
  latch_put_string(&answer->result, station);
  latch_put(&answer->result, ",\"depth_cm\":");
  latch_put_number(&answer->result, depth);
  latch_putf(&answer->result, ",\"at\":\"%s\",\"waited_s\":%lld,\"id\":\"%s\"}", at, (long long)(now - began), id);
  latch_emit("snow-report", answer->result.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Snow.Report",
  .description = "Writes the snow report of a resort from the first station that answers.",
  .input = "{\"type\":\"object\",\"properties\":{\"stations\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":8,"
           "\"items\":{\"type\":\"string\",\"maxLength\":60}}},\"required\":[\"stations\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"station\",\"depth_cm\",\"at\",\"waited_s\",\"id\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = report,
});
