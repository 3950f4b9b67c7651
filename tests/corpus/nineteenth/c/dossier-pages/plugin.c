/* Dossier.File and Dossier.Read: keeps the pages of a dossier, and reads them again.
 * A dossier is a head with the title and the number of pages, and one entry for each page. */
#include "latchwork.h"

enum { PAGES = 12, BYTES = 8000 };

static const char *head_of(const char *dossier) {
  latch_text name = { 0 };
  latch_putf(&name, "dossier/%s", dossier);
  return name.bytes;
}

static const char *page_of(const char *dossier, size_t number) {
  latch_text name = { 0 };
  latch_putf(&name, "page/%s/%zu", dossier, number);
  return name.bytes;
}

static void filed(const char *dossier, const char *head, latch_answer *answer) {
  latch_put(&answer->result, "{\"dossier\":");
  latch_put_string(&answer->result, dossier);
  latch_putf(&answer->result, ",\"head\":%s}", head);
  latch_changed(answer, (latch_change){
    .resource_type = "dossier", .resource_id = dossier, .operation = "create", .version = head });
}

static bool file(latch_json args, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title")), *pages[PAGES];
  latch_json given = latch_json_member(args, "pages");
  size_t count = latch_json_count(given);
  if (!title || !*title || strlen(title) > 300)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a dossier has a title of 1 to 300 bytes");
  if (count < 1 || count > PAGES) return latch_fail(answer, LATCH_INVALID_INPUT, "a dossier has 1 to %d pages", PAGES);
  for (size_t i = 0; i < count; i++) {
    pages[i] = latch_json_string(latch_json_item(given, i));
    if (!pages[i] || strlen(pages[i]) > BYTES)
      return latch_fail(answer, LATCH_INVALID_INPUT, "page %zu is no text of at most %d bytes", i + 1, BYTES);
  }

  char *key = latch_get_invocation().external_key;
  for (size_t i = 0; i < count; i++)
    if (!latch_kv_set(answer, page_of(key, i + 1), pages[i])) return false;
  latch_text head = { 0 };
  latch_put(&head, "{\"title\":");
  latch_put_string(&head, title);
  latch_putf(&head, ",\"pages\":%zu}", count);
  if (!latch_kv_set(answer, head_of(key), head.bytes)) {
    answer->applied_unknown = true;
    return false;
  }
  filed(key, head.bytes, answer);
  return true;
}

/* Called after a crash: looks for the head, which is written last. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *head;
  if (!latch_kv_get(answer, head_of(key), &head)) return LATCH_UNKNOWN;
  if (!head) return LATCH_DID_NOT_HAPPEN;
  filed(key, head, answer);
  return LATCH_HAPPENED;
}

static bool read_dossier(latch_json args, latch_answer *answer) {
  char *dossier = latch_json_string(latch_json_member(args, "dossier")), *head, *page;
  int64_t count;
  if (!dossier || !*dossier || strlen(dossier) > 128)
    return latch_fail(answer, LATCH_INVALID_INPUT, "this does not name a dossier");
  if (!latch_kv_get(answer, head_of(dossier), &head)) return false;
  if (!head) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no dossier %s", dossier);
  if (!latch_json_integer(latch_json_member(latch_json_of(head), "pages"), &count))
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the head of %s is damaged", dossier);
  latch_putf(&answer->result, "{\"head\":%s,\"pages\":[", head);
  for (int64_t i = 1; i <= count; i++) {
    if (!latch_kv_get(answer, page_of(dossier, (size_t)i), &page)) return false;
    if (!page) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "page %lld is missing", (long long)i);
    latch_put(&answer->result, i > 1 ? "," : "");
    latch_put_string(&answer->result, page);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Dossier.File",
    .description = "Keeps the pages of a dossier.",
    .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},"
             "\"pages\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
             "\"required\":[\"title\",\"pages\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"dossier\",\"head\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = file,
    .reconcile = find,
  },
  {
    .name = "Dossier.Read",
    .description = "Reads the pages of a dossier.",
    .input = "{\"type\":\"object\",\"properties\":{\"dossier\":{\"type\":\"string\"}},"
             "\"required\":[\"dossier\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"head\",\"pages\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = read_dossier,
  });
