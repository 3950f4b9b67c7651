/* Corpus of tools whose operators share entries of the map. Each bad_* tool breaks a rule of the checker. The good_* tool
   next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <time.h>

static bool kept(latch_answer *answer, const char *text) {
  latch_put(&answer->result, "{\"kept\":");
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}

/* The quote has the rate at the time of the call. A repetition finds another rate if Good.Rate was called meanwhile. */
static bool quote(latch_json args, latch_answer *answer, bool is_kept) {
  char *kiln = latch_json_string(latch_json_member(args, "kiln")), *key = latch_get_invocation().external_key, *rate, *entry;
  if (!kiln || !*kiln) return latch_fail(answer, LATCH_INVALID_INPUT, "the kiln is missing");
  if (!latch_kv_get(answer, key, &entry)) return false;
  if (entry && is_kept) return kept(answer, entry);
  if (!latch_kv_get(answer, kiln, &rate)) return false;
  if (!rate) return latch_fail(answer, LATCH_INVALID_INPUT, "the kiln has no rate");
  return latch_kv_set(answer, key, rate) && kept(answer, rate);
}
static bool bad_quote(latch_json args, latch_answer *answer) { return quote(args, answer, false); }
static bool good_quote(latch_json args, latch_answer *answer) { return quote(args, answer, true); }
static bool good_rate(latch_json args, latch_answer *answer) {
  char *kiln = latch_json_string(latch_json_member(args, "kiln")), *rate = latch_json_string(latch_json_member(args, "rate"));
  if (!kiln || !*kiln || !rate) return latch_fail(answer, LATCH_INVALID_INPUT, "the kiln or the rate is missing");
  return latch_kv_set(answer, kiln, rate) && kept(answer, rate);
}

/* The entry has the year in which it expires. A tool that declares no effect removes nothing. */
static bool look(latch_json args, latch_answer *answer, bool is_removed) {
  char *ticket = latch_json_string(latch_json_member(args, "ticket")), *year;
  time_t now = time(NULL);
  bool was_there;
  if (!ticket || !*ticket) return latch_fail(answer, LATCH_INVALID_INPUT, "the ticket is missing");
  if (!latch_kv_get(answer, ticket, &year)) return false;
  if (!year) return kept(answer, "nothing");
  if (atoi(year) >= gmtime(&now)->tm_year + 1900) return kept(answer, year);
  if (is_removed && !latch_kv_delete(answer, ticket, &was_there)) return false;
  return kept(answer, "nothing");
}
static bool bad_look(latch_json args, latch_answer *answer) { return look(args, answer, true); }
static bool good_look(latch_json args, latch_answer *answer) { return look(args, answer, false); }

#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define KEYED .effects = LATCH_INTERNAL_WRITE, .idempotent_by_key_seconds = 86400

LATCH_PLUGIN(
  TOOL("Bad.Quote", bad_quote, KEYED), TOOL("Good.Quote", good_quote, KEYED),
  TOOL("Good.Rate", good_rate, .effects = LATCH_INTERNAL_WRITE), TOOL("Bad.Look", bad_look), TOOL("Good.Look", good_look));
