/* Quarry.Post: posts the blasting notice of a sector of the quarry. A sector has one notice: the latest. */
#include "latchwork.h"

static bool is_sector(const char *sector) {
  if (!sector || !*sector || strlen(sector) > 20) return false;
  for (const char *c = sector; *c; c++)
    if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", *c)) return false;
  return true;
}

static bool post(latch_json args, latch_answer *answer) {
  char *sector = latch_json_string(latch_json_member(args, "sector"));
  char *at = latch_json_string(latch_json_member(args, "at"));
  int64_t charge;
  if (!is_sector(sector)) return latch_fail(answer, LATCH_INVALID_INPUT, "the sector has a name of small letters");
  if (!at || !*at) return latch_fail(answer, LATCH_INVALID_INPUT, "the time of the blast is missing");
  if (!latch_json_integer(latch_json_member(args, "charge"), &charge))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the charge is missing");

  latch_text key = { 0 }, notice = { 0 };
  latch_putf(&key, "sector/%s", sector);
  latch_putf(&notice, "%s: %lld kg, keep %d m away", at, (long long)charge, charge > 100 ? 800 : 400);
  if (!latch_kv_set(answer, key.bytes, notice.bytes)) return false;

  latch_put(&answer->result, "{\"notice\":");
  latch_put_string(&answer->result, notice.bytes);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "notice", .resource_id = key.bytes, .operation = "update",
                                        .version = notice.bytes });
  return true;
}

/* Called when a job is resumed. */
static const char *still_posted(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL; /* not checked: the failure is the answer */
  if (!found || !*found) return "the sector has no notice";
  return NULL;
}

LATCH_PLUGIN({
  .name = "Quarry.Post",
  .description = "Posts the blasting notice of a sector.",
  .input = "{\"type\":\"object\",\"properties\":{\"sector\":{\"type\":\"string\"},"
           "\"at\":{\"type\":\"string\",\"maxLength\":100},"
           "\"charge\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5000}},"
           "\"required\":[\"sector\",\"at\",\"charge\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"notice\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = post,
  .verify = still_posted,
});
