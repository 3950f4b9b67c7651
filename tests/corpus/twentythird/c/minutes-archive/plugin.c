/* Archives the minutes of a council. A text can be longer than one value of the map, so it is stored in parts. The head
 * is written last: without a head no operator sees the parts. All entries are named by the external key, and a
 * repetition writes the same entries. */
#include "latchwork.h"

enum { PART_BYTES = 60000, MOST_PARTS = 10, DAY = 24 * 3600 };

static char *name_of(const char *kind, const char *key, int part) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%d/%s", kind, part, key);
  return name.bytes;
}

/* FNV-1a, 64 bits. */
static uint64_t sum_of(const char *text) {
  uint64_t sum = 14695981039346656037u;
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) sum = (sum ^ *at) * 1099511628211u;
  return sum;
}
static int parts_of(const char *text) { return (int)((strlen(text) + PART_BYTES - 1) / PART_BYTES); }
static char *head_of(const char *body, const char *text) {
  latch_text head = { 0 };
  latch_putf(&head, "%d %016llx %s", parts_of(text), (unsigned long long)sum_of(text), body);
  return head.bytes;
}

static bool read_args(latch_json args, char **body, char **text, latch_answer *answer) {
  *body = latch_json_string(latch_json_member(args, "body"));
  *text = latch_json_string(latch_json_member(args, "text"));
  if (!*body || !*text || parts_of(*text) > MOST_PARTS)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the minutes cannot be read");
  return true;
}

static bool archive(latch_json args, latch_answer *answer) {
  char *body, *text;
  if (!read_args(args, &body, &text, answer)) return false;
  char *key = latch_get_invocation().external_key, *head = head_of(body, text);
  size_t len = strlen(text);
  for (int part = 0; part < parts_of(text); part++) {
    size_t from = (size_t)part * PART_BYTES, size = len - from < PART_BYTES ? len - from : PART_BYTES;
    latch_text piece = { 0 };
    latch_put_bytes(&piece, text + from, size);
    if (!latch_kv_set(answer, name_of("part", key, part), piece.bytes)) {
      answer->applied_unknown = true;
      return false;
    }
  }
  if (!latch_kv_set(answer, name_of("head", key, 0), head)) {
    answer->applied_unknown = true;
    return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "minutes", .resource_id = key, .operation = "create", .version = head });
  latch_put(&answer->result, "{\"minutes\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"bytes\":%zu}", len);
  return true;
}

/* Reads all parts. Returns NULL if a part is missing or cannot be read; then answer->failed tells which. */
static char *text_of(const char *key, const char *head, latch_answer *answer) {
  latch_text text = { 0 };
  latch_put(&text, "");
  for (int part = 0; part < atoi(head); part++) {
    char *piece;
    if (!latch_kv_get(answer, name_of("part", key, part), &piece) || !piece) return NULL;
    latch_put(&text, piece);
  }
  return text.bytes;
}

static const char *check(latch_change change, latch_answer *answer) {
  const char *key = change.resource_id;
  char *head;
  if (!latch_kv_get(answer, name_of("head", key, 0), &head)) return NULL;
  if (!head) return "the minutes are not in the archive";
  if (!change.version || strcmp(head, change.version) != 0) return "the minutes have another head";
  char *text = text_of(key, head, answer);
  if (!text) return answer->failed ? NULL : "a part of the minutes is missing";
  char *body = strchr(strchr(head, ' ') + 1, ' ') + 1;
  return strcmp(head_of(body, text), head) == 0 ? NULL : "the text of the minutes was changed";
}

static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *body, *text, *head, *found = NULL;
  (void)result;
  if (!read_args(args, &body, &text, answer)) return false;
  if (!latch_kv_get(answer, name_of("head", key, 0), &head) || (head && !(found = text_of(key, head, answer)) && answer->failed)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!head || !found || strcmp(head, head_of(body, text)) != 0 || strcmp(found, text) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the minutes were changed or removed");
  bool was_there;
  if (!latch_kv_delete(answer, name_of("head", key, 0), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the minutes were removed");
  for (int part = 0; part < parts_of(text); part++) {
    bool deleted = latch_kv_delete(answer, name_of("part", key, part), &was_there);
    if (deleted && !was_there) deleted = latch_fail(answer, LATCH_POLICY_DENIED, "part %d of the minutes was removed", part);
    if (!deleted) {
      answer->applied_unknown = true;
      return false;
    }
  }
  latch_changed(answer, (latch_change){ .resource_type = "minutes", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Minutes.Archive",
  .description = "Archives the minutes of a meeting.",
  .input = "{\"type\":\"object\",\"required\":[\"body\",\"text\"],\"additionalProperties\":false,\"properties\":{"
           "\"body\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":100},\"text\":{\"type\":\"string\",\"maxLength\":150000}}}",
  .output = "{\"type\":\"object\",\"required\":[\"minutes\",\"bytes\"],\"properties\":{\"minutes\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 7 * DAY,
  .handler = archive,
  .verify = check,
  .compensate = take_back,
});
