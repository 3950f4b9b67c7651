/* Corpus of tools written in typical C. Each bad_* tool breaks a rule of the checker.
   The good_* tool next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <assert.h>
#include <time.h>

static bool kept(latch_answer *answer, const char *key) {
  latch_put(&answer->result, "{\"key\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  return true;
}

static char *key_of(const char *before, const char *key) {
  latch_text text = { 0 };
  latch_putf(&text, "%s%s", before, key);
  return text.bytes;
}

/* Each try uses another key, so a retry after a crash stores the note twice. */
static bool bad_keyed(latch_json args, latch_answer *answer) {
  char key[32];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(key, sizeof key, "note-%lld-%ld", (long long)now.tv_sec, now.tv_nsec);
  return latch_kv_set(answer, key, latch_json_text(args)) && kept(answer, key);
}
static bool good_keyed(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, key, latch_json_text(args)) && kept(answer, key);
}

static bool keep(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, key_of("note-", key), latch_json_text(args)) && kept(answer, key);
}
static latch_verdict look(const char *at, const char *key, latch_answer *answer) {
  char *note;
  if (!latch_kv_get(answer, at, &note)) return LATCH_UNKNOWN;
  if (!note) return LATCH_DID_NOT_HAPPEN;
  kept(answer, key);
  return LATCH_HAPPENED;
}
/* Looks for the note under a key that the tool never writes. */
static latch_verdict bad_find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return look(key, key, answer);
}
static latch_verdict good_find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return look(key_of("note-", key), key, answer);
}
/* Reconcile itself writes a note. The next reconcile finds that note. */
static latch_verdict bad_mark(latch_json args, const char *key, latch_answer *answer) {
  latch_verdict verdict = good_find(args, key, answer);
  latch_kv_set(answer, key_of("note-", key), "asked");
  return verdict;
}

/* The value of a missing key is NULL, so the assertion fails and the tool traps. */
static bool bad_traps(latch_json args, latch_answer *answer) {
  char *note;
  latch_kv_get(answer, "last", &note);
  assert(note);
  (void)args;
  return kept(answer, note);
}
static bool good_traps(latch_json args, latch_answer *answer) {
  char *note;
  (void)args;
  if (!latch_kv_get(answer, "last", &note)) return false;
  return kept(answer, note ? note : "none");
}

/* Log lines are recorded, so a token in a log line is recorded too. */
static bool bad_tells(latch_json args, latch_answer *answer) {
  (void)args;
  char *token = latch_secret(answer, "TOKEN");
  if (!token) return false;
  printf("asking with %s\n", token);
  return kept(answer, "x");
}
static bool good_tells(latch_json args, latch_answer *answer) {
  (void)args;
  char *token = latch_secret(answer, "TOKEN");
  if (!token) return false;
  printf("asking with a token of %zu characters\n", strlen(token));
  return kept(answer, "x");
}

#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define KEYED .effects = LATCH_INTERNAL_WRITE, .idempotent_by_key_seconds = 86400
#define ASKED(by) .effects = LATCH_INTERNAL_WRITE, .reconcile = by

LATCH_PLUGIN(
  TOOL("Bad.Keyed", bad_keyed, KEYED), TOOL("Good.Keyed", good_keyed, KEYED), TOOL("Bad.Forgets", keep, ASKED(bad_find)),
  TOOL("Good.Asked", keep, ASKED(good_find)), TOOL("Bad.Marks", keep, ASKED(bad_mark)), TOOL("Bad.Traps", bad_traps),
  TOOL("Good.Traps", good_traps), TOOL("Bad.Tells", bad_tells), TOOL("Good.Tells", good_tells));
