#include "latchwork.h"

#include <time.h>

/* Posts notices. The text is in one entry and its card in another one. Readers begin with the card, so a notice is
 * posted by the write of its card, which is the last one. A text without a card is not seen, and the next try of the
 * call replaces it. */

static char *entry_of(const char *kind, const char *id) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", kind, id);
  return name.bytes;
}

static char *card_of(const char *text, long long at) {
  uint64_t sum = 14695981039346656037u; /* FNV-1a */
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) sum = (sum ^ *c) * 1099511628211u;
  latch_text card = { 0 };
  latch_putf(&card, "{\"at\":%lld,\"sum\":\"%016llx\"}", at, (unsigned long long)sum);
  return card.bytes;
}

/* Returns true if text and card are there and belong together. */
static bool belongs(const char *text, const char *card) {
  int64_t at;
  return text && card && latch_json_integer(latch_json_member(latch_json_of(card), "at"), &at) &&
         strcmp(card, card_of(text, at)) == 0;
}

static void answer_with(latch_answer *answer, const char *id, const char *card) {
  latch_put(&answer->result, "{\"id\":");
  latch_put_string(&answer->result, id);
  latch_putf(&answer->result, ",\"card\":%s}", card);
  latch_changed(answer, (latch_change){ "notice", id, "create", .version = card });
}

static bool post(latch_json args, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!text || !*text || strlen(text) > 20000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the text is empty or too long");
  char *id = latch_get_invocation().external_key;
  char *card = card_of(text, (long long)time(NULL));
  if (!latch_kv_set(answer, entry_of("text", id), text)) return false;
  if (!latch_kv_set(answer, entry_of("card", id), card)) {
    answer->applied_unknown = true; /* reconcile looks for the card */
    return false;
  }
  answer_with(answer, id, card);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *card;
  if (!latch_kv_get(answer, entry_of("card", key), &card)) return LATCH_UNKNOWN;
  if (!card) return LATCH_DID_NOT_HAPPEN; /* at most a text, which no reader looks for */
  answer_with(answer, key, card);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *text, *card;
  if (!latch_kv_get(answer, entry_of("card", change.resource_id), &card)) return NULL;
  if (!latch_kv_get(answer, entry_of("text", change.resource_id), &text)) return NULL;
  if (!card || !text) return "the notice is gone";
  return change.version && strcmp(card, change.version) == 0 && belongs(text, card) ? NULL : "the notice was changed";
}

static bool take_down(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *card_entry = entry_of("card", key), *text_entry = entry_of("text", key), *card, *text;
  bool was_there;
  if (!latch_kv_get(answer, card_entry, &card) || !latch_kv_get(answer, text_entry, &text)) return false;
  if (!belongs(text, card) || strcmp(card, latch_json_text(latch_json_member(result, "card"))) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the notice was changed or removed");
  if (!latch_kv_delete(answer, card_entry, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the notice was removed meanwhile");
  /* From here on the notice is not seen any more. */
  bool removed = latch_kv_delete(answer, text_entry, &was_there);
  if (removed && !was_there) removed = latch_fail(answer, LATCH_POLICY_DENIED, "the text was removed meanwhile");
  if (!removed) {
    answer->applied_unknown = true;
    return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "notice", .resource_id = key, .operation = "delete" });
  return true;
}

static bool look(latch_json args, latch_answer *answer) {
  char *id = latch_json_string(latch_json_member(args, "id")), *card, *text = NULL;
  if (!id || !*id) return latch_fail(answer, LATCH_INVALID_INPUT, "id is missing");
  if (!latch_kv_get(answer, entry_of("card", id), &card)) return false;
  if (card && !latch_kv_get(answer, entry_of("text", id), &text)) return false;
  latch_put(&answer->result, "{\"text\":");
  if (text) latch_put_string(&answer->result, text);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
    { .name = "Notice.Post", .description = "Posts a notice.", .effects = LATCH_INTERNAL_WRITE, .determinism = LATCH_EXTERNAL,
      .input = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":20000}},\"required\":[\"text\"]}",
      .output = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"card\":{\"type\":\"object\"}},"
                "\"required\":[\"id\",\"card\"]}",
      .handler = post, .reconcile = find, .verify = check, .compensate = take_down },
    { .name = "Notice.Read", .description = "Reads a notice.", .effects = LATCH_READ_ONLY, .determinism = LATCH_EXTERNAL,
      .input = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\",\"maxLength\":200}},\"required\":[\"id\"]}",
      .output = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"text\"]}",
      .handler = look });
