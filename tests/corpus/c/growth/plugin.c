/* Corpus of steps whose mistake shows for a larger input, for equal elements, or in their determinism class. Each bad_*
   step breaks a rule of the checker. The good_* step next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <stdint.h>
#include <time.h>

enum { LEVELS_MAX = 20, WORDS_MAX = 64, BINS = 128, TAPES_MAX = 3000 };

/* Writes one array in another for each level. A canonical form has at most 64 levels. */
static bool give_levels(latch_answer *answer, int64_t levels, bool is_bounded) {
  if (is_bounded && levels > LEVELS_MAX) return latch_fail(answer, LATCH_INVALID_INPUT, "more than 20 levels");
  latch_put(&answer->result, "{\"levels\":");
  for (int64_t i = 0; i < levels; i++) latch_put(&answer->result, "[");
  if (!levels) latch_put(&answer->result, "null");
  for (int64_t i = 0; i < levels; i++) latch_put(&answer->result, "]");
  latch_put(&answer->result, "}");
  return true;
}

static bool path(latch_json input, latch_answer *answer, bool is_bounded) {
  const char *text = latch_json_string(latch_json_member(input, "path"));
  int64_t levels = 0;
  bool is_within = false;
  for (; text && *text; text++) {
    if (*text != '/' && !is_within) levels++;
    is_within = *text != '/';
  }
  return give_levels(answer, levels, is_bounded);
}
static bool bad_path(latch_json input, latch_answer *answer) { return path(input, answer, false); }
static bool good_path(latch_json input, latch_answer *answer) { return path(input, answer, true); }

/* A line may be two blanks deeper than the line before, not more. */
static bool outline(latch_json input, latch_answer *answer, bool is_bounded) {
  const char *text = latch_json_string(latch_json_member(input, "text"));
  int64_t levels = 0, before = 0;
  while (text && *text) {
    int64_t blanks = 0;
    for (; *text == ' '; text++) blanks++;
    if (blanks / 2 > before) return latch_fail(answer, LATCH_INVALID_INPUT, "a line skips a level");
    before = blanks / 2 + 1;
    if (before > levels) levels = before;
    while (*text && *text != '\n') text++;
    if (*text) text++;
  }
  return give_levels(answer, levels, is_bounded);
}
static bool bad_outline(latch_json input, latch_answer *answer) { return outline(input, answer, false); }
static bool good_outline(latch_json input, latch_answer *answer) { return outline(input, answer, true); }

/* An item may be one level deeper than the item before, not more. */
static bool counted(latch_json input, latch_answer *answer, bool is_bounded) {
  latch_json items = latch_json_member(input, "items");
  int64_t levels = 0, before = 0;
  for (size_t i = 0; i < latch_json_count(items); i++) {
    int64_t depth = -1;
    latch_json_integer(latch_json_member(latch_json_item(items, i), "depth"), &depth);
    if (depth < 0 || depth > before) return latch_fail(answer, LATCH_INVALID_INPUT, "an item skips a level");
    before = depth + 1;
    if (before > levels) levels = before;
  }
  return give_levels(answer, levels, is_bounded);
}
static bool bad_counted(latch_json input, latch_answer *answer) { return counted(input, answer, false); }
static bool good_counted(latch_json input, latch_answer *answer) { return counted(input, answer, true); }

/* A parent is an item before its child. */
static bool family(latch_json input, latch_answer *answer, bool is_bounded) {
  latch_json items = latch_json_member(input, "items");
  int64_t ids[200] = { 0 }, levels[200] = { 0 }, most = 0;
  size_t count = latch_json_count(items);
  if (count > 200) return latch_fail(answer, LATCH_INVALID_INPUT, "at most 200 items are possible");
  for (size_t i = 0; i < count; i++) {
    int64_t parent = 0;
    latch_json item = latch_json_item(items, i);
    latch_json_integer(latch_json_member(item, "id"), &ids[i]);
    bool has_parent = latch_json_integer(latch_json_member(item, "parent"), &parent);
    size_t at = 0;
    while (has_parent && at < i && ids[at] != parent) at++;
    if (has_parent && at == i) return latch_fail(answer, LATCH_INVALID_INPUT, "a parent is missing");
    levels[i] = has_parent ? levels[at] + 1 : 1;
    if (levels[i] > most) most = levels[i];
  }
  return give_levels(answer, most, is_bounded);
}
static bool bad_family(latch_json input, latch_answer *answer) { return family(input, answer, false); }
static bool good_family(latch_json input, latch_answer *answer) { return family(input, answer, true); }

/* Vehicles with the same minute are sorted by their address, or by their plate. */
struct vehicle {
  int64_t minute;
  char *plate;
};
static int by_address(const void *one, const void *other) {
  const struct vehicle *a = *(struct vehicle *const *)one, *b = *(struct vehicle *const *)other;
  if (a->minute != b->minute) return a->minute < b->minute ? -1 : 1;
  return ((uintptr_t)a >> 4) % 61 < ((uintptr_t)b >> 4) % 61 ? -1 : 1;
}
static int by_plate(const void *one, const void *other) {
  const struct vehicle *a = *(struct vehicle *const *)one, *b = *(struct vehicle *const *)other;
  if (a->minute != b->minute) return a->minute < b->minute ? -1 : 1;
  return strcmp(a->plate, b->plate);
}
static bool queue(latch_json input, latch_answer *answer, int (*order)(const void *, const void *)) {
  latch_json vehicles = latch_json_member(input, "vehicles");
  size_t count = latch_json_count(vehicles);
  struct vehicle *all[WORDS_MAX];
  if (count > WORDS_MAX) return latch_fail(answer, LATCH_INVALID_INPUT, "at most 64 vehicles are possible");
  for (size_t i = 0; i < count; i++) {
    all[i] = calloc(1, sizeof *all[i]);
    latch_json_integer(latch_json_member(latch_json_item(vehicles, i), "minute"), &all[i]->minute);
    all[i]->plate = latch_json_string(latch_json_member(latch_json_item(vehicles, i), "plate"));
    if (!all[i]->plate) return latch_fail(answer, LATCH_INVALID_INPUT, "a plate is missing");
  }
  qsort(all, count, sizeof all[0], order);
  latch_put(&answer->result, "{\"plates\":[");
  for (size_t i = 0; i < count; i++) {
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, all[i]->plate);
  }
  latch_put(&answer->result, "]}");
  return true;
}
static bool bad_queue(latch_json input, latch_answer *answer) { return queue(input, answer, by_address); }
static bool good_queue(latch_json input, latch_answer *answer) { return queue(input, answer, by_plate); }

/* The marks of hides, largest first, and hides of equal area by address or by mark. Each hide and its mark are allocated one
   after the other. */
struct hide {
  char *mark;
  int64_t area;
};
static int hide_by_address(const void *left, const void *right) {
  const struct hide *a = *(struct hide *const *)left, *b = *(struct hide *const *)right;
  return a->area != b->area ? (a->area < b->area) - (a->area > b->area) : (a > b) - (a < b);
}
static int hide_by_mark(const void *left, const void *right) {
  const struct hide *a = *(struct hide *const *)left, *b = *(struct hide *const *)right;
  return a->area != b->area ? (a->area < b->area) - (a->area > b->area) : strcmp(a->mark, b->mark);
}
static bool hides(latch_json input, latch_answer *answer, int (*order)(const void *, const void *)) {
  latch_json list = latch_json_member(input, "hides");
  size_t count = latch_json_count(list);
  struct hide *all[WORDS_MAX];
  if (count > WORDS_MAX) return latch_fail(answer, LATCH_INVALID_INPUT, "at most 64 hides are possible");
  for (size_t i = 0; i < count; i++) {
    all[i] = latch_room(sizeof *all[i]);
    all[i]->mark = latch_json_string(latch_json_member(latch_json_item(list, i), "mark"));
    if (!all[i]->mark || !latch_json_integer(latch_json_member(latch_json_item(list, i), "area"), &all[i]->area))
      return latch_fail(answer, LATCH_INVALID_INPUT, "a mark or an area is missing");
  }
  qsort(all, count, sizeof all[0], order);
  latch_put(&answer->result, "{\"marks\":[");
  for (size_t i = 0; i < count; i++) {
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, all[i]->mark);
  }
  latch_put(&answer->result, "]}");
  return true;
}
static bool bad_hides(latch_json input, latch_answer *answer) { return hides(input, answer, hide_by_address); }
static bool good_hides(latch_json input, latch_answer *answer) { return hides(input, answer, hide_by_mark); }

/* A call for each word, in the order of bins by address or by letter. The case has answers for two calls. */
static bool asks(latch_json input, latch_answer *answer, bool is_by_address) {
  latch_json words = latch_json_member(input, "words");
  size_t count = latch_json_count(words), asked = 0;
  char *table[BINS] = { 0 };
  if (count > WORDS_MAX) return latch_fail(answer, LATCH_INVALID_INPUT, "at most 64 words are possible");
  for (size_t i = 0; i < count; i++) {
    char *word = latch_json_string(latch_json_item(words, i));
    if (!word) return latch_fail(answer, LATCH_INVALID_INPUT, "a word is missing");
    size_t at = is_by_address ? ((uintptr_t)word >> 3) % BINS : (size_t)(unsigned char)word[0] % BINS;
    while (table[at]) at = (at + 1) % BINS;
    table[at] = word;
  }
  for (size_t i = 0; i < BINS; i++) {
    latch_text word = { 0 };
    if (!table[i]) continue;
    latch_put_string(&word, table[i]);
    if (!latch_call(answer, "Word.Count", word.bytes, NULL)) return false;
    asked++;
  }
  latch_putf(&answer->result, "{\"asked\":%lld}", (long long)asked);
  return true;
}
static bool bad_asks(latch_json input, latch_answer *answer) { return asks(input, answer, true); }
static bool good_asks(latch_json input, latch_answer *answer) { return asks(input, answer, false); }

/* The answer of a tool is the output, or has to be the text that the input has. */
static bool fetch(latch_json input, latch_answer *answer) {
  (void)input;
  char *page = latch_call(answer, "Page.Fetch", "{}", NULL);
  if (!page) return false;
  latch_putf(&answer->result, "{\"page\":%s}", page);
  return true;
}
static bool pinned(latch_json input, latch_answer *answer) {
  char *page = latch_call(answer, "Page.Fetch", "{}", NULL);
  if (!page) return false;
  if (strcmp(page, latch_json_text(latch_json_member(input, "page"))))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the page has changed");
  latch_putf(&answer->result, "{\"page\":%s}", page);
  return true;
}

/* Each item names the item before it by its position. */
enum { ITEMS_MAX = 30000 };
static int64_t earlier[ITEMS_MAX];
static int64_t most;
static int64_t sum_before(int64_t at, int64_t level, int64_t weight) {
  int64_t sum = earlier[at] < 0 ? 1 : sum_before(earlier[at], level + 1, (weight * 7 + at) % 97);
  if (level + weight > most) most = level + weight;
  return (sum * 31 + at + level * weight) % 1009;
}
static int64_t places_before(int64_t at) { return sum_before(at, 0, 1); }
static int64_t places_before_in_a_loop(int64_t at) {
  int64_t sum = 1;
  for (; earlier[at] >= 0; at = earlier[at]) sum = (sum * 31 + at) % 1009;
  return sum;
}
static bool trail(latch_json input, latch_answer *answer, int64_t (*follow)(int64_t)) {
  latch_json items = latch_json_member(input, "items");
  int64_t from = -1, count = 0;
  if (!latch_json_is(items, '[')) return latch_fail(answer, LATCH_INVALID_INPUT, "the items are missing");
  /* latch_json_item would read the array from its start for each item. */
  for (const char *at = latch_json_space(items.at + 1); *at != ']' && count < ITEMS_MAX; count++) {
    earlier[count] = -1;
    latch_json_integer(latch_json_member(latch_json_of(at), "after"), &earlier[count]);
    if (earlier[count] >= count) return latch_fail(answer, LATCH_INVALID_INPUT, "an item comes after a later one");
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  latch_json_integer(latch_json_member(input, "from"), &from);
  if (from < 0 || from >= count) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such item");
  latch_putf(&answer->result, "{\"sum\":%lld}", (long long)follow(from));
  return true;
}
static bool bad_trail(latch_json input, latch_answer *answer) { return trail(input, answer, places_before); }
static bool good_trail(latch_json input, latch_answer *answer) { return trail(input, answer, places_before_in_a_loop); }

/* The clock of a step stands still while the step computes. */
static bool due(latch_json input, latch_answer *answer, bool is_awaited) {
  int64_t until = 0;
  volatile int64_t looks = 0;
  if (!latch_json_integer(latch_json_member(input, "until"), &until)) return latch_fail(answer, LATCH_INVALID_INPUT, "the time is missing");
  while (is_awaited && time(NULL) < until) looks++;
  latch_putf(&answer->result, "{\"due\":%s}", time(NULL) >= until ? "true" : "false");
  return true;
}
static bool bad_due(latch_json input, latch_answer *answer) { return due(input, answer, true); }
static bool good_due(latch_json input, latch_answer *answer) { return due(input, answer, false); }

/* Later uses within a run need no further call. */
static bool memo(latch_json input, latch_answer *answer) {
  static int64_t rate;
  int64_t amount = 0;
  latch_json_integer(latch_json_member(input, "amount"), &amount);
  if (amount < 0 || amount > 1000) return latch_fail(answer, LATCH_INVALID_INPUT, "amounts are 0 to 1000");
  if (!rate) {
    char *found = latch_call(answer, "Rate.Get", "{}", NULL);
    if (!found) return false;
    rate = atoi(found);
  }
  latch_putf(&answer->result, "{\"amount\":%lld}", (long long)(amount * rate));
  return true;
}

static bool route(latch_json input, latch_answer *answer, bool is_escaped) {
  char *name = latch_json_string(latch_json_member(input, "route"));
  latch_text payload = { 0 };
  if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "the route is missing");
  latch_put(&payload, "{\"route\":");
  if (is_escaped) latch_put_string(&payload, name);
  else latch_putf(&payload, "\"%s\"", name);
  latch_put(&payload, "}");
  latch_emit("closed", payload.bytes);
  latch_put(&answer->result, "{}");
  return true;
}
static bool bad_route(latch_json input, latch_answer *answer) { return route(input, answer, false); }
static bool good_route(latch_json input, latch_answer *answer) { return route(input, answer, true); }

/* Counts the lines that begin with a number. The digest of the input fixes the file, if there is one. */
static bool verses(latch_json input, latch_answer *answer) {
  char *wanted = latch_json_string(latch_json_member(input, "sha256"));
  char *file = latch_call(answer, "File.Read", "{}", NULL);
  int count = 0;
  if (!file) return false;
  char *text = latch_json_string(latch_json_member(latch_json_of(file), "text"));
  char *found = latch_json_string(latch_json_member(latch_json_of(file), "sha256"));
  if (!text || !found) return latch_fail(answer, LATCH_INVALID_INPUT, "it is no text file");
  if (wanted && strcmp(wanted, found)) return latch_fail(answer, LATCH_INVALID_INPUT, "the file has another digest");
  for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
    count += *line >= '0' && *line <= '9';
  if (!count) return latch_fail(answer, LATCH_INVALID_INPUT, "the file has no verses");
  latch_putf(&answer->result, "{\"verses\":%d}", count);
  return true;
}

/* A step makes at most 10,000 host calls. */
static bool ids(latch_json input, latch_answer *answer, bool is_each) {
  latch_json rows = latch_json_member(input, "rows");
  uint32_t number = 0, count = 0;
  if (!latch_json_is(rows, '[')) return latch_fail(answer, LATCH_INVALID_INPUT, "the rows are missing");
  for (const char *at = latch_json_space(rows.at + 1); *at != ']'; count++) {
    if (is_each || !count) latch_random(&number, sizeof number);
    number = number * 31 + 7;
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  latch_putf(&answer->result, "{\"last\":%u,\"count\":%u}", number, count);
  return true;
}
static bool bad_ids(latch_json input, latch_answer *answer) { return ids(input, answer, true); }
static bool good_ids(latch_json input, latch_answer *answer) { return ids(input, answer, false); }

/* Adds up the bytes of tapes with different ids. The schema does not name the kinds of tapes. */
static bool tapes(latch_json input, latch_answer *answer, bool is_text) {
  latch_json list = latch_json_member(input, "tapes");
  int64_t sum = 0, bytes = 0;
  const char *ids[TAPES_MAX];
  size_t count = 0;
  if (!latch_json_is(list, '[')) return latch_fail(answer, LATCH_INVALID_INPUT, "the tapes are missing");
  for (const char *at = latch_json_space(list.at + 1); *at != ']';) {
    const char *kind = latch_json_string(latch_json_member((latch_json){ at }, "kind"));
    const char *id = latch_json_string(latch_json_member((latch_json){ at }, "id"));
    bool is_other = id && count < TAPES_MAX;
    for (size_t i = 0; is_other && i < count; i++) is_other = strcmp(ids[i], id);
    if (!is_other) return latch_fail(answer, LATCH_INVALID_INPUT, "a tape without an id of its own, or too many tapes");
    ids[count++] = id;
    bool is_known = kind && (!strcmp(kind, "LTO-8") || !strcmp(kind, "LTO-9"));
    latch_json_integer(latch_json_member((latch_json){ at }, "bytes"), &bytes);
    if (!is_known || bytes < 0 || bytes > 18000000000000)
      return latch_fail(answer, LATCH_INVALID_INPUT, "a tape of an unknown kind, or with too many bytes");
    sum += bytes;
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  latch_putf(&answer->result, is_text ? "{\"bytes\":\"%lld\"}" : "{\"bytes\":%lld}", (long long)sum);
  return true;
}
static bool bad_tapes(latch_json input, latch_answer *answer) { return tapes(input, answer, false); }
static bool good_tapes(latch_json input, latch_answer *answer) { return tapes(input, answer, true); }

static int64_t divisor(int64_t a, int64_t b) { return b ? divisor(b, a % b) : a; }

/* Returns the least common multiple of the beats of up to 12 wheels. */
static bool cycle(latch_json input, latch_answer *answer, int64_t beats_max) {
  latch_json wheels = latch_json_member(input, "wheels");
  size_t count = latch_json_count(wheels);
  int64_t all = 1;
  if (count > 12) return latch_fail(answer, LATCH_INVALID_INPUT, "more than 12 wheels");
  for (size_t i = 0; i < count; i++) {
    int64_t beats = 0;
    latch_json_integer(latch_json_member(latch_json_item(wheels, i), "beats"), &beats);
    if (beats < 1 || beats > 1000) return latch_fail(answer, LATCH_INVALID_INPUT, "a wheel has 1 to 1000 beats");
    int64_t step = beats / divisor(all, beats);
    if (all > beats_max / step) return latch_fail(answer, LATCH_INVALID_INPUT, "the cycle is too long");
    all *= step;
  }
  latch_putf(&answer->result, "{\"beats\":%lld}", (long long)all);
  return true;
}
static bool bad_cycle(latch_json input, latch_answer *answer) { return cycle(input, answer, INT64_MAX); }
static bool good_cycle(latch_json input, latch_answer *answer) { return cycle(input, answer, 9007199254740991); }

/* Counts missing readings, at most 40,000. A step makes at most 10,000 host calls. */
static bool gaps(latch_json input, latch_answer *answer, bool logs_each) {
  latch_json readings = latch_json_member(input, "readings");
  int count = 0, missing = 0;
  if (!latch_json_is(readings, '[')) return latch_fail(answer, LATCH_INVALID_INPUT, "the readings are missing");
  for (const char *at = latch_json_space(readings.at + 1); *at != ']'; count++) {
    if (latch_json_is_null((latch_json){ at })) {
      missing++;
      if (logs_each) latch_log(LATCH_WARN, "reading %d is missing", count);
    }
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  if (count > 40000 || count == missing) return latch_fail(answer, LATCH_INVALID_INPUT, "too many readings, or none");
  latch_putf(&answer->result, "{\"missing\":%d}", missing);
  return true;
}
static bool bad_gaps(latch_json input, latch_answer *answer) { return gaps(input, answer, true); }
static bool good_gaps(latch_json input, latch_answer *answer) { return gaps(input, answer, false); }

#define OF(members) "{\"type\":\"object\",\"properties\":{" members "}}"
#define ITEMS(name, members) OF("\"" name "\":{\"type\":\"array\",\"maxItems\":100,\"items\":" OF(members) "}")
#define PATH .input = OF("\"path\":{\"type\":\"string\",\"maxLength\":400}")
#define COUNTED .input = ITEMS("items", "\"depth\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":80}")
#define FAMILY .input = ITEMS("items", "\"id\":{\"type\":\"integer\"}")
#define QUEUE .input = ITEMS("vehicles", "\"kind\":{\"enum\":[\"car\",\"bus\"]},\"plate\":{\"type\":\"string\"}")
#define STEP(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }

LATCH_PLUGIN(
  STEP("Bad.Path", bad_path, PATH), STEP("Good.Path", good_path, PATH), STEP("Bad.Outline", bad_outline),
  STEP("Good.Outline", good_outline), STEP("Bad.Counted", bad_counted, COUNTED), STEP("Good.Counted", good_counted, COUNTED),
  STEP("Bad.Family", bad_family, FAMILY), STEP("Good.Family", good_family, FAMILY), STEP("Bad.Queue", bad_queue, QUEUE),
  STEP("Good.Queue", good_queue, QUEUE), STEP("Bad.Hides", bad_hides), STEP("Good.Hides", good_hides), STEP("Bad.Asks", bad_asks, .determinism = LATCH_EXTERNAL),
  STEP("Good.Asks", good_asks, .determinism = LATCH_EXTERNAL), STEP("Bad.Class", fetch, .determinism = LATCH_STABLE),
  STEP("Good.Class", fetch, .determinism = LATCH_EXTERNAL), STEP("Good.Pinned", pinned), STEP("Bad.Trail", bad_trail), STEP("Good.Trail", good_trail),
  STEP("Good.Memo", memo), STEP("Bad.Route", bad_route), STEP("Good.Route", good_route), STEP("Bad.Verses", verses),
  STEP("Good.Verses", verses, .input = "{\"type\":\"object\",\"required\":[\"sha256\"]}"),
  STEP("Bad.Ids", bad_ids, .determinism = LATCH_STABLE), STEP("Good.Ids", good_ids, .determinism = LATCH_STABLE),
  STEP("Bad.Cycle", bad_cycle), STEP("Good.Cycle", good_cycle), STEP("Bad.Gaps", bad_gaps), STEP("Good.Gaps", good_gaps),
  STEP("Bad.Tapes", bad_tapes), STEP("Good.Tapes", good_tapes),
  STEP("Bad.Due", bad_due, .determinism = LATCH_STABLE), STEP("Good.Due", good_due, .determinism = LATCH_STABLE));
