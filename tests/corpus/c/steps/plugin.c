/* Corpus of steps written in typical C. Each bad_* step breaks a rule of the checker.
   The good_* step next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <assert.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static char *text_of(latch_json input) { return latch_json_string(latch_json_member(input, "text")); }

static int64_t number_of(latch_json input) {
  int64_t n = 0;
  latch_json_integer(latch_json_member(input, "n"), &n);
  return n;
}

static bool give(latch_answer *answer, const char *key, const char *text) {
  latch_put(&answer->result, "{");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ":");
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}

static bool give_number(latch_answer *answer, const char *key, long long number) {
  latch_putf(&answer->result, "{\"%s\":%lld}", key, number);
  return true;
}

/* bad_stack sums stale stack memory: only the first byte of its buffer is written. */
__attribute__((noinline)) static long long sum(const volatile unsigned char *bytes, size_t count) {
  long long total = 0;
  for (size_t i = 0; i < count; i++) total += bytes[i];
  return total;
}
static bool bad_stack(latch_json input, latch_answer *answer) {
  volatile unsigned char line[600];
  line[0] = (unsigned char)*text_of(input);
  return give_number(answer, "sum", sum(line, sizeof line));
}
static bool good_stack(latch_json input, latch_answer *answer) {
  volatile unsigned char line[600] = { 0 };
  line[0] = (unsigned char)*text_of(input);
  return give_number(answer, "sum", sum(line, sizeof line));
}

/* malloc does not clear the memory, so the sum depends on old contents of the memory. */
static bool bad_heap(latch_json input, latch_answer *answer) {
  size_t count = (size_t)number_of(input) * 100;
  return give_number(answer, "sum", sum(malloc(count), count));
}
static bool good_heap(latch_json input, latch_answer *answer) {
  int64_t n = number_of(input);
  if (n < 1 || n > 1000) return latch_fail(answer, LATCH_INVALID_INPUT, "n is not between 1 and 1000");
  size_t count = (size_t)n * 100;
  return give_number(answer, "sum", sum(calloc(count, 1), count));
}

/* An address used as an id changes when the guest is compiled again. */
static bool bad_handle(latch_json input, latch_answer *answer) {
  char name[32];
  snprintf(name, sizeof name, "%p", (void *)text_of(input));
  return give(answer, "handle", name);
}
static bool good_handle(latch_json input, latch_answer *answer) {
  char *text = text_of(input);
  return give_number(answer, "length", strchr(text, 0) - text);
}

/* The bucket depends on the addresses of the words. */
static bool bad_bucket(latch_json input, latch_answer *answer) {
  latch_json words = latch_json_member(input, "words");
  uint32_t mixed = 0;
  for (size_t i = 0; i < latch_json_count(words); i++) {
    char *word = latch_json_string(latch_json_item(words, i));
    mixed = mixed * 31 + (uint32_t)((uintptr_t)word >> 4) % 101;
  }
  return give_number(answer, "bucket", mixed % 1009);
}
static bool good_bucket(latch_json input, latch_answer *answer) {
  latch_json words = latch_json_member(input, "words");
  uint32_t mixed = 0;
  for (size_t i = 0; i < latch_json_count(words); i++) {
    for (const char *at = latch_json_string(latch_json_item(words, i)); *at; at++) mixed = mixed * 31 + (uint8_t)*at;
  }
  return give_number(answer, "bucket", mixed % 1009);
}

/* The counter is always 1, because each run starts with new memory. */
static int reports;
static bool bad_count(latch_json input, latch_answer *answer) {
  (void)input;
  return give_number(answer, "report", ++reports);
}
static int letters;
static bool good_count(latch_json input, latch_answer *answer) {
  letters = 0;
  for (const char *at = text_of(input); *at; at++) letters++;
  return give_number(answer, "letters", letters);
}

/* Bad.Stamp declares this function pure, which is wrong. Good.Stamp declares the same function stable, which
   is correct. */
static bool stamp(latch_json input, latch_answer *answer) {
  (void)input;
  return give_number(answer, "at", (long long)time(NULL));
}

static bool bad_seed(latch_json input, latch_answer *answer) {
  (void)input;
  srand((unsigned)time(NULL));
  return give_number(answer, "drawn", rand());
}
static bool good_seed(latch_json input, latch_answer *answer) {
  (void)input;
  srand(7);
  return give_number(answer, "drawn", rand());
}

/* An assertion must not depend on the input, which can be any JSON value. */
static bool bad_assert(latch_json input, latch_answer *answer) {
  size_t count = latch_json_count(latch_json_member(input, "words"));
  assert(count > 0);
  return give_number(answer, "count", (long long)count);
}
static bool good_assert(latch_json input, latch_answer *answer) {
  size_t count = latch_json_count(latch_json_member(input, "words"));
  if (!count) return latch_fail(answer, LATCH_INVALID_INPUT, "there are no words");
  return give_number(answer, "count", (long long)count);
}

static bool bad_divide(latch_json input, latch_answer *answer) { return give_number(answer, "share", 100 / number_of(input)); }
static bool good_divide(latch_json input, latch_answer *answer) {
  if (!number_of(input)) return latch_fail(answer, LATCH_INVALID_INPUT, "the divisor is zero");
  return give_number(answer, "share", 100 / number_of(input));
}

/* The stack depth depends on the host and is not recorded in the log. */
__attribute__((noinline)) static int64_t down(volatile int64_t n) { return n == 0 ? 0 : down(n - 1) + (n & 1); }
static bool bad_depth(latch_json input, latch_answer *answer) { return give_number(answer, "odd", down(number_of(input))); }
static bool good_depth(latch_json input, latch_answer *answer) {
  int64_t odd = 0;
  for (int64_t n = number_of(input); n > 0; n--) odd += n & 1;
  return give_number(answer, "odd", odd);
}

/* The clock of a step advances only when a tool answers or the step sleeps, so this loop never ends. */
static bool bad_wait(latch_json input, latch_answer *answer) {
  time_t until = time(NULL) + number_of(input);
  while (time(NULL) < until) {}
  return give_number(answer, "waited", number_of(input));
}
static bool good_wait(latch_json input, latch_answer *answer) {
  time_t began = time(NULL);
  sleep((unsigned)number_of(input));
  return give_number(answer, "waited", (long long)(time(NULL) - began));
}

/* Writes JSON without escaping the text. */
static bool bad_json(latch_json input, latch_answer *answer) {
  latch_putf(&answer->result, "{\"text\":\"%s\"}", text_of(input));
  return true;
}
static bool good_json(latch_json input, latch_answer *answer) { return give(answer, "text", text_of(input)); }

static bool bad_event(latch_json input, latch_answer *answer) {
  latch_emit("drafted", text_of(input));
  return give(answer, "text", "drafted");
}
static bool good_event(latch_json input, latch_answer *answer) {
  latch_emit("drafted", latch_json_text(latch_json_member(input, "text")));
  return give(answer, "text", "drafted");
}

/* The result of a failed call is NULL, so the assertion fails and the step traps. */
static bool bad_answer(latch_json input, latch_answer *answer) {
  char *page = latch_call(answer, "Web.Fetch", latch_json_text(input), NULL);
  assert(page);
  return give(answer, "page", page);
}
static bool good_answer(latch_json input, latch_answer *answer) {
  char *page = latch_call(answer, "Web.Fetch", latch_json_text(input), NULL);
  return page && give(answer, "page", page);
}

/* The second call has the action key of the first one and other arguments, so a host refuses it. */
static bool notify(const char *second_key, latch_answer *answer) {
  char *ada = latch_call(answer, "Mail.Send", "{\"to\":\"ada\"}", "shipped");
  char *bob = ada ? latch_call(answer, "Mail.Send", "{\"to\":\"bob\"}", second_key) : NULL;
  return bob && give(answer, "text", "sent");
}
static bool bad_shared(latch_json input, latch_answer *answer) {
  (void)input;
  return notify("shipped", answer);
}
static bool good_shared(latch_json input, latch_answer *answer) {
  (void)input;
  return notify("shipped-bob", answer);
}

/* Without an answer, the output depends on the clock. */
static bool bad_estimate(latch_json input, latch_answer *answer) {
  char *page = latch_call(answer, "Web.Fetch", latch_json_text(input), NULL);
  if (page) latch_put(&answer->result, page);
  else latch_putf(&answer->result, "{\"text\":\"estimated at %lld\"}", (long long)time(NULL));
  return true;
}
static bool good_estimate(latch_json input, latch_answer *answer) {
  char *page = latch_call(answer, "Web.Fetch", latch_json_text(input), NULL);
  latch_put(&answer->result, page ? page : "{\"text\":\"estimated\"}");
  return true;
}

/* Without an answer, the id of the job is read for the log. */
static bool bad_sigh(latch_json input, latch_answer *answer) {
  char *page = latch_call(answer, "Web.Fetch", latch_json_text(input), NULL);
  if (!page) latch_log(LATCH_WARN, "no page for %s", latch_get_context().job_id);
  latch_put(&answer->result, page ? page : "{\"text\":\"none\"}");
  return true;
}

/* The day is in the mail and not in its key. */
static bool remind(latch_answer *answer, const char *day) {
  latch_text args = { 0 };
  latch_put(&args, "{\"to\":\"ada\",\"due\":");
  latch_put_string(&args, day);
  latch_put(&args, "}");
  char *sent = latch_call(answer, "Mail.Send", args.bytes, "dues");
  if (sent) latch_put(&answer->result, "{}");
  return sent;
}
static bool bad_due(latch_json input, latch_answer *answer) {
  char day[16];
  time_t now = time(NULL);
  (void)input;
  strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
  return remind(answer, day);
}
static bool good_due(latch_json input, latch_answer *answer) {
  return remind(answer, latch_json_string(latch_json_member(input, "text")));
}

/* The schema has no shift for the hours of the night. */
static bool shift(latch_answer *answer, const char *at_night) {
  time_t now = time(NULL);
  int hour = gmtime(&now)->tm_hour;
  return give(answer, "shift", hour < 6 || hour >= 22 ? at_night : hour < 14 ? "early" : "late");
}
static bool bad_shift(latch_json input, latch_answer *answer) {
  (void)input;
  return shift(answer, "closed");
}
static bool good_shift(latch_json input, latch_answer *answer) {
  (void)input;
  return shift(answer, "night");
}

/* Words of equal weight are ordered by the buckets of their addresses. */
typedef struct {
  char *word;
  int64_t weight;
} weighed;
static int by_address(const void *a, const void *b) {
  const weighed *one = a, *two = b;
  if (one->weight != two->weight) return one->weight < two->weight ? -1 : 1;
  return (uintptr_t)one->word % 101 < (uintptr_t)two->word % 101 ? -1 : 1;
}
static int by_text(const void *a, const void *b) {
  const weighed *one = a, *two = b;
  if (one->weight != two->weight) return one->weight < two->weight ? -1 : 1;
  return strcmp(one->word, two->word);
}
static bool heaviest(latch_json input, latch_answer *answer, int (*compare)(const void *, const void *)) {
  latch_json words = latch_json_member(input, "words");
  weighed list[50];
  size_t count = latch_json_count(words);
  if (!count || count > 50) return latch_fail(answer, LATCH_INVALID_INPUT, "1 to 50 words are needed");
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(words, i);
    list[i].word = latch_json_string(latch_json_member(item, "word"));
    list[i].weight = 0;
    latch_json_integer(latch_json_member(item, "weight"), &list[i].weight);
    if (!list[i].word) return latch_fail(answer, LATCH_INVALID_INPUT, "a word is missing");
  }
  qsort(list, count, sizeof *list, compare);
  return give(answer, "word", list[0].word);
}
static bool bad_tie(latch_json input, latch_answer *answer) { return heaviest(input, answer, by_address); }
static bool good_tie(latch_json input, latch_answer *answer) { return heaviest(input, answer, by_text); }

/* A character can have several bytes. */
static bool clip(latch_json input, latch_answer *answer, bool is_whole) {
  char *text = text_of(input);
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing");
  size_t length = strlen(text);
  if (length > 10) length = 10;
  while (is_whole && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
  text[length] = 0;
  return give(answer, "text", text);
}
static bool bad_clip(latch_json input, latch_answer *answer) { return clip(input, answer, false); }
static bool good_clip(latch_json input, latch_answer *answer) { return clip(input, answer, true); }

/* The call can take no time. */
static bool bad_speed(latch_json input, latch_answer *answer) {
  struct timespec before, after;
  clock_gettime(CLOCK_REALTIME, &before);
  char *page = latch_call(answer, "Web.Fetch", latch_json_text(input), NULL);
  if (!page) return false;
  clock_gettime(CLOCK_REALTIME, &after);
  double seconds = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
  latch_putf(&answer->result, "{\"speed\":%.3f}", (double)strlen(page) / seconds);
  return true;
}

/* The time is read for an empty text alone. */
static bool bad_blank(latch_json input, latch_answer *answer) {
  char *text = text_of(input);
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing");
  return *text ? give(answer, "text", text) : give_number(answer, "at", (long long)time(NULL));
}

/* A status that is not "done" is waited for by the clock, which stands still. */
static bool watch(latch_json input, latch_answer *answer, bool is_waiting) {
  for (int round = 0; round < 3; round++) {
    char *said = latch_call(answer, "Job.Status", latch_json_text(input), NULL);
    if (!said) return false;
    if (strcmp(said, "\"done\"") == 0) return give(answer, "text", "done");
    time_t until = time(NULL) + 1;
    while (is_waiting && time(NULL) < until) {}
  }
  return give(answer, "text", "not done");
}
static bool bad_watch(latch_json input, latch_answer *answer) { return watch(input, answer, true); }
static bool good_watch(latch_json input, latch_answer *answer) { return watch(input, answer, false); }

/* The largest area within the limits has no exact number. */
static bool area(latch_json input, latch_answer *answer, int64_t limit) {
  int64_t wide = 0, high = 0;
  latch_json_integer(latch_json_member(input, "wide"), &wide);
  latch_json_integer(latch_json_member(input, "high"), &high);
  if (wide < 1 || wide > limit || high < 1 || high > limit) return latch_fail(answer, LATCH_INVALID_INPUT, "not within the limits");
  return give_number(answer, "area", wide * high);
}
static bool bad_area(latch_json input, latch_answer *answer) { return area(input, answer, 300000000); }
static bool good_area(latch_json input, latch_answer *answer) { return area(input, answer, 90000000); }

/* The cells of an area are visited by a recursion without a bound. */
static int64_t flood(char **rows, int64_t count, int64_t row, int64_t column) {
  if (row < 0 || row >= count || column < 0 || column >= (int64_t)strlen(rows[row]) || rows[row][column] != '~') return 0;
  rows[row][column] = '.';
  return 1 + flood(rows, count, row + 1, column) + flood(rows, count, row - 1, column) + flood(rows, count, row, column + 1) +
         flood(rows, count, row, column - 1);
}
static bool bad_flood(latch_json input, latch_answer *answer) {
  latch_json map = latch_json_member(input, "map");
  int64_t count = (int64_t)latch_json_count(map);
  if (count < 1 || count > 300) return latch_fail(answer, LATCH_INVALID_INPUT, "1 to 300 rows are needed");
  char *rows[300];
  for (int64_t i = 0; i < count; i++) {
    rows[i] = latch_json_string(latch_json_item(map, (size_t)i));
    if (!rows[i]) return latch_fail(answer, LATCH_INVALID_INPUT, "a row is no text");
  }
  return give_number(answer, "cells", flood(rows, count, 0, 0));
}

/* Parentheses are read by a recursion without a bound. */
static int64_t depth(const char **at, int64_t levels) {
  int64_t most = 0;
  if (!levels) return 0;
  for (; **at && **at != ')'; ++*at) {
    if (**at != '(') continue;
    ++*at;
    int64_t inner = 1 + depth(at, levels - 1);
    if (inner > most) most = inner;
    if (!**at) break;
  }
  return most;
}
static bool nested(latch_json input, latch_answer *answer, int64_t levels) {
  const char *text = text_of(input);
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "the text is missing");
  return give_number(answer, "depth", depth(&text, levels));
}
static bool bad_nested(latch_json input, latch_answer *answer) { return nested(input, answer, INT64_MAX); }
static bool good_nested(latch_json input, latch_answer *answer) { return nested(input, answer, 100); }

/* A remark can have the name of another column. */
static bool bad_columns(latch_json input, latch_answer *answer) {
  char *remarks = latch_json_text(latch_json_member(input, "remarks"));
  if (remarks[0] != '{' || remarks[1] == '}') return latch_fail(answer, LATCH_INVALID_INPUT, "remarks are missing");
  latch_putf(&answer->result, "{\"title\":\"page\",%s", remarks + 1);
  return true;
}
static bool good_columns(latch_json input, latch_answer *answer) {
  latch_putf(&answer->result, "{\"title\":\"page\",\"remarks\":%s}", latch_json_text(latch_json_member(input, "remarks")));
  return true;
}

/* The number of an order of words has no exact number if there are many words. */
static bool orders(latch_json input, latch_answer *answer, size_t most) {
  size_t count = latch_json_count(latch_json_member(input, "words"));
  if (!count || count > most) return latch_fail(answer, LATCH_INVALID_INPUT, "too few or too many words");
  long long all = 1;
  for (size_t i = 2; i <= count; i++) all *= (long long)i;
  return give_number(answer, "last", all - 1);
}
static bool bad_orders(latch_json input, latch_answer *answer) { return orders(input, answer, 20); }
static bool good_orders(latch_json input, latch_answer *answer) { return orders(input, answer, 18); }

/* Words are put into bins, by their addresses or by their letters. Two words are seldom in another order. */
static bool bins(latch_json input, latch_answer *answer, bool by_address) {
  latch_json words = latch_json_member(input, "words");
  size_t count = latch_json_count(words);
  char *table[128] = { 0 };
  if (count > 64) return latch_fail(answer, LATCH_INVALID_INPUT, "at most 64 words are possible");
  for (size_t i = 0; i < count; i++) {
    char *word = latch_json_string(latch_json_item(words, i));
    if (!word) return latch_fail(answer, LATCH_INVALID_INPUT, "a word is missing");
    size_t at = by_address ? ((uintptr_t)word >> 3) % 128 : (size_t)(unsigned char)word[0] % 128;
    while (table[at]) at = (at + 1) % 128;
    table[at] = word;
  }
  latch_text all = { 0 };
  latch_put(&all, "");
  for (size_t i = 0; i < 128; i++)
    if (table[i]) latch_putf(&all, "%s ", table[i]);
  return give(answer, "words", all.bytes);
}
static bool bad_bins(latch_json input, latch_answer *answer) { return bins(input, answer, true); }
static bool good_bins(latch_json input, latch_answer *answer) { return bins(input, answer, false); }

/* Many rounds use all fuel. The largest number of seats has no exact price. */
static bool seats(latch_json input, latch_answer *answer, int64_t price) {
  int64_t rounds = 0, count = 0;
  latch_json_integer(latch_json_member(input, "rounds"), &rounds);
  latch_json_integer(latch_json_member(input, "seats"), &count);
  if (count < 1 || count > 90000000) return latch_fail(answer, LATCH_INVALID_INPUT, "too few or too many seats");
  volatile int64_t round = 0;
  while (round < rounds) round++;
  return give_number(answer, "price", count * price + 1);
}
static bool bad_seats(latch_json input, latch_answer *answer) { return seats(input, answer, 300000000); }
static bool good_seats(latch_json input, latch_answer *answer) { return seats(input, answer, 3); }

#define REMARKS .input = "{\"type\":\"object\",\"properties\":{\"remarks\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}}}", \
    .output = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"}}}"
#define SHIFTS "{\"type\":\"object\",\"properties\":{\"shift\":{\"enum\":[\"early\",\"late\",\"night\"]}}}"
#define STEP(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }

LATCH_PLUGIN(
  STEP("Bad.Stack", bad_stack), STEP("Good.Stack", good_stack), STEP("Bad.Heap", bad_heap), STEP("Good.Heap", good_heap),
  STEP("Bad.Handle", bad_handle), STEP("Good.Handle", good_handle), STEP("Bad.Bucket", bad_bucket),
  STEP("Good.Bucket", good_bucket), STEP("Bad.Count", bad_count), STEP("Good.Count", good_count),
  STEP("Bad.Stamp", stamp, .determinism = LATCH_PURE), STEP("Good.Stamp", stamp, .determinism = LATCH_STABLE),
  STEP("Bad.Seed", bad_seed), STEP("Good.Seed", good_seed), STEP("Bad.Assert", bad_assert), STEP("Good.Assert", good_assert),
  STEP("Bad.Divide", bad_divide), STEP("Good.Divide", good_divide), STEP("Bad.Depth", bad_depth), STEP("Good.Depth", good_depth),
  STEP("Bad.Wait", bad_wait, .determinism = LATCH_STABLE), STEP("Good.Wait", good_wait, .determinism = LATCH_STABLE),
  STEP("Bad.Json", bad_json), STEP("Good.Json", good_json), STEP("Bad.Event", bad_event), STEP("Good.Event", good_event),
  STEP("Bad.Answer", bad_answer, .determinism = LATCH_EXTERNAL), STEP("Good.Answer", good_answer, .determinism = LATCH_EXTERNAL),
  STEP("Bad.Shared", bad_shared, .determinism = LATCH_EXTERNAL), STEP("Good.Shared", good_shared, .determinism = LATCH_EXTERNAL),
  STEP("Bad.Estimate", bad_estimate), STEP("Good.Estimate", good_estimate), STEP("Bad.Sigh", bad_sigh),
  STEP("Bad.Shift", bad_shift, .determinism = LATCH_STABLE, .output = SHIFTS),
  STEP("Good.Shift", good_shift, .determinism = LATCH_STABLE, .output = SHIFTS), STEP("Bad.Tie", bad_tie), STEP("Good.Tie", good_tie),
  STEP("Bad.Clip", bad_clip), STEP("Good.Clip", good_clip), STEP("Bad.Speed", bad_speed, .determinism = LATCH_EXTERNAL),
  STEP("Bad.Watch", bad_watch, .determinism = LATCH_EXTERNAL), STEP("Good.Watch", good_watch, .determinism = LATCH_EXTERNAL),
  STEP("Bad.Area", bad_area), STEP("Good.Area", good_area), STEP("Bad.Flood", bad_flood), STEP("Bad.Blank", bad_blank), STEP("Bad.Nested", bad_nested),
  STEP("Bad.Seats", bad_seats), STEP("Good.Seats", good_seats), STEP("Bad.Orders", bad_orders), STEP("Good.Orders", good_orders), STEP("Bad.Bins", bad_bins), STEP("Good.Bins", good_bins),
  STEP("Good.Nested", good_nested), STEP("Bad.Columns", bad_columns, REMARKS),
  STEP("Good.Columns", good_columns, REMARKS), STEP("Bad.Due", bad_due, .determinism = LATCH_EXTERNAL), STEP("Good.Due", good_due, .determinism = LATCH_EXTERNAL));
