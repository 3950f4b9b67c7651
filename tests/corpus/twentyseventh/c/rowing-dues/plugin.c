/* Books the monthly dues of a rowing club. A member whose booking fails is listed, and the others are booked. */
#include "latchwork.h"

enum { TRIES = 2 };

typedef struct {
  char *id, *key;
  int64_t cents;
} member;

/* The key of one booking, as a JSON array: the fields may contain anything. */
static char *booking_key(const char *month, const char *id) {
  latch_text key = { 0 };
  latch_put(&key, "[\"rowing dues\",");
  latch_put_string(&key, month);
  latch_put(&key, ",");
  latch_put_string(&key, id);
  latch_put(&key, "]");
  return key.bytes;
}

/* Books the dues of one member, with a second try if the first one may have met a passing trouble. */
static bool book(const char *month, const member *one, latch_answer *answer) {
  latch_text args = { 0 };
  latch_put(&args, "{\"account\":");
  latch_put_string(&args, one->id);
  latch_putf(&args, ",\"cents\":%lld,\"text\":\"dues %s\"}", (long long)one->cents, month);
  for (int tries = 0; tries < TRIES; tries++) {
    if (latch_call(answer, "Ledger.Book", args.bytes, one->key)) return true;
    if (answer->code >= LATCH_POLICY_DENIED) break;
  }
  return false;
}

static bool collect(latch_json input, latch_answer *answer) {
  char *month = latch_json_string(latch_json_member(input, "month"));
  latch_json list = latch_json_member(input, "members");
  size_t count = latch_json_count(list);
  if (!month) return latch_fail(answer, LATCH_INVALID_INPUT, "the month is missing");
  member *members = latch_room(count * sizeof *members);
  for (size_t i = 0; i < count; i++) {
    latch_json one = latch_json_item(list, i);
    members[i].id = latch_json_string(latch_json_member(one, "id"));
    if (!members[i].id || !latch_json_integer(latch_json_member(one, "cents"), &members[i].cents))
      return latch_fail(answer, LATCH_INVALID_INPUT, "member %zu has no id or no dues", i + 1);
    if (members[i].cents < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the dues of %s are negative", members[i].id);
    members[i].key = booking_key(month, members[i].id);
    for (size_t k = 0; k < i; k++)
      if (strcmp(members[k].key, members[i].key) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "member %s is listed twice", members[i].id);
  }

  int64_t booked = 0, exempt = 0;
  latch_text open = { 0 };
  latch_put(&open, "");
  for (size_t i = 0; i < count; i++) {
    if (members[i].cents == 0) {
      exempt++;
      continue;
    }
    if (book(month, &members[i], answer)) {
      booked += members[i].cents;
      continue;
    }
    latch_log(LATCH_WARN, "no booking for %s: %s", members[i].id, answer->message);
    latch_put(&open, open.len ? "," : "");
    latch_put_string(&open, members[i].id);
  }
  latch_putf(&answer->result, "{\"month\":\"%s\",\"booked_cents\":%lld,\"exempt\":%lld,\"open\":[%s]}", month, (long long)booked,
             (long long)exempt, open.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Rowing.Collect",
  .description = "Books the dues of a month and lists the members whose booking failed.",
  .input = "{\"type\":\"object\",\"properties\":{\"month\":{\"type\":\"string\",\"pattern\":\"^[0-9]{4}-(0[1-9]|1[0-2])$\"},"
           "\"members\":{\"type\":\"array\",\"maxItems\":400,\"items\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},"
           "\"cents\":{\"type\":\"integer\",\"maximum\":1000000}},\"required\":[\"id\",\"cents\"]}}},\"required\":[\"month\",\"members\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"month\",\"booked_cents\",\"exempt\",\"open\"]}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = collect,
});
