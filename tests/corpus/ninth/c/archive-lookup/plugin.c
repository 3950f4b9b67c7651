#include "latchwork.h"

#include <unistd.h>

/* Looks up the shelfmark of a document in the archive. The archive's search is slow and throttles its users, so the
   step waits as long as the archive asks for. */

static bool locate(latch_json input, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(input, "title"));
  if (!title || !*title) return latch_fail(answer, LATCH_INVALID_INPUT, "the title is empty");

  latch_text args = { 0 };
  latch_put(&args, "{\"query\":");
  latch_put_string(&args, title);
  latch_put(&args, ",\"limit\":5}");

  char *found;
  while (!(found = latch_call(answer, "Archive.Search", args.bytes, NULL))) {
    if (answer->code != LATCH_RATE_LIMIT) return false;
    uint32_t pause = answer->retry_after_ms ? answer->retry_after_ms : 2000;
    latch_log(LATCH_INFO, "the archive is busy, waiting %u ms", (unsigned)pause);
    sleep(pause / 1000 + 1);
  }

  latch_json hits = latch_json_member(latch_json_of(found), "hits");
  if (latch_json_count(hits) == 0)
    return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the archive has no document \"%s\"", title);
  char *shelfmark = latch_json_string(latch_json_member(latch_json_item(hits, 0), "shelfmark"));
  if (!shelfmark) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the first hit has no shelfmark");

  latch_put(&answer->result, "{\"shelfmark\":");
  latch_put_string(&answer->result, shelfmark);
  latch_putf(&answer->result, ",\"others\":%zu}", latch_json_count(hits) - 1);
  return true;
}

LATCH_PLUGIN({
  .name = "Document.Locate",
  .description = "Finds the shelfmark of a document in the archive.",
  .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200}},"
           "\"required\":[\"title\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"shelfmark\":{\"type\":\"string\"},\"others\":{\"type\":\"integer\"}},"
            "\"required\":[\"shelfmark\",\"others\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = locate,
});
