/* Keeps the weighing tickets of a gravel pit. A ticket is stored under the key of its call. A repetition of the call
 * writes the same ticket again. */
#include "latchwork.h"

enum { NAME_ROOM = 40, WEEK = 7 * 24 * 3600 };

static void name_of(const char *key, char name[NAME_ROOM]) { snprintf(name, NAME_ROOM, "w/%s", key); }

/* The ticket is one line: plate, net weight, material. */
static char *ticket_of(latch_json args, int64_t *net, latch_answer *answer) {
  char *plate = latch_json_string(latch_json_member(args, "plate"));
  char *material = latch_json_string(latch_json_member(args, "material"));
  int64_t full, empty;
  if (!plate || !material || !latch_json_integer(latch_json_member(args, "full_kg"), &full) ||
      !latch_json_integer(latch_json_member(args, "empty_kg"), &empty)) {
    latch_fail(answer, LATCH_INVALID_INPUT, "the weighing is incomplete");
    return NULL;
  }
  if (full <= empty) {
    latch_fail(answer, LATCH_INVALID_INPUT, "the lorry %s weighs no more than its empty weight", plate);
    return NULL;
  }
  *net = full - empty;
  latch_text line = { 0 };
  latch_putf(&line, "%s;%lld;%s", plate, (long long)*net, material);
  return line.bytes;
}

static bool record(latch_json args, latch_answer *answer) {
  int64_t net = 0;
  char *ticket = ticket_of(args, &net, answer);
  if (!ticket) return false;
  char name[NAME_ROOM];
  char *key = latch_get_invocation().external_key;
  name_of(key, name);
  if (!latch_kv_set(answer, name, ticket)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "ticket", .resource_id = key, .operation = "create", .version = ticket });
  latch_put(&answer->result, "{\"ticket\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"net_kg\":%lld}", (long long)net);
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char name[NAME_ROOM], *found;
  name_of(change.resource_id, name);
  if (!latch_kv_get(answer, name, &found)) return NULL;
  if (!found) return "the ticket is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the ticket has other contents";
}

static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  int64_t net;
  char *ticket = ticket_of(args, &net, answer);
  if (!ticket) return false;
  char name[NAME_ROOM], *found;
  bool was_there;
  name_of(key, name);
  if (!latch_kv_get(answer, name, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!found || strcmp(found, ticket) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the ticket was changed or removed");
  if (!latch_kv_delete(answer, name, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the ticket was removed");
  latch_changed(answer, (latch_change){ .resource_type = "ticket", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Weighing.Record",
  .description = "Records the weighing of a lorry.",
  .input = "{\"type\":\"object\",\"required\":[\"plate\",\"material\",\"full_kg\",\"empty_kg\"],\"additionalProperties\":false,"
           "\"properties\":{\"plate\":{\"type\":\"string\",\"pattern\":\"^[A-Z0-9 -]{2,12}$\"},"
           "\"material\":{\"enum\":[\"gravel\",\"sand\",\"chippings\",\"topsoil\"]},"
           "\"full_kg\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":80000},"
           "\"empty_kg\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":80000}}}",
  .output = "{\"type\":\"object\",\"required\":[\"ticket\",\"net_kg\"],\"properties\":{\"ticket\":{\"type\":\"string\"},"
            "\"net_kg\":{\"type\":\"integer\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = WEEK,
  .handler = record,
  .verify = check,
  .compensate = take_back,
});
