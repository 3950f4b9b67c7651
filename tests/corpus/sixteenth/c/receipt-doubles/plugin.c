/* Receipt.Doubles: finds the numbers that a book of numbered receipts has more than once. */
#include "latchwork.h"

/* The book: the numbers in the order of the input, with the smallest and the largest one. */
typedef struct {
  int64_t *numbers;
  size_t count;
  int64_t first, last;
} book;

/* Returns the item after this one, or a missing value at the end of the array. */
static latch_json next_item(latch_json item) {
  const char *at = latch_json_space(latch_json_skip(item.at));
  return (latch_json){ *at == ',' ? latch_json_space(at + 1) : NULL };
}

static bool read_book(latch_json list, book *into, latch_answer *answer) {
  into->numbers = latch_room(latch_json_count(list) * sizeof *into->numbers);
  for (latch_json item = latch_json_item(list, 0); item.at; item = next_item(item)) {
    int64_t number;
    if (!latch_json_integer(item, &number))
      return latch_fail(answer, LATCH_INVALID_INPUT, "entry %zu is no receipt number", into->count + 1);
    if (into->count == 0 || number < into->first) into->first = number;
    if (into->count == 0 || number > into->last) into->last = number;
    into->numbers[into->count++] = number;
  }
  if (into->count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the book has no receipts");
  return true;
}

/* Counts how often each number of the book was written, from the first number to the last. */
static uint32_t *tally(const book *from) {
  size_t span = (size_t)(from->last - from->first) + 1;
  uint32_t *times = latch_room(span * sizeof *times);
  memset(times, 0, span * sizeof *times);
  for (size_t i = 0; i < from->count; i++) times[from->numbers[i] - from->first]++;
  return times;
}

static bool doubles(latch_json input, latch_answer *answer) {
  book from = { 0 };
  if (!read_book(latch_json_member(input, "numbers"), &from, answer)) return false;
  uint32_t *times = tally(&from);

  latch_text list = { 0 };
  latch_put(&list, "");
  size_t distinct = 0;
  for (size_t i = 0; i < from.count; i++) {
    uint32_t *own = &times[from.numbers[i] - from.first];
    if (*own == 0) continue;
    distinct++;
    if (*own > 1)
      latch_putf(&list, "%s{\"number\":%lld,\"times\":%u}", list.len ? "," : "", (long long)from.numbers[i], *own);
    *own = 0;
  }
  latch_log(LATCH_INFO, "%zu receipts, %zu numbers", from.count, distinct);
  latch_putf(&answer->result, "{\"receipts\":%zu,\"distinct\":%zu,\"first\":%lld,\"last\":%lld,\"doubled\":[%s]}",
             from.count, distinct, (long long)from.first, (long long)from.last, list.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Receipt.Doubles",
  .description = "Finds the numbers that occur more than once in a book of receipts.",
  .input = "{\"type\":\"object\",\"required\":[\"numbers\"],\"additionalProperties\":false,\"properties\":{"
           "\"numbers\":{\"type\":\"array\",\"maxItems\":20000,\"items\":{\"type\":\"integer\",\"minimum\":1,"
           "\"maximum\":999999999}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"receipts\",\"distinct\",\"first\",\"last\",\"doubled\"]}",
  .handler = doubles,
});
