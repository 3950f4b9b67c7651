#include "latchwork.h"

/* Corrects the reading of a sundial to the time of the zone. The equation of time of a day costs many terms, so its value
 * is kept for the next reading of this day. */

static const double PI = 3.14159265358979323846;

/* Minutes by which the sundial is fast. Kepler's equation is solved by iteration. */
static double equation_of_time(int day) {
  const double e = 0.0167086, tilt = 23.4393 * PI / 180, perihelion = 282.9373 * PI / 180;
  double mean = 2 * PI * (day - 3) / 365.2422, anomaly = mean;
  for (int i = 0; i < 20; i++) anomaly = mean + e * sin(anomaly);
  double truth = 2 * atan2(sqrt(1 + e) * sin(anomaly / 2), sqrt(1 - e) * cos(anomaly / 2));
  double longitude = truth + perihelion;
  double ascension = atan2(cos(tilt) * sin(longitude), cos(longitude));
  double apart = fmod(mean + perihelion - ascension, 2 * PI);
  if (apart > PI) apart -= 2 * PI;
  if (apart < -PI) apart += 2 * PI;
  return apart * 720 / PI;
}

static bool kept_equation(int day, double *minutes, latch_answer *answer) {
  char name[24], *kept;
  snprintf(name, sizeof name, "equation/%03d", day);
  if (!latch_kv_get(answer, name, &kept)) return false;
  if (kept) {
    *minutes = strtod(kept, NULL);
    return true;
  }
  *minutes = equation_of_time(day);
  char value[40];
  snprintf(value, sizeof value, "%.6f", *minutes);
  *minutes = strtod(value, NULL);
  /* The reading does not depend on it. */
  if (!latch_kv_set(answer, name, value)) latch_log(LATCH_DEBUG, "the equation of day %d is not kept", day);
  return true;
}

static bool correct(latch_json args, latch_answer *answer) {
  int64_t day, reading, zone = 0;
  double longitude, equation;
  if (!latch_json_integer(latch_json_member(args, "day"), &day) || !latch_json_integer(latch_json_member(args, "reading"), &reading) ||
      !latch_json_number(latch_json_member(args, "longitude"), &longitude))
    return latch_fail(answer, LATCH_INVALID_INPUT, "day, reading or longitude is missing");
  latch_json_integer(latch_json_member(args, "zone_hours"), &zone);
  if (fabs(longitude - 15.0 * (double)zone) > 45)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the dial is not in its zone");
  if (!kept_equation((int)day, &equation, answer)) return false;

  double minutes = (double)reading - equation + 4 * (15.0 * (double)zone - longitude);
  long clock = lround(minutes);
  latch_putf(&answer->result, "{\"clock\":\"%02ld:%02ld\",\"correction_minutes\":%ld,\"next_day\":%s}",
             (clock + 1440) % 1440 / 60, (clock + 1440) % 60, clock - (long)reading, clock >= 1440 ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "Sundial.Correct",
  .description = "Corrects the reading of a sundial to the time of its zone.",
  .input = "{\"type\":\"object\",\"properties\":{\"day\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":366},"
           "\"reading\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1439},"
           "\"longitude\":{\"type\":\"number\",\"minimum\":-180,\"maximum\":180},"
           "\"zone_hours\":{\"type\":\"integer\",\"minimum\":-12,\"maximum\":14}},"
           "\"required\":[\"day\",\"reading\",\"longitude\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"clock\",\"correction_minutes\",\"next_day\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = correct,
});
