#include "latchwork.h"

/* Makes the printed index of a parish register: districts with their parishes, the largest first. A column of the
 * index has 24 bytes. */

enum { COLUMN = 24, MOST = 20 };

typedef struct {
  char *name;
  int64_t entries;
  size_t place;
} parish;

/* The largest parish comes first. Parishes of one size are sorted by name, then by their place. */
static int compare(const void *left, const void *right) {
  const parish *a = left, *b = right;
  if (a->entries != b->entries) return a->entries < b->entries ? 1 : -1;
  int order = strcmp(a->name, b->name);
  if (order) return order;
  return (a->place > b->place) - (a->place < b->place);
}

/* Writes the longest part of the name that fits into the column and ends with a whole character. */
static void put_column(latch_text *out, const char *name) {
  size_t len = strlen(name);
  if (len > COLUMN) len = latch_utf8(name, COLUMN);
  char cut[COLUMN + 1];
  memcpy(cut, name, len);
  cut[len] = 0;
  latch_put_string(out, cut);
}

static bool put_district(latch_json district, latch_answer *answer, int64_t *all) {
  char *name = latch_json_string(latch_json_member(district, "name"));
  if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "a district has no plain name");
  parish parishes[MOST];
  size_t count = 0;
  int64_t sum = 0;
  latch_json list = latch_json_member(district, "parishes");
  for (latch_json item; count < MOST && (item = latch_json_item(list, count)).at; count++) {
    parish one = { .name = latch_json_string(latch_json_member(item, "name")), .place = count };
    if (!one.name || !latch_json_integer(latch_json_member(item, "entries"), &one.entries))
      return latch_fail(answer, LATCH_INVALID_INPUT, "parish %zu of %s has no plain name", count + 1, name);
    sum += one.entries;
    parishes[count] = one;
  }
  qsort(parishes, count, sizeof parishes[0], compare);

  latch_put(&answer->result, "{\"district\":");
  put_column(&answer->result, name);
  latch_putf(&answer->result, ",\"entries\":%lld,\"parishes\":[", (long long)sum);
  for (size_t i = 0; i < count; i++) {
    latch_put(&answer->result, i ? ",{\"parish\":" : "{\"parish\":");
    put_column(&answer->result, parishes[i].name);
    double share = sum > 0 ? (double)(parishes[i].entries * 1000 / sum) / 10 : 0;
    latch_put(&answer->result, ",\"percent\":");
    latch_put_number(&answer->result, share);
    latch_putf(&answer->result, ",\"entries\":%lld}", (long long)parishes[i].entries);
  }
  latch_put(&answer->result, "]}");
  *all += sum;
  return true;
}

static bool make(latch_json input, latch_answer *answer) {
  int64_t all = 0;
  latch_json districts = latch_json_member(input, "districts");
  latch_put(&answer->result, "{\"districts\":[");
  for (size_t i = 0; i < MOST; i++) {
    latch_json district = latch_json_item(districts, i);
    if (!district.at) break;
    if (i) latch_put(&answer->result, ",");
    if (!put_district(district, answer, &all)) return false;
  }
  latch_putf(&answer->result, "],\"entries\":%lld}", (long long)all);
  return true;
}

LATCH_PLUGIN({
  .name = "ParishIndex.Make",
  .description = "Makes the printed index of a parish register.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"districts\"],\"properties\":{\"districts\":{"
           "\"type\":\"array\",\"maxItems\":20,\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
           "\"required\":[\"name\",\"parishes\"],\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":100},"
           "\"parishes\":{\"type\":\"array\",\"maxItems\":20,\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
           "\"required\":[\"name\",\"entries\"],\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":100},"
           "\"entries\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000000000000}}}}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"districts\",\"entries\"],\"properties\":{"
            "\"districts\":{\"type\":\"array\",\"maxItems\":20},\"entries\":{\"type\":\"integer\",\"minimum\":0}}}",
  .handler = make,
});
