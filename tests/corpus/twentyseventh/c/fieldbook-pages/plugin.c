/* Lodges the fieldbooks of an excavation. A book is longer than an entry of the map, so its text lies in numbered parts. The
 * head of the book is written last: readers begin at the head, so without a head there is no book. */
#include "latchwork.h"

#include <time.h>

enum { PART_BYTES = 60000, BOOK_BYTES = 600000 };

static char *head_name(const char *book) {
  latch_text name = { 0 };
  latch_putf(&name, "head/%s", book);
  return name.bytes;
}

static char *part_name(const char *book, size_t part) {
  latch_text name = { 0 };
  latch_putf(&name, "part/%s/%zu", book, part);
  return name.bytes;
}

typedef struct {
  int64_t parts, lodged;
  char *title;
} head;

static bool read_head(const char *text, head *into) {
  latch_json at = latch_json_of(text);
  into->title = latch_json_string(latch_json_member(at, "title"));
  return into->title && latch_json_integer(latch_json_member(at, "parts"), &into->parts) &&
         latch_json_integer(latch_json_member(at, "lodged"), &into->lodged);
}

/* Marks a failure after the first write: parts may be in the map. */
static bool in_doubt(latch_answer *answer) {
  answer->applied_unknown = true;
  return false;
}

static bool lodged(const char *book, const char *text, latch_answer *answer) {
  head found;
  if (!read_head(text, &found)) {
    latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the head of %s cannot be read", book);
    return in_doubt(answer);
  }
  char version[24];
  snprintf(version, sizeof version, "%lld", (long long)found.lodged);
  latch_put(&answer->result, "{\"book\":");
  latch_put_string(&answer->result, book);
  latch_putf(&answer->result, ",\"parts\":%lld,\"lodged\":%s}", (long long)found.parts, version);
  latch_changed(answer, (latch_change){ .resource_type = "fieldbook", .resource_id = book, .operation = "create", .version = version });
  return true;
}

static bool lodge(latch_json args, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title")), *text = latch_json_string(latch_json_member(args, "text"));
  if (!title || !*title || strlen(title) > 1000) return latch_fail(answer, LATCH_INVALID_INPUT, "the title is missing or too long");
  if (!text || !*text) return latch_fail(answer, LATCH_INVALID_INPUT, "the book is empty");
  size_t len = strlen(text), parts = (len + PART_BYTES - 1) / PART_BYTES;
  if (len > BOOK_BYTES) return latch_fail(answer, LATCH_INVALID_INPUT, "a book has at most %d bytes", BOOK_BYTES);

  char *book = latch_get_invocation().external_key, *part = latch_room(PART_BYTES + 1);
  for (size_t i = 0; i < parts; i++) {
    size_t from = i * PART_BYTES, size = len - from < PART_BYTES ? len - from : PART_BYTES;
    memcpy(part, text + from, size);
    part[size] = 0;
    if (!latch_kv_set(answer, part_name(book, i), part)) return i == 0 ? false : in_doubt(answer);
  }
  latch_text made = { 0 };
  latch_putf(&made, "{\"parts\":%zu,\"lodged\":%lld,\"title\":", parts, (long long)time(NULL));
  latch_put_string(&made, title);
  latch_put(&made, "}");
  if (!latch_kv_set(answer, head_name(book), made.bytes)) return in_doubt(answer);
  return lodged(book, made.bytes, answer);
}

/* Parts without a head are no book: nothing reads them, and the next try writes the same parts again. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *text;
  if (!latch_kv_get(answer, head_name(key), &text)) return LATCH_UNKNOWN;
  if (!text) return LATCH_DID_NOT_HAPPEN;
  return lodged(key, text, answer) ? LATCH_HAPPENED : LATCH_UNKNOWN;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *text, version[24];
  head found;
  if (!latch_kv_get(answer, head_name(change.resource_id), &text)) return NULL;
  if (!text) return "the book is missing";
  if (!read_head(text, &found)) return "the book has an unreadable head";
  snprintf(version, sizeof version, "%lld", (long long)found.lodged);
  return change.version && strcmp(version, change.version) == 0 ? NULL : "the book was lodged at another time";
}

/* Removes the head first, so that no reader sees a book with missing parts. */
static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *text;
  int64_t when;
  head found;
  bool was_there;
  if (!latch_kv_get(answer, head_name(key), &text)) return false;
  if (!text || !read_head(text, &found) || !latch_json_integer(latch_json_member(result, "lodged"), &when) || when != found.lodged)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the book was removed or changed");
  if (!latch_kv_delete(answer, head_name(key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the book was removed meanwhile");
  for (size_t i = 0; i < (size_t)found.parts; i++) {
    if (!latch_kv_delete(answer, part_name(key, i), &was_there)) return in_doubt(answer);
    if (was_there) continue;
    latch_fail(answer, LATCH_POLICY_DENIED, "part %zu was removed by someone else", i);
    return in_doubt(answer);
  }
  latch_changed(answer, (latch_change){ .resource_type = "fieldbook", .resource_id = key, .operation = "delete" });
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *book = latch_json_string(latch_json_member(args, "book")), *text, *part;
  head found;
  if (!book || strlen(book) > 128) return latch_fail(answer, LATCH_INVALID_INPUT, "the book is missing");
  if (!latch_kv_get(answer, head_name(book), &text)) return false;
  if (!text || !read_head(text, &found)) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no book %s", book);
  latch_text whole = { 0 };
  latch_put(&whole, "");
  for (size_t i = 0; i < (size_t)found.parts; i++) {
    if (!latch_kv_get(answer, part_name(book, i), &part)) return false;
    if (!part) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "part %zu of %s is missing", i, book);
    latch_put(&whole, part);
  }
  latch_put(&answer->result, "{\"title\":");
  latch_put_string(&answer->result, found.title);
  latch_put(&answer->result, ",\"text\":");
  latch_put_string(&answer->result, whole.bytes);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  { .name = "Fieldbook.Lodge",
    .description = "Lodges the fieldbook of an excavation.",
    .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"}},"
             "\"required\":[\"title\",\"text\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"book\",\"parts\",\"lodged\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .determinism = LATCH_EXTERNAL,
    .handler = lodge,
    .reconcile = find,
    .verify = check,
    .compensate = withdraw },
  { .name = "Fieldbook.Show",
    .description = "Shows a fieldbook with its whole text.",
    .input = "{\"type\":\"object\",\"properties\":{\"book\":{\"type\":\"string\"}},\"required\":[\"book\"]}",
    .output = "{\"type\":\"object\",\"required\":[\"title\",\"text\"]}",
    .effects = LATCH_READ_ONLY,
    .determinism = LATCH_EXTERNAL,
    .handler = show });
