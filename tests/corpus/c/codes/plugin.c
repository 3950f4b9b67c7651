/* Corpus of steps that look at the code of a failed call, or fail. Bad.Budget looks for a code that no guest gets. Bad.Retry
   asks for a retry, although the error of a step is final. */
#include "latchwork.h"

static bool bad_budget(latch_json input, latch_answer *answer) {
  (void)input;
  char *reply = latch_call(answer, "Llm.Chat", "{}", NULL);
  if (!reply) {
    if (!answer->message || !strstr(answer->message, "BUDGET_EXCEEDED")) return false;
    reply = "\"none\"";
  }
  latch_putf(&answer->result, "{\"reply\":%s}", reply);
  return true;
}

/* Decides about an expense. REQUIRES_APPROVAL is a word of this step, and of no failure that it looks at. */
static bool expense(latch_json input, latch_answer *answer) {
  int64_t cents, left;
  if (!latch_json_integer(latch_json_member(input, "cents"), &cents)) return latch_fail(answer, LATCH_INVALID_INPUT, "no sum");
  char *sum = latch_call(answer, "Ledger.Sum", "{}", NULL);
  if (!sum) return false;
  if (!latch_json_integer(latch_json_member(latch_json_of(sum), "left"), &left))
    return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the ledger has no sum");
  latch_putf(&answer->result, "{\"decision\":\"%s\"}", cents > left ? "REQUIRES_APPROVAL" : "APPROVED");
  return true;
}

static bool wait(latch_answer *answer, uint32_t ms) {
  latch_fail(answer, LATCH_TEMPORARY_PROVIDER_ERROR, "the proof is not ready");
  answer->retry_after_ms = ms;
  return false;
}
static bool bad_retry(latch_json input, latch_answer *answer) { return (void)input, wait(answer, 60000); }
static bool good_retry(latch_json input, latch_answer *answer) { return (void)input, wait(answer, 0); }

#define STEP(said, handled) { .name = said, .description = "For the corpus.", .handler = handled, .determinism = LATCH_STABLE }

LATCH_PLUGIN(
  STEP("Bad.Budget", bad_budget), STEP("Bad.Retry", bad_retry), STEP("Good.Retry", good_retry),
  { .name = "Good.Expense", .description = "For the corpus.", .handler = expense, .determinism = LATCH_EXTERNAL });
