/* Keeps a card with several pages. The pages are written first. Readers begin with the entry of the card, which is
 * written last: pages without a card belong to no card, and the next try of the call writes them again. */
#include "latchwork.h"

#define MOST_PAGES 8

static char *card_of(const char *key) {
  latch_text entry = { 0 };
  latch_putf(&entry, "card/%s", key);
  return entry.bytes;
}

static char *page_of(const char *key, size_t page) {
  latch_text entry = { 0 };
  latch_putf(&entry, "page/%s/%zu", key, page);
  return entry.bytes;
}

static char *card_text(size_t pages) {
  latch_text text = { 0 };
  latch_putf(&text, "%zu pages", pages);
  return text.bytes;
}

static bool kept(const char *key, latch_json texts, latch_answer *answer) {
  size_t pages = latch_json_count(texts);
  latch_put(&answer->result, "{\"card\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"pages\":%zu}", pages);
  for (size_t i = 0; i < pages; i++)
    latch_changed(answer, (latch_change){ "page", page_of(key, i), "create",
                                          .version = latch_json_string(latch_json_item(texts, i)) });
  latch_changed(answer, (latch_change){ "card", card_of(key), "create", .version = card_text(pages) });
  return true;
}

static bool keep(latch_json args, latch_answer *answer) {
  latch_json pages = latch_json_member(args, "pages");
  size_t count = latch_json_count(pages);
  if (count == 0 || count > MOST_PAGES) return latch_fail(answer, LATCH_INVALID_INPUT, "a card has 1 to 8 pages");
  for (size_t i = 0; i < count; i++)
    if (!latch_json_string(latch_json_item(pages, i)))
      return latch_fail(answer, LATCH_INVALID_INPUT, "page %zu is no text", i);
  char *key = latch_get_invocation().external_key;
  for (size_t i = 0; i < count; i++) {
    if (!latch_kv_set(answer, page_of(key, i), latch_json_string(latch_json_item(pages, i)))) {
      answer->applied_unknown = true;
      return false;
    }
  }
  if (!latch_kv_set(answer, card_of(key), card_text(count))) {
    answer->applied_unknown = true;
    return false;
  }
  return kept(key, pages, answer);
}

/* Called after a crash: a card is there if its own entry is. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  latch_json pages = latch_json_member(args, "pages");
  char *found;
  if (!latch_kv_get(answer, card_of(key), &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  if (strcmp(found, card_text(latch_json_count(pages))) != 0) return LATCH_UNKNOWN;
  kept(key, pages, answer);
  return LATCH_HAPPENED;
}

/* Called when a job is resumed. */
static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the entry is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the entry has another text";
}

/* Called when the job is cancelled or undone. The entry of the card goes first, so that no reader finds half a card. */
static bool discard(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  latch_json pages = latch_json_member(args, "pages");
  size_t count = latch_json_count(pages);
  char *found;
  bool was_there;
  if (!latch_kv_get(answer, card_of(key), &found)) goto untouched;
  if (!found || strcmp(found, card_text(count)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the card was changed or removed");
  for (size_t i = 0; i < count; i++) {
    if (!latch_kv_get(answer, page_of(key, i), &found)) goto untouched;
    if (!found || strcmp(found, latch_json_string(latch_json_item(pages, i))) != 0)
      return latch_fail(answer, LATCH_POLICY_DENIED, "page %zu was changed or removed", i);
  }
  if (!latch_kv_delete(answer, card_of(key), &was_there)) goto unknown;
  for (size_t i = 0; i < count; i++)
    if (!latch_kv_delete(answer, page_of(key, i), &was_there)) goto unknown;
  latch_put(&answer->result, "null");
  latch_changed(answer, (latch_change){ "card", card_of(key), "delete" });
  for (size_t i = 0; i < count; i++) latch_changed(answer, (latch_change){ "page", page_of(key, i), "delete" });
  return true;
untouched:
  answer->applied_unknown = false;
  return false;
unknown:
  answer->applied_unknown = true;
  return false;
}

LATCH_PLUGIN({
  .name = "Card.Keep",
  .description = "Keeps a card with several pages.",
  .input = "{\"type\":\"object\",\"properties\":{\"pages\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":8,\"items\":"
           "{\"type\":\"string\",\"maxLength\":2000}}},\"required\":[\"pages\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"card\":{\"type\":\"string\"},\"pages\":{\"type\":\"integer\"}},"
            "\"required\":[\"card\",\"pages\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = keep,
  .reconcile = find,
  .verify = check,
  .compensate = discard,
});
