#include "latchwork.h"

#include <time.h>
#include <unistd.h>

/* Asks the gauge at most three times, then the archive. */
static char *ask(const char *args, bool *live, latch_answer *answer) {
  for (unsigned round = 1; round <= 3; round++) {
    char *found = latch_call(answer, "Weir.Read", args, NULL);
    if (found) return *live = true, found;
    latch_log(LATCH_WARN, "round %u at %lld: %s", round, (long long)time(NULL), answer->message);
    if (answer->code > LATCH_DEPENDENCY_UNAVAILABLE) break;
    sleep(round * 30);
  }
  *live = false;
  return latch_call(answer, "Weir.Archive", args, NULL);
}

static bool report(latch_json input, latch_answer *answer) {
  char *weir = latch_json_string(latch_json_member(input, "weir"));
  if (!weir || !*weir) return latch_fail(answer, LATCH_INVALID_INPUT, "the weir has no name");
  latch_text args = { 0 };
  latch_put(&args, "{\"weir\":");
  latch_put_string(&args, weir);
  latch_put(&args, "}");

  bool live;
  char *found = ask(args.bytes, &live, answer);
  if (!found) return false;
  int64_t cm;
  if (!latch_json_integer(latch_json_member(latch_json_of(found), "cm"), &cm))
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the level is no integer");

  /* The number of the bulletin is drawn, so that readers can tell two bulletins of a weir apart. */
  latch_put(&answer->result, "{\"weir\":");
  latch_put_string(&answer->result, weir);
  latch_putf(&answer->result, ",\"cm\":%lld,\"live\":%s,\"bulletin\":\"%s\"}", (long long)cm, live ? "true" : "false", latch_uuid());
  latch_emit("bulletin", answer->result.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Weir.Report",
  .description = "Reports the water level of a weir, from its gauge or from the archive.",
  .input = "{\"type\":\"object\",\"properties\":{\"weir\":{\"type\":\"string\"}},\"required\":[\"weir\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"weir\",\"cm\",\"live\",\"bulletin\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = report,
});
