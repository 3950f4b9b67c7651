#include "latchwork.h"

enum { MOST = 200 };

/* A setting, as the devices have it in their memory. */
struct setting {
  uint8_t kind;
  uint16_t number;
  double value;
};

static uint32_t fnv(const void *bytes, size_t len) {
  uint32_t hash = 0x811c9dc5u;
  for (const unsigned char *at = bytes; len > 0; at++, len--) hash = (hash ^ *at) * 0x01000193u;
  return hash;
}

static bool digest(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "settings");
  size_t count = latch_json_count(list);
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu settings, at most %d", count, MOST);
  struct setting *settings = malloc((count + 1) * sizeof *settings);
  if (!settings) abort();
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    int64_t kind, number;
    double value;
    if (!latch_json_integer(latch_json_member(item, "kind"), &kind) || kind < 0 || kind > 255 ||
        !latch_json_integer(latch_json_member(item, "number"), &number) || number < 0 || number > 65535 ||
        !latch_json_number(latch_json_member(item, "value"), &value))
      return latch_fail(answer, LATCH_INVALID_INPUT, "setting %zu is not complete", i);
    settings[i].kind = (uint8_t)kind;
    settings[i].number = (uint16_t)number;
    settings[i].value = value;
  }
  uint32_t hash = fnv(settings, count * sizeof *settings);
  latch_putf(&answer->result, "{\"digest\":\"%08x\",\"count\":%zu}", (unsigned)hash, count);
  return true;
}

LATCH_PLUGIN({
  .name = "Config.Digest",
  .description = "Computes the digest of the settings of a device.",
  .input = "{\"type\":\"object\",\"properties\":{\"settings\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}},"
           "\"required\":[\"settings\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"digest\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\"}},"
            "\"required\":[\"digest\",\"count\"]}",
  .determinism = LATCH_PURE,
  .handler = digest,
});
