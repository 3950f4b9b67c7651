#include "latchwork.h"

#include <time.h>
#include <unistd.h>

#define ROUNDS 6

static bool watch(latch_json input, latch_answer *answer) {
  char *kiln = latch_json_string(latch_json_member(input, "kiln"));
  double target, celsius = 0;
  if (!kiln || !*kiln) return latch_fail(answer, LATCH_INVALID_INPUT, "kiln is missing");
  if (!latch_json_number(latch_json_member(input, "target"), &target) || !isfinite(target))
    return latch_fail(answer, LATCH_INVALID_INPUT, "target is missing");
  latch_text args = { 0 };
  latch_put(&args, "{\"kiln\":");
  latch_put_string(&args, kiln);
  latch_put(&args, "}");

  time_t start = time(NULL);
  int readings = 0, missed = 0;
  bool hot = false;
  for (int round = 0; round < ROUNDS && !hot; round++) {
    if (round > 0) sleep(300);
    char *text = latch_call(answer, "Kiln.Temperature", args.bytes, NULL);
    double found;
    if (!text || !latch_json_number(latch_json_member(latch_json_of(text), "celsius"), &found) || !isfinite(found)) {
      missed++;
      continue;
    }
    readings++;
    celsius = found;
    hot = celsius >= target;
  }
  if (readings == 0) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "kiln %s gave no reading", kiln);

  latch_putf(&answer->result, "{\"hot\":%s,\"readings\":%d,\"missed\":%d,\"seconds\":%lld,\"celsius\":", hot ? "true" : "false",
             readings, missed, (long long)(time(NULL) - start));
  latch_put_number(&answer->result, celsius);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "KilnWatch.Wait",
  .description = "Reads the temperature of a kiln for up to half an hour, until it is hot enough.",
  .input = "{\"type\":\"object\",\"properties\":{\"kiln\":{\"type\":\"string\"},\"target\":{\"type\":\"number\"}},"
           "\"required\":[\"kiln\",\"target\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"hot\":{\"type\":\"boolean\"},\"readings\":{\"type\":\"integer\"},"
            "\"missed\":{\"type\":\"integer\"},\"seconds\":{\"type\":\"integer\"},\"celsius\":{\"type\":\"number\"}},"
            "\"required\":[\"hot\",\"readings\",\"missed\",\"seconds\",\"celsius\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = watch,
});
