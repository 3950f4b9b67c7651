/* Freight.Window: asks a carrier for a loading window, and asks again while the carrier is still planning. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

#define MOST_QUESTIONS 4
#define PAUSE_SECONDS 60

static char *arguments(const char *carrier, const char *dock, int64_t pallets) {
  latch_text args = { 0 };
  latch_put(&args, "{\"carrier\":");
  latch_put_string(&args, carrier);
  latch_put(&args, ",\"dock\":");
  latch_put_string(&args, dock);
  latch_putf(&args, ",\"pallets\":%lld}", (long long)pallets);
  return args.bytes;
}

static bool put_window(latch_json plan, int questions, latch_answer *answer) {
  char *from = latch_json_string(latch_json_member(plan, "from"));
  char *until = latch_json_string(latch_json_member(plan, "until"));
  if (!from || !until)
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the carrier has named no times for its window");
  char at[32];
  time_t now = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  latch_put(&answer->result, "{\"from\":");
  latch_put_string(&answer->result, from);
  latch_put(&answer->result, ",\"until\":");
  latch_put_string(&answer->result, until);
  latch_putf(&answer->result, ",\"questions\":%d,\"at\":\"%s\"}", questions, at);
  return true;
}

static bool ask(latch_json input, latch_answer *answer) {
  char *carrier = latch_json_string(latch_json_member(input, "carrier"));
  char *dock = latch_json_string(latch_json_member(input, "dock"));
  int64_t pallets;
  if (!carrier || !*carrier || !dock || !*dock)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the carrier or the dock is missing");
  if (!latch_json_integer(latch_json_member(input, "pallets"), &pallets) || pallets < 1 || pallets > 66)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a truck takes 1 to 66 pallets");
  char *args = arguments(carrier, dock, pallets);

  for (int question = 1; question <= MOST_QUESTIONS; question++) {
    if (question > 1) sleep(PAUSE_SECONDS);
    char *given = latch_call(answer, "Carrier.Window", args, NULL);
    if (!given) return false;
    latch_json plan = latch_json_of(given);
    char *status = latch_json_string(latch_json_member(plan, "status"));
    if (status && strcmp(status, "planned") == 0) return put_window(plan, question, answer);
    if (!status || strcmp(status, "planning") != 0)
      return latch_fail(answer, LATCH_POLICY_DENIED, "%s has no window at dock %s", carrier, dock);
    latch_log(LATCH_INFO, "%s is still planning after question %d", carrier, question);
  }
  return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "%s is still planning", carrier);
}

LATCH_PLUGIN({
  .name = "Freight.Window",
  .description = "Asks a carrier for a loading window at a dock.",
  .input = "{\"type\":\"object\",\"properties\":{\"carrier\":{\"type\":\"string\"},\"dock\":{\"type\":\"string\"},"
           "\"pallets\":{\"type\":\"integer\"}},\"required\":[\"carrier\",\"dock\",\"pallets\"],"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"from\",\"until\",\"questions\",\"at\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = ask,
});
