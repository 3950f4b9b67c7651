/* Corpus of steps that handle a failed call. Good.Budget looks for a code of the host in the detail, where it is. Good.Pass
   passes the failure on. Good.Rack has a word of its own in a message, which is also a code of the host. */
#include "latchwork.h"

static bool ask(latch_answer *answer, bool reads_detail) {
  char *reply = latch_call(answer, "Llm.Chat", "{}", NULL);
  if (!reply) {
    if (!reads_detail || !answer->detail || !strstr(answer->detail, "BUDGET_EXCEEDED")) return false;
    reply = "\"none\"";
  }
  latch_putf(&answer->result, "{\"reply\":%s}", reply);
  return true;
}
static bool good_budget(latch_json input, latch_answer *answer) { return (void)input, ask(answer, true); }
static bool good_pass(latch_json input, latch_answer *answer) { return (void)input, ask(answer, false); }

static bool good_rack(latch_json input, latch_answer *answer) {
  int64_t gigabytes;
  if (!latch_json_integer(latch_json_member(input, "gigabytes"), &gigabytes)) return latch_fail(answer, LATCH_INVALID_INPUT, "no size");
  if (gigabytes > 64) return latch_fail(answer, LATCH_POLICY_DENIED, "MEMORY_LIMIT: the rack has 64 GB");
  return ask(answer, true);
}

#define STEP(said, handled) { .name = said, .description = "For the corpus.", .handler = handled, .determinism = LATCH_STABLE }

LATCH_PLUGIN(STEP("Good.Budget", good_budget), STEP("Good.Pass", good_pass), STEP("Good.Rack", good_rack));
