#include "latchwork.h"

#include <time.h>
#include <unistd.h>

/* Asks the gauge of a berth for the depth of the water. A gauge that does not answer is asked three times at most,
 * then the depth comes from the chart. */

static bool passing_trouble(latch_code code) {
  return code == LATCH_NETWORK_TIMEOUT || code == LATCH_RATE_LIMIT || code == LATCH_TEMPORARY_PROVIDER_ERROR ||
         code == LATCH_TRANSIENT_DB_LOCK || code == LATCH_DEPENDENCY_UNAVAILABLE;
}

static bool sound(latch_json input, latch_answer *answer) {
  char *berth = latch_json_string(latch_json_member(input, "berth"));
  if (!berth || !*berth) return latch_fail(answer, LATCH_INVALID_INPUT, "the berth is missing");
  latch_text args = { 0 };
  latch_put(&args, "{\"berth\":");
  latch_put_string(&args, berth);
  latch_put(&args, "}");

  const char *source = "gauge";
  char *given = NULL;
  for (unsigned round = 1; round <= 3 && !given; round++) {
    given = latch_call(answer, "Gauge.Read", args.bytes, NULL);
    if (given) break;
    if (!passing_trouble(answer->code)) return false;
    latch_log(LATCH_INFO, "round %u: the gauge of %s did not answer", round, berth);
    if (round < 3) sleep(30 * round);
  }
  if (!given) {
    source = "chart";
    given = latch_call(answer, "Chart.Depth", args.bytes, NULL);
    if (!given) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "neither gauge nor chart has a depth for %s", berth);
  }

  int64_t depth;
  if (!latch_json_integer(latch_json_member(latch_json_of(given), "depth_cm"), &depth) || depth < 0)
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the %s gave no depth for %s", source, berth);
  char at[32];
  time_t now = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  latch_putf(&answer->result, "{\"depth_cm\":%lld,\"source\":\"%s\",\"at\":\"%s\"}", (long long)depth, source, at);
  return true;
}

LATCH_PLUGIN({
  .name = "Harbor.Sound",
  .description = "Finds the present depth of the water at a berth.",
  .input = "{\"type\":\"object\",\"properties\":{\"berth\":{\"type\":\"string\"}},\"required\":[\"berth\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"depth_cm\",\"source\",\"at\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = sound,
});
