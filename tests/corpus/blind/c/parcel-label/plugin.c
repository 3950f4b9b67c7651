#include "latchwork.h"

#include <ctype.h>

enum { LINE = 24 };

/* Copies a line of the address in capitals, no longer than the printer's line. */
static void line(char into[LINE + 1], const char *text) {
  snprintf(into, LINE + 1, "%s", text);
  for (char *c = into; *c; c++)
    if ((unsigned char)*c < 0x80) *c = (char)toupper((unsigned char)*c);
}

static bool print_label(latch_json input, latch_answer *answer) {
  char *recipient = latch_json_string(latch_json_member(input, "recipient"));
  char *street = latch_json_string(latch_json_member(input, "street"));
  int64_t grams;
  if (!recipient || !street || !latch_json_integer(latch_json_member(input, "grams"), &grams))
    return latch_fail(answer, LATCH_INVALID_INPUT, "recipient, street and grams are needed");
  if (grams <= 0 || grams > 31500) return latch_fail(answer, LATCH_INVALID_INPUT, "a parcel weighs up to 31.5 kg");

  char first[LINE + 1], second[LINE + 1];
  line(first, recipient);
  line(second, street);
  latch_put(&answer->result, "{\"lines\":[");
  latch_put_string(&answer->result, first);
  latch_put(&answer->result, ",");
  latch_put_string(&answer->result, second);
  latch_putf(&answer->result, "],\"class\":\"%s\"}", grams <= 2000 ? "S" : grams <= 10000 ? "M" : "L");
  return true;
}

LATCH_PLUGIN({
  .name = "ParcelLabel.Print",
  .description = "Makes the lines of a parcel label.",
  .input = "{\"type\":\"object\",\"properties\":{\"recipient\":{\"type\":\"string\"},\"street\":{\"type\":\"string\"},"
           "\"grams\":{\"type\":\"integer\"}},\"required\":[\"recipient\",\"street\",\"grams\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"lines\",\"class\"]}",
  .determinism = LATCH_PURE,
  .handler = print_label,
});
