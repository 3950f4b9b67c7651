#include "latchwork.h"

/* Notice boards of a housing cooperative. A board shows its latest notice. The log entry of a call names the board
 * that it wrote. */

static char *joined(const char *kind, const char *name) {
  latch_text key = { 0 };
  latch_putf(&key, "%s/%s", kind, name);
  return key.bytes;
}

static void posted(const char *board, const char *key, latch_answer *answer) {
  latch_changed(answer, (latch_change){ .resource_type = "board", .resource_id = board, .operation = "update", .version = key });
  latch_put(&answer->result, "{\"board\":");
  latch_put_string(&answer->result, board);
  latch_put(&answer->result, ",\"notice\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
}

static bool post(latch_json args, latch_answer *answer) {
  char *board = latch_json_string(latch_json_member(args, "board"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!board || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "board or text is missing");
  char *key = latch_get_invocation().external_key;
  latch_text notice = { 0 };
  latch_put(&notice, "{\"text\":");
  latch_put_string(&notice, text);
  latch_put(&notice, ",\"notice\":");
  latch_put_string(&notice, key);
  latch_put(&notice, "}");
  if (!latch_kv_set(answer, joined("board", board), notice.bytes)) return false;
  if (!latch_kv_set(answer, joined("log", key), board)) {
    answer->applied_unknown = true; /* the board already shows the notice */
    return false;
  }
  posted(board, key, answer);
  return true;
}

/* The log entry is the last write of a call. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *board;
  (void)args;
  if (!latch_kv_get(answer, joined("log", key), &board)) return LATCH_UNKNOWN;
  if (!board) return LATCH_DID_NOT_HAPPEN;
  posted(board, key, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, joined("board", change.resource_id), &found)) return NULL;
  if (!found) return "the board is empty";
  char *notice = latch_json_string(latch_json_member(latch_json_of(found), "notice"));
  return notice && change.version && strcmp(notice, change.version) == 0 ? NULL : "the board shows another notice";
}

static bool read_board(latch_json args, latch_answer *answer) {
  char *board = latch_json_string(latch_json_member(args, "board")), *found;
  if (!board) return latch_fail(answer, LATCH_INVALID_INPUT, "board is missing");
  if (!latch_kv_get(answer, joined("board", board), &found)) return false;
  char *text = found ? latch_json_string(latch_json_member(latch_json_of(found), "text")) : NULL;
  latch_put(&answer->result, "{\"text\":");
  if (text) latch_put_string(&answer->result, text);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

#define BOARD "\"board\":{\"type\":\"string\",\"pattern\":\"^[a-z0-9]{1,20}$\"}"

LATCH_PLUGIN(
  { .name = "Board.Post",
    .description = "Shows a notice on a board in place of the earlier notice.",
    .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"board\",\"text\"],\"properties\":{" BOARD
             ",\"text\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000}}}",
    .output = "{\"type\":\"object\",\"required\":[\"board\",\"notice\"]}",
    .effects = LATCH_INTERNAL_WRITE, .determinism = LATCH_EXTERNAL,
    .handler = post, .reconcile = find, .verify = check },
  { .name = "Board.Read",
    .description = "Returns the notice that a board shows.",
    .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"board\"],\"properties\":{" BOARD "}}",
    .output = "{\"type\":\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":[\"string\",\"null\"]}}}",
    .effects = LATCH_READ_ONLY, .determinism = LATCH_EXTERNAL, .handler = read_board });
