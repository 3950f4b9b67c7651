/* Bivouac.Book: notes the night of a party in an unstaffed hut of the alpine club. */
#include "latchwork.h"

#include <ctype.h>
#include <time.h>

enum { TWO_DAYS = 172800 };

static const char *entry_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "night/%s", key);
  return name.bytes;
}

/* A night is a date such as 2026-07-14. */
static bool is_date(const char *text) {
  if (!text || strlen(text) != 10) return false;
  for (int i = 0; i < 10; i++)
    if (i == 4 || i == 7 ? text[i] != '-' : !isdigit((unsigned char)text[i])) return false;
  return true;
}

static void booked(const char *key, const char *text, latch_answer *answer) {
  latch_put(&answer->result, text);
  latch_changed(answer, (latch_change){
    .resource_type = "night", .resource_id = key, .operation = "create", .version = text });
}

static bool book(latch_json args, latch_answer *answer) {
  char *party = latch_json_string(latch_json_member(args, "party"));
  char *night = latch_json_string(latch_json_member(args, "night"));
  int64_t beds;
  if (!party || !*party || strlen(party) > 200)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a party has a name of 1 to 200 bytes");
  if (!is_date(night)) return latch_fail(answer, LATCH_INVALID_INPUT, "%s: the night is no date", party);
  if (!latch_json_integer(latch_json_member(args, "beds"), &beds) || beds < 1 || beds > 12)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s: the hut has 1 to 12 beds", party);

  char *key = latch_get_invocation().external_key, *found;
  if (!latch_kv_get(answer, entry_of(key), &found)) return false;
  if (found) {
    booked(key, found, answer);
    return true;
  }
  char today[16];
  time_t now = time(NULL);
  strftime(today, sizeof today, "%Y-%m-%d", gmtime(&now));
  if (strcmp(night, today) < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "%s: %s is over", party, night);

  latch_text text = { 0 };
  latch_put(&text, "{\"party\":");
  latch_put_string(&text, party);
  latch_putf(&text, ",\"night\":\"%s\",\"beds\":%lld,\"noted\":%lld}", night, (long long)beds, (long long)now);
  if (!latch_kv_set(answer, entry_of(key), text.bytes)) return false;
  booked(key, text.bytes, answer);
  return true;
}

/* Called when a repetition is not possible any more: looks for the entry of the call. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  if (!latch_kv_get(answer, entry_of(key), &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  booked(key, found, answer);
  return LATCH_HAPPENED;
}

/* Called when the job is undone: removes the entry if it has the time of the recorded booking. */
static bool cancel(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  bool was_there;
  int64_t then, now;
  if (!latch_kv_get(answer, entry_of(key), &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!found || !latch_json_integer(latch_json_member(latch_json_of(found), "noted"), &now) ||
      !latch_json_integer(latch_json_member(result, "noted"), &then) || now != then)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the booking is not there as it was noted");
  if (!latch_kv_delete(answer, entry_of(key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the booking was removed a moment ago");
  latch_changed(answer, (latch_change){ .resource_type = "night", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Bivouac.Book",
  .description = "Notes a night in an unstaffed hut.",
  .input = "{\"type\":\"object\",\"properties\":{\"party\":{\"type\":\"string\"},\"night\":{\"type\":\"string\"},"
           "\"beds\":{\"type\":\"integer\"}},\"required\":[\"party\",\"night\",\"beds\"],"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"party\",\"night\",\"beds\",\"noted\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = TWO_DAYS,
  .handler = book,
  .reconcile = find,
  .compensate = cancel,
});
