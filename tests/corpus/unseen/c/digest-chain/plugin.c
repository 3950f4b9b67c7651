#include "latchwork.h"

enum { MOST = 100000 };

static uint32_t mixed(uint32_t value) {
  value = (value ^ (value >> 16)) * 0x7feb352dU;
  value = (value ^ (value >> 15)) * 0x846ca68bU;
  return value ^ (value >> 16);
}

/* Each round needs the digest of the next round and its own value. */
__attribute__((noinline)) static uint32_t chained(uint32_t value, uint32_t left) {
  if (left == 0) return value;
  uint32_t next = chained(mixed(value + left), left - 1);
  return mixed(next ^ value) + (next & left);
}

static bool chain(latch_json input, latch_answer *answer) {
  int64_t seed, rounds;
  if (!latch_json_integer(latch_json_member(input, "seed"), &seed) ||
      !latch_json_integer(latch_json_member(input, "rounds"), &rounds) || rounds < 0 || rounds > MOST)
    return latch_fail(answer, LATCH_INVALID_INPUT, "seed or rounds is missing or out of range");
  latch_putf(&answer->result, "{\"digest\":\"%08x\"}", (unsigned)chained((uint32_t)seed, (uint32_t)rounds));
  return true;
}

LATCH_PLUGIN({
  .name = "Digest.Chain",
  .description = "Computes a digest in many rounds.",
  .input = "{\"type\":\"object\",\"properties\":{\"seed\":{\"type\":\"integer\"},\"rounds\":{\"type\":\"integer\"}},"
           "\"required\":[\"seed\",\"rounds\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"digest\"]}",
  .determinism = LATCH_PURE,
  .handler = chain,
});
