#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

/* A loan that is late by more than this number of days gets a letter. */
enum { PATIENCE = 30 };

static bool review(latch_json input, latch_answer *answer) {
  char *reader = latch_json_string(latch_json_member(input, "reader"));
  char *address = latch_json_string(latch_json_member(input, "address"));
  char *week = latch_json_string(latch_json_member(input, "week"));
  if (!reader || !address || !week) return latch_fail(answer, LATCH_INVALID_INPUT, "reader, address and week are texts");
  latch_json loans = latch_json_member(input, "loans");
  size_t count = latch_json_count(loans), late = 0;
  int64_t cents = 0;
  latch_text titles = { 0 };
  for (size_t i = 0; i < count; i++) {
    latch_json loan = latch_json_item(loans, i);
    char *title = latch_json_string(latch_json_member(loan, "title"));
    int64_t days;
    if (!title || !latch_json_integer(latch_json_member(loan, "days_late"), &days))
      return latch_fail(answer, LATCH_INVALID_INPUT, "loan %zu has no title or no days", i);
    cents += days * 10;
    if (days <= PATIENCE) continue;
    latch_putf(&titles, "%s- %s", late ? "\n" : "", title);
    late++;
  }

  char *letter = NULL;
  if (late > 0) {
    latch_text args = { 0 }, key = { 0 }, text = { 0 };
    latch_putf(&text, "Dear %s,\nplease return:\n%s", reader, titles.bytes);
    latch_put(&args, "{\"to\":");
    latch_put_string(&args, address);
    latch_put(&args, ",\"subject\":\"Your loans\",\"text\":");
    latch_put_string(&args, text.bytes);
    latch_put(&args, "}");
    latch_put(&key, "[\"loan letter\",");
    latch_put_string(&key, week);
    latch_put(&key, ",");
    latch_put_string(&key, address);
    latch_put(&key, ",");
    latch_put_string(&key, text.bytes);
    latch_put(&key, "]");
    char *reply = latch_call(answer, "Mail.Send", args.bytes, key.bytes);
    if (!reply) return false;
    letter = latch_json_string(latch_json_member(latch_json_of(reply), "id"));
    if (!letter) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the letter has no id");
  }
  latch_putf(&answer->result, "{\"loans\":%zu,\"late\":%zu,\"fee_cents\":%lld,\"letter\":", count, late, (long long)cents);
  if (letter) latch_put_string(&answer->result, letter);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Loans.Review",
  .description = "Reviews the loans of a reader, and writes to the reader about loans that are very late.",
  .input = JSON({"type":"object","required":["reader","address","week","loans"],"additionalProperties":false,"properties":{
    "reader":{"type":"string","minLength":1,"maxLength":80},
    "address":{"type":"string","minLength":3,"maxLength":120},
    "week":{"type":"string","pattern":"^[0-9]{4}-W[0-9]{2}$"},
    "loans":{"type":"array","maxItems":200,"items":{"type":"object","required":["title","days_late"],"additionalProperties":false,"properties":{
      "title":{"type":"string","minLength":1,"maxLength":200},"days_late":{"type":"integer","minimum":0,"maximum":5000}}}}}}),
  .output = JSON({"type":"object","required":["loans","late","fee_cents","letter"],"additionalProperties":false,"properties":{
    "loans":{"type":"integer"},"late":{"type":"integer"},"fee_cents":{"type":"integer"},"letter":{"type":["string","null"]}}}),
  .outcome_type = "Review.Loans",
  .outcome_status = "final",
  .effects = LATCH_PRODUCE_OUTCOME,
  .determinism = LATCH_EXTERNAL,
  .handler = review,
});
