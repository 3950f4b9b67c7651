/* Funicular.Board: finds the car that a group of passengers can take up the hill. */
#include "latchwork.h"

#include <unistd.h>

enum { CAR_SEATS = 48 };

/* Asks the dispatcher for the next car. The dispatcher restarts often, so short outages are waited for. */
static char *next_car(const char *station, int64_t people, latch_answer *answer) {
  latch_text args = { 0 };
  latch_put(&args, "{\"station\":");
  latch_put_string(&args, station);
  latch_putf(&args, ",\"seats\":%lld}", (long long)people);

  char *reply;
  while (!(reply = latch_call(answer, "Dispatch.NextCar", args.bytes, NULL))) {
    bool passes = answer->code == LATCH_DEPENDENCY_UNAVAILABLE || answer->code == LATCH_NETWORK_TIMEOUT;
    if (!passes) return NULL;
    latch_log(LATCH_WARN, "the dispatcher does not answer: %s", answer->message);
    sleep(15);
  }
  return reply;
}

static bool board(latch_json input, latch_answer *answer) {
  char *station = latch_json_string(latch_json_member(input, "station"));
  int64_t people;
  if (!station || !*station) return latch_fail(answer, LATCH_INVALID_INPUT, "the station is empty");
  if (!latch_json_integer(latch_json_member(input, "people"), &people) || people < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the group has no people");

  int64_t cars = (people + CAR_SEATS - 1) / CAR_SEATS;
  int64_t first = people < CAR_SEATS ? people : CAR_SEATS;
  char *reply = next_car(station, first, answer);
  if (!reply) return false;

  latch_json found = latch_json_of(reply);
  char *car = latch_json_string(latch_json_member(found, "car"));
  int64_t minutes;
  if (!car || !latch_json_integer(latch_json_member(found, "minutes"), &minutes))
    return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the dispatcher gave an answer of another form");

  latch_put(&answer->result, "{\"station\":");
  latch_put_string(&answer->result, station);
  latch_put(&answer->result, ",\"car\":");
  latch_put_string(&answer->result, car);
  latch_putf(&answer->result, ",\"minutes\":%lld,\"cars_needed\":%lld}", (long long)minutes, (long long)cars);
  return true;
}

LATCH_PLUGIN({
  .name = "Funicular.Board",
  .description = "Finds the next car with seats for a group.",
  .input = "{\"type\":\"object\",\"required\":[\"station\",\"people\"],\"additionalProperties\":false,\"properties\":{"
           "\"station\":{\"type\":\"string\",\"maxLength\":60},"
           "\"people\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":400}}}",
  .output = "{\"type\":\"object\",\"required\":[\"station\",\"car\",\"minutes\",\"cars_needed\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = board,
});
