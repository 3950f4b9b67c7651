#include "latchwork.h"

#include <assert.h>

/* Ends with a trap after it wrote the text of its arguments to standard error. */
static bool broken_answer(latch_json args, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, "text"));
  char *secret = latch_secret(answer, "TOKEN");
  fprintf(stderr, "%s with %s\n", text, secret ? secret : "no secret");
  assert(strcmp(text, "right") == 0);
  latch_put_string(&answer->result, text);
  return true;
}

LATCH_PLUGIN({
  .name = "Text.Check",
  .description = "Checks a text.",
  .input = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}",
  .output = "{\"type\":\"string\"}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = broken_answer,
});
