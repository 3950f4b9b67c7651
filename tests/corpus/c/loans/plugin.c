/* Corpus of tools with an operator that changes the entry of another one. Bad.Extend reports its change under another type, so
   the change of Bad.Lend looks different later. Good.Extend reports it under the type of Good.Lend. Doors have numbers in capital
   letters. Bad.Unname reports the number as it is written in the input. */
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

/* Returns the number of a door in capital letters, or NULL. */
static char *door_of(latch_json args) {
  char *door = latch_json_string(latch_json_member(args, "door"));
  if (!door || strlen(door) > 20) return NULL;
  for (char *letter = door; *letter; letter++)
    if (*letter >= 'a' && *letter <= 'z') *letter -= 32;
  return door;
}

static bool named(latch_json args, latch_answer *answer, const char *kind) {
  char *door = door_of(args), *name = latch_json_string(latch_json_member(args, "name"));
  if (!door || !name) return latch_fail(answer, LATCH_INVALID_INPUT, "the door or the name is missing");
  if (!latch_kv_set(answer, entry_of(kind, door), name)) return false;
  latch_put(&answer->result, "{}");
  latch_changed(answer, (latch_change){ .resource_type = kind, .resource_id = door, .operation = "update", .version = name });
  return true;
}
static bool bad_name(latch_json args, latch_answer *answer) { return named(args, answer, "plate"); }
static bool good_name(latch_json args, latch_answer *answer) { return named(args, answer, "sign"); }

static bool unname(latch_json args, latch_answer *answer, const char *kind, bool as_written) {
  char *door = door_of(args), *id = as_written ? latch_json_string(latch_json_member(args, "door")) : door;
  bool was_there;
  if (!door) return latch_fail(answer, LATCH_INVALID_INPUT, "the door is missing");
  if (!latch_kv_delete(answer, entry_of(kind, door), &was_there)) return false;
  latch_put(&answer->result, "{}");
  if (was_there) latch_changed(answer, (latch_change){ .resource_type = kind, .resource_id = id, .operation = "delete" });
  return true;
}
static bool bad_unname(latch_json args, latch_answer *answer) { return unname(args, answer, "plate", true); }
static bool good_unname(latch_json args, latch_answer *answer) { return unname(args, answer, "sign", false); }

static const char *check_door(latch_change change, const char *kind, latch_answer *answer) {
  char *name;
  latch_text door = { 0 };
  for (const char *letter = change.resource_id; *letter; letter++)
    latch_putf(&door, "%c", *letter >= 'a' && *letter <= 'z' ? *letter - 32 : *letter);
  if (!latch_kv_get(answer, entry_of(kind, door.bytes), &name)) return NULL;
  if (!change.version) return name ? "the door has a name" : NULL;
  return !name || strcmp(name, change.version) ? "the door has another name" : NULL;
}
static const char *check_plate(latch_change change, latch_answer *answer) { return check_door(change, "plate", answer); }
static const char *check_sign(latch_change change, latch_answer *answer) { return check_door(change, "sign", answer); }

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
  TOOL("Good.Lend", good_lend, check_map), TOOL("Good.Extend", good_extend, check_map),
  TOOL("Bad.Name", bad_name, check_plate), TOOL("Bad.Unname", bad_unname, check_plate),
  TOOL("Good.Name", good_name, check_sign), TOOL("Good.Unname", good_unname, check_sign));
