#include "latchwork.h"

typedef struct {
  char *path;
  int64_t area;
  size_t place; /* in the order of the input */
} zone;

typedef struct {
  zone **zones;
  size_t count, room;
  size_t bad; /* the number of a zone without a name or an area, counted from 1, or 0 */
} survey;

static zone *added(survey *s, char *path) {
  if (s->count == s->room) {
    s->room = s->room ? s->room * 2 : 64;
    s->zones = realloc(s->zones, s->room * sizeof *s->zones);
    if (!s->zones) abort();
  }
  zone *z = latch_room(sizeof *z);
  *z = (zone){ .path = path, .place = s->count };
  return s->zones[s->count++] = z;
}

/* Returns the area of a zone with the zones inside it. The depth is that of the input: at most 64 levels. */
static int64_t measure(survey *s, latch_json from, const char *above) {
  char *name = latch_json_string(latch_json_member(from, "name"));
  int64_t area;
  if (!name || !latch_json_integer(latch_json_member(from, "area"), &area) || area < 0 || area > 1000000) {
    if (!s->bad) s->bad = s->count + 1;
    return 0;
  }
  latch_text path = { 0 };
  latch_putf(&path, "%s/%s", above, name);
  zone *z = added(s, path.bytes);
  latch_json inside = latch_json_member(from, "zones");
  if (latch_json_is(inside, '[')) {
    const char *at = latch_json_space(inside.at + 1);
    while (*at && *at != ']') {
      area += measure(s, latch_json_of(at), path.bytes);
      at = latch_json_space(latch_json_skip(at));
      if (*at == ',') at = latch_json_space(at + 1);
    }
  }
  return z->area = area;
}

/* The largest zone comes first. Zones of one size stay in the order of the input. */
static int by_area(const void *left, const void *right) {
  const zone *a = *(zone *const *)left, *b = *(zone *const *)right;
  if (a->area != b->area) return a->area > b->area ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static bool rank(latch_json input, latch_answer *answer) {
  survey s = { 0 };
  int64_t area = measure(&s, latch_json_member(input, "site"), "");
  if (s.bad) return latch_fail(answer, LATCH_INVALID_INPUT, "zone %zu has no name or no valid area", s.bad);
  qsort(s.zones, s.count, sizeof *s.zones, by_area);
  latch_putf(&answer->result, "{\"area\":%lld,\"count\":%zu,\"largest\":[", (long long)area, s.count);
  for (size_t i = 0; i < s.count && i < 20; i++) {
    latch_put(&answer->result, i ? ",{\"path\":" : "{\"path\":");
    latch_put_string(&answer->result, s.zones[i]->path);
    latch_putf(&answer->result, ",\"area\":%lld}", (long long)s.zones[i]->area);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Zone.Rank",
  .description = "Adds up the areas of nested zones of a site, and lists the 20 largest.",
  .input = "{\"type\":\"object\",\"properties\":{\"site\":{\"type\":\"object\"}},\"required\":[\"site\"],"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"area\":{\"type\":\"integer\"},\"count\":{\"type\":\"integer\"},"
            "\"largest\":{\"type\":\"array\",\"maxItems\":20}},\"required\":[\"area\",\"count\",\"largest\"]}",
  .handler = rank,
});
