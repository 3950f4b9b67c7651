#include "latchwork.h"

typedef struct {
  char *name;
  double height, wall;
  size_t place;
} doll;

/* The tallest doll comes first. Dolls of equal height keep the order of the input. */
static int taller(const void *a, const void *b) {
  const doll *x = a, *y = b;
  if (x->height != y->height) return x->height > y->height ? -1 : 1;
  return x->place < y->place ? -1 : 1;
}

static bool nest(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "dolls");
  size_t count = latch_json_count(list);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "there are no dolls");
  doll *dolls = latch_room(count * sizeof *dolls);
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    dolls[i].place = i;
    dolls[i].name = latch_json_string(latch_json_member(item, "name"));
    if (!dolls[i].name || !latch_json_number(latch_json_member(item, "height_mm"), &dolls[i].height) ||
        !latch_json_number(latch_json_member(item, "wall_mm"), &dolls[i].wall))
      return latch_fail(answer, LATCH_INVALID_INPUT, "doll %zu is incomplete", i);
    if (dolls[i].wall * 2 >= dolls[i].height) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is solid", dolls[i].name);
  }
  qsort(dolls, count, sizeof *dolls, taller);

  /* Each doll goes into the last one that was placed, if it fits between the walls. */
  latch_text loose = { 0 };
  latch_put(&loose, "");
  double room = 0;
  size_t nested = 0;
  latch_put(&answer->result, "{\"set\":");
  for (size_t i = 0; i < count; i++) {
    if (nested && dolls[i].height > room) {
      if (loose.len) latch_put(&loose, ",");
      latch_put_string(&loose, dolls[i].name);
      continue;
    }
    if (nested++) latch_put(&answer->result, ",\"holds\":");
    latch_put(&answer->result, "{\"name\":");
    latch_put_string(&answer->result, dolls[i].name);
    room = dolls[i].height - 2 * dolls[i].wall;
    latch_putf(&answer->result, ",\"room_mm\":%.2f", room);
  }
  for (size_t i = 0; i < nested; i++) latch_put(&answer->result, "}");
  latch_putf(&answer->result, ",\"nested\":%zu,\"loose\":[%s]}", nested, loose.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Doll.Nest",
  .description = "Puts nesting dolls into each other.",
  .input = "{\"type\":\"object\",\"properties\":{\"dolls\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
           "\"properties\":{\"name\":{\"type\":\"string\"},\"height_mm\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":5000},"
           "\"wall_mm\":{\"type\":\"number\",\"minimum\":0.1,\"maximum\":500}},"
           "\"required\":[\"name\",\"height_mm\",\"wall_mm\"]}}},\"required\":[\"dolls\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"set\":{\"type\":\"object\"},\"nested\":{\"type\":\"integer\"},"
            "\"loose\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"required\":[\"set\",\"nested\",\"loose\"]}",
  .handler = nest,
});
