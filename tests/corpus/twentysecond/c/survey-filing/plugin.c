#include "latchwork.h"

/* Files land surveys. The head entry of a survey has its parcel and surveyor. The report has an entry of its own,
 * so that lists of surveys stay small. */

static char *entry(const char *kind, const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", kind, key);
  return name.bytes;
}

static char *head_of(const char *parcel, const char *surveyor, size_t bytes) {
  latch_text head = { 0 };
  latch_put(&head, "{\"parcel\":");
  latch_put_string(&head, parcel);
  latch_put(&head, ",\"surveyor\":");
  latch_put_string(&head, surveyor);
  latch_putf(&head, ",\"report_bytes\":%zu}", bytes);
  return head.bytes;
}

static bool file(latch_json args, latch_answer *answer) {
  char *parcel = latch_json_string(latch_json_member(args, "parcel"));
  char *surveyor = latch_json_string(latch_json_member(args, "surveyor"));
  char *report = latch_json_string(latch_json_member(args, "report"));
  if (!parcel || !surveyor || !report) return latch_fail(answer, LATCH_INVALID_INPUT, "a text is missing or has a zero character");
  char *key = latch_get_invocation().external_key;
  char *head = head_of(parcel, surveyor, strlen(report));
  if (!latch_kv_set(answer, entry("survey", key), head)) return false;
  if (!latch_kv_set(answer, entry("report", key), report)) return false;

  latch_changed(answer, (latch_change){ .resource_type = "survey", .resource_id = key, .operation = "create", .version = head });
  latch_put(&answer->result, "{\"survey\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"report_bytes\":%zu}", strlen(report));
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *head, *report;
  if (!latch_kv_get(answer, entry("survey", change.resource_id), &head)) return NULL;
  if (!latch_kv_get(answer, entry("report", change.resource_id), &report)) return NULL;
  if (!head || !report) return "the survey is not complete";
  return change.version && strcmp(head, change.version) != 0 ? "the survey has another head" : NULL;
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *wanted = latch_json_string(latch_json_member(args, "report"));
  char *report, *head;
  if (!latch_kv_get(answer, entry("survey", key), &head) || !latch_kv_get(answer, entry("report", key), &report)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!head || !report || !wanted || strcmp(report, wanted) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the survey was changed or removed");
  bool was_there;
  if (!latch_kv_delete(answer, entry("survey", key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the survey was removed");
  if (!latch_kv_delete(answer, entry("report", key), &was_there)) {
    answer->applied_unknown = true;
    return false;
  }
  if (!was_there) {
    latch_fail(answer, LATCH_POLICY_DENIED, "the report was removed");
    answer->applied_unknown = true;
    return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "survey", .resource_id = key, .operation = "delete" });
  latch_put(&answer->result, "{\"withdrawn\":true}");
  return true;
}

LATCH_PLUGIN({
  .name = "Survey.File",
  .description = "Files the survey of a parcel with its report.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"parcel\",\"surveyor\",\"report\"],"
           "\"properties\":{\"parcel\":{\"type\":\"string\",\"pattern\":\"^[0-9]{1,6}/[0-9]{1,4}$\"},"
           "\"surveyor\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
           "\"report\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60000}}}",
  .output = "{\"type\":\"object\",\"required\":[\"survey\",\"report_bytes\"],\"properties\":{\"survey\":{\"type\":\"string\"},"
            "\"report_bytes\":{\"type\":\"integer\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = file,
  .verify = check,
  .compensate = withdraw,
});
