/* Corpus of tools whose mistake depends on earlier entries of the map. Each bad_* tool breaks a rule of the checker. The
   good_* tool next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

static char *own_key(void) { return latch_get_invocation().external_key; }

static char *under(const char *folder, const char *name) {
  latch_text path = { 0 };
  latch_putf(&path, "%s/%s", folder, name);
  return path.bytes;
}

static bool with(latch_answer *answer, const char *member, const char *text) {
  latch_putf(&answer->result, "{\"%s\":", member);
  if (text) latch_put_string(&answer->result, text);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

/* Sets the opening of a vent. A later call with another opening wins. */
static bool opening(latch_json args, latch_answer *answer, bool is_marked) {
  char *vent = latch_json_string(latch_json_member(args, "vent")), *percent = latch_json_string(latch_json_member(args, "percent"));
  char *mark = under("set", own_key()), *found;
  if (!vent || !*vent || !percent) return latch_fail(answer, LATCH_INVALID_INPUT, "vent or percent is missing");
  if (is_marked) {
    if (!latch_kv_get(answer, mark, &found)) return false;
    if (found) return with(answer, "percent", percent);
  }
  if (!latch_kv_set(answer, under("vent", vent), percent)) return false;
  if (is_marked && !latch_kv_set(answer, mark, percent)) return false;
  return with(answer, "percent", percent);
}
static bool bad_opening(latch_json args, latch_answer *answer) { return opening(args, answer, false); }
static bool good_opening(latch_json args, latch_answer *answer) { return opening(args, answer, true); }

/* Books a seat once for each key. A booking can be taken back by another operator. */
static bool book(latch_json args, latch_answer *answer, const char *folder) {
  char *guest = latch_json_string(latch_json_member(args, "guest")), *entry = under(folder, own_key()), *found;
  if (!guest || !*guest) return latch_fail(answer, LATCH_INVALID_INPUT, "the guest is missing");
  if (!latch_kv_get(answer, entry, &found)) return false;
  if (!found && !latch_kv_set(answer, entry, guest)) return false;
  return with(answer, folder, own_key());
}
static bool bad_book(latch_json args, latch_answer *answer) { return book(args, answer, "seat"); }
static bool good_book(latch_json args, latch_answer *answer) { return book(args, answer, "place"); }
static bool good_cancel(latch_json args, latch_answer *answer) {
  char *seat = latch_json_string(latch_json_member(args, "seat"));
  bool was_there;
  if (!seat || !*seat) return latch_fail(answer, LATCH_INVALID_INPUT, "the seat is missing");
  return latch_kv_delete(answer, under("seat", seat), &was_there) && with(answer, "cancelled", was_there ? seat : NULL);
}
static bool good_release(latch_json args, latch_answer *answer) {
  char *place = latch_json_string(latch_json_member(args, "place")), *found;
  if (!place || !*place) return latch_fail(answer, LATCH_INVALID_INPUT, "the place is missing");
  if (!latch_kv_get(answer, under("place", place), &found)) return false;
  if (found && !latch_kv_set(answer, under("place", place), "released")) return false;
  return with(answer, "released", found ? place : NULL);
}

/* Reads the price of a kind of wood, which another party can change. */
static bool price(latch_json args, latch_answer *answer) {
  char *wood = latch_json_string(latch_json_member(args, "wood")), *found;
  if (!wood || !*wood) return latch_fail(answer, LATCH_INVALID_INPUT, "the wood is missing");
  return latch_kv_get(answer, under("price", wood), &found) && with(answer, "price", found);
}

/* Counts the call and keeps its text. A value of the map has at most 65,536 bytes, and a letter can have several. */
static bool note(latch_json args, latch_answer *answer, bool counts_bytes) {
  char *text = latch_json_string(latch_json_member(args, "text"));
  size_t length = 0;
  for (const char *at = text; at && *at; at++) length += counts_bytes || ((unsigned char)*at & 0xC0) != 0x80;
  if (!text || length > 65536) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  return latch_kv_set(answer, under("begun", own_key()), "1") && latch_kv_set(answer, under("note", own_key()), text) && with(answer, "note", own_key());
}
static bool bad_note(latch_json args, latch_answer *answer) { return note(args, answer, false); }
static bool good_note(latch_json args, latch_answer *answer) { return note(args, answer, true); }

/* Puts a text in place of another one. The result has the earlier text, which the undo puts back. */
static bool is_printed(const char *text) {
  for (; *text; text++)
    if (*text < ' ' || *text > '~') return false;
  return true;
}
static bool swap(latch_json args, latch_answer *answer, bool is_strict) {
  char *sign = latch_json_string(latch_json_member(args, "sign")), *text = latch_json_string(latch_json_member(args, "text")), *before;
  if (!sign || !*sign || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "sign or text is missing");
  if (!latch_kv_get(answer, sign, &before)) return false;
  if (before && !is_printed(before)) {
    if (is_strict) return latch_fail(answer, LATCH_POLICY_DENIED, "the earlier text cannot be kept");
    before = NULL;
  }
  return latch_kv_set(answer, sign, text) && with(answer, "before", before);
}
static bool bad_swap(latch_json args, latch_answer *answer) { return swap(args, answer, false); }
static bool good_swap(latch_json args, latch_answer *answer) { return swap(args, answer, true); }
static bool swap_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *sign = latch_json_string(latch_json_member(args, "sign")), *before = latch_json_string(latch_json_member(result, "before"));
  char *found;
  bool was_there;
  (void)key;
  if (!latch_kv_get(answer, sign, &found)) return false;
  if (!found || strcmp(found, latch_json_string(latch_json_member(args, "text"))))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the sign was changed since");
  if (before ? !latch_kv_set(answer, sign, before) : !latch_kv_delete(answer, sign, &was_there)) return false;
  return with(answer, "sign", sign);
}

/* Puts a text in place of another one, of which the result has the beginning or all. */
static bool retitle(latch_json args, latch_answer *answer, size_t kept) {
  char *text = latch_json_string(latch_json_member(args, "text")), *before;
  latch_text earlier = { 0 };
  if (!text || strlen(text) > 60000) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  if (!latch_kv_get(answer, "title", &before)) return false;
  if (before && !is_printed(before)) return latch_fail(answer, LATCH_POLICY_DENIED, "the earlier text cannot be kept");
  if (before) latch_putf(&earlier, "%.*s", (int)kept, before);
  return latch_kv_set(answer, "title", text) && with(answer, "before", before ? earlier.bytes : NULL);
}
static bool bad_title(latch_json args, latch_answer *answer) { return retitle(args, answer, 200); }
static bool good_title(latch_json args, latch_answer *answer) { return retitle(args, answer, 65536); }
static bool title_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *before = latch_json_string(latch_json_member(result, "before")), *found;
  bool was_there;
  (void)key;
  if (!latch_kv_get(answer, "title", &found)) return false;
  if (!found || strcmp(found, latch_json_string(latch_json_member(args, "text"))))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the title was changed since");
  if (before ? !latch_kv_set(answer, "title", before) : !latch_kv_delete(answer, "title", &was_there)) return false;
  return with(answer, "title", before);
}

/* Files a docket once for each key, and in the folder of a day. */
static bool docket(latch_json args, latch_answer *answer, bool is_of_day) {
  char *text = latch_json_string(latch_json_member(args, "text")), *name = under("docket", own_key()), *found;
  time_t now = time(NULL);
  if (!text || strlen(text) > 60000) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  if (is_of_day) {
    latch_text folder = { 0 };
    latch_putf(&folder, "docket/%d", gmtime(&now)->tm_yday);
    name = under(folder.bytes, own_key());
  }
  if (!latch_kv_get(answer, name, &found)) return false;
  return (found || latch_kv_set(answer, name, text)) && with(answer, "docket", own_key());
}
static bool bad_docket(latch_json args, latch_answer *answer) { return docket(args, answer, true); }
static bool good_docket(latch_json args, latch_answer *answer) { return docket(args, answer, false); }

/* The letter has a random name, which the entry of the key keeps. */
static bool good_letter(latch_json args, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, "text")), *name;
  if (!text || strlen(text) > 65536) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing or too long");
  if (!latch_kv_get(answer, under("name", own_key()), &name)) return false;
  if (!name) {
    unsigned char number[8];
    latch_text drawn = { 0 };
    if (getentropy(number, sizeof number)) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "there is no random number");
    for (size_t i = 0; i < sizeof number; i++) latch_putf(&drawn, "%02x", number[i]);
    name = drawn.bytes;
    if (!latch_kv_set(answer, under("name", own_key()), name)) return false;
  }
  return latch_kv_set(answer, under("letter", name), text) && with(answer, "letter", name);
}

#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define WRITES .effects = LATCH_INTERNAL_WRITE
#define KEYED WRITES, .idempotent_by_key_seconds = 86400

LATCH_PLUGIN(
  TOOL("Bad.Opening", bad_opening, KEYED), TOOL("Good.Opening", good_opening, KEYED), TOOL("Bad.Book", bad_book, KEYED),
  TOOL("Good.Book", good_book, KEYED), TOOL("Good.Cancel", good_cancel, WRITES), TOOL("Good.Release", good_release, WRITES),
  TOOL("Bad.Price", price, .determinism = LATCH_STABLE), TOOL("Good.Price", price, .determinism = LATCH_EXTERNAL),
  TOOL("Bad.Note", bad_note, WRITES), TOOL("Good.Note", good_note, WRITES),
  TOOL("Bad.Swap", bad_swap, WRITES, .compensate = swap_back), TOOL("Good.Swap", good_swap, WRITES, .compensate = swap_back),
  TOOL("Bad.Title", bad_title, WRITES, .compensate = title_back), TOOL("Good.Title", good_title, WRITES, .compensate = title_back),
  TOOL("Bad.Docket", bad_docket, KEYED), TOOL("Good.Docket", good_docket, KEYED), TOOL("Good.Letter", good_letter, KEYED));
