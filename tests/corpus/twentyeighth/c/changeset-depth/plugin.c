/* The longest line of ancestors of a changeset, for the release notes: input in the order of `log`, the newest first. */
#include "latchwork.h"

enum { MOST = 20000, PARENTS = 2 };

typedef struct {
  char *id;
  char *parent_ids[PARENTS];
  int parents[PARENTS]; /* places in the table, or -1 */
  int depth;            /* 0: not known yet */
} changeset;

static changeset *table;
static int count;

static int by_id(const void *a, const void *b) {
  return strcmp(((const changeset *)a)->id, ((const changeset *)b)->id);
}

static int place(const char *id) {
  if (!id) return -1;
  changeset wanted = { .id = (char *)id };
  changeset *found = bsearch(&wanted, table, (size_t)count, sizeof *table, by_id);
  return found ? (int)(found - table) : -1;
}

/* The length of the longest line that ends with this changeset. Each changeset is computed once. */
static int depth_of(int at) {
  if (at < 0) return 0;
  changeset *one = &table[at];
  if (one->depth) return one->depth;
  int first = depth_of(one->parents[0]);
  int second = depth_of(one->parents[1]);
  one->depth = 1 + (first > second ? first : second);
  return one->depth;
}

static bool measure(latch_json input, latch_answer *answer) {
  char *head = latch_json_string(latch_json_member(input, "head"));
  latch_json log = latch_json_member(input, "log");
  count = (int)latch_json_count(log);
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%d changesets: pass at most %d", count, MOST);
  table = latch_room((size_t)count * sizeof *table);

  /* One walk over the text: latch_json_item would begin at the first item each time. */
  const char *at = latch_json_space(log.at + 1);
  for (int i = 0; i < count; i++) {
    latch_json item = { at };
    changeset *one = &table[i];
    *one = (changeset){ .id = latch_json_string(latch_json_member(item, "id")) };
    if (!one->id) return latch_fail(answer, LATCH_INVALID_INPUT, "changeset %d has no id", i + 1);
    latch_json parents = latch_json_member(item, "parents");
    if (latch_json_count(parents) > PARENTS)
      return latch_fail(answer, LATCH_INVALID_INPUT, "%s has more than %d parents", one->id, PARENTS);
    for (int p = 0; p < PARENTS; p++) one->parent_ids[p] = latch_json_string(latch_json_item(parents, (size_t)p));
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  qsort(table, (size_t)count, sizeof *table, by_id);
  for (int i = 0; i < count; i++) {
    if (i && strcmp(table[i - 1].id, table[i].id) == 0)
      return latch_fail(answer, LATCH_INVALID_INPUT, "%s is listed twice", table[i].id);
    for (int p = 0; p < PARENTS; p++) {
      /* A parent outside of the log belongs to an earlier release. A parent has a lower revision, so there is no circle. */
      table[i].parents[p] = place(table[i].parent_ids[p]);
      if (table[i].parents[p] >= 0 && strcmp(table[i].parent_ids[p], table[i].id) >= 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "%s is older than its parent", table[i].id);
    }
  }

  int start = place(head);
  if (start < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the log does not have %s", head);
  latch_put(&answer->result, "{\"head\":");
  latch_put_string(&answer->result, head);
  latch_putf(&answer->result, ",\"depth\":%d,\"changesets\":%d}", depth_of(start), count);
  return true;
}

LATCH_PLUGIN({
  .name = "Changeset.Measure",
  .description = "Measures the longest line of ancestors of a changeset.",
  .input = "{\"type\":\"object\",\"required\":[\"head\",\"log\"],\"properties\":{\"head\":{\"type\":\"string\"},"
           "\"log\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"id\",\"parents\"]}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"head\",\"depth\",\"changesets\"]}",
  .determinism = LATCH_PURE,
  .handler = measure,
});
