#include "latchwork.h"

#include <math.h>

/* Computes with floats, memory and formatted text, as an ordinary program does. */
static bool sum(latch_json args, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, "text"));
  char *copy = malloc(strlen(text) + 1);
  double sum = 0;
  for (char *word = strtok(strcpy(copy, text), " "); word; word = strtok(NULL, " ")) sum += sqrt(strtod(word, NULL));
  free(copy);
  printf("the sum is %f\n", sum);
  latch_text shown = { 0 };
  latch_putf(&shown, "%.3f", sum);
  latch_put_string(&answer->result, shown.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Pure.Sum",
  .description = "Adds square roots.",
  .input = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}",
  .output = "{\"type\":\"string\"}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_PURE,
  .handler = sum,
});
