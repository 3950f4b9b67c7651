#include "latchwork.h"

static uint32_t table[256];
static bool filled;

static void fill(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0xedb88320U : value >> 1;
    table[byte] = value;
  }
  filled = true;
}

static uint32_t crc(const char *text) {
  if (!filled) fill();
  uint32_t value = 0xffffffffU;
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) value = table[(value ^ *at) & 0xff] ^ value >> 8;
  return ~value;
}

static bool checksum(latch_json input, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(input, "text"));
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "text is missing");
  latch_putf(&answer->result, "{\"crc\":\"%08x\",\"bytes\":%zu}", (unsigned)crc(text), strlen(text));
  return true;
}

LATCH_PLUGIN({
  .name = "Text.Crc",
  .description = "Computes the CRC-32 of a text.",
  .input = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"
           "\"required\":[\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"crc\",\"bytes\"]}",
  .determinism = LATCH_PURE,
  .handler = checksum,
});
