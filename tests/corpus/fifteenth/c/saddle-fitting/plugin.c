#include "latchwork.h"

enum { SHOWN = 5 };

typedef struct {
  char *name;
  double gullet, length, misfit;
} saddle;

static int better(const void *a, const void *b) {
  const saddle *x = *(saddle *const *)a, *y = *(saddle *const *)b;
  if (x->misfit != y->misfit) return x->misfit < y->misfit ? -1 : 1;
  /* The records were made in the order of the stock list, so equal fits keep this order. */
  return (x > y) - (x < y);
}

/* Reads one saddle of the stock list. Returns NULL if a member is missing. */
static saddle *read_saddle(latch_json item) {
  saddle *made = latch_room(sizeof *made);
  made->name = latch_json_string(latch_json_member(item, "name"));
  if (!made->name || !latch_json_number(latch_json_member(item, "gullet_cm"), &made->gullet) ||
      !latch_json_number(latch_json_member(item, "length_cm"), &made->length))
    return NULL;
  return made;
}

static bool fit(latch_json input, latch_answer *answer) {
  double withers, back;
  char *yard = latch_json_string(latch_json_member(input, "yard"));
  if (!yard || !latch_json_number(latch_json_member(input, "withers_cm"), &withers) ||
      !latch_json_number(latch_json_member(input, "back_cm"), &back))
    return latch_fail(answer, LATCH_INVALID_INPUT, "yard, withers_cm and back_cm are needed");

  latch_text args = { 0 };
  latch_put(&args, "{\"yard\":");
  latch_put_string(&args, yard);
  latch_put(&args, "}");
  char *listed = latch_call(answer, "Tack.Stock", args.bytes, NULL);
  if (!listed) return false;

  latch_json stock = latch_json_member(latch_json_of(listed), "saddles");
  size_t count = latch_json_count(stock), kept = 0;
  saddle **saddles = latch_room(count * sizeof *saddles);
  for (size_t i = 0; i < count; i++) {
    saddle *one = read_saddle(latch_json_item(stock, i));
    if (!one) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "saddle %zu of the stock is incomplete", i);
    /* A saddle that is longer than the back never fits. */
    if (one->length > back) continue;
    one->misfit = fabs(one->gullet - withers) * 2 + (back - one->length) / 4;
    saddles[kept++] = one;
  }
  qsort(saddles, kept, sizeof *saddles, better);

  latch_put(&answer->result, "{\"fitting\":[");
  for (size_t i = 0; i < kept && i < SHOWN; i++) {
    latch_put(&answer->result, i ? ",{\"name\":" : "{\"name\":");
    latch_put_string(&answer->result, saddles[i]->name);
    latch_putf(&answer->result, ",\"misfit\":%.3f}", saddles[i]->misfit);
  }
  latch_putf(&answer->result, "],\"too_long\":%zu}", count - kept);
  return true;
}

LATCH_PLUGIN({
  .name = "Saddle.Fit",
  .description = "Ranks the saddles of a yard by their fit to a horse.",
  .input = "{\"type\":\"object\",\"properties\":{\"yard\":{\"type\":\"string\"},"
           "\"withers_cm\":{\"type\":\"number\",\"minimum\":10,\"maximum\":60},"
           "\"back_cm\":{\"type\":\"number\",\"minimum\":20,\"maximum\":90}},"
           "\"required\":[\"yard\",\"withers_cm\",\"back_cm\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"fitting\",\"too_long\"]}",
  /* The stock changes from day to day. */
  .determinism = LATCH_EXTERNAL,
  .handler = fit,
});
