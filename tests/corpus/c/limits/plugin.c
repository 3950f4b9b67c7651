/* Corpus of steps whose mistake shows at the limits of their schema alone. Each bad_* step breaks a rule of the checker. The
   good_* step next to it looks similar and breaks no rule. */
#include <ctype.h>

#include "latchwork.h"

/* A number in a list. */
typedef struct number {
  int64_t value;
  struct number *next;
} number;

/* Reads the numbers of an array into a list. Returns their count. */
static size_t numbers(latch_json array, number **list) {
  size_t count = 0;
  const char *at = latch_json_space(array.at + 1);
  while (*at && *at != ']') {
    number *made = latch_room(sizeof *made);
    *made = (number){ 0 };
    latch_json_integer((latch_json){ at }, &made->value);
    *list = made;
    list = &made->next;
    count++;
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  return count;
}

/* Needs a level of the stack for each number. */
static number *merged(number *left, number *right) {
  if (!left || !right) return left ? left : right;
  number *first = right->value > left->value ? right : left;
  if (first == right) right->next = merged(left, right->next);
  else left->next = merged(left->next, right);
  return first;
}
static number *merged_in_loop(number *left, number *right) {
  number *all = NULL, **end = &all;
  while (left && right) {
    number **first = right->value > left->value ? &right : &left;
    *end = *first;
    end = &(*first)->next;
    *first = (*first)->next;
  }
  *end = left ? left : right;
  return all;
}
static number *sorted(number *list, size_t count, bool loops) {
  if (count < 2) return list;
  number *last = list;
  for (size_t i = 1; i < count / 2; i++) last = last->next;
  number *rest = last->next;
  last->next = NULL;
  number *left = sorted(list, count / 2, loops), *right = sorted(rest, count - count / 2, loops);
  return loops ? merged_in_loop(left, right) : merged(left, right);
}
static bool heaviest(latch_json input, latch_answer *answer, bool loops) {
  number *list = NULL;
  size_t count = numbers(latch_json_member(input, "blocks"), &list);
  list = sorted(list, count, loops);
  latch_putf(&answer->result, "{\"heaviest\":%lld}", (long long)(list ? list->value : 0));
  return true;
}
static bool bad_heaviest(latch_json input, latch_answer *answer) { return heaviest(input, answer, false); }
static bool good_heaviest(latch_json input, latch_answer *answer) { return heaviest(input, answer, true); }

/* Draws a ticket. The bad step reads a random number for each ticket. No ticket is there twice. */
static bool raffle(latch_json input, latch_answer *answer, bool draws_once) {
  static bool taken[16001];
  memset(taken, 0, sizeof taken);
  number *list = NULL;
  size_t count = numbers(latch_json_member(input, "tickets"), &list), nth = 0;
  for (number *one = list; one; one = one->next) {
    if (taken[one->value]) return latch_fail(answer, LATCH_INVALID_INPUT, "a ticket is there twice");
    taken[one->value] = true;
  }
  int64_t winner = list->value;
  if (draws_once) nth = latch_below((uint32_t)count);
  size_t place = 0;
  for (number *one = list; one; one = one->next, place++)
    if (draws_once ? place == nth : latch_below((uint32_t)place + 1) == 0) winner = one->value;
  latch_putf(&answer->result, "{\"winner\":%lld}", (long long)winner);
  return true;
}
static bool bad_raffle(latch_json input, latch_answer *answer) { return raffle(input, answer, false); }
static bool good_raffle(latch_json input, latch_answer *answer) { return raffle(input, answer, true); }

/* Announces a title under a topic of its letters. The name of an event has at most 128 bytes. A title has at most 360. */
static bool announce(latch_json input, latch_answer *answer, size_t max) {
  char topic[400] = "lot.", *title = latch_json_string(latch_json_member(input, "title"));
  size_t length = 4;
  for (char *c = title; *c; c++) {
    // Ends before a whole character, which has up to four bytes.
    if ((*c & 0xc0) != 0x80 && length + 4 > max) break;
    if (isalnum((unsigned char)*c) || *c & 0x80) topic[length++] = *c;
  }
  latch_emit(topic, "{}");
  latch_put(&answer->result, "{}");
  return true;
}
static bool bad_announce(latch_json input, latch_answer *answer) { return announce(input, answer, 399); }
static bool good_announce(latch_json input, latch_answer *answer) { return announce(input, answer, 128); }

/* Lists the integers below a number. */
static bool listing(latch_json input, latch_answer *answer) {
  int64_t count;
  if (!latch_json_integer(latch_json_member(input, "count"), &count) || count < 0 || count > 20000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the count is too large");
  latch_put(&answer->result, "[0");
  for (int64_t each = 1; each < count; each++) latch_putf(&answer->result, ",%lld", (long long)each);
  latch_put(&answer->result, "]");
  return true;
}

#define OF(name, schema) .input = "{\"type\":\"object\",\"required\":[\"" name "\"],\"properties\":{\"" name "\":" schema "}}"
#define INTEGERS(max) "{\"type\":\"array\",\"minItems\":1,\"maxItems\":" max ",\"items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":16000}}"
#define BLOCKS OF("blocks", INTEGERS("40000"))
#define TICKETS OF("tickets", INTEGERS("12000")), .determinism = LATCH_STABLE
#define TITLE OF("title", "{\"type\":\"string\",\"maxLength\":90}")
#define STEP(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, __VA_ARGS__ }

LATCH_PLUGIN(STEP("Bad.Heaviest", bad_heaviest, BLOCKS), STEP("Good.Heaviest", good_heaviest, BLOCKS),
  STEP("Bad.Raffle", bad_raffle, TICKETS), STEP("Good.Raffle", good_raffle, TICKETS),
  STEP("Bad.Announce", bad_announce, TITLE), STEP("Good.Announce", good_announce, TITLE),
  STEP("Good.Listing", listing, OF("count", "{\"type\":\"integer\"}")));
