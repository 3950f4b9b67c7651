/* Ranks the finishers of a marathon from the readings of the timing mats. A runner can pass a mat more than once; the
 * first passage counts. */
#include "latchwork.h"

typedef struct reading {
  int64_t bib, ms;
  struct reading *next;
} reading;

static bool before(const reading *a, const reading *b) {
  return a->ms != b->ms ? a->ms < b->ms : a->bib < b->bib;
}

/* Sorts a list of readings and returns its new head. Equal times are ordered by bib number. */
static reading *sorted(reading *head) {
  if (!head || !head->next) return head;
  reading *earlier = NULL, *later = NULL;
  for (reading *at = head->next, *next; at; at = next) {
    next = at->next;
    reading **side = before(at, head) ? &earlier : &later;
    at->next = *side;
    *side = at;
  }
  head->next = sorted(later);
  if (!earlier) return head;
  reading *first = sorted(earlier), *last = first;
  while (last->next) last = last->next;
  last->next = head;
  return first;
}

/* Reads one array of readings, `[[bib, ms], …]`, in one pass over the text. */
static bool take(latch_json list, reading **head, size_t *count) {
  reading **end = head;
  const char *at = latch_json_space(list.at + 1);
  while (*at && *at != ']') {
    latch_json pair = { at };
    reading *one = latch_room(sizeof *one);
    *one = (reading){ 0 };
    if (!latch_json_integer(latch_json_item(pair, 0), &one->bib) || !latch_json_integer(latch_json_item(pair, 1), &one->ms)) return false;
    *end = one;
    end = &one->next;
    (*count)++;
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  return true;
}

enum { BIBS = 100000 };
static bool finished[BIBS];

static bool rank(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "readings");
  if (!latch_json_is(list, '[')) return latch_fail(answer, LATCH_INVALID_INPUT, "there are no readings");
  reading *head = NULL;
  size_t count = 0;
  if (!take(list, &head, &count)) return latch_fail(answer, LATCH_INVALID_INPUT, "reading %zu is no pair of bib and time", count + 1);

  memset(finished, 0, sizeof finished);
  size_t place = 0;
  latch_put(&answer->result, "{\"places\":[");
  for (reading *at = sorted(head); at; at = at->next) {
    if (at->bib < 1 || at->bib >= BIBS) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no bib %lld", (long long)at->bib);
    if (finished[at->bib]) continue;
    finished[at->bib] = true;
    latch_putf(&answer->result, place++ ? ",%lld" : "%lld", (long long)at->bib);
  }
  latch_putf(&answer->result, "],\"finishers\":%zu,\"readings\":%zu}", place, count);
  return true;
}

LATCH_PLUGIN({
  .name = "Marathon.Rank",
  .description = "Ranks the finishers by the first passage of the mat.",
  .input = "{\"type\":\"object\",\"properties\":{\"readings\":{\"type\":\"array\",\"maxItems\":20000,\"items\":"
           "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":2,\"maxItems\":2}}},\"required\":[\"readings\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"places\",\"finishers\",\"readings\"]}",
  .handler = rank,
});
