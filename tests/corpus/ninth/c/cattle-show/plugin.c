#include "latchwork.h"

#include <ctype.h>

/* Ranks the animals of a show class by their points. */

typedef struct {
  double points;
  char tag[]; /* ear tag, in upper case */
} animal;

static animal *read_animal(latch_json entry) {
  char *tag = latch_json_string(latch_json_member(entry, "tag"));
  latch_json marks = latch_json_member(entry, "marks");
  if (!tag || !*tag) return NULL;
  animal *made = latch_room(sizeof *made + strlen(tag) + 1);
  made->points = 0;
  for (size_t i = 0; i < latch_json_count(marks); i++) {
    double mark;
    if (latch_json_number(latch_json_item(marks, i), &mark)) made->points += mark;
  }
  for (size_t i = 0; i <= strlen(tag); i++) made->tag[i] = (char)toupper((unsigned char)tag[i]);
  free(tag);
  return made;
}

/* qsort is not stable: animals with equal points stay in the order in which they were entered. */
static int better_first(const void *left, const void *right) {
  const animal *a = *(animal *const *)left, *b = *(animal *const *)right;
  if (a->points != b->points) return a->points > b->points ? -1 : 1;
  return a < b ? -1 : a > b;
}

static bool rank(latch_json input, latch_answer *answer) {
  latch_json entries = latch_json_member(input, "entries");
  size_t count = latch_json_count(entries);
  animal **animals = latch_room(count * sizeof *animals);
  for (size_t i = 0; i < count; i++) {
    animals[i] = read_animal(latch_json_item(entries, i));
    if (!animals[i]) return latch_fail(answer, LATCH_INVALID_INPUT, "entry %zu has no ear tag", i + 1);
  }
  qsort(animals, count, sizeof *animals, better_first);

  latch_put(&answer->result, "{\"ranking\":[");
  for (size_t i = 0; i < count; i++) {
    latch_put(&answer->result, i ? ",{\"tag\":" : "{\"tag\":");
    latch_put_string(&answer->result, animals[i]->tag);
    latch_put(&answer->result, ",\"points\":");
    latch_put_number(&answer->result, animals[i]->points);
    latch_put(&answer->result, "}");
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Cattle.Rank",
  .description = "Ranks the animals of a show class.",
  .input = "{\"type\":\"object\",\"properties\":{\"entries\":{\"type\":\"array\",\"maxItems\":100,\"items\":{"
           "\"type\":\"object\",\"properties\":{\"tag\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
           "\"marks\":{\"type\":\"array\",\"maxItems\":12,\"items\":{\"type\":\"number\",\"minimum\":0,\"maximum\":100}}},"
           "\"required\":[\"tag\",\"marks\"]}}},\"required\":[\"entries\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"ranking\"]}",
  .determinism = LATCH_PURE,
  .handler = rank,
});
