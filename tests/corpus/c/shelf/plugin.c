/* Corpus of tools whose mistake shows after a time of their input, or after the call of an operator that made their entry.
   Each bad_* tool breaks a rule of the checker. The good_* tool next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <time.h>

static char *own_key(void) { return latch_get_invocation().external_key; }

static char *under(const char *folder, const char *name) {
  latch_text path = { 0 };
  latch_putf(&path, "%s/%s", folder, name);
  return path.bytes;
}

static char *named(latch_json args, const char *member) {
  char *name = latch_json_string(latch_json_member(args, member));
  return name && *name && strlen(name) <= 100 ? name : NULL;
}

static bool with(latch_answer *answer, const char *member, const char *text) {
  latch_putf(&answer->result, "{\"%s\":", member);
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}

static void changed(latch_answer *answer, const char *id, const char *operation, const char *version) {
  latch_changed(answer, (latch_change){ .resource_type = "sign", .resource_id = id, .operation = operation, .version = version });
}

/* Takes a bid until its time. A repetition finds the entry of its key. */
static bool bid(latch_json args, latch_answer *answer, bool looks_first) {
  char *found, *entry = under("bid", own_key());
  int64_t until = 0;
  if (!latch_json_integer(latch_json_member(args, "until"), &until)) return latch_fail(answer, LATCH_INVALID_INPUT, "the time is missing");
  if (looks_first) {
    if (!latch_kv_get(answer, entry, &found)) return false;
    if (found) return with(answer, "bid", own_key());
  }
  if (time(NULL) > until) return latch_fail(answer, LATCH_POLICY_DENIED, "the time has passed");
  return latch_kv_set(answer, entry, "taken") && with(answer, "bid", own_key());
}
static bool bad_bid(latch_json args, latch_answer *answer) { return bid(args, answer, false); }
static bool good_bid(latch_json args, latch_answer *answer) { return bid(args, answer, true); }

/* Makes an offer that expires. An expired offer was made, too. */
static bool offer(latch_json args, latch_answer *answer) {
  int64_t until = 0;
  if (!latch_json_integer(latch_json_member(args, "until"), &until)) return latch_fail(answer, LATCH_INVALID_INPUT, "the time is missing");
  return latch_kv_set(answer, under("offer", own_key()), "made") && with(answer, "offer", own_key());
}
static latch_verdict find(latch_json args, const char *key, latch_answer *answer, bool is_timed) {
  char *entry;
  int64_t until = 0;
  if (!latch_json_integer(latch_json_member(args, "until"), &until)) return LATCH_UNKNOWN;
  if (!latch_kv_get(answer, under("offer", key), &entry)) return LATCH_UNKNOWN;
  if (!entry || (is_timed && time(NULL) > until)) return LATCH_DID_NOT_HAPPEN;
  return with(answer, "offer", key) ? LATCH_HAPPENED : LATCH_UNKNOWN;
}
static latch_verdict bad_find(latch_json args, const char *key, latch_answer *answer) { return find(args, key, answer, true); }
static latch_verdict good_find(latch_json args, const char *key, latch_answer *answer) { return find(args, key, answer, false); }

/* Keeps a sign, which another operator removes. */
static bool good_keep(latch_json args, latch_answer *answer) {
  char *sign = named(args, "sign"), *text = named(args, "text");
  if (!sign || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "sign or text is missing or too long");
  if (!latch_kv_set(answer, under("sign", sign), text)) return false;
  changed(answer, sign, "update", text);
  return with(answer, "kept", sign);
}
static bool take(latch_json args, latch_answer *answer) {
  char *sign = named(args, "sign"), *text;
  bool was_there;
  if (!sign) return latch_fail(answer, LATCH_INVALID_INPUT, "the sign is missing");
  if (!latch_kv_get(answer, under("sign", sign), &text)) return false;
  if (!text) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no sign %s", sign);
  if (!latch_kv_delete(answer, under("sign", sign), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no sign %s", sign);
  changed(answer, sign, "delete", text);
  return with(answer, "removed", sign);
}
static const char *compare(latch_change change, latch_answer *answer) {
  char *text;
  if (!latch_kv_get(answer, under("sign", change.resource_id), &text)) return NULL;
  return text && strcmp(text, change.version) == 0 ? NULL : "there is another sign, or none";
}
static const char *compare_removed(latch_change change, latch_answer *answer) {
  char *text;
  if (!latch_kv_get(answer, under("sign", change.resource_id), &text)) return NULL;
  return text ? "the sign is still there" : NULL;
}

/* Enters a brand once. Its version is the time of the entry, and not that of a repetition. */
static bool brand(latch_answer *answer, bool reports_entry) {
  char *key = own_key(), *entry, now[24];
  if (!latch_kv_get(answer, under("brand", key), &entry)) return false;
  snprintf(now, sizeof now, "%lld", (long long)time(NULL));
  if (!entry && !latch_kv_set(answer, under("brand", key), now)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "brand", .resource_id = key, .operation = "create", .version = entry && reports_entry ? entry : now });
  return with(answer, "brand", key);
}
static bool bad_brand(latch_json args, latch_answer *answer) { return (void)args, brand(answer, false); }
static bool good_brand(latch_json args, latch_answer *answer) { return (void)args, brand(answer, true); }
static const char *compare_brand(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, under("brand", change.resource_id), &entry)) return NULL;
  return entry && strcmp(entry, change.version) == 0 ? NULL : "there is another brand, or none";
}

/* Sets the mode of a light, which can have this mode already. An entry under the key marks the call. */
static bool light(latch_json args, latch_answer *answer) {
  char *name = named(args, "light"), *mode = named(args, "mode"), *mark = under("light-call", own_key()), *found;
  if (!name || !mode) return latch_fail(answer, LATCH_INVALID_INPUT, "light or mode is missing or too long");
  if (!latch_kv_get(answer, mark, &found)) return false;
  if (!found) {
    if (!latch_kv_set(answer, under("light", name), mode)) return false;
    if (!latch_kv_set(answer, mark, mode)) return answer->applied_unknown = true, false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "light", .resource_id = name, .operation = "update", .version = mode });
  return with(answer, "light", name);
}
static const char *compare_light(latch_change change, latch_answer *answer) {
  char *mode;
  if (!latch_kv_get(answer, under("light", change.resource_id), &mode)) return NULL;
  return mode && strcmp(mode, change.version) == 0 ? NULL : "the light has another mode, or none";
}

#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define WRITES .effects = LATCH_INTERNAL_WRITE
#define KEYED WRITES, .idempotent_by_key_seconds = 172800

LATCH_PLUGIN(
  TOOL("Bad.Bid", bad_bid, KEYED), TOOL("Good.Bid", good_bid, KEYED),
  TOOL("Bad.Offer", offer, WRITES, .reconcile = bad_find), TOOL("Good.Offer", offer, WRITES, .reconcile = good_find),
  TOOL("Good.Keep", good_keep, WRITES, .verify = compare), TOOL("Bad.Remove", take, WRITES, .verify = compare),
  TOOL("Good.Remove", take, WRITES, .verify = compare_removed), TOOL("Bad.Brand", bad_brand, KEYED, .verify = compare_brand),
  TOOL("Good.Brand", good_brand, KEYED, .verify = compare_brand), TOOL("Good.Light", light, KEYED, .verify = compare_light));
