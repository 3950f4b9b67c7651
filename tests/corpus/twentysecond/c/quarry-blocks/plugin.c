#include "latchwork.h"

/* Sorts the weighed blocks of a quarry day and divides them into loads of one truck. */

typedef struct block {
  int64_t weight;
  size_t place;
  struct block *next;
} block;

/* Heavy blocks come first. Equal blocks keep their order. */
static block *merged(block *left, block *right) {
  if (!left) return right;
  if (!right) return left;
  if (right->weight > left->weight) {
    right->next = merged(left, right->next);
    return right;
  }
  left->next = merged(left->next, right);
  return left;
}

static block *sorted(block *list, size_t count) {
  if (count < 2) return list;
  block *last = list;
  for (size_t i = 1; i < count / 2; i++) last = last->next;
  block *rest = last->next;
  last->next = NULL;
  return merged(sorted(list, count / 2), sorted(rest, count - count / 2));
}

/* Reads the weights into one list. Returns the number of blocks. */
static size_t read_blocks(latch_json weights, block **list) {
  block **end = list;
  size_t count = 0;
  const char *at = latch_json_space(weights.at + 1);
  while (*at && *at != ']') {
    block *made = latch_room(sizeof *made);
    *made = (block){ .place = count++ };
    if (!latch_json_integer((latch_json){ at }, &made->weight)) made->weight = 0;
    *end = made;
    end = &made->next;
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  return count;
}

static bool plan(latch_json input, latch_answer *answer) {
  int64_t limit;
  latch_json weights = latch_json_member(input, "weights_kg");
  if (!latch_json_integer(latch_json_member(input, "truck_kg"), &limit) || !latch_json_is(weights, '['))
    return latch_fail(answer, LATCH_INVALID_INPUT, "truck_kg or weights_kg is missing");
  block *list = NULL;
  size_t count = read_blocks(weights, &list);
  list = sorted(list, count);
  if (list && list->weight > limit)
    return latch_fail(answer, LATCH_INVALID_INPUT, "block %zu is heavier than the truck allows", list->place + 1);

  size_t loads = 0;
  int64_t load = 0, total = 0, heaviest_load = 0;
  for (block *one = list; one; one = one->next) {
    if (loads == 0 || load + one->weight > limit) {
      loads++;
      load = 0;
    }
    load += one->weight;
    total += one->weight;
    if (load > heaviest_load) heaviest_load = load;
  }
  latch_putf(&answer->result, "{\"loads\":%zu,\"total_kg\":%lld,\"heaviest_load_kg\":%lld,\"order\":[", loads,
             (long long)total, (long long)heaviest_load);
  size_t shown = 0;
  for (block *one = list; one && shown < 20; one = one->next, shown++)
    latch_putf(&answer->result, "%s%zu", shown ? "," : "", one->place);
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "QuarryDay.Plan",
  .description = "Divides the blocks of a day into loads, and names the twenty heaviest blocks.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"truck_kg\",\"weights_kg\"],\"properties\":{"
           "\"truck_kg\":{\"type\":\"integer\",\"minimum\":1000,\"maximum\":60000},"
           "\"weights_kg\":{\"type\":\"array\",\"maxItems\":40000,\"items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":60000}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"loads\",\"total_kg\",\"heaviest_load_kg\",\"order\"],\"properties\":{"
            "\"loads\":{\"type\":\"integer\"},\"order\":{\"type\":\"array\",\"maxItems\":20,\"items\":{\"type\":\"integer\"}}}}",
  .handler = plan,
});
