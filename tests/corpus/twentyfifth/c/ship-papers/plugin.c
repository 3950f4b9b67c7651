#include "latchwork.h"

/* Papers of ships, filed page by page. The cover is written last: without a cover there are no papers. */
static const char *page_name(const char *key, int number) {
  latch_text name = { 0 };
  latch_putf(&name, "page %d of %s", number, key);
  return name.bytes;
}

static const char *page_text(latch_json args, int number) { return latch_json_text(latch_json_item(latch_json_member(args, "pages"), (size_t)number - 1)); }

/* The cover has the number of pages and a sum over the whole text. */
static const char *cover_of(latch_json args, int *pages) {
  *pages = (int)latch_json_count(latch_json_member(args, "pages"));
  uint64_t sum = 14695981039346656037u;
  for (const char *c = latch_json_text(args); *c; c++) sum = (sum ^ (unsigned char)*c) * 1099511628211u;
  latch_text text = { 0 };
  latch_putf(&text, "{\"pages\":%d,\"sum\":\"%016llx\"}", *pages, (unsigned long long)sum);
  return text.bytes;
}

static void filed(const char *key, const char *cover, int pages, latch_answer *answer) {
  latch_put(&answer->result, "{\"papers\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"pages\":%d}", pages);
  latch_changed(answer, (latch_change){ .resource_type = "papers", .resource_id = key, .operation = "create", .version = cover });
}

static bool file(latch_json args, latch_answer *answer) {
  const char *key = latch_get_invocation().external_key;
  int pages;
  const char *cover = cover_of(args, &pages);
  for (int i = 1; i <= pages; i++)
    if (!latch_kv_set(answer, page_name(key, i), page_text(args, i))) {
      if (i > 1) answer->applied_unknown = true;
      return false;
    }
  if (!latch_kv_set(answer, key, cover)) {
    answer->applied_unknown = true;
    return false;
  }
  filed(key, cover, pages, answer);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  int64_t pages = 0;
  if (!latch_kv_get(answer, key, &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  latch_json_integer(latch_json_member(latch_json_of(found), "pages"), &pages);
  filed(key, found, (int)pages, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the papers have no cover";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the papers have another cover";
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  int pages;
  const char *cover = cover_of(args, &pages);
  char *found;
  bool was_there;
  /* First look at everything, then take the cover away, then the pages. */
  if (!latch_kv_get(answer, key, &found)) return false;
  bool whole = found && strcmp(found, cover) == 0;
  for (int i = 1; i <= pages && whole; i++) {
    if (!latch_kv_get(answer, page_name(key, i), &found)) return false;
    whole = found && strcmp(found, page_text(args, i)) == 0;
  }
  if (!whole) return latch_fail(answer, LATCH_POLICY_DENIED, "the papers were changed or removed");
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the papers were removed");
  for (int i = 1; i <= pages; i++) {
    if (!latch_kv_delete(answer, page_name(key, i), &was_there)) {
      answer->applied_unknown = true;
      return false;
    }
    if (!was_there) {
      latch_fail(answer, LATCH_POLICY_DENIED, "page %d was removed", i);
      answer->applied_unknown = true;
      return false;
    }
  }
  latch_changed(answer, (latch_change){ .resource_type = "papers", .resource_id = key, .operation = "delete" });
  return true;
}

static bool read_page(latch_json args, latch_answer *answer) {
  char *papers = latch_json_string(latch_json_member(args, "papers")), *cover, *page;
  int64_t number = 0, pages = 0;
  latch_json_integer(latch_json_member(args, "page"), &number);
  if (!latch_kv_get(answer, papers, &cover)) return false;
  if (!cover) return latch_fail(answer, LATCH_INVALID_INPUT, "there are no papers %s", papers);
  latch_json_integer(latch_json_member(latch_json_of(cover), "pages"), &pages);
  if (number > pages) return latch_fail(answer, LATCH_INVALID_INPUT, "the papers have %d pages", (int)pages);
  if (!latch_kv_get(answer, page_name(papers, (int)number), &page)) return false;
  if (!page) return latch_fail(answer, LATCH_INVALID_INPUT, "the papers %s were withdrawn", papers);
  latch_putf(&answer->result, "{\"text\":%s}", page);
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Papers.File",
    .description = "Files the papers of a ship.",
    .input = "{\"type\":\"object\",\"properties\":{\"ship\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
             "\"pages\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":20,\"items\":{\"type\":\"string\",\"maxLength\":3000}}},"
             "\"required\":[\"ship\",\"pages\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"papers\",\"pages\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = file,
    .reconcile = find,
    .verify = check,
    .compensate = withdraw,
  },
  {
    .name = "Papers.Read",
    .description = "Shows a page of filed papers.",
    .input = "{\"type\":\"object\",\"properties\":{\"papers\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_:/~-]{1,128}$\"},"
             "\"page\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":20}},\"required\":[\"papers\",\"page\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"text\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = read_page,
  });
