/* Keeps long texts in the map, whose values are short: the parts first, then the head, which names their number. Only
 * the head makes a text visible, so a text without a head does not exist. */
#include "latchwork.h"

enum { PART = 2000, MOST_PARTS = 40 };

static char *head_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "head/%s", key);
  return name.bytes;
}

static char *part_name(const char *key, int part) {
  latch_text name = { 0 };
  latch_putf(&name, "part/%s/%d", key, part);
  return name.bytes;
}

/* Parts end anywhere, also within a character: they are only read together. */
static int parts_of(const char *text) { return (int)((strlen(text) + PART - 1) / PART); }

static char *part_of(const char *text, int part) {
  latch_text piece = { 0 };
  size_t from = (size_t)part * PART, len = strlen(text) - from;
  latch_put_bytes(&piece, text + from, len < PART ? len : PART);
  return piece.bytes;
}

static bool kept(const char *key, int parts, latch_answer *answer) {
  latch_text version = { 0 };
  latch_putf(&version, "%d", parts);
  latch_put(&answer->result, "{\"text\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"parts\":%d}", parts);
  latch_changed(answer, (latch_change){ .resource_type = "sermon", .resource_id = key, .operation = "create", .version = version.bytes });
  return true;
}

static bool keep(latch_json args, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!text || !*text) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is empty");
  int parts = parts_of(text);
  if (parts > MOST_PARTS) return latch_fail(answer, LATCH_INVALID_INPUT, "the text has more than %d bytes", PART * MOST_PARTS);
  char *key = latch_get_invocation().external_key;
  latch_text head = { 0 };
  latch_putf(&head, "%d", parts);
  for (int i = 0; i < parts; i++)
    if (!latch_kv_set(answer, part_name(key, i), part_of(text, i))) {
      if (i > 0) answer->applied_unknown = true; /* Before the first part, the default of the failure is right. */
      return false;
    }
  if (!latch_kv_set(answer, head_name(key), head.bytes)) {
    answer->applied_unknown = true;
    return false;
  }
  return kept(key, parts, answer);
}

/* Parts without a head are the remainder of a call that was cut off: no reader sees them, and the next try writes them
 * again. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *head, *text = latch_json_string(latch_json_member(args, "text"));
  if (!latch_kv_get(answer, head_name(key), &head)) return LATCH_UNKNOWN;
  if (!head) return LATCH_DID_NOT_HAPPEN;
  kept(key, parts_of(text), answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *head;
  if (!latch_kv_get(answer, head_name(change.resource_id), &head)) return NULL;
  if (!head) return "there is no such text";
  return strcmp(head, change.version) == 0 ? NULL : "the text has another number of parts";
}

/* The head goes first: without it no reader sees the text, whatever becomes of its parts. */
static bool remove_text(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  int parts = parts_of(latch_json_string(latch_json_member(args, "text")));
  bool was_there;
  if (!latch_kv_delete(answer, head_name(key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the text was removed by someone else");
  for (int i = 0; i < parts; i++) {
    if (!latch_kv_delete(answer, part_name(key, i), &was_there)) {
      answer->applied_unknown = true;
      return false;
    }
    if (!was_there) {
      latch_fail(answer, LATCH_POLICY_DENIED, "part %d of the text was missing", i);
      answer->applied_unknown = true;
      return false;
    }
  }
  latch_changed(answer, (latch_change){ .resource_type = "sermon", .resource_id = key, .operation = "delete" });
  return true;
}

static bool read_text(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "text")), *head;
  if (!key || !*key || strlen(key) > 128) return latch_fail(answer, LATCH_INVALID_INPUT, "no name of a text");
  if (!latch_kv_get(answer, head_name(key), &head)) return false;
  if (!head) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no text %s", key);
  latch_text text = { 0 };
  for (int i = 0; i < atoi(head); i++) {
    char *part;
    if (!latch_kv_get(answer, part_name(key, i), &part)) return false;
    if (!part) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "part %d of %s is missing", i, key);
    latch_put(&text, part);
  }
  latch_put(&answer->result, "{\"text\":");
  latch_put_string(&answer->result, text.bytes ? text.bytes : "");
  latch_put(&answer->result, "}");
  return true;
}

#define TEXT_INPUT "{\"type\":\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"}},\"additionalProperties\":false}"

LATCH_PLUGIN(
  {
    .name = "Sermon.Keep",
    .description = "Keeps the text of a sermon.",
    .input = TEXT_INPUT,
    .output = "{\"type\":\"object\",\"required\":[\"text\",\"parts\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = keep,
    .reconcile = find,
    .verify = check,
    .compensate = remove_text,
  },
  {
    .name = "Sermon.Read",
    .description = "Reads the text of a sermon by its name.",
    .input = TEXT_INPUT,
    .output = "{\"type\":\"object\",\"required\":[\"text\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = read_text,
  }
);
