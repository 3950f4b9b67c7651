#include "latchwork.h"

/* The hymn boards of a parish. Each board shows one text; a new text replaces the earlier one. */

static char *entry_of(const char *board) {
  latch_text entry = { 0 };
  latch_putf(&entry, "board/%s", board);
  return entry.bytes;
}

static bool show(latch_json args, latch_answer *answer) {
  char *board = latch_json_string(latch_json_member(args, "board"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!board || !*board || strlen(board) > 60) return latch_fail(answer, LATCH_INVALID_INPUT, "the board has no name");
  if (!text || !*text) return latch_fail(answer, LATCH_INVALID_INPUT, "a board cannot show an empty text");
  if (strlen(text) > 2000) return latch_fail(answer, LATCH_INVALID_INPUT, "the text does not fit on a board");

  char *earlier;
  if (!latch_kv_get(answer, entry_of(board), &earlier)) return false;
  if (!latch_kv_set(answer, entry_of(board), text)) return false;

  latch_changed(answer, (latch_change){ .resource_type = "board", .resource_id = board, .operation = "update", .version = text });
  latch_put(&answer->result, "{\"board\":");
  latch_put_string(&answer->result, board);
  latch_put(&answer->result, ",\"earlier\":");
  latch_put_string(&answer->result, earlier ? earlier : "");
  latch_put(&answer->result, "}");
  return true;
}

static bool put_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  char *board = latch_json_string(latch_json_member(args, "board"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  char *earlier = latch_json_string(latch_json_member(result, "earlier"));
  if (!board || !text || !earlier) return latch_fail(answer, LATCH_POLICY_DENIED, "the earlier text is not known");
  char *now;
  if (!latch_kv_get(answer, entry_of(board), &now)) return false;
  if (!now || strcmp(now, text) != 0) return latch_fail(answer, LATCH_POLICY_DENIED, "the board was changed since");
  if (!latch_kv_set(answer, entry_of(board), earlier)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "board", .resource_id = board, .operation = "update", .version = earlier });
  latch_put(&answer->result, "{}");
  return true;
}

LATCH_PLUGIN({
  .name = "Board.Show",
  .description = "Shows a text on a hymn board.",
  .input = "{\"type\":\"object\",\"properties\":{\"board\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"}},"
           "\"required\":[\"board\",\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"board\",\"earlier\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = show,
  .compensate = put_back,
});
