/* Pallet.Intake: takes the crates of a pallet into the stock of a cold store, one entry for each crate. */
#include "latchwork.h"

enum { MOST = 40 };

typedef struct {
  char *code;
  int64_t grams;
} crate;

/* Reads a crate. Returns false if it has no code or no weight. */
static bool read_crate(latch_json from, crate *into) {
  into->code = latch_json_string(latch_json_member(from, "code"));
  return into->code && *into->code && latch_json_integer(latch_json_member(from, "grams"), &into->grams) &&
         into->grams > 0;
}

/* The entry of the crate with this place on the pallet. */
static char *entry_of(const char *key, size_t place) {
  latch_text name = { 0 };
  latch_putf(&name, "crate/%s/%zu", key, place);
  return name.bytes;
}

static char *entry(const char *pallet, const crate *one) {
  latch_text text = { 0 };
  latch_put(&text, "{\"pallet\":");
  latch_put_string(&text, pallet);
  latch_put(&text, ",\"code\":");
  latch_put_string(&text, one->code);
  latch_putf(&text, ",\"grams\":%lld}", (long long)one->grams);
  return text.bytes;
}

static bool intake(latch_json args, latch_answer *answer) {
  char *pallet = latch_json_string(latch_json_member(args, "pallet"));
  latch_json list = latch_json_member(args, "crates");
  size_t count = latch_json_count(list);
  crate crates[MOST];
  int64_t sum = 0;
  if (!pallet || !*pallet) return latch_fail(answer, LATCH_INVALID_INPUT, "the pallet has no number");
  if (count == 0 || count > MOST)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a pallet has 1 to %d crates, not %zu", MOST, count);
  for (size_t i = 0; i < count; i++) {
    if (!read_crate(latch_json_item(list, i), &crates[i]))
      return latch_fail(answer, LATCH_INVALID_INPUT, "crate %zu of pallet %s is not complete", i + 1, pallet);
    if (strlen(crates[i].code) > 100)
      return latch_fail(answer, LATCH_INVALID_INPUT, "the code of crate %zu is too long", i + 1);
    sum += crates[i].grams;
  }

  char *key = latch_get_invocation().external_key;
  for (size_t i = 0; i < count; i++) {
    char *name = entry_of(key, i + 1);
    if (!latch_kv_set(answer, name, entry(pallet, &crates[i]))) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    latch_changed(answer, (latch_change){
      .resource_type = "crate", .resource_id = name, .operation = "create", .version = crates[i].code });
  }
  latch_putf(&answer->result, "{\"crates\":%zu,\"grams\":%lld,\"intake\":", count, (long long)sum);
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Pallet.Intake",
  .description = "Takes the crates of a pallet into the stock.",
  .input = "{\"type\":\"object\",\"properties\":{\"pallet\":{\"type\":\"string\",\"maxLength\":40},"
           "\"crates\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
           "\"code\":{\"type\":\"string\"},\"grams\":{\"type\":\"integer\",\"maximum\":100000000}},"
           "\"required\":[\"code\",\"grams\"],\"additionalProperties\":false}}},"
           "\"required\":[\"pallet\",\"crates\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"crates\",\"grams\",\"intake\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 7 * 24 * 3600,
  .handler = intake,
});
