/* Corpus of tools whose mistake shows when a call is undone, or made again after another operator took back its effect. Each
   bad_* tool breaks a rule of the checker. The good_* tool next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <time.h>

static char *own_key(void) { return latch_get_invocation().external_key; }

static char *under(const char *folder, const char *name) {
  latch_text path = { 0 };
  latch_putf(&path, "%s/%s", folder, name);
  return path.bytes;
}

static bool with(latch_answer *answer, const char *member, const char *json) {
  latch_putf(&answer->result, "{\"%s\":%s}", member, json);
  return true;
}

static char *short_text(latch_json args, const char *member, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, member));
  if (text && *text && strlen(text) < 200) return text;
  latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  return NULL;
}

/* Issues a slip under the key of the call. */
static bool issue(latch_json args, latch_answer *answer) {
  char *text = short_text(args, "text", answer);
  return text && latch_kv_set(answer, under("slip", own_key()), text) && with(answer, "slip", "1");
}
static bool take_slip(const char *key, latch_json args, latch_answer *answer) {
  char *found, *text = latch_json_string(latch_json_member(args, "text"));
  bool was_there;
  if (!latch_kv_get(answer, under("slip", key), &found)) return false;
  if (!found || strcmp(found, text) != 0) return latch_fail(answer, LATCH_POLICY_DENIED, "the slip has changed");
  if (!latch_kv_delete(answer, under("slip", key), &was_there)) return false;
  return was_there || latch_fail(answer, LATCH_POLICY_DENIED, "the slip was removed");
}
/* The key of this call is not that of the undone call. */
static bool bad_slip_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result, (void)key;
  return take_slip(own_key(), args, answer);
}
static bool good_slip_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  return take_slip(key, args, answer);
}

/* Hangs a label, and keeps the earlier one in its result. */
static char *label_of(latch_json args, latch_answer *answer) {
  char *title = short_text(args, "title", answer);
  if (!title) return NULL;
  latch_text label = { 0 };
  latch_put(&label, "{\"title\":");
  latch_put_string(&label, title);
  latch_put(&label, "}");
  return label.bytes;
}
static bool hang(latch_json args, latch_answer *answer) {
  char *label = label_of(args, answer), *before;
  if (!label || !latch_kv_get(answer, "label", &before)) return false;
  latch_text kept = { 0 };
  if (before && strlen(before) > 20000) return latch_fail(answer, LATCH_INVALID_INPUT, "the present label is too long");
  if (before) latch_put_string(&kept, before);
  return latch_kv_set(answer, "label", label) && with(answer, "before", before ? kept.bytes : "null");
}
static bool put_back(latch_json args, latch_json result, latch_answer *answer, bool is_whole) {
  char *label = label_of(args, answer), *found, *before = latch_json_string(latch_json_member(result, "before"));
  bool was_there;
  if (!label || !latch_kv_get(answer, "label", &found)) return false;
  if (!found || strcmp(found, label) != 0) return latch_fail(answer, LATCH_POLICY_DENIED, "the label has changed");
  if (!before) return latch_kv_delete(answer, "label", &was_there);
  if (is_whole) return latch_kv_set(answer, "label", before);
  char *title = latch_json_string(latch_json_member(latch_json_of(before), "title"));
  if (!title) return latch_kv_set(answer, "label", before);
  latch_text earlier = { 0 };
  latch_put(&earlier, "{\"title\":");
  latch_put_string(&earlier, title);
  latch_put(&earlier, "}");
  return latch_kv_set(answer, "label", earlier.bytes);
}
static bool bad_label_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  return put_back(args, result, answer, false);
}
static bool good_label_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  return put_back(args, result, answer, true);
}

/* Subscribes to a species. The entry is named by the species. */
static bool subscribe(latch_json args, latch_answer *answer, bool keeps_key) {
  char *species = short_text(args, "species", answer), *done = NULL;
  if (!species || (keeps_key && !latch_kv_get(answer, under("done", own_key()), &done))) return false;
  if (done) return with(answer, "on", "true");
  if (!latch_kv_set(answer, under("alert", species), "on")) return false;
  if (keeps_key && !latch_kv_set(answer, under("done", own_key()), "on")) {
    answer->applied_unknown = true;
    return false;
  }
  return with(answer, "on", "true");
}
static bool bad_alert(latch_json args, latch_answer *answer) { return subscribe(args, answer, false); }
static bool good_alert(latch_json args, latch_answer *answer) { return subscribe(args, answer, true); }
static bool good_end(latch_json args, latch_answer *answer) {
  char *species = short_text(args, "species", answer);
  bool was_there;
  if (!species || !latch_kv_delete(answer, under("alert", species), &was_there)) return false;
  return was_there ? with(answer, "on", "false") : latch_fail(answer, LATCH_INVALID_INPUT, "there is no alert");
}

/* Sets the price of an article. The earlier price is in the result. */
static bool price(latch_json args, latch_answer *answer) {
  char *article = short_text(args, "article", answer), *cents = article ? short_text(args, "cents", answer) : NULL, *earlier;
  if (!cents || !latch_kv_get(answer, article, &earlier) || !latch_kv_set(answer, article, cents)) return false;
  latch_put(&answer->result, "{\"earlier\":");
  latch_put_string(&answer->result, earlier ? earlier : "");
  latch_put(&answer->result, "}");
  return true;
}
static bool put_price_back(latch_json args, latch_json result, latch_answer *answer, bool compares) {
  char *article = short_text(args, "article", answer), *cents = article ? short_text(args, "cents", answer) : NULL, *present;
  char *earlier = latch_json_string(latch_json_member(result, "earlier"));
  if (!cents || !earlier || !latch_kv_get(answer, article, &present)) return false;
  if (!present || (compares && strcmp(present, cents)))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the price is another one");
  latch_put(&answer->result, "{}");
  return *earlier ? latch_kv_set(answer, article, earlier) : latch_kv_delete(answer, article, NULL);
}
static bool bad_price_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  return put_price_back(args, result, answer, false);
}
static bool good_price_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  return put_price_back(args, result, answer, true);
}

/* Replaces a text and keeps the earlier one in its result. Beside the text is the time of its last change, of an undo, too. */
static bool stamped(latch_answer *answer, const char *page, const char *text) {
  latch_text now = { 0 };
  latch_putf(&now, "%lld", (long long)time(NULL));
  return latch_kv_set(answer, under("text", page), text) && latch_kv_set(answer, under("touched", page), now.bytes);
}
static bool page(latch_json args, latch_answer *answer) {
  char *page = short_text(args, "page", answer), *text = page ? short_text(args, "text", answer) : NULL, *before;
  if (!text || !latch_kv_get(answer, under("text", page), &before) || !stamped(answer, page, text)) return false;
  latch_text earlier = { 0 };
  if (before) latch_put_string(&earlier, before);
  else latch_put(&earlier, "null");
  return with(answer, "earlier", earlier.bytes);
}
static bool page_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  char *page = short_text(args, "page", answer), *text = short_text(args, "text", answer), *present;
  char *earlier = latch_json_string(latch_json_member(result, "earlier"));
  if (!page || !text || !latch_kv_get(answer, under("text", page), &present)) return false;
  if (!present || strcmp(present, text)) return latch_fail(answer, LATCH_POLICY_DENIED, "the text is another one");
  latch_put(&answer->result, "{}");
  if (earlier) return stamped(answer, page, earlier);
  return latch_kv_delete(answer, under("text", page), NULL) && latch_kv_delete(answer, under("touched", page), NULL);
}

/* Replaces a list. The undo puts the elements of the earlier list back, in another form of JSON. */
static char *list_of(latch_answer *answer, latch_json list) {
  latch_text text = { 0 };
  latch_put(&text, "[");
  for (size_t i = 0; i < latch_json_count(list); i++) {
    char *element = latch_json_string(latch_json_item(list, i));
    if (!element || i > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "the list is no list of 100 texts"), NULL;
    if (i) latch_put(&text, ",");
    latch_put_string(&text, element);
  }
  latch_put(&text, "]");
  return text.bytes;
}
static bool list(latch_json args, latch_answer *answer) {
  char *list = list_of(answer, latch_json_member(args, "list")), *before;
  if (!list || !latch_kv_get(answer, "list", &before) || !latch_kv_set(answer, "list", list)) return false;
  return with(answer, "earlier", before ? before : "null");
}
static bool list_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  char *list = list_of(answer, latch_json_member(args, "list")), *present;
  latch_json earlier = latch_json_member(result, "earlier");
  if (!list || !latch_kv_get(answer, "list", &present)) return false;
  if (!present || strcmp(present, list)) return latch_fail(answer, LATCH_POLICY_DENIED, "the list is another one");
  latch_put(&answer->result, "{}");
  if (latch_json_is_null(earlier)) return latch_kv_delete(answer, "list", NULL);
  char *before = list_of(answer, earlier);
  return before && latch_kv_set(answer, "list", before);
}

#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define WRITES .effects = LATCH_INTERNAL_WRITE
#define KEYED WRITES, .idempotent_by_key_seconds = 3600

LATCH_PLUGIN(
  TOOL("Bad.Slip", issue, WRITES, .compensate = bad_slip_back), TOOL("Good.Slip", issue, WRITES, .compensate = good_slip_back),
  TOOL("Bad.Label", hang, WRITES, .compensate = bad_label_back), TOOL("Good.Label", hang, WRITES, .compensate = good_label_back),
  TOOL("Bad.Alert", bad_alert, KEYED), TOOL("Good.Alert", good_alert, KEYED), TOOL("Good.End", good_end, WRITES),
  TOOL("Bad.Price", price, WRITES, .compensate = bad_price_back), TOOL("Good.Price", price, WRITES, .compensate = good_price_back),
  TOOL("Good.Page", page, WRITES, .compensate = page_back), TOOL("Good.List", list, WRITES, .compensate = list_back));
