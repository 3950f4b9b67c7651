/* Corpus of tools written in typical C. Each bad_* tool breaks a rule of the checker.
   The good_* tool next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <assert.h>
#include <time.h>

static bool kept(latch_answer *answer, const char *key) {
  latch_put(&answer->result, "{\"key\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  return true;
}

static char *key_of(const char *before, const char *key) {
  latch_text text = { 0 };
  latch_putf(&text, "%s%s", before, key);
  return text.bytes;
}

/* Each try uses another key, so a retry after a crash stores the note twice. */
static bool bad_keyed(latch_json args, latch_answer *answer) {
  char key[32];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(key, sizeof key, "note-%lld-%ld", (long long)now.tv_sec, now.tv_nsec);
  return latch_kv_set(answer, key, latch_json_text(args)) && kept(answer, key);
}
/* A note of this key that is there stays, because another call can have changed it since. */
static bool good_keyed(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key, *note;
  if (!latch_kv_get(answer, key, &note)) return false;
  return (note || latch_kv_set(answer, key, latch_json_text(args))) && kept(answer, key);
}

static bool keep(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, key_of("note-", key), latch_json_text(args)) && kept(answer, key);
}
static latch_verdict look(const char *at, const char *key, latch_answer *answer) {
  char *note;
  if (!latch_kv_get(answer, at, &note)) return LATCH_UNKNOWN;
  if (!note) return LATCH_DID_NOT_HAPPEN;
  kept(answer, key);
  return LATCH_HAPPENED;
}
/* Looks for the note under a key that the tool never writes. */
static latch_verdict bad_find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return look(key, key, answer);
}
static latch_verdict good_find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return look(key_of("note-", key), key, answer);
}
/* A map that does not answer is taken for an empty one. */
static latch_verdict bad_away(latch_json args, const char *key, latch_answer *answer) {
  latch_answer failed = { 0 };
  char *note = NULL;
  (void)args;
  latch_kv_get(&failed, key_of("note-", key), &note);
  if (!note) return LATCH_DID_NOT_HAPPEN;
  kept(answer, key);
  return LATCH_HAPPENED;
}
/* All calls of a job have one trace id. */
static bool bad_trace(latch_json args, latch_answer *answer) {
  char *trace = latch_get_invocation().trace_id;
  return latch_kv_set(answer, key_of("note-", trace), latch_json_text(args)) && kept(answer, trace);
}
/* Reconcile itself writes a note. The next reconcile finds that note. */
static latch_verdict bad_mark(latch_json args, const char *key, latch_answer *answer) {
  latch_verdict verdict = good_find(args, key, answer);
  latch_kv_set(answer, key_of("note-", key), "asked");
  return verdict;
}

/* The value of a missing key is NULL, so the assertion fails and the tool traps. */
static bool bad_traps(latch_json args, latch_answer *answer) {
  char *note;
  latch_kv_get(answer, "last", &note);
  assert(note);
  (void)args;
  return kept(answer, note);
}
static bool good_traps(latch_json args, latch_answer *answer) {
  char *note;
  (void)args;
  if (!latch_kv_get(answer, "last", &note)) return false;
  return kept(answer, note ? note : "none");
}

/* Log lines are recorded, so a token in a log line is recorded too. */
static bool bad_tells(latch_json args, latch_answer *answer) {
  (void)args;
  char *token = latch_secret(answer, "TOKEN");
  if (!token) return false;
  printf("asking with %s\n", token);
  return kept(answer, "x");
}
static bool good_tells(latch_json args, latch_answer *answer) {
  (void)args;
  char *token = latch_secret(answer, "TOKEN");
  if (!token) return false;
  printf("asking with a token of %zu characters\n", strlen(token));
  return kept(answer, "x");
}

/* The mark is written before the sum. After a kill between the two writes, a repetition finds the mark and adds nothing. */
static bool add(const char *key, bool mark_first, latch_json args, latch_answer *answer) {
  char *mark, *sum;
  if (!latch_kv_get(answer, key, &mark) || !latch_kv_get(answer, "sum", &sum)) return false;
  if (mark) return kept(answer, key);
  (void)args;
  latch_text next = { 0 };
  latch_putf(&next, "%d", (sum ? atoi(sum) : 0) + 5);
  if (mark_first && !latch_kv_set(answer, key, "done")) return false;
  if (!latch_kv_set(answer, mark_first ? "sum" : key, next.bytes)) return false;
  return kept(answer, key);
}
static bool bad_halves(latch_json args, latch_answer *answer) {
  return add(latch_get_invocation().external_key, true, args, answer);
}
static bool good_halves(latch_json args, latch_answer *answer) {
  return add(latch_get_invocation().external_key, false, args, answer);
}

/* The call writes two notes, and reconcile takes the first one for both. */
static bool keep_two(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, key_of("note-", key), latch_json_text(args)) &&
         latch_kv_set(answer, key_of("copy-", key), latch_json_text(args)) && kept(answer, key);
}
static latch_verdict find_copy(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return look(key_of("copy-", key), key, answer);
}

/* An earlier try is no proof of a change. */
static bool bad_trusts(latch_json args, latch_answer *answer) {
  latch_invocation call = latch_get_invocation();
  return (call.tries_before > 0 || latch_kv_set(answer, call.external_key, latch_json_text(args))) &&
         kept(answer, call.external_key);
}

/* By default the code INVALID_INPUT says that the call changed nothing. */
static bool bad_refuses(latch_json args, latch_answer *answer) {
  latch_kv_set(answer, "last", latch_json_text(args));
  return latch_fail(answer, LATCH_INVALID_INPUT, "the text is too short");
}
static bool good_refuses(latch_json args, latch_answer *answer) {
  (void)args;
  return latch_fail(answer, LATCH_INVALID_INPUT, "the text is too short");
}

/* Another call can have had the same arguments. */
static bool keep_last(latch_json args, latch_answer *answer) {
  return latch_kv_set(answer, "last", latch_json_text(args)) && kept(answer, "last");
}
static latch_verdict bad_last(latch_json args, const char *key, latch_answer *answer) {
  char *last;
  (void)key;
  if (!latch_kv_get(answer, "last", &last)) return LATCH_UNKNOWN;
  if (!last || strcmp(last, latch_json_text(args)) != 0) return LATCH_DID_NOT_HAPPEN;
  kept(answer, "last");
  return LATCH_HAPPENED;
}

/* Verify compares the recorded version with the whole note. */
static bool change(latch_json args, latch_answer *answer, bool is_whole) {
  char *key = latch_get_invocation().external_key;
  const char *version = is_whole ? latch_json_text(args) : "1";
  latch_changed(answer, (latch_change){ .resource_type = "note", .resource_id = key, .operation = "create", .version = version });
  return latch_kv_set(answer, key, latch_json_text(args)) && kept(answer, key);
}
static bool bad_version(latch_json args, latch_answer *answer) { return change(args, answer, false); }
static bool good_version(latch_json args, latch_answer *answer) { return change(args, answer, true); }
static const char *compare(latch_change recorded, latch_answer *answer) {
  char *note;
  if (!latch_kv_get(answer, recorded.resource_id, &note)) return "unknown";
  return note && strcmp(note, recorded.version) == 0 ? NULL : "another note";
}

/* A repetition finds the note and returns no change. */
static bool note_once(latch_answer *answer, const char *text, bool is_always) {
  char *key = latch_get_invocation().external_key, *note;
  if (!latch_kv_get(answer, key, &note)) return false;
  if (is_always || !note) latch_changed(answer, (latch_change){ .resource_type = "note", .resource_id = key, .operation = "create" });
  return (note || latch_kv_set(answer, key, text)) && kept(answer, key);
}
static bool bad_returns(latch_json args, latch_answer *answer) { return note_once(answer, latch_json_text(args), false); }
static bool good_returns(latch_json args, latch_answer *answer) { return note_once(answer, latch_json_text(args), true); }

static const char *is_there(latch_change recorded, latch_answer *answer) {
  char *note;
  if (!latch_kv_get(answer, recorded.resource_id, &note)) return "unknown";
  return note ? NULL : "no note";
}

/* The texts of a change are copied, so they can be local. */
static bool good_local(latch_json args, latch_answer *answer) {
  char key[200];
  snprintf(key, sizeof key, "local-%s", latch_get_invocation().external_key);
  latch_changed(answer, (latch_change){ .resource_type = "note", .resource_id = key, .operation = "create" });
  return latch_kv_set(answer, key, latch_json_text(args)) && kept(answer, "local");
}

/* A missing note is not there any more. */
static const char *bad_compare(latch_change recorded, latch_answer *answer) {
  char *note;
  if (!latch_kv_get(answer, recorded.resource_id, &note)) return "unknown";
  return !note || strcmp(note, recorded.version) == 0 ? NULL : "another note";
}

/* A value of the map is no part of the input. */
static bool bad_price(latch_json args, latch_answer *answer) {
  char *price;
  (void)args;
  return latch_kv_get(answer, "price", &price) && kept(answer, price ? price : "none");
}
static bool good_price(latch_json args, latch_answer *answer) { return kept(answer, latch_json_text(args)); }

/* The call writes two notes and counts all calls. */
static bool keep_and_count(latch_json args, latch_answer *answer) {
  char *count;
  if (!latch_kv_get(answer, "count", &count)) return false;
  latch_text next = { 0 };
  latch_putf(&next, "%d", (count ? atoi(count) : 0) + 1);
  return latch_kv_set(answer, "count", next.bytes) && keep_two(args, answer);
}
static bool bad_undo(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  bool was_there;
  (void)args, (void)result;
  return latch_kv_delete(answer, key_of("note-", key), &was_there) && kept(answer, key);
}
/* The call replaced an earlier text, which the undo does not bring back. */
static bool bad_erase(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  bool was_there;
  (void)args, (void)result;
  return latch_kv_delete(answer, "last", &was_there) && kept(answer, key);
}
/* Another party can have removed the entries. */
static bool bad_gone(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  bool was_there;
  return latch_kv_delete(answer, key_of("copy-", key), &was_there) && bad_undo(args, result, key, answer);
}
static bool good_undo(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *copy;
  if (!latch_kv_get(answer, key_of("copy-", key), &copy)) return false;
  if (!copy) return latch_fail(answer, LATCH_POLICY_DENIED, "the copy is gone");
  return bad_gone(args, result, key, answer);
}

/* The second entry can fail after the first one was written. */
static bool good_busy(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  latch_answer failed = { 0 };
  if (!latch_kv_set(answer, key_of("note-", key), latch_json_text(args))) return false;
  if (latch_kv_set(&failed, key_of("copy-", key), latch_json_text(args))) return kept(answer, key);
  latch_fail(answer, LATCH_TRANSIENT_DB_LOCK, "the copies are busy");
  answer->applied_unknown = true;
  return false;
}
/* The earlier write is taken back, but nothing looks at whether that worked. */
static bool bad_back(latch_json args, latch_answer *answer) {
  bool was_there;
  if (good_busy(args, answer)) return true;
  latch_answer ignored = { 0 };
  (void)latch_kv_delete(&ignored, key_of("note-", latch_get_invocation().external_key), &was_there);
  answer->applied_unknown = false;
  return false;
}
/* The first write replaced an earlier text, which is not put back. */
static bool bad_replaced(latch_json args, latch_answer *answer) {
  bool was_there;
  latch_answer failed = { 0 }, ignored = { 0 };
  if (!latch_kv_set(answer, "last", latch_json_text(args))) return false;
  if (latch_kv_set(&failed, "copy", latch_json_text(args))) return kept(answer, "last");
  bool is_back = latch_kv_delete(&ignored, "last", &was_there);
  latch_fail(answer, LATCH_TRANSIENT_DB_LOCK, "the copies are busy");
  answer->applied_unknown = !is_back;
  return false;
}
static bool bad_busy(latch_json args, latch_answer *answer) {
  bool is_done = good_busy(args, answer);
  answer->applied_unknown = false;
  return is_done;
}

/* The entry of the present owner holds the key of its call. */
static bool own(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  (void)args;
  return latch_kv_set(answer, "owner", key) && kept(answer, key);
}
static bool bad_release(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  bool was_there;
  (void)args, (void)result;
  return latch_kv_delete(answer, "owner", &was_there) && kept(answer, key);
}
/* The deletion can fail. */
static bool bad_drop(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  latch_answer failed = { 0 };
  bool was_there;
  char *note;
  (void)args, (void)result;
  if (!latch_kv_get(answer, key_of("note-", key), &note)) return false;
  latch_kv_delete(&failed, key_of("note-", key), &was_there);
  return kept(answer, key);
}
/* Two calls can find the same seat free. */
static bool bad_seat(latch_json args, latch_answer *answer) {
  for (int seat = 1; seat <= 100; seat++) {
    char name[16], *holder;
    snprintf(name, sizeof name, "seat:%d", seat);
    if (!latch_kv_get(answer, name, &holder)) return false;
    if (!holder) return latch_kv_set(answer, name, latch_json_text(args)) && kept(answer, name);
  }
  return latch_fail(answer, LATCH_POLICY_DENIED, "no seat is free");
}
/* The last call replaces what an earlier one wrote. */
static bool good_seat(latch_json args, latch_answer *answer) {
  char *holder;
  (void)args;
  return latch_kv_get(answer, "owner", &holder) && own(args, answer);
}

/* The buffer is shorter than a key. */
static bool bad_cut(latch_json args, latch_answer *answer) {
  char name[32];
  snprintf(name, sizeof name, "note-%s", latch_get_invocation().external_key);
  return latch_kv_set(answer, name, latch_json_text(args)) && kept(answer, name);
}

/* The oldest entries are replaced, and a repetition of their calls writes again. */
static bool bad_ring(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key, *owner, name[16];
  unsigned sum = 0;
  for (const char *c = key; *c; c++) sum = sum * 31 + (unsigned char)*c;
  snprintf(name, sizeof name, "page:%u", sum % 8);
  (void)args;
  if (!latch_kv_get(answer, name, &owner)) return false;
  if (owner && strcmp(owner, key) == 0) return kept(answer, name);
  return latch_kv_set(answer, name, key) && kept(answer, name);
}
static latch_verdict bad_ring_find(latch_json args, const char *key, latch_answer *answer) {
  char *owner;
  (void)args;
  if (!latch_kv_get(answer, "owner", &owner)) return LATCH_UNKNOWN;
  if (!owner || strcmp(owner, key) != 0) return LATCH_DID_NOT_HAPPEN;
  kept(answer, key);
  return LATCH_HAPPENED;
}

/* The present time is another one when reconcile is asked. */
static bool at(latch_answer *answer, long long seconds) {
  latch_putf(&answer->result, "{\"at\":%lld}", seconds);
  return true;
}
static bool stamp(latch_json args, latch_answer *answer) {
  long long now = (long long)time(NULL);
  latch_text text = { 0 };
  (void)args;
  latch_putf(&text, "%lld", now);
  return latch_kv_set(answer, latch_get_invocation().external_key, text.bytes) && at(answer, now);
}
static latch_verdict find_stamp(const char *key, latch_answer *answer, bool is_stored) {
  char *stored;
  if (!latch_kv_get(answer, key, &stored)) return LATCH_UNKNOWN;
  if (!stored) return LATCH_DID_NOT_HAPPEN;
  at(answer, is_stored ? atoll(stored) : (long long)time(NULL));
  return LATCH_HAPPENED;
}
static latch_verdict bad_stamp(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return find_stamp(key, answer, false);
}
static latch_verdict good_stamp(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return find_stamp(key, answer, true);
}

/* The first entry can be read before the second one, which reconcile looks at, is there. */
static char *text_in(latch_json args) { return latch_json_string(latch_json_member(args, "text")); }
static bool publish(latch_json args, latch_answer *answer) {
  char *text = text_in(args), *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, key_of("page-", text), text) && latch_kv_set(answer, key_of("done-", key), text) && kept(answer, key);
}
static latch_verdict bad_publish(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  return look(key_of("done-", key), key, answer);
}
static latch_verdict good_publish(latch_json args, const char *key, latch_answer *answer) {
  latch_verdict verdict = bad_publish(args, key, answer);
  return verdict == LATCH_DID_NOT_HAPPEN ? LATCH_UNKNOWN : verdict;
}
static bool good_page(latch_json args, latch_answer *answer) {
  char *page;
  return latch_kv_get(answer, key_of("page-", text_in(args)), &page) && kept(answer, page ? page : "none");
}

/* The write can fail. */
static bool bad_ignores(latch_json args, latch_answer *answer) {
  latch_answer ignored = { 0 };
  char *key = latch_get_invocation().external_key;
  (void)latch_kv_set(&ignored, key, latch_json_text(args));
  return kept(answer, key);
}

/* An empty text is refused after the first entry was written. */
static bool bad_late(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, key, latch_json_text(args))) return false;
  return *text_in(args) ? kept(answer, key) : latch_fail(answer, LATCH_INVALID_INPUT, "the text is empty");
}

/* A read that fails is taken for a missing entry, which a repetition writes with another time. */
static bool at_first(latch_answer *answer, bool is_error_seen) {
  char *key = latch_get_invocation().external_key, *stored = NULL;
  latch_answer failed = { 0 };
  if (!latch_kv_get(&failed, key, &stored) && is_error_seen) return latch_fail(answer, LATCH_TRANSIENT_DB_LOCK, "no answer");
  if (stored) return at(answer, atoll(stored));
  return stamp((latch_json){ 0 }, answer);
}
static bool bad_blind(latch_json args, latch_answer *answer) {
  (void)args;
  return at_first(answer, false);
}
static bool good_blind(latch_json args, latch_answer *answer) {
  (void)args;
  return at_first(answer, true);
}

/* A tool that declares no effect removes an entry whose time has passed. */
static bool bad_expires(latch_json args, latch_answer *answer) {
  bool was_there;
  if (time(NULL) > 1900000000 && !latch_kv_delete(answer, "pass", &was_there)) return false;
  return kept(answer, text_in(args));
}

/* Another operator can have changed the note. */
static bool note(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, key, text_in(args)) && kept(answer, key);
}
static bool good_edit(latch_json args, latch_answer *answer) {
  char *note = latch_json_string(latch_json_member(args, "key"));
  if (!note || strncmp(note, "latch:", 6) != 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the key is missing");
  latch_changed(answer, (latch_change){ .resource_type = "note", .resource_id = note, .operation = "update", .version = "edited" });
  return latch_kv_set(answer, note, "edited") && kept(answer, note);
}
static bool undo_note(const char *text, const char *key, latch_answer *answer) {
  bool was_there;
  char *note;
  if (!latch_kv_get(answer, key, &note)) return false;
  if (!note || (text && strcmp(note, text) != 0)) return latch_fail(answer, LATCH_POLICY_DENIED, "the note was changed");
  return latch_kv_delete(answer, key, &was_there) && kept(answer, key);
}
static bool bad_unread(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  return undo_note(NULL, key, answer);
}
static bool good_unread(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  return undo_note(text_in(args), key, answer);
}

/* The first entry is deleted before the second one is looked at. */
static bool bad_half(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  bool was_there;
  (void)args, (void)result;
  if (!latch_kv_delete(answer, key_of("note-", key), &was_there)) return false;
  if (!latch_kv_delete(answer, key_of("copy-", key), &was_there)) return false;
  return was_there ? kept(answer, key) : latch_fail(answer, LATCH_POLICY_DENIED, "the copy is not there any more");
}

/* The page of a shelf is replaced by a later call. */
static bool shelve(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key, *at = key_of("shelf-", text_in(args)), *before;
  if (!latch_kv_get(answer, at, &before) || !latch_kv_set(answer, at, key)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "shelf", .resource_id = at, .operation = "update", .version = key });
  latch_put(&answer->result, "{\"before\":");
  latch_put_string(&answer->result, before ? before : "");
  latch_put(&answer->result, "}");
  return true;
}
static bool unshelve(latch_json args, const char *before, const char *key, latch_answer *answer) {
  bool was_there;
  char *at = key_of("shelf-", text_in(args)), *found;
  if (!latch_kv_get(answer, at, &found)) return false;
  if (!found || strcmp(found, key) != 0) return latch_fail(answer, LATCH_POLICY_DENIED, "the shelf was changed");
  return (*before ? latch_kv_set(answer, at, before) : latch_kv_delete(answer, at, &was_there)) && kept(answer, at);
}
static bool bad_shelf(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  return unshelve(args, "", key, answer);
}
static bool good_shelf(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  return unshelve(args, latch_json_string(latch_json_member(result, "before")), key, answer);
}

/* Two calls can find the place free. */
static bool bad_claim(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key, *at = key_of("place-", text_in(args)), *holder;
  if (!latch_kv_get(answer, at, &holder)) return false;
  if (holder && strcmp(holder, key) != 0) return latch_fail(answer, LATCH_POLICY_DENIED, "the place is taken");
  return latch_kv_set(answer, at, key) && kept(answer, at);
}

/* A holder can be blocked during the call. */
static bool pass(latch_json args, latch_answer *answer, bool is_honest) {
  char *holder = latch_json_string(latch_json_member(args, "holder")), *key = latch_get_invocation().external_key, *blocked;
  bool was_there;
  if (!holder) return latch_fail(answer, LATCH_INVALID_INPUT, "the holder is missing");
  if (!latch_kv_get(answer, key_of("block-", holder), &blocked)) return false;
  if (blocked) return latch_fail(answer, LATCH_POLICY_DENIED, "the holder is blocked");
  if (!latch_kv_set(answer, key, holder)) return false;
  bool is_read = latch_kv_get(answer, key_of("block-", holder), &blocked);
  if (is_read && !blocked) return kept(answer, key);
  bool is_deleted = is_read && latch_kv_delete(answer, key, &was_there);
  if (is_read) latch_fail(answer, LATCH_POLICY_DENIED, "the holder was blocked");
  answer->applied_unknown = !is_deleted && (is_honest || !is_read);
  return false;
}
static bool bad_pass(latch_json args, latch_answer *answer) { return pass(args, answer, false); }
static bool good_pass(latch_json args, latch_answer *answer) { return pass(args, answer, true); }
static bool good_block(latch_json args, latch_answer *answer) {
  char *holder = latch_json_string(latch_json_member(args, "holder"));
  if (!holder) return latch_fail(answer, LATCH_INVALID_INPUT, "the holder is missing");
  return latch_kv_set(answer, key_of("block-", holder), "lost") && kept(answer, holder);
}

#define TEXT .input = "{\"type\":\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"}}}"
#define TOOL(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define KEYED .effects = LATCH_INTERNAL_WRITE, .idempotent_by_key_seconds = 86400
#define VERIFIED .effects = LATCH_INTERNAL_WRITE, .verify = compare
#define CONFIRMED .effects = LATCH_INTERNAL_WRITE, .verify = bad_compare
#define UNDONE(by) .effects = LATCH_INTERNAL_WRITE, .compensate = by
#define ASKED(by) .effects = LATCH_INTERNAL_WRITE, .reconcile = by

LATCH_PLUGIN(
  TOOL("Bad.Keyed", bad_keyed, KEYED), TOOL("Good.Keyed", good_keyed, KEYED), TOOL("Bad.Forgets", keep, ASKED(bad_find)),
  TOOL("Bad.Away", keep, ASKED(bad_away)), TOOL("Bad.Trace", bad_trace, KEYED), TOOL("Good.Trace", keep, KEYED),
  TOOL("Good.Asked", keep, ASKED(good_find)), TOOL("Bad.Marks", keep, ASKED(bad_mark)), TOOL("Bad.Traps", bad_traps),
  TOOL("Good.Traps", good_traps), TOOL("Bad.Tells", bad_tells), TOOL("Good.Tells", good_tells),
  TOOL("Bad.Halves", bad_halves, KEYED), TOOL("Good.Halves", good_halves, KEYED),
  TOOL("Bad.Part", keep_two, ASKED(good_find)), TOOL("Good.Part", keep_two, ASKED(find_copy)),
  TOOL("Bad.Trusts", bad_trusts, KEYED), TOOL("Bad.Refuses", bad_refuses, KEYED), TOOL("Good.Refuses", good_refuses, KEYED),
  TOOL("Bad.Last", keep_last, ASKED(bad_last)), TOOL("Bad.Version", bad_version, VERIFIED),
  TOOL("Bad.Undo", keep_two, UNDONE(bad_undo)), TOOL("Good.Undo", keep_two, UNDONE(good_undo)),
  TOOL("Bad.Counts", keep_and_count, UNDONE(good_undo)), TOOL("Bad.Seat", bad_seat, .effects = LATCH_INTERNAL_WRITE),
  TOOL("Good.Seat", good_seat, .effects = LATCH_INTERNAL_WRITE), TOOL("Bad.Cut", bad_cut, KEYED), TOOL("Bad.Ring", bad_ring, KEYED),
  TOOL("Bad.Owner", own, ASKED(bad_ring_find)), TOOL("Bad.Stamp", stamp, ASKED(bad_stamp)), TOOL("Good.Stamp", stamp, ASKED(good_stamp)),
  TOOL("Bad.Publish", publish, TEXT, ASKED(bad_publish)), TOOL("Good.Publish", publish, TEXT, ASKED(good_publish)),
  TOOL("Good.Page", good_page, TEXT), TOOL("Bad.Blind", bad_blind, KEYED), TOOL("Good.Blind", good_blind, KEYED),
  TOOL("Bad.Expires", bad_expires, TEXT), TOOL("Bad.Unread", note, TEXT, UNDONE(bad_unread)),
  TOOL("Good.Unread", note, TEXT, UNDONE(good_unread)), TOOL("Good.Edit", good_edit, VERIFIED),
  TOOL("Bad.Shelf", shelve, TEXT, VERIFIED, .compensate = bad_shelf),
  TOOL("Good.Shelf", shelve, TEXT, VERIFIED, .compensate = good_shelf),
  TOOL("Bad.Label", shelve, TEXT, .effects = LATCH_INTERNAL_WRITE, .verify = is_there), TOOL("Good.Label", shelve, TEXT, VERIFIED),
  TOOL("Bad.Claim", bad_claim, TEXT, .effects = LATCH_INTERNAL_WRITE),
  TOOL("Bad.Pass", bad_pass, .effects = LATCH_INTERNAL_WRITE), TOOL("Good.Pass", good_pass, .effects = LATCH_INTERNAL_WRITE),
  TOOL("Good.Block", good_block, .effects = LATCH_INTERNAL_WRITE),
  TOOL("Bad.Half", keep_two, UNDONE(bad_half)), TOOL("Bad.Ignores", bad_ignores, .effects = LATCH_INTERNAL_WRITE),
  TOOL("Bad.Late", bad_late, TEXT, .effects = LATCH_INTERNAL_WRITE), TOOL("Bad.Gone", keep_two, UNDONE(bad_gone)), TOOL("Bad.Busy", bad_busy, .effects = LATCH_INTERNAL_WRITE),
  TOOL("Bad.Back", bad_back, .effects = LATCH_INTERNAL_WRITE), TOOL("Bad.Replaced", bad_replaced, .effects = LATCH_INTERNAL_WRITE),
  TOOL("Good.Busy", good_busy, .effects = LATCH_INTERNAL_WRITE), TOOL("Bad.Erases", keep_last, UNDONE(bad_erase)), TOOL("Bad.Release", own, UNDONE(bad_release)),
  TOOL("Bad.Drop", keep, UNDONE(bad_drop)),
  TOOL("Good.Version", good_version, VERIFIED), TOOL("Bad.Confirms", good_version, CONFIRMED),
  TOOL("Good.Local", good_local, .effects = LATCH_INTERNAL_WRITE, .verify = is_there), TOOL("Bad.Returns", bad_returns, KEYED, .verify = is_there), TOOL("Good.Returns", good_returns, KEYED, .verify = is_there), TOOL("Bad.Price", bad_price, .determinism = LATCH_PURE),
  TOOL("Good.Price", good_price, .determinism = LATCH_PURE));
