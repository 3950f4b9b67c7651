/* Handwritten schema with a missing brace. */
#include "latchwork.h"

static bool length(latch_json input, latch_answer *answer) {
  latch_putf(&answer->result, "%zu", strlen(latch_json_text(input)));
  return true;
}

LATCH_PLUGIN({ .name = "Text.Length", .description = "Says how long a text is.", .handler = length,
               .input = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}" });
