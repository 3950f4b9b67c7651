/* Portage.Bulletin: sums up the stages of a canoe portage for the morning bulletin. */
#include "latchwork.h"

/* Sums over the stages of a route. */
typedef struct {
  int stages, wet, closed;
  int64_t meters, closed_meters;
} sums;

/* Adds a stage to the sums, and the name of a closed stage to the list. */
static bool add(latch_json stage, sums *sum, latch_text *closed, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(stage, "name"));
  char *state = latch_json_string(latch_json_member(stage, "state"));
  int64_t meters;
  if (!name || !state || !latch_json_integer(latch_json_member(stage, "meters"), &meters))
    return latch_fail(answer, LATCH_INVALID_INPUT, "stage %d has no name, state or length", sum->stages + 1);
  sum->stages++;
  sum->meters += meters;
  if (strcmp(state, "wet") == 0) sum->wet++;
  if (strcmp(state, "closed") == 0) {
    sum->closed++;
    sum->closed_meters += meters;
    if (closed->len) latch_put(closed, ",");
    latch_put_string(closed, name);
  }
  return true;
}

/* Tells the warden's office about a route with closed stages. */
static void announce(const char *route, const sums *sum) {
  latch_text payload = { 0 };
  latch_putf(&payload, "{\"route\":\"%s\",\"closed\":%d,\"meters\":%lld}", route, sum->closed,
             (long long)sum->closed_meters);
  latch_emit("portage.closed", payload.bytes);
}

static const char *verdict(const sums *sum) {
  if (sum->closed == sum->stages) return "closed";
  if (sum->closed > 0) return "partly closed";
  return sum->wet > 0 ? "open, wet" : "open";
}

static bool bulletin(latch_json input, latch_answer *answer) {
  char *route = latch_json_string(latch_json_member(input, "route"));
  latch_json stages = latch_json_member(input, "stages");
  if (!route || !*route) return latch_fail(answer, LATCH_INVALID_INPUT, "the route has no name");

  sums sum = { 0 };
  latch_text closed = { 0 };
  latch_put(&closed, "");
  size_t count = latch_json_count(stages);
  for (size_t i = 0; i < count; i++)
    if (!add(latch_json_item(stages, i), &sum, &closed, answer)) return false;
  if (sum.stages == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the route has no stages");
  if (sum.closed > 0) announce(route, &sum);

  latch_put(&answer->result, "{\"route\":");
  latch_put_string(&answer->result, route);
  latch_putf(&answer->result, ",\"state\":\"%s\",\"meters\":%lld,\"wet\":%d,\"closed\":[%s]}", verdict(&sum),
             (long long)sum.meters, sum.wet, closed.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Portage.Bulletin",
  .description = "Sums up the stages of a portage and announces closed ones.",
  .input = "{\"type\":\"object\",\"required\":[\"route\",\"stages\"],\"additionalProperties\":false,\"properties\":{"
           "\"route\":{\"type\":\"string\",\"maxLength\":120},"
           "\"stages\":{\"type\":\"array\",\"maxItems\":200,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"name\":{\"type\":\"string\",\"maxLength\":120},"
           "\"state\":{\"enum\":[\"dry\",\"wet\",\"closed\"]},"
           "\"meters\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":50000}},"
           "\"required\":[\"name\",\"state\",\"meters\"]}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"route\",\"state\",\"meters\",\"wet\",\"closed\"]}",
  .handler = bulletin,
});
