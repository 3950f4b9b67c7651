/* Reads all pages of a listing, and counts its entries. A page that is refused because of its rate is read again. */
#include "latchwork.h"

enum { TRIES = 3, PAGES = 50 };

static bool walk(latch_json input, latch_answer *answer) {
  char *list = latch_json_string(latch_json_member(input, "list"));
  if (!list || !*list) return latch_fail(answer, LATCH_INVALID_INPUT, "the name of the list is empty");
  int64_t entries = 0, cursor = 0;
  int pages = 0;
  while (pages < PAGES) {
    int left = TRIES;
    latch_text args = { 0 };
    latch_put(&args, "{\"list\":");
    latch_put_string(&args, list);
    latch_putf(&args, ",\"cursor\":%lld}", (long long)cursor);
    char *page = latch_call(answer, "List.Page", args.bytes, NULL);
    if (!page) {
      if (answer->code == LATCH_RATE_LIMIT && left-- > 0) continue;
      return false;
    }
    latch_json read = latch_json_of(page);
    entries += (int64_t)latch_json_count(latch_json_member(read, "entries"));
    pages++;
    if (!latch_json_integer(latch_json_member(read, "next"), &cursor)) break;
  }
  latch_putf(&answer->result, "{\"entries\":%lld,\"pages\":%d}", (long long)entries, pages);
  return true;
}

LATCH_PLUGIN({
  .name = "List.Count",
  .description = "Counts the entries of all pages of a listing.",
  .input = "{\"type\":\"object\",\"properties\":{\"list\":{\"type\":\"string\"}},"
           "\"required\":[\"list\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"entries\":{\"type\":\"integer\"},\"pages\":{\"type\":\"integer\"}},"
            "\"required\":[\"entries\",\"pages\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = walk,
});
