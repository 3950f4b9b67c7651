/* Beach.Close and Beach.Open: the list of closed beaches of a coast, one entry for each beach. */
#include "latchwork.h"

#include <ctype.h>

/* A beach has a short name of small letters and dashes, such as `east-cove`. */
static const char *beach_of(latch_json args) {
  char *beach = latch_json_string(latch_json_member(args, "beach"));
  if (!beach || !*beach || strlen(beach) > 60) return NULL;
  for (const char *c = beach; *c; c++)
    if (!islower((unsigned char)*c) && *c != '-') return NULL;
  return beach;
}

static const char *entry_of(const char *beach) {
  latch_text name = { 0 };
  latch_putf(&name, "closed/%s", beach);
  return name.bytes;
}

static void answered(const char *beach, bool closed, latch_answer *answer) {
  latch_put(&answer->result, "{\"beach\":");
  latch_put_string(&answer->result, beach);
  latch_putf(&answer->result, ",\"closed\":%s}", closed ? "true" : "false");
}

static bool close_beach(latch_json args, latch_answer *answer) {
  const char *beach = beach_of(args);
  char *reason = latch_json_string(latch_json_member(args, "reason"));
  if (!beach) return latch_fail(answer, LATCH_INVALID_INPUT, "this does not name a beach");
  if (!reason || !*reason || strlen(reason) > 1000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s: a reason has 1 to 1000 bytes", beach);
  if (!latch_kv_set(answer, entry_of(beach), reason)) return false;
  latch_changed(answer, (latch_change){
    .resource_type = "beach", .resource_id = beach, .operation = "close", .version = reason });
  answered(beach, true, answer);
  return true;
}

static bool open_beach(latch_json args, latch_answer *answer) {
  const char *beach = beach_of(args);
  bool was_closed;
  if (!beach) return latch_fail(answer, LATCH_INVALID_INPUT, "this does not name a beach");
  if (!latch_kv_delete(answer, entry_of(beach), &was_closed)) return false;
  if (!was_closed) latch_log(LATCH_INFO, "%s was open already", beach);
  latch_changed(answer, (latch_change){ .resource_type = "beach", .resource_id = beach, .operation = "delete" });
  answered(beach, false, answer);
  return true;
}

/* Called when a job is resumed: compares the entry of the beach with the recorded change. */
static const char *check(latch_change change, latch_answer *answer) {
  char *reason;
  if (!latch_kv_get(answer, entry_of(change.resource_id), &reason)) return NULL;
  if (!reason) return "the beach is not in the list";
  if (!change.version || strcmp(reason, change.version) != 0) return "the beach is closed for another reason";
  return NULL;
}

#define BEACH "\"beach\":{\"type\":\"string\"}"

LATCH_PLUGIN(
  {
    .name = "Beach.Close",
    .description = "Puts a beach on the list of closed beaches.",
    .input = "{\"type\":\"object\",\"properties\":{" BEACH ",\"reason\":{\"type\":\"string\"}},"
             "\"required\":[\"beach\",\"reason\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"beach\",\"closed\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = close_beach,
    .verify = check,
  },
  {
    .name = "Beach.Open",
    .description = "Takes a beach from the list of closed beaches.",
    .input = "{\"type\":\"object\",\"properties\":{" BEACH "},\"required\":[\"beach\"],"
             "\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"beach\",\"closed\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = open_beach,
    .verify = check,
  });
