/* Banquet.Seat: draws the tables of a banquet, so that guests meet new people. */
#include "latchwork.h"

/* Returns the item after this one, or a missing value at the end of the array. */
static latch_json next_item(latch_json item) {
  const char *at = latch_json_space(latch_json_skip(item.at));
  return (latch_json){ *at == ',' ? latch_json_space(at + 1) : NULL };
}

static bool read_guests(latch_json list, char ***guests, size_t *count, latch_answer *answer) {
  *guests = latch_room(latch_json_count(list) * sizeof **guests);
  for (latch_json item = latch_json_item(list, 0); item.at; item = next_item(item)) {
    char *name = latch_json_string(item);
    if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "guest %zu has no name", *count + 1);
    (*guests)[(*count)++] = name;
  }
  if (*count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "there are no guests");
  return true;
}

/* Shuffles the guests with one draw for each place. */
static void shuffle(char **guests, size_t count) {
  uint32_t *draws = latch_room(count * sizeof *draws);
  latch_random(draws, count * sizeof *draws);
  for (size_t i = count - 1; i > 0; i--) {
    size_t other = (size_t)(((uint64_t)draws[i] * (i + 1)) >> 32);
    char *moved = guests[i];
    guests[i] = guests[other];
    guests[other] = moved;
  }
}

/* Writes the guests as tables that differ by at most one seat. */
static void put_tables(char **guests, size_t count, size_t seats, latch_text *text) {
  size_t tables = (count + seats - 1) / seats;
  latch_put(text, "{\"tables\":[");
  for (size_t table = 0, guest = 0; table < tables; table++) {
    size_t size = count / tables + (table < count % tables);
    latch_put(text, table ? ",[" : "[");
    for (size_t seat = 0; seat < size; seat++, guest++) {
      if (seat) latch_put(text, ",");
      latch_put_string(text, guests[guest]);
    }
    latch_put(text, "]");
  }
  latch_putf(text, "],\"guests\":%zu}", count);
}

static bool seat(latch_json input, latch_answer *answer) {
  char **guests;
  size_t count = 0;
  int64_t seats;
  if (!latch_json_integer(latch_json_member(input, "seats"), &seats) || seats < 2)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a table needs at least two seats");
  if (!read_guests(latch_json_member(input, "guests"), &guests, &count, answer)) return false;
  shuffle(guests, count);
  put_tables(guests, count, (size_t)seats, &answer->result);
  return true;
}

LATCH_PLUGIN({
  .name = "Banquet.Seat",
  .description = "Draws the tables of a banquet.",
  .input = "{\"type\":\"object\",\"required\":[\"guests\",\"seats\"],\"additionalProperties\":false,\"properties\":{"
           "\"guests\":{\"type\":\"array\",\"maxItems\":2000,\"items\":{\"type\":\"string\",\"maxLength\":80}},"
           "\"seats\":{\"type\":\"integer\",\"maximum\":100}}}",
  .output = "{\"type\":\"object\",\"required\":[\"tables\",\"guests\"]}",
  /* Each job draws other tables. */
  .determinism = LATCH_STABLE,
  .handler = seat,
});
