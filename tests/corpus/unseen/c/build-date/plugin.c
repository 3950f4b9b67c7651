#include "latchwork.h"

#pragma clang diagnostic ignored "-Wdate-time"

static bool header(latch_json input, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(input, "title"));
  if (!title || !*title) return latch_fail(answer, LATCH_INVALID_INPUT, "the title is empty");
  latch_text line = { 0 };
  latch_putf(&line, "%s (made with report %s, %s)", title, __DATE__, __TIME__);
  latch_put(&answer->result, "{\"header\":");
  latch_put_string(&answer->result, line.bytes);
  latch_putf(&answer->result, ",\"width\":%zu}", line.len);
  return true;
}

LATCH_PLUGIN({
  .name = "Report.Header",
  .description = "Makes the header of a report.",
  .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"}},"
           "\"required\":[\"title\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"header\",\"width\"]}",
  .determinism = LATCH_PURE,
  .handler = header,
});
