/* Declares one operator twice, as happens when a line is copied and not changed. */
#include "latchwork.h"

static bool length(latch_json input, latch_answer *answer) {
  latch_putf(&answer->result, "%zu", strlen(latch_json_text(input)));
  return true;
}

LATCH_PLUGIN({ .name = "Text.Length", .description = "Says how long a text is.", .handler = length },
             { .name = "Text.Length", .description = "Says how many words a text has.", .handler = length });
