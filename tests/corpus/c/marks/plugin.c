/* Corpus of tools whose mistake shows for a long list, or for a call that is undone. Each bad_* tool
   breaks a rule of the checker. The good_* tool next to it looks similar and breaks no rule. */
#include "latchwork.h"

static char *place(const char *page, const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", page, key);
  return name.bytes;
}

/* An answer of the SDK for C holds at most 16 changes. */
static bool pieces(latch_json args, latch_answer *answer, bool is_one_change) {
  latch_json all = latch_json_member(args, "pieces");
  char *key = latch_get_invocation().external_key, *text = latch_json_text(all);
  size_t count = latch_json_count(all);
  if (!latch_kv_set(answer, key, text)) return false;
  for (size_t i = 0; i < (is_one_change ? 1 : count); i++) {
    char *name = latch_json_string(latch_json_item(all, i));
    latch_changed(answer, (latch_change){ .resource_type = "piece", .resource_id = name ? name : "", .operation = "create" });
  }
  latch_put(&answer->result, "{}");
  return true;
}
static bool bad_pieces(latch_json args, latch_answer *answer) { return pieces(args, answer, false); }
static bool good_pieces(latch_json args, latch_answer *answer) { return pieces(args, answer, true); }

/* The schema of the answer allows fewer bytes than that of the arguments. */
static bool label(latch_json args, latch_answer *answer, size_t most) {
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!text || strlen(text) > most) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  latch_put(&answer->result, "{\"label\":");
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}
static bool bad_label(latch_json args, latch_answer *answer) { return label(args, answer, 100000); }
static bool good_label(latch_json args, latch_answer *answer) { return label(args, answer, 20); }

/* After a failed write, the entry may have been written. */
static bool write_once(latch_json args, latch_answer *answer, bool applied_unknown) {
  if (!latch_kv_set(answer, latch_get_invocation().external_key, latch_json_text(args))) {
    latch_fail(answer, LATCH_TRANSIENT_DB_LOCK, "the book is busy");
    answer->applied_unknown = applied_unknown;
    return false;
  }
  latch_put(&answer->result, "{}");
  return true;
}
static bool bad_busy(latch_json args, latch_answer *answer) { return write_once(args, answer, false); }
static bool good_busy(latch_json args, latch_answer *answer) { return write_once(args, answer, true); }

static bool enrol(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key, *name = latch_json_string(latch_json_member(args, "name"));
  if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "the name is missing");
  if (!latch_kv_set(answer, place("enrolled", key), name)) return false;
  latch_put(&answer->result, "{\"ref\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  return true;
}

/* A compensation is a call of its own, with its own key. */
static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer, bool is_own_key) {
  char *found, *gone, *mark = place("withdrawn", is_own_key ? latch_get_invocation().external_key : key);
  (void)args, (void)result;
  if (!latch_kv_get(answer, place("enrolled", key), &found) || !latch_kv_get(answer, mark, &gone)) return false;
  if (!found) return latch_fail(answer, LATCH_POLICY_DENIED, "the entry is no longer there");
  if (!gone && !latch_kv_set(answer, mark, found)) return false;
  latch_put(&answer->result, "{}");
  return true;
}
static bool bad_withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  return withdraw(args, result, key, answer, true);
}
static bool good_withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  return withdraw(args, result, key, answer, false);
}

static bool show(latch_json args, latch_answer *answer) {
  char *ref = latch_json_string(latch_json_member(args, "ref")), *found, *gone;
  if (!ref) return latch_fail(answer, LATCH_INVALID_INPUT, "the reference is missing");
  if (!latch_kv_get(answer, place("enrolled", ref), &found) || !latch_kv_get(answer, place("withdrawn", ref), &gone)) return false;
  latch_put(&answer->result, "{\"name\":");
  if (found && !gone) latch_put_string(&answer->result, found);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

#define PIECES \
  .effects = LATCH_INTERNAL_WRITE, .input = "{\"type\":\"object\",\"required\":[\"pieces\"],\"properties\":{\"pieces\":{\"type\":\"array\"," \
  "\"minItems\":1,\"maxItems\":40,\"items\":{\"type\":\"string\",\"maxLength\":40}}}}"
#define LABEL \
  .output = "{\"type\":\"object\",\"required\":[\"label\"],\"properties\":{\"label\":{\"type\":\"string\",\"maxLength\":20}}}", \
  .input = "{\"type\":\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":30}}}"
#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }

LATCH_PLUGIN(
  TOOL("Bad.Pieces", bad_pieces, PIECES), TOOL("Good.Pieces", good_pieces, PIECES),
  TOOL("Bad.Withdraw", enrol, .effects = LATCH_INTERNAL_WRITE, .compensate = bad_withdraw),
  TOOL("Good.Withdraw", enrol, .effects = LATCH_INTERNAL_WRITE, .compensate = good_withdraw), TOOL("Good.Show", show),
  TOOL("Bad.Label", bad_label, LABEL), TOOL("Good.Label", good_label, LABEL),
  TOOL("Bad.Busy", bad_busy, .effects = LATCH_INTERNAL_WRITE), TOOL("Good.Busy", good_busy, .effects = LATCH_INTERNAL_WRITE));
