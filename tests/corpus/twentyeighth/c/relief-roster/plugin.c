/* Pages the relief of each station. If the pager network refuses a page, the step sends a text message instead. */
#include "latchwork.h"

enum { MOST = 60, ROUNDS = 2 };

/* One page per station and shift for all jobs: a JSON array separates the parts. */
static char *page_key(const char *way, const char *shift, const char *station) {
  latch_text key = { 0 };
  latch_put(&key, "[");
  latch_put_string(&key, way);
  latch_put(&key, ",");
  latch_put_string(&key, shift);
  latch_put(&key, ",");
  latch_put_string(&key, station);
  latch_put(&key, "]");
  return key.bytes;
}

static char *message_of(const char *shift, const char *station, const char *member, latch_json relief) {
  latch_text args = { 0 };
  latch_putf(&args, "{\"%s\":", member);
  latch_put_string(&args, latch_json_string(latch_json_member(relief, member)));
  latch_put(&args, ",\"station\":");
  latch_put_string(&args, station);
  latch_put(&args, ",\"shift\":");
  latch_put_string(&args, shift);
  latch_put(&args, "}");
  return args.bytes;
}

/* Returns how the relief was reached, or NULL. A text follows only a page that was certainly not sent. */
static const char *reach(const char *shift, const char *station, latch_json relief, latch_answer *answer) {
  char *page = message_of(shift, station, "pager", relief);
  for (int round = 0; round < ROUNDS; round++) {
    if (latch_call(answer, "Pager.Send", page, page_key("page", shift, station))) return "page";
    if (answer->applied_unknown) return NULL; /* The page was given up and may have been sent. */
    if (answer->code == LATCH_POLICY_DENIED) return NULL; /* The desk does not want this relief to be called. */
    if (answer->code != LATCH_RATE_LIMIT && answer->code != LATCH_DEPENDENCY_UNAVAILABLE) break;
  }
  latch_log(LATCH_WARN, "%s: no page (%s), sending a text message", station, answer->message);
  char *text = message_of(shift, station, "phone", relief);
  return latch_call(answer, "Text.Send", text, page_key("text", shift, station)) ? "text" : NULL;
}

static bool call_out(latch_json input, latch_answer *answer) {
  char *shift = latch_json_string(latch_json_member(input, "shift"));
  latch_json list = latch_json_member(input, "reliefs");
  size_t count = latch_json_count(list);
  if (!shift || !*shift) return latch_fail(answer, LATCH_INVALID_INPUT, "the shift has no date");
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu reliefs: a shift has at most %d", count, MOST);
  char *stations[MOST];
  for (size_t i = 0; i < count; i++) {
    latch_json relief = latch_json_item(list, i);
    stations[i] = latch_json_string(latch_json_member(relief, "station"));
    if (!stations[i] || !latch_json_string(latch_json_member(relief, "pager")) || !latch_json_string(latch_json_member(relief, "phone")))
      return latch_fail(answer, LATCH_INVALID_INPUT, "relief %zu is incomplete", i + 1);
    for (size_t k = 0; k < i; k++)
      if (strcmp(stations[k], stations[i]) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "two reliefs for %s", stations[i]);
  }

  latch_text unreached = { 0 };
  latch_put(&unreached, "");
  latch_put(&answer->result, "{\"reached\":[");
  bool first = true;
  for (size_t i = 0; i < count; i++) {
    const char *way = reach(shift, stations[i], latch_json_item(list, i), answer);
    if (!way) {
      if (unreached.len) latch_put(&unreached, ",");
      latch_put_string(&unreached, stations[i]);
      continue;
    }
    latch_put(&answer->result, first ? "{\"station\":" : ",{\"station\":");
    latch_put_string(&answer->result, stations[i]);
    latch_putf(&answer->result, ",\"by\":\"%s\"}", way);
    first = false;
  }
  latch_putf(&answer->result, "],\"unreached\":[%s]}", unreached.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Relief.CallOut",
  .description = "Pages the relief of each station of a shift.",
  .input = "{\"type\":\"object\",\"required\":[\"shift\",\"reliefs\"],\"properties\":{\"shift\":{\"type\":\"string\"},"
           "\"reliefs\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"reached\",\"unreached\"]}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = call_out,
});
