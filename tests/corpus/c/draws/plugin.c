/* Corpus of steps whose mistake shows for some values only. Bad.Serial breaks a rule of the checker. Good.Serial looks
   similar and breaks no rule. */
#include "latchwork.h"

/* Appends the serial number to a prefix of seven digits. */
static char *prefix_of(latch_json input, latch_answer *answer) {
  char *prefix = latch_json_string(latch_json_member(input, "prefix"));
  if (prefix && strlen(prefix) == 7 && strspn(prefix, "0123456789") == 7) return prefix;
  return latch_fail(answer, LATCH_INVALID_INPUT, "the prefix has seven digits"), NULL;
}
static bool bad_serial(latch_json input, latch_answer *answer) {
  char *prefix = prefix_of(input, answer);
  if (!prefix) return false;
  latch_putf(&answer->result, "{\"serial\":%llu}", strtoull(prefix, NULL, 10) * 10000000000ULL + 7);
  return true;
}
static bool good_serial(latch_json input, latch_answer *answer) {
  char *prefix = prefix_of(input, answer);
  if (!prefix) return false;
  latch_putf(&answer->result, "{\"serial\":\"%s0000000007\"}", prefix);
  return true;
}

#define STEP(said, handled) { .name = said, .description = "For the corpus.", .handler = handled }

LATCH_PLUGIN(STEP("Bad.Serial", bad_serial), STEP("Good.Serial", good_serial));
