/* The lending desk of a slide archive: one record for each loan. A loan that is taken back stays as a cancelled record,
 * because the archive has to account for every slide that left its drawer. */
#include "latchwork.h"

static char *record_name(void) {
  latch_text name = { 0 };
  latch_putf(&name, "loan/%s", latch_get_invocation().external_key);
  return name.bytes;
}

static char *record_of(const char *slide, const char *borrower, const char *state) {
  latch_text record = { 0 };
  latch_put(&record, "{\"slide\":");
  latch_put_string(&record, slide);
  latch_put(&record, ",\"borrower\":");
  latch_put_string(&record, borrower);
  latch_put(&record, ",\"state\":");
  latch_put_string(&record, state);
  latch_put(&record, "}");
  return record.bytes;
}

/* Writes the record of the call in this state and reports the change. */
static bool put(latch_json args, const char *state, const char *operation, latch_answer *answer, char **name) {
  char *slide = latch_json_string(latch_json_member(args, "slide"));
  char *borrower = latch_json_string(latch_json_member(args, "borrower"));
  if (!slide || !*slide) return latch_fail(answer, LATCH_INVALID_INPUT, "the slide has no number");
  if (!borrower || !*borrower) return latch_fail(answer, LATCH_INVALID_INPUT, "the borrower has no name");
  if (strlen(slide) > 100 || strlen(borrower) > 400) return latch_fail(answer, LATCH_INVALID_INPUT, "slide or borrower is too long");
  char *record = record_of(slide, borrower, state);
  *name = record_name();
  if (!latch_kv_set(answer, *name, record)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "loan", .resource_id = *name, .operation = operation, .version = record });
  return true;
}

static bool lend(latch_json args, latch_answer *answer) {
  char *name;
  if (!put(args, "lent", "create", answer, &name)) return false;
  latch_put(&answer->result, "{\"loan\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, "}");
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "there is no such loan";
  return change.version && strcmp(found, change.version) == 0 ? NULL : found;
}

/* A loan that is undone is marked, not removed. No other operator changes the record. */
static bool cancel_loan(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *name;
  char *loan = latch_json_string(latch_json_member(result, "loan"));
  if (!loan) return latch_fail(answer, LATCH_POLICY_DENIED, "the loan of %s has no record", key);
  if (!put(args, "cancelled", "cancel", answer, &name)) return false;
  latch_log(LATCH_INFO, "%s is cancelled", loan);
  latch_put(&answer->result, "{\"cancelled\":");
  latch_put_string(&answer->result, loan);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Slide.Lend",
  .description = "Records that a slide is lent.",
  .input = "{\"type\":\"object\",\"required\":[\"slide\",\"borrower\"],\"properties\":{\"slide\":{\"type\":\"string\"},"
           "\"borrower\":{\"type\":\"string\"}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"loan\"],\"properties\":{\"loan\":{\"type\":\"string\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = lend,
  .verify = check,
  .compensate = cancel_loan,
});
