/* Corpus of tools whose mistake shows if one read or write of the map fails, in a repetition at another time, for another
   tenant, or after the call of another operator. Each bad_* tool breaks a rule of the checker. The good_* tool next to it
   looks similar and breaks no rule. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

static char *text_of(latch_json args, const char *member) {
  char *text = latch_json_string(latch_json_member(args, member));
  return text && strlen(text) < 200 ? text : "";
}

static char *named(const char *kind, const char *name) {
  latch_text made = { 0 };
  latch_putf(&made, "%s/%s", kind, name);
  return made.bytes;
}

static bool done(latch_answer *answer, const char *member, const char *text) {
  latch_putf(&answer->result, "{\"%s\":", member);
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}

static bool in_doubt(latch_answer *answer) {
  answer->applied_unknown = true;
  return false;
}

static bool is_text(const char *text) {
  for (const char *c = text; *c; c++)
    if (*c < ' ') return false;
  return true;
}

/* Sets a rate. An entry of the key guards the write, and the result has the rate before the call. A repetition reads the rate
   of the call itself, unless the entry keeps the earlier one. */
static bool rate(latch_json args, latch_answer *answer, bool keeps) {
  char *name = named("rate", text_of(args, "of")), *mark = named("rated", latch_get_invocation().external_key);
  char *before, *marked;
  if (!latch_kv_get(answer, mark, &marked) || !latch_kv_get(answer, name, &before)) return false;
  if (!before || strlen(before) > 1000 || !is_text(before)) return latch_fail(answer, LATCH_POLICY_DENIED, "there is no such rate");
  if (!marked && !latch_kv_set(answer, mark, before)) return in_doubt(answer);
  if ((!marked || !strcmp(marked, before)) && !latch_kv_set(answer, name, text_of(args, "rate"))) return in_doubt(answer);
  return done(answer, "before", marked && keeps ? marked : before);
}
static bool bad_rate(latch_json args, latch_answer *answer) { return rate(args, answer, false); }
static bool good_rate(latch_json args, latch_answer *answer) { return rate(args, answer, true); }
static bool rate_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *name = named("rate", text_of(args, "of")), *present, *marked;
  if (!latch_kv_get(answer, name, &present) || !latch_kv_get(answer, named("rated", key), &marked)) return false;
  if (!marked || !present || strcmp(present, text_of(args, "rate"))) return latch_fail(answer, LATCH_POLICY_DENIED, "the rate has changed");
  return latch_kv_set(answer, name, text_of(result, "before")) && done(answer, "of", text_of(args, "of"));
}

/* Puts a motto on a door, and keeps the earlier one: its first word, or all of it. */
static bool motto(latch_json args, latch_answer *answer, bool keeps_all) {
  char *name = named("motto", text_of(args, "door")), *before;
  if (!latch_kv_get(answer, name, &before)) return false;
  if (before && (strlen(before) > 100 || !is_text(before))) return latch_fail(answer, LATCH_POLICY_DENIED, "the motto cannot be kept");
  if (!latch_kv_set(answer, name, text_of(args, "motto"))) return in_doubt(answer);
  if (before && !keeps_all) before[strcspn(before, " ")] = 0;
  if (!before) return latch_put(&answer->result, "{}"), true;
  return done(answer, "before", before);
}
static bool bad_motto(latch_json args, latch_answer *answer) { return motto(args, answer, false); }
static bool good_motto(latch_json args, latch_answer *answer) { return motto(args, answer, true); }
static bool motto_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *name = named("motto", text_of(args, "door")), *present, *before = latch_json_string(latch_json_member(result, "before"));
  bool was_there;
  (void)key;
  if (!latch_kv_get(answer, name, &present)) return false;
  if (!present || strcmp(present, text_of(args, "motto"))) return latch_fail(answer, LATCH_POLICY_DENIED, "the motto has changed");
  if (before ? !latch_kv_set(answer, name, before) : !latch_kv_delete(answer, name, &was_there)) return in_doubt(answer);
  return done(answer, "door", text_of(args, "door"));
}

/* Gives a badge. The undo of one tool leaves an entry that still counts as a badge. */
static bool badge(latch_json args, latch_answer *answer, const char *kind) {
  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, named(kind, key), text_of(args, "of")) && done(answer, "badge", key);
}
static bool bad_badge(latch_json args, latch_answer *answer) { return badge(args, answer, "badge"); }
static bool good_badge(latch_json args, latch_answer *answer) { return badge(args, answer, "pass"); }
static bool badge_back(latch_json args, latch_answer *answer, const char *name) {
  char *present;
  if (!latch_kv_get(answer, name, &present)) return false;
  if (!present || strcmp(present, text_of(args, "of"))) return latch_fail(answer, LATCH_POLICY_DENIED, "the badge has changed");
  return latch_kv_set(answer, name, "returned") && done(answer, "of", text_of(args, "of"));
}
static bool bad_return(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  return badge_back(args, answer, named("badge", key));
}
static bool good_return(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  return badge_back(args, answer, named("pass", key));
}
static bool has_badge(latch_json args, latch_answer *answer) {
  char *present;
  if (!latch_kv_get(answer, named("badge", text_of(args, "badge")), &present)) return false;
  return done(answer, "found", present ? "yes" : "no");
}
static bool has_pass(latch_json args, latch_answer *answer) {
  char *present;
  if (!latch_kv_get(answer, named("pass", text_of(args, "badge")), &present)) return false;
  return done(answer, "found", present && strcmp(present, "returned") ? "yes" : "no");
}

/* Files a paper and lists it by its title. A failed second write counts as nothing, or makes the outcome unknown. */
static bool paper(latch_json args, latch_answer *answer, bool is_strict) {
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, named("paper", key), text_of(args, "title"))) return in_doubt(answer);
  latch_answer second = { 0 };
  if (!latch_kv_set(is_strict ? answer : &second, named("title", key), key) && is_strict) return in_doubt(answer);
  return done(answer, "paper", key);
}
static bool bad_paper(latch_json args, latch_answer *answer) { return paper(args, answer, false); }
static bool good_paper(latch_json args, latch_answer *answer) { return paper(args, answer, true); }

/* Stores a picture and a copy. The undo deletes both. */
static bool picture(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, named("picture", key), text_of(args, "picture"))) return in_doubt(answer);
  if (!latch_kv_set(answer, named("copy", key), text_of(args, "picture"))) return in_doubt(answer);
  return done(answer, "picture", key);
}
static bool unpicture(latch_answer *answer, const char *key, bool is_strict) {
  bool was_there;
  latch_answer second = { 0 };
  if (!latch_kv_delete(answer, named("picture", key), &was_there)) return in_doubt(answer);
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "there is no such picture");
  if (!latch_kv_delete(is_strict ? answer : &second, named("copy", key), &was_there) && is_strict) return in_doubt(answer);
  return done(answer, "picture", key);
}
static bool bad_unpicture(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  return unpicture(answer, key, false);
}
static bool good_unpicture(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  return unpicture(answer, key, true);
}

/* Changes the colour of a sign and keeps its language. A failed read counts as no sign, or ends the call. */
static bool sign(latch_json args, latch_answer *answer, bool is_strict) {
  char *name = named("sign", text_of(args, "sign")), *present = NULL;
  latch_answer first = { 0 };
  if (!latch_kv_get(is_strict ? answer : &first, name, &present) && is_strict) return false;
  latch_text made = { 0 };
  latch_putf(&made, "%s %.2s", text_of(args, "colour"), present && strlen(present) > 2 ? present + strlen(present) - 2 : "en");
  return latch_kv_set(answer, name, made.bytes) && done(answer, "sign", text_of(args, "sign"));
}
static bool bad_sign(latch_json args, latch_answer *answer) { return sign(args, answer, false); }
static bool good_sign(latch_json args, latch_answer *answer) { return sign(args, answer, true); }

/* Reads its own entry after the write. A failed read leaves the outcome unknown. */
static bool deposit(latch_json args, latch_answer *answer, bool is_strict) {
  char *name = named("deposit", latch_get_invocation().external_key), *present;
  if (!latch_kv_set(answer, name, text_of(args, "coat"))) return in_doubt(answer);
  if (!latch_kv_get(answer, name, &present)) {
    latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the coat cannot be read");
    answer->applied_unknown = is_strict;
    return false;
  }
  return done(answer, "coat", present ? present : "");
}
static bool bad_deposit(latch_json args, latch_answer *answer) { return deposit(args, answer, false); }
static bool good_deposit(latch_json args, latch_answer *answer) { return deposit(args, answer, true); }

/* Registers a guest under the tenant. */
static bool register_guest(latch_json args, latch_answer *answer) {
  return latch_kv_set(answer, named(latch_get_context().tenant, latch_get_invocation().external_key), text_of(args, "guest")) && done(answer, "guest", text_of(args, "guest"));
}
static latch_verdict find_guest(latch_json args, const char *key, latch_answer *answer, const char *tenant) {
  char *present;
  if (!latch_kv_get(answer, named(tenant, key), &present)) return LATCH_UNKNOWN;
  if (!present) return LATCH_DID_NOT_HAPPEN;
  done(answer, "guest", text_of(args, "guest"));
  return LATCH_HAPPENED;
}
static latch_verdict bad_guest(latch_json args, const char *key, latch_answer *answer) { return find_guest(args, key, answer, "default"); }
static latch_verdict good_guest(latch_json args, const char *key, latch_answer *answer) {
  return find_guest(args, key, answer, latch_get_context().tenant);
}

/* Lends a bicycle. The entry counts for 30 days, or for ever. */
static bool lend(latch_json args, latch_answer *answer) {
  latch_text entry = { 0 };
  latch_putf(&entry, "%lld", (long long)time(NULL));
  return latch_kv_set(answer, named("lent", latch_get_invocation().external_key), entry.bytes) && done(answer, "bicycle", text_of(args, "bicycle"));
}
static latch_verdict lent(latch_json args, const char *key, latch_answer *answer, bool expires) {
  char *present;
  if (!latch_kv_get(answer, named("lent", key), &present)) return LATCH_UNKNOWN;
  if (!present || (expires && time(NULL) - atoll(present) > 30 * 86400)) return LATCH_DID_NOT_HAPPEN;
  done(answer, "bicycle", text_of(args, "bicycle"));
  return LATCH_HAPPENED;
}
static latch_verdict bad_lent(latch_json args, const char *key, latch_answer *answer) { return lent(args, key, answer, true); }
static latch_verdict good_lent(latch_json args, const char *key, latch_answer *answer) { return lent(args, key, answer, false); }

/* Books a court. The entry is in a folder of its month. A repetition in the next month looks in that of the call, or in its own. */
static bool court(latch_json args, latch_answer *answer, bool has_month) {
  latch_text name = { 0 };
  time_t now = time(NULL);
  char month[16], *present;
  strftime(month, sizeof month, "%Y-%m", gmtime(&now));
  latch_putf(&name, "court/%s/%s", has_month ? month : "all", latch_get_invocation().external_key);
  if (!latch_kv_get(answer, name.bytes, &present)) return false;
  if (!present && !latch_kv_set(answer, name.bytes, text_of(args, "court"))) return in_doubt(answer);
  return done(answer, "court", text_of(args, "court"));
}
static bool bad_court(latch_json args, latch_answer *answer) { return court(args, answer, true); }
static bool good_court(latch_json args, latch_answer *answer) { return court(args, answer, false); }

/* Holds a seat for a window of 30 days. The entry of the key counts for two days, or for ever. */
static bool hold(latch_json args, latch_answer *answer, bool expires) {
  char *name = named("hold", latch_get_invocation().external_key), *present;
  latch_text entry = { 0 };
  long long now = (long long)time(NULL);
  latch_putf(&entry, "%lld", now);
  if (!latch_kv_get(answer, name, &present)) return false;
  if (!present || (expires && now - atoll(present) > 2 * 86400))
    if (!latch_kv_set(answer, name, entry.bytes)) return in_doubt(answer);
  return done(answer, "seat", text_of(args, "seat"));
}
static bool bad_hold(latch_json args, latch_answer *answer) { return hold(args, answer, true); }
static bool good_hold(latch_json args, latch_answer *answer) { return hold(args, answer, false); }

/* Opens a ticket, which another operator then assigns. A repetition must not take the assignment back, and reconcile returns
   the result of the call. */
static bool ticket(latch_json args, latch_answer *answer, const char *kind, bool looks) {
  char *key = latch_get_invocation().external_key, *name = named(kind, key), *present = NULL;
  (void)args;
  if (looks && !latch_kv_get(answer, name, &present)) return false;
  if (!present && !latch_kv_set(answer, name, "open")) return in_doubt(answer);
  return done(answer, "ticket", key);
}
static bool bad_ticket(latch_json args, latch_answer *answer) { return ticket(args, answer, "ticket", false); }
static bool good_ticket(latch_json args, latch_answer *answer) { return ticket(args, answer, "issue", true); }
static bool assign(latch_json args, latch_answer *answer, const char *kind) {
  char *name = named(kind, text_of(args, "ticket")), *present;
  if (!latch_kv_get(answer, name, &present)) return false;
  if (!present) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such entry");
  return latch_kv_set(answer, name, "assigned") && done(answer, "ticket", text_of(args, "ticket"));
}
static bool assign_ticket(latch_json args, latch_answer *answer) { return assign(args, answer, "ticket"); }
static bool assign_issue(latch_json args, latch_answer *answer) { return assign(args, answer, "issue"); }

static bool stored_state(latch_answer *answer, const char *key, const char *state) {
  latch_putf(&answer->result, "{\"ticket\":\"%s\",\"state\":\"%s\"}", key, state);
  return true;
}
static bool visit(latch_json args, latch_answer *answer, const char *kind) {
  char *key = latch_get_invocation().external_key;
  (void)args;
  return latch_kv_set(answer, named(kind, key), "open") && stored_state(answer, key, "open");
}
static bool bad_visit(latch_json args, latch_answer *answer) { return visit(args, answer, "visit"); }
static bool good_visit(latch_json args, latch_answer *answer) { return visit(args, answer, "meeting"); }
static latch_verdict visited(latch_answer *answer, const char *kind, const char *key, bool is_first) {
  char *present;
  if (!latch_kv_get(answer, named(kind, key), &present)) return LATCH_UNKNOWN;
  if (!present) return LATCH_DID_NOT_HAPPEN;
  stored_state(answer, key, is_first ? "open" : present);
  return LATCH_HAPPENED;
}
static latch_verdict bad_visited(latch_json args, const char *key, latch_answer *answer) { return (void)args, visited(answer, "visit", key, false); }
static latch_verdict good_visited(latch_json args, const char *key, latch_answer *answer) { return (void)args, visited(answer, "meeting", key, true); }
static bool confirm_visit(latch_json args, latch_answer *answer) { return assign(args, answer, "visit"); }
static bool confirm_meeting(latch_json args, latch_answer *answer) { return assign(args, answer, "meeting"); }

/* Issues a pass under a drawn number. A repetition draws another number unless the number of the first try is kept before. */
static bool pass(latch_answer *answer, const char *kind, bool keeps_first) {
  char *key = latch_get_invocation().external_key, *noted = named("noted", named(kind, key)), *number;
  if (!latch_kv_get(answer, noted, &number)) return false;
  bool is_new = !number;
  if (is_new) {
    uint32_t drawn;
    getentropy(&drawn, sizeof drawn);
    number = latch_room(16);
    snprintf(number, 16, "%08x", (unsigned)drawn);
  }
  latch_text entry = { 0 };
  latch_putf(&entry, "{\"pass\":\"%s\"}", number);
  if (is_new && keeps_first && !latch_kv_set(answer, noted, number)) return in_doubt(answer);
  if ((is_new || keeps_first) && !latch_kv_set(answer, named(kind, number), entry.bytes)) return in_doubt(answer);
  if (is_new && !keeps_first && !latch_kv_set(answer, noted, number)) return in_doubt(answer);
  return done(answer, "pass", number);
}
static bool bad_pass(latch_json args, latch_answer *answer) { return (void)args, pass(answer, "daypass", false); }
static bool good_pass(latch_json args, latch_answer *answer) { return (void)args, pass(answer, "weekpass", true); }
static bool show_pass(latch_json args, latch_answer *answer, const char *kind) {
  char *present;
  if (!latch_kv_get(answer, named(kind, text_of(args, "pass")), &present)) return false;
  if (!present) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such pass");
  latch_put(&answer->result, present);
  return true;
}
static bool show_daypass(latch_json args, latch_answer *answer) { return show_pass(args, answer, "daypass"); }
static bool show_weekpass(latch_json args, latch_answer *answer) { return show_pass(args, answer, "weekpass"); }

#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, .effects = LATCH_INTERNAL_WRITE, ##__VA_ARGS__ }
#define READ(said, handled) { .name = said, .description = "For the corpus.", .handler = handled, .determinism = LATCH_EXTERNAL }
#define KEYED(days) .idempotent_by_key_seconds = days * 86400

LATCH_PLUGIN(TOOL("Bad.Rate", bad_rate, KEYED(2), .compensate = rate_back), TOOL("Good.Rate", good_rate, KEYED(2), .compensate = rate_back),
  TOOL("Bad.Motto", bad_motto, .compensate = motto_back), TOOL("Good.Motto", good_motto, .compensate = motto_back),
  TOOL("Bad.Badge", bad_badge, .compensate = bad_return), TOOL("Good.Badge", good_badge, .compensate = good_return),
  READ("Good.HasBadge", has_badge), READ("Good.HasPass", has_pass), TOOL("Bad.Paper", bad_paper), TOOL("Good.Paper", good_paper),
  TOOL("Bad.Picture", picture, .compensate = bad_unpicture), TOOL("Good.Picture", picture, .compensate = good_unpicture),
  TOOL("Bad.Sign", bad_sign), TOOL("Good.Sign", good_sign), TOOL("Bad.Deposit", bad_deposit), TOOL("Good.Deposit", good_deposit),
  TOOL("Bad.Guest", register_guest, .reconcile = bad_guest), TOOL("Good.Guest", register_guest, .reconcile = good_guest),
  TOOL("Bad.Lend", lend, .reconcile = bad_lent), TOOL("Good.Lend", lend, .reconcile = good_lent),
  TOOL("Bad.Court", bad_court, KEYED(2)), TOOL("Good.Court", good_court, KEYED(2)),
  TOOL("Bad.Hold", bad_hold, KEYED(30)), TOOL("Good.Hold", good_hold, KEYED(30)),
  TOOL("Bad.Ticket", bad_ticket, KEYED(2)), TOOL("Good.Ticket", good_ticket, KEYED(2)), TOOL("Good.AssignTicket", assign_ticket),
  TOOL("Good.AssignIssue", assign_issue), TOOL("Bad.Visit", bad_visit, .reconcile = bad_visited),
  TOOL("Good.Visit", good_visit, .reconcile = good_visited), TOOL("Good.ConfirmVisit", confirm_visit), TOOL("Good.ConfirmMeeting", confirm_meeting),
  TOOL("Bad.Pass", bad_pass, KEYED(2)), TOOL("Good.Pass", good_pass, KEYED(2)), READ("Good.ShowDaypass", show_daypass), READ("Good.ShowWeekpass", show_weekpass));
