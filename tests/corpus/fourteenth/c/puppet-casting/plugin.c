/* Puppet.Cast: draws lots for the roles of a puppet play and asks a model for the text of the playbill. */
#include "latchwork.h"

enum { MOST = 40, TRIES = 2 };

static char *people[MOST];

/* Mixes the people. Each order has the same chance. */
static void mix(size_t count) {
  for (size_t left = count; left > 1; left--) {
    size_t pick = latch_below((uint32_t)left);
    char *kept = people[pick];
    people[pick] = people[left - 1];
    people[left - 1] = kept;
  }
}

/* The host has already made its retries, so two rounds are enough. */
static char *playbill(const char *args, latch_answer *answer) {
  char *reply = NULL;
  for (int round = 0; round < TRIES && !reply; round++) reply = latch_call(answer, "Playbill.Write", args, NULL);
  return reply;
}

static bool cast(latch_json input, latch_answer *answer) {
  char *play = latch_json_string(latch_json_member(input, "play"));
  latch_json roles = latch_json_member(input, "roles"), names = latch_json_member(input, "people");
  size_t role_count = latch_json_count(roles), count = latch_json_count(names);
  if (!play || !*play) return latch_fail(answer, LATCH_INVALID_INPUT, "the play has no title");
  if (role_count < 1 || count < 1 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "roles or people are missing");
  for (size_t i = 0; i < count; i++) {
    people[i] = latch_json_string(latch_json_item(names, i));
    if (!people[i] || !*people[i]) return latch_fail(answer, LATCH_INVALID_INPUT, "person %zu has no name", i + 1);
  }
  mix(count);

  /* With more roles than people, the first people hold two puppets. */
  latch_text list = { 0 };
  latch_put(&list, "[");
  for (size_t i = 0; i < role_count; i++) {
    char *role = latch_json_string(latch_json_item(roles, i));
    if (!role || !*role) return latch_fail(answer, LATCH_INVALID_INPUT, "role %zu has no name", i + 1);
    latch_put(&list, i ? ",{\"role\":" : "{\"role\":");
    latch_put_string(&list, role);
    latch_put(&list, ",\"person\":");
    latch_put_string(&list, people[i % count]);
    latch_put(&list, "}");
  }
  latch_put(&list, "]");

  latch_text args = { 0 };
  latch_put(&args, "{\"play\":");
  latch_put_string(&args, play);
  latch_putf(&args, ",\"cast\":%s}", list.bytes);
  char *reply = playbill(args.bytes, answer);
  if (!reply) return false;
  char *text = latch_json_string(latch_json_member(latch_json_of(reply), "text"));
  if (!text) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "Playbill.Write gave no text");

  latch_putf(&answer->result, "{\"cast\":%s,\"draw\":\"%s\",\"playbill\":", list.bytes, latch_uuid());
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Puppet.Cast",
  .description = "Draws lots for the roles of a puppet play.",
  .input = "{\"type\":\"object\",\"required\":[\"play\",\"roles\",\"people\"],\"additionalProperties\":false,\"properties\":{"
           "\"play\":{\"type\":\"string\",\"maxLength\":100},"
           "\"roles\":{\"type\":\"array\",\"maxItems\":40,\"items\":{\"type\":\"string\",\"maxLength\":60}},"
           "\"people\":{\"type\":\"array\",\"maxItems\":40,\"items\":{\"type\":\"string\",\"maxLength\":60}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"cast\",\"draw\",\"playbill\"]}",
  /* The lots are random, and the called tool asks a model. */
  .determinism = LATCH_STABLE,
  .handler = cast,
});
