/* Kelp.Settle: compares the landings of a day with the kelp quota of a coastal zone. */
#include "latchwork.h"

/* Writes the landings as one object: the boat is the key, the weight is the value. */
static bool put_landings(latch_text *args, latch_json landings, int64_t *total, latch_answer *answer) {
  size_t count = latch_json_count(landings);
  latch_put(args, "{");
  for (size_t i = 0; i < count; i++) {
    latch_json landing = latch_json_item(landings, i);
    char *boat = latch_json_string(latch_json_member(landing, "boat"));
    int64_t kg;
    if (!boat || !*boat) return latch_fail(answer, LATCH_INVALID_INPUT, "landing %zu has no boat", i + 1);
    if (!latch_json_integer(latch_json_member(landing, "kg"), &kg) || kg < 0)
      return latch_fail(answer, LATCH_INVALID_INPUT, "landing %zu has no weight", i + 1);
    if (i) latch_put(args, ",");
    latch_put_string(args, boat);
    latch_putf(args, ":%lld", (long long)kg);
    *total += kg;
  }
  latch_put(args, "}");
  return true;
}

static bool settle(latch_json input, latch_answer *answer) {
  char *zone = latch_json_string(latch_json_member(input, "zone"));
  if (!zone || !*zone) return latch_fail(answer, LATCH_INVALID_INPUT, "the zone is empty");

  int64_t total = 0;
  latch_text args = { 0 };
  latch_put(&args, "{\"zone\":");
  latch_put_string(&args, zone);
  latch_put(&args, ",\"landings\":");
  if (!put_landings(&args, latch_json_member(input, "landings"), &total, answer)) return false;
  latch_put(&args, "}");

  char *reply = latch_call(answer, "Quota.Check", args.bytes, NULL);
  if (!reply) return false;
  latch_json found = latch_json_of(reply);
  bool allowed;
  int64_t left;
  if (!latch_json_bool(latch_json_member(found, "allowed"), &allowed) ||
      !latch_json_integer(latch_json_member(found, "left_kg"), &left))
    return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "Quota.Check gave an answer of another form");
  latch_log(LATCH_INFO, "%lld kg landed in %s", (long long)total, zone);

  latch_put(&answer->result, "{\"zone\":");
  latch_put_string(&answer->result, zone);
  latch_putf(&answer->result, ",\"landed_kg\":%lld,\"left_kg\":%lld,\"verdict\":\"%s\"}", (long long)total,
             (long long)left, allowed ? "within" : "exceeded");
  return true;
}

LATCH_PLUGIN({
  .name = "Kelp.Settle",
  .description = "Compares the landings of a day with the kelp quota of a zone.",
  .input = "{\"type\":\"object\",\"required\":[\"zone\",\"landings\"],\"additionalProperties\":false,\"properties\":{"
           "\"zone\":{\"type\":\"string\",\"maxLength\":40},"
           "\"landings\":{\"type\":\"array\",\"maxItems\":200,\"items\":{\"type\":\"object\",\"required\":[\"boat\",\"kg\"],"
           "\"properties\":{\"boat\":{\"type\":\"string\",\"maxLength\":60},"
           "\"kg\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"zone\",\"landed_kg\",\"left_kg\",\"verdict\"]}",
  /* The quota is kept by the fishery office and changes with each landing. */
  .determinism = LATCH_EXTERNAL,
  .handler = settle,
});
