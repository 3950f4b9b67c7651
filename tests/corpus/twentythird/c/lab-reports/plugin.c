/* Files the reports of a soil laboratory. The head of a report and its text are two entries of the map. */
#include "latchwork.h"

static char *name_of(const char *part, const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", part, key);
  return name.bytes;
}

/* The head depends on the arguments alone. */
static char *head_of(latch_json args) {
  char *sample = latch_json_string(latch_json_member(args, "sample"));
  char *method = latch_json_string(latch_json_member(args, "method"));
  latch_text head = { 0 };
  latch_put(&head, "{\"sample\":");
  latch_put_string(&head, sample ? sample : "");
  latch_put(&head, ",\"method\":");
  latch_put_string(&head, method ? method : "");
  latch_put(&head, "}");
  return head.bytes;
}

static void filed(const char *key, size_t bytes, latch_answer *answer) {
  latch_put(&answer->result, "{\"report\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"bytes\":%zu}", bytes);
}

static bool file_report(latch_json args, latch_answer *answer) {
  char *sample = latch_json_string(latch_json_member(args, "sample"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!sample || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "the report has no sample or no text");
  if (strspn(text, " \t\r\n") == strlen(text))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the report of sample %s is empty", sample);

  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, name_of("head", key), head_of(args))) return false;
  if (!latch_kv_set(answer, name_of("text", key), text)) return false;
  filed(key, strlen(text), answer);
  return true;
}

/* The text is written last. A head without a text is a report that was begun. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *head, *text;
  if (!latch_kv_get(answer, name_of("head", key), &head)) return LATCH_UNKNOWN;
  if (!latch_kv_get(answer, name_of("text", key), &text)) return LATCH_UNKNOWN;
  if (!head && !text) return LATCH_DID_NOT_HAPPEN;
  if (!head || !text) return LATCH_UNKNOWN;
  filed(key, strlen(text), answer);
  return LATCH_HAPPENED;
}

static bool show_head(latch_json args, latch_answer *answer) {
  char *report = latch_json_string(latch_json_member(args, "report")), *head;
  if (!report) return latch_fail(answer, LATCH_INVALID_INPUT, "the report is missing");
  if (!latch_kv_get(answer, name_of("head", report), &head)) return false;
  latch_put(&answer->result, head ? head : "null");
  return true;
}

LATCH_PLUGIN({
  .name = "Report.File",
  .description = "Files the report of a soil sample.",
  .input = "{\"type\":\"object\",\"required\":[\"sample\",\"method\",\"text\"],\"additionalProperties\":false,\"properties\":{"
           "\"sample\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{2}[0-9]{4,8}$\"},"
           "\"method\":{\"enum\":[\"ph\",\"phosphate\",\"potash\",\"texture\"]},"
           "\"text\":{\"type\":\"string\",\"maxLength\":100000}}}",
  .output = "{\"type\":\"object\",\"required\":[\"report\",\"bytes\"],\"properties\":{\"report\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = file_report,
  .reconcile = find,
}, {
  .name = "Report.ShowHead",
  .description = "Shows sample and method of a filed report, or null.",
  .input = "{\"type\":\"object\",\"required\":[\"report\"],\"additionalProperties\":false,\"properties\":{"
           "\"report\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_:/~-]{1,128}$\"}}}",
  .output = "{\"type\":[\"object\",\"null\"]}",
  .handler = show_head,
});
