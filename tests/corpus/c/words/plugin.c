/* Corpus of a step whose data contain codes of the host. It compares them, and no code of a failed call. */
#include "latchwork.h"

static const char *advice(const char *code) {
  if (!strcmp(code, "OUT_OF_FUEL") || !strcmp(code, "MEMORY_LIMIT")) return "raise the limit";
  return !strcmp(code, "BUDGET_EXCEEDED") ? "raise the budget" : "look at the log";
}

/* Posts the advice for each failed job. */
static bool failures(latch_json input, latch_answer *answer) {
  latch_json codes = latch_json_member(input, "codes");
  latch_text args = { 0 };
  if (latch_json_count(codes) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "too many codes");
  latch_put(&args, "[");
  for (size_t i = 0; i < latch_json_count(codes); i++) {
    char *code = latch_json_string(latch_json_item(codes, i));
    if (!code) return latch_fail(answer, LATCH_INVALID_INPUT, "a code is no text");
    latch_putf(&args, "%s\"%s\"", i ? "," : "", advice(code));
  }
  latch_put(&args, "]");
  if (!latch_call(answer, "Chat.Post", args.bytes, NULL)) return false;
  latch_put(&answer->result, "{}");
  return true;
}

LATCH_PLUGIN({ .name = "Good.Failures", .description = "For the corpus.", .handler = failures, .determinism = LATCH_EXTERNAL,
  .effects = LATCH_EXTERNAL_SEND });
