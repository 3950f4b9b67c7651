/* Hammock.Rent: notes the rental of hammocks at a campsite. A cancelled job takes the rental back. */
#include "latchwork.h"

/* Returns the name of the entry of this call. */
static const char *entry(void) {
  latch_text name = { 0 };
  latch_putf(&name, "rental/%s", latch_get_invocation().external_key);
  return name.bytes;
}

/* The text of a rental: guest, number of hammocks, nights and price in cents. */
static char *rental(latch_json args, latch_answer *answer) {
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  int64_t hammocks, nights;
  if (!guest || !*guest || strlen(guest) > 200)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a guest has a name of 1 to 200 bytes"), NULL;
  if (!latch_json_integer(latch_json_member(args, "hammocks"), &hammocks) || hammocks < 1 || hammocks > 8)
    return latch_fail(answer, LATCH_INVALID_INPUT, "1 to 8 hammocks can be rented"), NULL;
  if (!latch_json_integer(latch_json_member(args, "nights"), &nights) || nights < 1 || nights > 30)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a rental has 1 to 30 nights"), NULL;
  /* From the seventh night a hammock costs half. */
  int64_t cents = hammocks * (nights <= 6 ? nights * 900 : 5400 + (nights - 6) * 450);
  latch_text text = { 0 };
  latch_put(&text, "{\"guest\":");
  latch_put_string(&text, guest);
  latch_putf(&text, ",\"hammocks\":%lld,\"nights\":%lld,\"cents\":%lld}", (long long)hammocks, (long long)nights,
             (long long)cents);
  return text.bytes;
}

static void rented(const char *text, latch_answer *answer) {
  latch_put(&answer->result, text);
  latch_changed(answer, (latch_change){
    .resource_type = "rental", .resource_id = entry(), .operation = "create", .version = text });
}

static bool rent(latch_json args, latch_answer *answer) {
  char *text = rental(args, answer);
  if (!text) return false;
  if (!latch_kv_set(answer, entry(), text)) return false;
  rented(text, answer);
  return true;
}

/* Called after a crash: finds out whether the rental was noted. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args, (void)key;
  char *text;
  if (!latch_kv_get(answer, entry(), &text)) return LATCH_UNKNOWN;
  if (!text) return LATCH_DID_NOT_HAPPEN;
  rented(text, answer);
  return LATCH_HAPPENED;
}

/* Called when the job is undone: removes the rental, unless it was changed. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result, (void)key;
  char *wanted = rental(args, answer), *found;
  if (!wanted) return false;
  if (!latch_kv_get(answer, entry(), &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!found || strcmp(found, wanted) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the rental was changed or removed");
  bool was_there;
  if (!latch_kv_delete(answer, entry(), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the rental was removed a moment ago");
  latch_changed(answer, (latch_change){
    .resource_type = "rental", .resource_id = entry(), .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Hammock.Rent",
  .description = "Notes the rental of hammocks at a campsite.",
  .input = "{\"type\":\"object\",\"properties\":{\"guest\":{\"type\":\"string\"},"
           "\"hammocks\":{\"type\":\"integer\"},\"nights\":{\"type\":\"integer\"}},"
           "\"required\":[\"guest\",\"hammocks\",\"nights\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"guest\",\"hammocks\",\"nights\",\"cents\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = rent,
  .reconcile = find,
  .compensate = take_back,
});
