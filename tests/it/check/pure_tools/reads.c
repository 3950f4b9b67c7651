#include "latchwork.h"

#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void stamp_time(latch_answer *answer) { latch_putf(&answer->result, "\"%d\"", (int)(time(NULL) % 2)); }

__attribute__((noinline)) static void draw_byte(latch_answer *answer) {
  unsigned char byte = 0;
  getentropy(&byte, 1);
  latch_putf(&answer->result, "\"%d\"", byte);
}

static bool answer(latch_json args, latch_answer *answer) {
  char *reads = latch_json_string(latch_json_member(args, "reads"));
  if (strcmp(reads, "clock") == 0) stamp_time(answer);
  else if (strcmp(reads, "random") == 0) draw_byte(answer);
  else if (strcmp(reads, "secret") == 0) {
    char *secret = latch_secret(answer, "TOKEN");
    if (!secret) return false;
    latch_putf(&answer->result, "\"%zu\"", strlen(secret));
  } else latch_put_string(&answer->result, reads);
  return true;
}

LATCH_PLUGIN({
  .name = "Pure.Reads",
  .description = "Reads what it is asked for.",
  .input = "{\"type\":\"object\",\"properties\":{\"reads\":{\"type\":\"string\"}},\"required\":[\"reads\"]}",
  .output = "{\"type\":\"string\"}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_PURE,
  .handler = answer,
});
