/* Push.Write: the text of a push notification, which has room for 48 bytes. */
#include "latchwork.h"

enum { ROOM = 48 };

/* Cuts a text that is too long and adds three dots. */
static char *fit(const char *text) {
  latch_text cut = { 0 };
  if (strlen(text) <= ROOM) {
    latch_put(&cut, text);
    return cut.bytes;
  }
  size_t len = ROOM - 3;
  while (len > 0 && text[len - 1] == ' ') len--;
  latch_put_bytes(&cut, text, len);
  latch_put(&cut, "...");
  return cut.bytes;
}

static bool write_push(latch_json input, latch_answer *answer) {
  char *shop = latch_json_string(latch_json_member(input, "shop"));
  char *message = latch_json_string(latch_json_member(input, "message"));
  if (!shop || !*shop) return latch_fail(answer, LATCH_INVALID_INPUT, "shop is missing");
  if (!message || !*message) return latch_fail(answer, LATCH_INVALID_INPUT, "message is missing");

  latch_text whole = { 0 };
  latch_putf(&whole, "%s: %s", shop, message);
  char *text = fit(whole.bytes);
  latch_put(&answer->result, "{\"text\":");
  latch_put_string(&answer->result, text);
  latch_putf(&answer->result, ",\"cut\":%s}", whole.len > ROOM ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "Push.Write",
  .description = "Writes the text of a push notification.",
  .input = "{\"type\":\"object\",\"properties\":{\"shop\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"}},"
           "\"required\":[\"shop\",\"message\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"text\",\"cut\"]}",
  .determinism = LATCH_PURE,
  .handler = write_push,
});
