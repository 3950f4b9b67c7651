#include "latchwork.h"

enum { FIRST = 100, PADDLES = 900 };

/* Marks the paddles that are handed out already. Returns false if a number is not that of a paddle. */
static bool mark(latch_json taken, bool *used) {
  size_t count = latch_json_count(taken);
  for (size_t i = 0; i < count; i++) {
    int64_t number;
    if (!latch_json_integer(latch_json_item(taken, i), &number) || number < FIRST || number >= FIRST + PADDLES) return false;
    used[number - FIRST] = true;
  }
  return true;
}

static bool hand_out(latch_json input, latch_answer *answer) {
  char *bidder = latch_json_string(latch_json_member(input, "bidder"));
  if (!bidder || !*bidder) return latch_fail(answer, LATCH_INVALID_INPUT, "the bidder is missing");
  bool used[PADDLES] = { 0 };
  if (!mark(latch_json_member(input, "taken"), used)) return latch_fail(answer, LATCH_INVALID_INPUT, "paddles have the numbers 100 to 999");

  latch_text args = { 0 };
  latch_put(&args, "{\"bidder\":");
  latch_put_string(&args, bidder);
  latch_put(&args, "}");
  char *found = latch_call(answer, "Bidder.Lookup", args.bytes, NULL);
  if (!found) return false;
  latch_json record = latch_json_of(found);
  char *name = latch_json_string(latch_json_member(record, "name"));
  int64_t limit;
  if (!name || !latch_json_integer(latch_json_member(record, "limit"), &limit))
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the record of %s is incomplete", bidder);
  if (limit <= 0) return latch_fail(answer, LATCH_POLICY_DENIED, "%s may not bid", name);

  /* A random paddle, so that the numbers do not show the order of arrival. */
  int unused[PADDLES], count = 0;
  for (int i = 0; i < PADDLES; i++)
    if (!used[i]) unused[count++] = FIRST + i;
  if (count == 0) return latch_fail(answer, LATCH_POLICY_DENIED, "all paddles are handed out");
  int paddle = unused[latch_below((uint32_t)count)];

  latch_putf(&answer->result, "{\"paddle\":%d,\"name\":", paddle);
  latch_put_string(&answer->result, name);
  latch_putf(&answer->result, ",\"limit\":%lld,\"left\":%d}", (long long)limit, count - 1);
  return true;
}

LATCH_PLUGIN({
  .name = "Paddle.Assign",
  .description = "Assigns a bidding paddle to a registered bidder.",
  .input = "{\"type\":\"object\",\"properties\":{\"bidder\":{\"type\":\"string\"},"
           "\"taken\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},"
           "\"required\":[\"bidder\",\"taken\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"paddle\":{\"type\":\"integer\"},\"limit\":{\"type\":\"integer\"}},"
            "\"required\":[\"paddle\",\"name\",\"limit\",\"left\"]}",
  /* Stable and not pure: the number of the paddle is random. */
  .determinism = LATCH_STABLE,
  .handler = hand_out,
});
