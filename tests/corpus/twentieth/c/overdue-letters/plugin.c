/* Overdue.Remind: reminds the readers of a library of the books that they have to bring back. */
#include "latchwork.h"

typedef struct {
  char *reader, *book, *due;
  char *key;
} loan;

/* Reads one loan, with the key under which its reminder is sent once. Returns false if a field is missing. */
static bool read_loan(latch_json from, int64_t level, loan *into) {
  into->reader = latch_json_string(latch_json_member(from, "reader"));
  into->book = latch_json_string(latch_json_member(from, "book"));
  into->due = latch_json_string(latch_json_member(from, "due"));
  if (!into->reader || !*into->reader || !into->book || !*into->book || !into->due || !*into->due) return false;
  latch_text key = { 0 };
  latch_putf(&key, "[\"overdue\",%lld,", (long long)level);
  latch_put_string(&key, into->reader);
  latch_put(&key, ",");
  latch_put_string(&key, into->book);
  latch_put(&key, ",");
  latch_put_string(&key, into->due);
  latch_put(&key, "]");
  into->key = key.bytes;
  return true;
}

static char *letter(const loan *one, int64_t level) {
  latch_text args = { 0 };
  latch_put(&args, "{\"to\":");
  latch_put_string(&args, one->reader);
  latch_put(&args, ",\"book\":");
  latch_put_string(&args, one->book);
  latch_put(&args, ",\"due\":");
  latch_put_string(&args, one->due);
  latch_putf(&args, ",\"level\":%lld}", (long long)level);
  return args.bytes;
}

static bool remind(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "loans");
  size_t count = latch_json_count(list);
  int64_t level;
  if (!latch_json_integer(latch_json_member(input, "level"), &level) || level < 1 || level > 3)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the level of a reminder is 1, 2 or 3");

  loan *loans = latch_room(count * sizeof *loans);
  for (size_t i = 0; i < count; i++) {
    if (!read_loan(latch_json_item(list, i), level, &loans[i]))
      return latch_fail(answer, LATCH_INVALID_INPUT, "loan %zu is not complete", i + 1);
    for (size_t k = 0; k < i; k++)
      if (strcmp(loans[k].key, loans[i].key) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "%s is listed twice for one reader", loans[i].book);
  }

  /* A letter that cannot be sent is listed for the desk, and the next letter follows. */
  latch_text open = { 0 };
  size_t sent = 0;
  for (size_t i = 0; i < count; i++) {
    if (latch_call(answer, "Letter.Remind", letter(&loans[i], level), loans[i].key)) {
      sent++;
      continue;
    }
    latch_log(LATCH_WARN, "loan %zu: %s", i + 1, answer->message);
    if (open.len) latch_put(&open, ",");
    latch_put(&open, "{\"book\":");
    latch_put_string(&open, loans[i].book);
    latch_put(&open, ",\"reason\":");
    latch_put_string(&open, answer->message);
    latch_put(&open, "}");
  }
  latch_putf(&answer->result, "{\"sent\":%zu,\"open\":[%s]}", sent, open.len ? open.bytes : "");
  return true;
}

LATCH_PLUGIN({
  .name = "Overdue.Remind",
  .description = "Reminds readers of overdue books.",
  .input = "{\"type\":\"object\",\"properties\":{\"level\":{\"type\":\"integer\"},"
           "\"loans\":{\"type\":\"array\",\"maxItems\":200,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"reader\":{\"type\":\"string\"},\"book\":{\"type\":\"string\"},\"due\":{\"type\":\"string\"}},"
           "\"required\":[\"reader\",\"book\",\"due\"],\"additionalProperties\":false}}},"
           "\"required\":[\"level\",\"loans\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"sent\",\"open\"]}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = remind,
});
