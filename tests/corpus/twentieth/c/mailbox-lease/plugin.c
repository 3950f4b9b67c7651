/* Mailbox.Lease and Mailbox.End: the leases of the boxes in the hall of a post office. */
#include "latchwork.h"

/* The text of a lease, which is also the version of its entry. */
static char *lease_text(int64_t box, const char *tenant) {
  latch_text text = { 0 };
  latch_putf(&text, "{\"box\":%lld,\"tenant\":", (long long)box);
  latch_put_string(&text, tenant);
  latch_put(&text, "}");
  return text.bytes;
}

static bool lease(latch_json args, latch_answer *answer) {
  char *tenant = latch_json_string(latch_json_member(args, "tenant"));
  int64_t box;
  if (!tenant || !*tenant) return latch_fail(answer, LATCH_INVALID_INPUT, "the lease has no tenant");
  if (!latch_json_integer(latch_json_member(args, "box"), &box) || box < 1 || box > 480)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the hall has the boxes 1 to 480");

  char *key = latch_get_invocation().external_key, *text = lease_text(box, tenant);
  if (!latch_kv_set(answer, key, text)) return false;
  latch_put(&answer->result, "{\"lease\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){
    .resource_type = "mailbox-lease", .resource_id = key, .operation = "create", .version = text });
  return true;
}

/* Ends a lease: removes its entry. */
static bool end(latch_json args, latch_answer *answer) {
  char *id = latch_json_string(latch_json_member(args, "lease"));
  bool was_there;
  if (!id || !*id) return latch_fail(answer, LATCH_INVALID_INPUT, "the lease is missing");
  if (!latch_kv_delete(answer, id, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no lease %s", id);
  latch_put(&answer->result, "{\"ended\":");
  latch_put_string(&answer->result, id);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){
    .resource_type = "mailbox-lease", .resource_id = id, .operation = "delete" });
  return true;
}

/* Compares the entry of a lease with the recorded change. */
static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the lease is not in the register";
  if (change.version && strcmp(found, change.version) != 0) return "the lease has another box or tenant";
  return NULL;
}

LATCH_PLUGIN({
  .name = "Mailbox.Lease",
  .description = "Leases a mailbox to a tenant.",
  .input = "{\"type\":\"object\",\"properties\":{\"box\":{\"type\":\"integer\"},"
           "\"tenant\":{\"type\":\"string\",\"maxLength\":200}},"
           "\"required\":[\"box\",\"tenant\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"lease\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = lease,
  .verify = check,
}, {
  .name = "Mailbox.End",
  .description = "Ends the lease of a mailbox.",
  .input = "{\"type\":\"object\",\"properties\":{\"lease\":{\"type\":\"string\",\"maxLength\":128}},"
           "\"required\":[\"lease\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"ended\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = end,
  .verify = check,
});
