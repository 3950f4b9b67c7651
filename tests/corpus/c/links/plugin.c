/* Corpus of tools whose mistake shows after a call of another operator, or for a long key. Each bad_* tool breaks a rule of
   the checker. The good_* tool next to it looks similar and breaks no rule. */
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
  return name && *name ? name : NULL;
}

static bool with(latch_answer *answer, const char *member, const char *text) {
  latch_putf(&answer->result, "{\"%s\":", member);
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}

static void changed(latch_answer *answer, const char *type, const char *id, const char *version) {
  latch_changed(answer, (latch_change){ .resource_type = type, .resource_id = id, .operation = "update", .version = version });
}

/* Files a text. Good.Withdraw moves the entry to the withdrawn ones. */
static bool filed(const char *key, latch_answer *answer) { return with(answer, "filing", key); }
static bool file(latch_json args, latch_answer *answer) {
  char *text = named(args, "text");
  if (!text || strlen(text) > 60000) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  return latch_kv_set(answer, under("filed", own_key()), text) && filed(own_key(), answer);
}
static latch_verdict find(const char *key, latch_answer *answer, bool looks_for_trace) {
  char *entry, *trace;
  if (!latch_kv_get(answer, under("filed", key), &entry)) return LATCH_UNKNOWN;
  if (entry) return filed(key, answer) ? LATCH_HAPPENED : LATCH_UNKNOWN;
  if (!looks_for_trace) return LATCH_DID_NOT_HAPPEN;
  if (!latch_kv_get(answer, under("withdrawn", key), &trace)) return LATCH_UNKNOWN;
  return trace ? LATCH_UNKNOWN : LATCH_DID_NOT_HAPPEN;
}
static latch_verdict bad_find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return find(key, answer, false);
}
static latch_verdict good_find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return find(key, answer, true);
}
static bool good_withdraw(latch_json args, latch_answer *answer) {
  char *filing = named(args, "filing"), *entry;
  bool was_there;
  if (!filing) return latch_fail(answer, LATCH_INVALID_INPUT, "the filing is missing");
  if (!latch_kv_get(answer, under("filed", filing), &entry)) return false;
  if (!entry) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no filing %s", filing);
  if (!latch_kv_set(answer, under("withdrawn", filing), entry)) return false;
  if (!latch_kv_delete(answer, under("filed", filing), &was_there)) {
    answer->applied_unknown = true;
    return false;
  }
  if (!was_there) {
    latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "filing %s was withdrawn at the same time", filing);
    answer->applied_unknown = true;
    return false;
  }
  return with(answer, "withdrawn", filing);
}

/* Lends an item. The entry of the loan is "out" or "back". */
static bool lend(latch_json args, latch_answer *answer) {
  char *item = named(args, "item");
  if (!item) return latch_fail(answer, LATCH_INVALID_INPUT, "the item is missing");
  if (!latch_kv_set(answer, under("loan", own_key()), "out")) return false;
  changed(answer, "loan", own_key(), "out");
  return true;
}
static bool bad_lend(latch_json args, latch_answer *answer) { return lend(args, answer) && with(answer, "loan", own_key()); }
static bool good_lend(latch_json args, latch_answer *answer) { return lend(args, answer) && with(answer, "hire", own_key()); }
static bool take_back(latch_answer *answer, const char *loan, const char *type) {
  char *state;
  if (!loan) return latch_fail(answer, LATCH_INVALID_INPUT, "the loan is missing");
  if (!latch_kv_get(answer, under("loan", loan), &state)) return false;
  if (!state) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no loan %s", loan);
  if (!latch_kv_set(answer, under("loan", loan), "back")) return false;
  changed(answer, type, loan, "back");
  return with(answer, "back", loan);
}
/* Reports the change of a return, and not that of the loan. */
static bool good_return(latch_json args, latch_answer *answer) { return take_back(answer, named(args, "loan"), "return"); }
static bool good_end(latch_json args, latch_answer *answer) { return take_back(answer, named(args, "hire"), "loan"); }
static const char *compare(latch_change change, latch_answer *answer) {
  char *state;
  if (!latch_kv_get(answer, under("loan", change.resource_id), &state)) return NULL;
  return state && strcmp(state, change.version) == 0 ? NULL : "the loan has another state";
}

/* Issues a pass until the end of a year. A tool that declares no effect removes nothing. */
static bool good_issue(latch_json args, latch_answer *answer) {
  char *year = named(args, "year");
  if (!year || strlen(year) != 4) return latch_fail(answer, LATCH_INVALID_INPUT, "the year has four digits");
  return latch_kv_set(answer, under("pass", own_key()), year) && with(answer, "pass", own_key());
}
static bool look(latch_json args, latch_answer *answer, bool is_removed) {
  char *pass = named(args, "pass"), *year;
  time_t now = time(NULL);
  bool was_there;
  if (!pass) return latch_fail(answer, LATCH_INVALID_INPUT, "the pass is missing");
  if (!latch_kv_get(answer, under("pass", pass), &year)) return false;
  if (year && atoi(year) >= gmtime(&now)->tm_year + 1900) return with(answer, "year", year);
  if (year && is_removed && !latch_kv_delete(answer, under("pass", pass), &was_there)) return false;
  return with(answer, "year", "none");
}
static bool bad_look(latch_json args, latch_answer *answer) { return look(args, answer, true); }
static bool good_look(latch_json args, latch_answer *answer) { return look(args, answer, false); }

/* Writes the end of a loan. Bad.Borrow and Bad.Prolong write one entry and report different types of resources. */
static bool until(latch_json args, latch_answer *answer, const char *member, const char *type) {
  char *id = named(args, member), *end = named(args, "until");
  if (!id || !end || strlen(id) > 100 || strlen(end) > 100)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the name or the end is missing or too long");
  if (!latch_kv_set(answer, under("until", id), end)) return false;
  changed(answer, type, id, end);
  return with(answer, member, id);
}
static bool bad_borrow(latch_json args, latch_answer *answer) { return until(args, answer, "item", "loan"); }
static bool bad_prolong(latch_json args, latch_answer *answer) { return until(args, answer, "item", "extension"); }
static bool good_rent(latch_json args, latch_answer *answer) { return until(args, answer, "thing", "rent"); }
static const char *compare_until(latch_change change, latch_answer *answer) {
  char *end;
  if (!latch_kv_get(answer, under("until", change.resource_id), &end)) return NULL;
  return end && strcmp(end, change.version) == 0 ? NULL : "the loan has another end";
}

/* An external key has at most 128 characters. */
static bool stamp(latch_json args, latch_answer *answer, size_t size) {
  char name[200], *text = named(args, "text");
  if (!text || strlen(text) > 60000) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  snprintf(name, size, "stamp/%s", own_key());
  return latch_kv_set(answer, name, text) && with(answer, "stamp", own_key());
}
static bool bad_stamp(latch_json args, latch_answer *answer) { return stamp(args, answer, 64); }
static bool good_stamp(latch_json args, latch_answer *answer) { return stamp(args, answer, 200); }

#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define WRITES .effects = LATCH_INTERNAL_WRITE

LATCH_PLUGIN(
  TOOL("Bad.File", file, WRITES, .reconcile = bad_find), TOOL("Good.File", file, WRITES, .reconcile = good_find),
  TOOL("Good.Withdraw", good_withdraw, WRITES), TOOL("Bad.Lend", bad_lend, WRITES, .verify = compare),
  TOOL("Good.Return", good_return, WRITES, .verify = compare), TOOL("Good.Lend", good_lend, WRITES, .verify = compare),
  TOOL("Good.End", good_end, WRITES, .verify = compare), TOOL("Good.Issue", good_issue, WRITES), TOOL("Bad.Look", bad_look),
  TOOL("Good.Look", good_look), TOOL("Bad.Borrow", bad_borrow, WRITES, .verify = compare_until),
  TOOL("Bad.Prolong", bad_prolong, WRITES, .verify = compare_until), TOOL("Good.Rent", good_rent, WRITES, .verify = compare_until),
  TOOL("Good.Renew", good_rent, WRITES, .verify = compare_until), TOOL("Bad.Stamp", bad_stamp, WRITES), TOOL("Good.Stamp", good_stamp, WRITES));
