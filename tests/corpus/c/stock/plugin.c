/* Corpus of tools that keep files and revisions. Each bad_* tool breaks a rule of the checker. The
   good_* tool next to it looks similar and breaks no rule. */
#include <assert.h>

#include "latchwork.h"

static char *member(latch_json args, const char *name, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, name));
  if (text && *text && strlen(text) <= 100) return text;
  return latch_fail(answer, LATCH_INVALID_INPUT, "the %s is missing or too long", name), NULL;
}

static char *under(const char *folder, const char *name) {
  latch_text path = { 0 };
  latch_putf(&path, "%s/%s", folder, name);
  return path.bytes;
}

/* Writes an entry of a file. */
static bool note(latch_json args, latch_answer *answer, const char *state) {
  char *file = member(args, "file", answer);
  if (!file || !latch_kv_set(answer, under(state, file), "yes")) return false;
  latch_put(&answer->result, "{}");
  return true;
}
static bool open_file(latch_json args, latch_answer *answer) { return note(args, answer, "open"); }
static bool close_file(latch_json args, latch_answer *answer) { return note(args, answer, "closed"); }

/* Archives a file. */
static bool archive(latch_json args, latch_answer *answer, bool is_both) {
  char *file = member(args, "file", answer), *is_open, *is_closed;
  if (!file || !latch_kv_get(answer, under("open", file), &is_open)) return false;
  if (!latch_kv_get(answer, under("closed", file), &is_closed)) return false;
  assert(is_both || !is_open || !is_closed);
  return note(args, answer, "archived");
}
static bool bad_archive(latch_json args, latch_answer *answer) { return archive(args, answer, false); }
static bool good_archive(latch_json args, latch_answer *answer) { return archive(args, answer, true); }

/* Adds a revision beside the one that it is made from. The undo adds one more, with the values from before. */
static bool add(char *base, const char *key, const char *text, const char *said, latch_answer *answer) {
  latch_text name = { 0 }, entry = { 0 };
  latch_putf(&name, "%.*s%s", (int)(strrchr(base, '/') - base + 1), base, key);
  latch_put(&entry, "{\"text\":");
  latch_put_string(&entry, text);
  latch_put(&entry, ",\"note\":");
  latch_put_string(&entry, said);
  latch_put(&entry, "}");
  if (!latch_kv_set(answer, name.bytes, entry.bytes)) return false;
  latch_put(&answer->result, "{\"name\":");
  latch_put_string(&answer->result, name.bytes);
  latch_put(&answer->result, "}");
  return true;
}
static char *base_of(latch_json args, char **entry, latch_answer *answer) {
  char *base = member(args, "base", answer);
  if (!base || !latch_kv_get(answer, base, entry)) return NULL;
  if (strchr(base, '/') && *entry) return base;
  return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such revision"), NULL;
}
static bool revise(latch_json args, latch_answer *answer) {
  char *entry, *base = base_of(args, &entry, answer), *text = base ? member(args, "text", answer) : NULL;
  char *said = text ? member(args, "note", answer) : NULL;
  return said && add(base, latch_get_invocation().external_key, text, said, answer);
}
static bool put_back(latch_json args, latch_json result, const char *key, latch_answer *answer, bool is_whole) {
  char *entry, *base = base_of(args, &entry, answer), *found, *name = latch_json_string(latch_json_member(result, "name"));
  if (!base || !name || !latch_kv_get(answer, name, &found)) return false;
  if (!found) return latch_fail(answer, LATCH_POLICY_DENIED, "the revision was removed");
  char *text = latch_json_string(latch_json_member(latch_json_of(entry), "text"));
  char *said = latch_json_string(latch_json_member(latch_json_of(is_whole ? entry : found), "note"));
  latch_text undo = { 0 };
  latch_putf(&undo, "back-%s", key);
  return text && said ? add(base, undo.bytes, text, said, answer) : latch_fail(answer, LATCH_POLICY_DENIED, "no revision");
}
static bool bad_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  return put_back(args, result, key, answer, false);
}
static bool good_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  return put_back(args, result, key, answer, true);
}

#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define WRITES .effects = LATCH_INTERNAL_WRITE

LATCH_PLUGIN(TOOL("Good.Open", open_file, WRITES), TOOL("Good.Close", close_file, WRITES),
  TOOL("Bad.Archive", bad_archive, WRITES), TOOL("Good.Archive", good_archive, WRITES),
  TOOL("Bad.Revise", revise, WRITES, .compensate = bad_back), TOOL("Good.Revise", revise, WRITES, .compensate = good_back));
