/* Corpus of tools with an operator that changes the entry of another one. Bad.Extend reports its change under another type, so
   the change of Bad.Lend looks different later. Good.Extend reports it under the type of Good.Lend. */
#include "latchwork.h"

static char *entry_of(const char *kind, const char *loan) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", kind, loan);
  return name.bytes;
}

static bool done(latch_answer *answer, latch_change change) {
  latch_put(&answer->result, "{\"loan\":");
  latch_put_string(&answer->result, change.resource_id);
  latch_put(&answer->result, ",\"until\":");
  latch_put_string(&answer->result, change.version);
  latch_put(&answer->result, "}");
  latch_changed(answer, change);
  return true;
}

static bool lend(latch_json args, latch_answer *answer, const char *kind) {
  char *until = latch_json_string(latch_json_member(args, "until")), *loan = latch_get_invocation().external_key;
  if (!until) return latch_fail(answer, LATCH_INVALID_INPUT, "the day is missing");
  if (!latch_kv_set(answer, entry_of(kind, loan), until)) return false;
  return done(answer, (latch_change){ .resource_type = kind, .resource_id = loan, .operation = "create", .version = until });
}
static bool bad_lend(latch_json args, latch_answer *answer) { return lend(args, answer, "book"); }
static bool good_lend(latch_json args, latch_answer *answer) { return lend(args, answer, "map"); }

static bool extend(latch_json args, latch_answer *answer, const char *kind, const char *type) {
  char *until = latch_json_string(latch_json_member(args, "until")), *loan = latch_json_string(latch_json_member(args, "loan"));
  char *found;
  if (!until || !loan || strlen(loan) > 200) return latch_fail(answer, LATCH_INVALID_INPUT, "the loan or the day is missing");
  if (!latch_kv_get(answer, entry_of(kind, loan), &found)) return false;
  if (!found) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such loan");
  if (!latch_kv_set(answer, entry_of(kind, loan), until)) return false;
  return done(answer, (latch_change){ .resource_type = type, .resource_id = loan, .operation = "update", .version = until });
}
static bool bad_extend(latch_json args, latch_answer *answer) { return extend(args, answer, "book", "extension"); }
static bool good_extend(latch_json args, latch_answer *answer) { return extend(args, answer, "map", "map"); }

static const char *check(latch_change change, const char *kind, latch_answer *answer) {
  char *until;
  if (!latch_kv_get(answer, entry_of(kind, change.resource_id), &until)) return NULL;
  if (!until) return "the loan is missing";
  return strcmp(until, change.version) ? "the loan has another day" : NULL;
}
static const char *check_book(latch_change change, latch_answer *answer) { return check(change, "book", answer); }
static const char *check_map(latch_change change, latch_answer *answer) { return check(change, "map", answer); }

#define TOOL(said, handled, checked) \
  { .name = said, .description = "For the corpus.", .handler = handled, .effects = LATCH_INTERNAL_WRITE, .verify = checked }

LATCH_PLUGIN(TOOL("Bad.Lend", bad_lend, check_book), TOOL("Bad.Extend", bad_extend, check_book),
  TOOL("Good.Lend", good_lend, check_map), TOOL("Good.Extend", good_extend, check_map));
