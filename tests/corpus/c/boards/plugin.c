/* Corpus of tools whose undo leaves an empty entry. The bad_* tool breaks a rule of the checker. The good_* tool next to it
   looks similar and breaks no rule. */
#include "latchwork.h"

static char *text_of(latch_json args, const char *member, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, member));
  if (text && *text && strlen(text) < 200) return text;
  latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  return NULL;
}

/* Writes a text on a board, and keeps the earlier one in its result. */
static bool chalk(latch_json args, latch_answer *answer) {
  char *board = text_of(args, "board", answer), *text = board ? text_of(args, "text", answer) : NULL, *earlier;
  if (!text || !latch_kv_get(answer, board, &earlier) || !latch_kv_set(answer, board, text)) return false;
  latch_put(&answer->result, "{\"earlier\":");
  latch_put_string(&answer->result, earlier ? earlier : "");
  latch_put(&answer->result, "}");
  return true;
}

static bool wipe(latch_json args, latch_json result, latch_answer *answer, bool removes) {
  char *board = text_of(args, "board", answer), *text = board ? text_of(args, "text", answer) : NULL, *present;
  char *earlier = latch_json_string(latch_json_member(result, "earlier"));
  if (!text || !earlier || !latch_kv_get(answer, board, &present)) return false;
  if (!present || strcmp(present, text)) return latch_fail(answer, LATCH_POLICY_DENIED, "the board has another text");
  latch_put(&answer->result, "{}");
  if (removes && !*earlier) return latch_kv_delete(answer, board, NULL);
  return latch_kv_set(answer, board, earlier);
}
static bool bad_wipe(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  return wipe(args, result, answer, false);
}
static bool good_wipe(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  return wipe(args, result, answer, true);
}

/* Reads a board. */
static bool look(latch_json args, latch_answer *answer) {
  char *board = text_of(args, "board", answer), *text;
  if (!board || !latch_kv_get(answer, board, &text)) return false;
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such board");
  latch_put(&answer->result, "{\"text\":");
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  { .name = "Bad.Chalk", .description = "For the corpus.", .handler = chalk, .effects = LATCH_INTERNAL_WRITE, .compensate = bad_wipe },
  { .name = "Good.Chalk", .description = "For the corpus.", .handler = chalk, .effects = LATCH_INTERNAL_WRITE, .compensate = good_wipe },
  { .name = "Good.Look", .description = "For the corpus.", .handler = look, .determinism = LATCH_EXTERNAL });
