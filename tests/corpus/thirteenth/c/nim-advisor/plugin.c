/* Nim.Advise: the winning move in a game with heaps, where a player takes one of the allowed numbers from a heap. */
#include "latchwork.h"

#define LARGEST 200
#define HEAPS 20
#define TAKES 10

/* Values of heaps that are computed already, by size. 0 is "not yet", so the table holds value + 1. */
static int known[LARGEST + 1];
static int takes[TAKES];
static size_t take_count;

/* The least number that no move from this heap reaches. A move takes at least one, so this ends after `size` levels. */
static int value_of(int size) {
  if (known[size]) return known[size] - 1;
  bool reached[TAKES + 2] = { false };
  for (size_t i = 0; i < take_count; i++)
    if (takes[i] <= size) reached[value_of(size - takes[i])] = true;
  int value = 0;
  while (reached[value]) value++;
  known[size] = value + 1;
  return value;
}

static bool advise(latch_json input, latch_answer *answer) {
  latch_json heaps = latch_json_member(input, "heaps"), allowed = latch_json_member(input, "takes");
  size_t heap_count = latch_json_count(heaps);
  take_count = latch_json_count(allowed);
  if (heap_count > HEAPS || take_count > TAKES) return latch_fail(answer, LATCH_INVALID_INPUT, "too many heaps or numbers");
  for (size_t i = 0; i < take_count; i++) {
    int64_t number;
    if (!latch_json_integer(latch_json_item(allowed, i), &number) || number < 1 || number > LARGEST)
      return latch_fail(answer, LATCH_INVALID_INPUT, "a player takes 1 to %d", LARGEST);
    takes[i] = (int)number;
  }
  int sizes[HEAPS], sum = 0;
  for (size_t i = 0; i < heap_count; i++) {
    int64_t size;
    if (!latch_json_integer(latch_json_item(heaps, i), &size) || size < 0 || size > LARGEST)
      return latch_fail(answer, LATCH_INVALID_INPUT, "a heap has 0 to %d", LARGEST);
    sizes[i] = (int)size;
    sum ^= value_of(sizes[i]);
  }
  for (size_t i = 0; sum && i < heap_count; i++)
    for (size_t k = 0; k < take_count; k++) {
      if (takes[k] > sizes[i] || (value_of(sizes[i]) ^ value_of(sizes[i] - takes[k])) != sum) continue;
      latch_putf(&answer->result, "{\"wins\":true,\"heap\":%zu,\"take\":%d}", i, takes[k]);
      return true;
    }
  latch_put(&answer->result, "{\"wins\":false,\"heap\":null,\"take\":null}");
  return true;
}

LATCH_PLUGIN({
  .name = "Nim.Advise",
  .description = "Finds the winning move of a game of heaps, if there is one.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"heaps\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":20,\"items\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":200}},"
           "\"takes\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":10,\"items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":200}}},"
           "\"required\":[\"heaps\",\"takes\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"wins\":{\"type\":\"boolean\"},\"heap\":{\"type\":[\"integer\",\"null\"]},"
            "\"take\":{\"type\":[\"integer\",\"null\"]}},\"required\":[\"wins\",\"heap\",\"take\"]}",
  .handler = advise,
});
