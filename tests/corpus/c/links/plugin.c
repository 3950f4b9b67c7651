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

/* Hangs up a poster. Good.TakeDown and Good.Unhang mark its entry. */
static bool hang(latch_json args, latch_answer *answer, const char *member) {
  char *text = named(args, "text");
  if (!text || strlen(text) > 60000) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  return latch_kv_set(answer, under(member, own_key()), "up") && with(answer, member, own_key());
}
static bool bad_post(latch_json args, latch_answer *answer) { return hang(args, answer, "bill"); }
static bool good_post(latch_json args, latch_answer *answer) { return hang(args, answer, "poster"); }
static bool unhang(latch_json args, latch_answer *answer, const char *member) {
  char *id = named(args, member), *state;
  if (!id) return latch_fail(answer, LATCH_INVALID_INPUT, "the name is missing");
  if (!latch_kv_get(answer, under(member, id), &state)) return false;
  if (!state) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no %s %s", member, id);
  return latch_kv_set(answer, under(member, id), "down") && with(answer, member, id);
}
static bool take_down(latch_json args, latch_answer *answer) { return unhang(args, answer, "bill"); }
static bool good_unhang(latch_json args, latch_answer *answer) { return unhang(args, answer, "poster"); }
static latch_verdict find_hung(const char *key, latch_answer *answer, const char *member, latch_verdict of_down) {
  char *state;
  if (!latch_kv_get(answer, under(member, key), &state)) return LATCH_UNKNOWN;
  if (!state) return LATCH_DID_NOT_HAPPEN;
  if (strcmp(state, "up")) return of_down;
  return with(answer, member, key) ? LATCH_HAPPENED : LATCH_UNKNOWN;
}
static latch_verdict bad_find_post(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return find_hung(key, answer, "bill", LATCH_DID_NOT_HAPPEN);
}
static latch_verdict good_find_post(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return find_hung(key, answer, "poster", LATCH_UNKNOWN);
}

/* Writes an entry for each name. An answer of a tool in C has at most 16 changes. */
static bool labels(latch_json args, latch_answer *answer, size_t most) {
  latch_json names = latch_json_member(args, "names");
  size_t count = latch_json_count(names);
  if (count < 1 || count > most) return latch_fail(answer, LATCH_INVALID_INPUT, "no names, or too many");
  for (size_t i = 0; i < count; i++) {
    latch_text entry = { 0 };
    latch_putf(&entry, "label/%s/%zu", own_key(), i);
    if (!latch_kv_set(answer, entry.bytes, "1")) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    changed(answer, "label", entry.bytes, "1");
  }
  return with(answer, "labels", own_key());
}
static const char *compare_label(latch_change change, latch_answer *answer) {
  char *label;
  if (!latch_kv_get(answer, change.resource_id, &label)) return NULL;
  return label && strcmp(label, change.version) == 0 ? NULL : "the label is missing";
}
static bool bad_labels(latch_json args, latch_answer *answer) { return labels(args, answer, 40); }
static bool good_labels(latch_json args, latch_answer *answer) { return labels(args, answer, 16); }

/* Grants a right. A plan can name an operator that revokes it, which has a key of its own. */
static bool grant(latch_json args, latch_answer *answer, const char *member) {
  char *who = named(args, "who");
  if (!who || strlen(who) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "the name is missing or too long");
  return latch_kv_set(answer, under(member, own_key()), who) && with(answer, member, own_key());
}
static bool bad_grant(latch_json args, latch_answer *answer) { return grant(args, answer, "grant"); }
static bool good_allow(latch_json args, latch_answer *answer) { return grant(args, answer, "allowance"); }
static bool revoke(latch_json args, latch_answer *answer, const char *member, bool is_own_key) {
  char *id = named(latch_json_member(args, "result"), member), *found;
  if (!id) return latch_fail(answer, LATCH_INVALID_INPUT, "the result names nothing");
  if (!latch_kv_get(answer, under(member, id), &found)) return false;
  if (!found) return latch_fail(answer, LATCH_POLICY_DENIED, "there is no such right");
  return latch_kv_set(answer, under("revoked", is_own_key ? own_key() : id), found) && with(answer, "revoked", id);
}
static bool revoke_grant(latch_json args, latch_answer *answer) { return revoke(args, answer, "grant", true); }
static bool revoke_allowance(latch_json args, latch_answer *answer) { return revoke(args, answer, "allowance", false); }
static bool right(latch_json args, latch_answer *answer, const char *member) {
  char *id = named(args, member), *found, *revoked;
  if (!id || strlen(id) > 200) return latch_fail(answer, LATCH_INVALID_INPUT, "the name is missing or too long");
  if (!latch_kv_get(answer, under(member, id), &found) || !latch_kv_get(answer, under("revoked", id), &revoked)) return false;
  return with(answer, "right", found && !revoked ? found : "none");
}
static bool right_of_grant(latch_json args, latch_answer *answer) { return right(args, answer, "grant"); }
static bool right_of_allowance(latch_json args, latch_answer *answer) { return right(args, answer, "allowance"); }

/* Writes an entry under the slot, which calls of several jobs have, or under the key. */
static bool keep(latch_json args, latch_answer *answer, const char *name) {
  char *text = named(args, "text");
  if (!text || strlen(text) > 60000) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  return latch_kv_set(answer, under("kept", name), text) && with(answer, "kept", name);
}
static bool bad_keep(latch_json args, latch_answer *answer) { return keep(args, answer, latch_get_invocation().slot); }
static bool good_keep(latch_json args, latch_answer *answer) { return keep(args, answer, own_key()); }

/* Writes the present time in whole seconds, and returns it in whole seconds or exactly. */
static bool seal(latch_answer *answer, bool is_exact) {
  struct timespec now;
  latch_text kept = { 0 }, exact = { 0 };
  clock_gettime(CLOCK_REALTIME, &now);
  latch_putf(&kept, "%lld", (long long)now.tv_sec);
  latch_putf(&exact, "%lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
  return latch_kv_set(answer, under("seal", own_key()), kept.bytes) && with(answer, "sealed", is_exact ? exact.bytes : kept.bytes);
}
static bool bad_seal(latch_json args, latch_answer *answer) { return (void)args, seal(answer, true); }
static bool good_seal(latch_json args, latch_answer *answer) { return (void)args, seal(answer, false); }
static latch_verdict find_seal(latch_json args, const char *key, latch_answer *answer) {
  char *kept;
  (void)args;
  if (!latch_kv_get(answer, under("seal", key), &kept)) return LATCH_UNKNOWN;
  if (!kept) return LATCH_DID_NOT_HAPPEN;
  return with(answer, "sealed", kept) ? LATCH_HAPPENED : LATCH_UNKNOWN;
}

/* Asks for a retry in an hour or in 25 hours, before the season opens. */
static bool season(latch_json args, latch_answer *answer, uint32_t hours) {
  if (latch_json_is_null(latch_json_member(args, "opens")))
    return latch_kv_set(answer, under("season", own_key()), "1") && with(answer, "season", own_key());
  latch_fail(answer, LATCH_RATE_LIMIT, "the season is not open");
  answer->retry_after_ms = hours * 3600000;
  return false;
}
static bool bad_season(latch_json args, latch_answer *answer) { return season(args, answer, 25); }
static bool good_season(latch_json args, latch_answer *answer) { return season(args, answer, 1); }

/* Marks a motion. A motion that is marked already gets the same entry. */
static bool mark(latch_json args, latch_answer *answer) {
  char *id = named(args, "motion");
  if (!id || strlen(id) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "the motion is missing or too long");
  if (!latch_kv_set(answer, under("motion", id), "{\"state\":\"marked\"}")) return false;
  changed(answer, "motion", id, "marked");
  return with(answer, "motion", id);
}
static const char *compare_mark(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, under("motion", change.resource_id), &entry)) return NULL;
  char *state = entry ? latch_json_string(latch_json_member(latch_json_of(entry), "state")) : NULL;
  return state && strcmp(state, change.version) == 0 ? NULL : "the motion has another state";
}

#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define WRITES .effects = LATCH_INTERNAL_WRITE

LATCH_PLUGIN(
  TOOL("Bad.File", file, WRITES, .reconcile = bad_find), TOOL("Good.File", file, WRITES, .reconcile = good_find),
  TOOL("Good.Withdraw", good_withdraw, WRITES), TOOL("Bad.Lend", bad_lend, WRITES, .verify = compare),
  TOOL("Good.Return", good_return, WRITES, .verify = compare), TOOL("Good.Lend", good_lend, WRITES, .verify = compare),
  TOOL("Good.End", good_end, WRITES, .verify = compare), TOOL("Good.Issue", good_issue, WRITES), TOOL("Bad.Look", bad_look),
  TOOL("Good.Look", good_look), TOOL("Bad.Borrow", bad_borrow, WRITES, .verify = compare_until),
  TOOL("Bad.Prolong", bad_prolong, WRITES, .verify = compare_until), TOOL("Good.Rent", good_rent, WRITES, .verify = compare_until),
  TOOL("Good.Renew", good_rent, WRITES, .verify = compare_until), TOOL("Bad.Stamp", bad_stamp, WRITES), TOOL("Good.Stamp", good_stamp, WRITES),
  TOOL("Bad.Post", bad_post, WRITES, .reconcile = bad_find_post), TOOL("Good.TakeDown", take_down, WRITES),
  TOOL("Good.Post", good_post, WRITES, .reconcile = good_find_post), TOOL("Good.Unhang", good_unhang, WRITES),
  TOOL("Bad.Labels", bad_labels, WRITES, .verify = compare_label),
  TOOL("Good.Labels", good_labels, WRITES, .verify = compare_label),
  TOOL("Bad.Seal", bad_seal, WRITES, .reconcile = find_seal), TOOL("Good.Seal", good_seal, WRITES, .reconcile = find_seal),
  TOOL("Bad.Grant", bad_grant, WRITES), TOOL("Good.RevokeGrant", revoke_grant, WRITES), TOOL("Good.Right", right_of_grant),
  TOOL("Good.Allow", good_allow, WRITES), TOOL("Good.RevokeAllowance", revoke_allowance, WRITES),
  TOOL("Good.Allowance", right_of_allowance), TOOL("Bad.Keep", bad_keep, WRITES), TOOL("Good.Keep", good_keep, WRITES),
  TOOL("Bad.Season", bad_season, WRITES), TOOL("Good.Season", good_season, WRITES),
  TOOL("Good.Mark", mark, WRITES, .verify = compare_mark));
