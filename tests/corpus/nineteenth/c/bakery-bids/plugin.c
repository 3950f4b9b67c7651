/* Bakery.Compare: asks bakeries for an offer and sorts the offers, the cheapest first. */
#include "latchwork.h"

enum { MOST = 8, TRIES = 2 };

typedef struct {
  const char *bakery;
  int64_t cents;
  size_t place; /* in the input */
} offer;

static int by_price(const void *a, const void *b) {
  const offer *left = a, *right = b;
  if (left->cents != right->cents) return left->cents < right->cents ? -1 : 1;
  return left->place < right->place ? -1 : left->place > right->place;
}

/* Asks one bakery, at most twice. Returns false if it made no offer. */
static bool ask(latch_answer *answer, const char *bakery, const char *bread, int64_t loaves, int64_t *cents) {
  latch_text args = { 0 };
  latch_put(&args, "{\"bakery\":");
  latch_put_string(&args, bakery);
  latch_put(&args, ",\"bread\":");
  latch_put_string(&args, bread);
  latch_putf(&args, ",\"loaves\":%lld}", (long long)loaves);
  for (int i = 0; i < TRIES; i++) {
    char *reply = latch_call(answer, "Bakery.Offer", args.bytes, NULL);
    if (reply) return latch_json_integer(latch_json_member(latch_json_of(reply), "cents"), cents) && *cents > 0;
    latch_log(LATCH_WARN, "%s: %s", bakery, answer->message);
    if (answer->code > LATCH_DEPENDENCY_UNAVAILABLE) return false;
  }
  return false;
}

static bool compare(latch_json input, latch_answer *answer) {
  char *bread = latch_json_string(latch_json_member(input, "bread"));
  latch_json bakeries = latch_json_member(input, "bakeries");
  size_t count = latch_json_count(bakeries), made = 0, silent = 0;
  int64_t loaves;
  if (!bread || !*bread) return latch_fail(answer, LATCH_INVALID_INPUT, "the bread has no name");
  if (!latch_json_integer(latch_json_member(input, "loaves"), &loaves) || loaves < 1 || loaves > 10000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "1 to 10000 loaves can be ordered");
  if (count < 1 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "1 to %d bakeries are asked", MOST);
  const char *names[MOST];
  for (size_t i = 0; i < count; i++)
    if (!(names[i] = latch_json_string(latch_json_item(bakeries, i))) || !*names[i])
      return latch_fail(answer, LATCH_INVALID_INPUT, "bakery %zu has no name", i + 1);

  offer offers[MOST];
  latch_text quiet = { 0 };
  latch_put(&quiet, "");
  for (size_t i = 0; i < count; i++) {
    int64_t cents;
    if (ask(answer, names[i], bread, loaves, &cents)) {
      offers[made++] = (offer){ names[i], cents, i };
      continue;
    }
    latch_put(&quiet, silent++ ? "," : "");
    latch_put_string(&quiet, names[i]);
  }
  if (made == 0) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "none of %zu bakeries made an offer", count);
  qsort(offers, made, sizeof *offers, by_price);

  latch_put(&answer->result, "{\"offers\":[");
  for (size_t i = 0; i < made; i++) {
    latch_put(&answer->result, i ? ",{\"bakery\":" : "{\"bakery\":");
    latch_put_string(&answer->result, offers[i].bakery);
    latch_putf(&answer->result, ",\"cents\":%lld}", (long long)offers[i].cents);
  }
  latch_putf(&answer->result, "],\"silent\":[%s]}", quiet.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Bakery.Compare",
  .description = "Compares the offers of bakeries for an order of bread.",
  .input = "{\"type\":\"object\",\"properties\":{\"bread\":{\"type\":\"string\"},\"loaves\":{\"type\":\"integer\"},"
           "\"bakeries\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
           "\"required\":[\"bread\",\"loaves\",\"bakeries\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"offers\",\"silent\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = compare,
});
