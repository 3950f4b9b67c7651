/* Corpus of steps whose mistake shows for some values only. Each bad_* step breaks a rule of the checker. The good_* step
   next to it looks similar and breaks no rule. */
#include <ctype.h>

#include "latchwork.h"

/* Appends the serial number to a prefix of seven digits. */
static char *prefix_of(latch_json input, latch_answer *answer) {
  char *prefix = latch_json_string(latch_json_member(input, "prefix"));
  if (prefix && strlen(prefix) == 7 && strspn(prefix, "0123456789") == 7) return prefix;
  return latch_fail(answer, LATCH_INVALID_INPUT, "the prefix has seven digits"), NULL;
}
static bool bad_serial(latch_json input, latch_answer *answer) {
  char *prefix = prefix_of(input, answer);
  if (!prefix) return false;
  latch_putf(&answer->result, "{\"serial\":%llu}", strtoull(prefix, NULL, 10) * 10000000000ULL + 7);
  return true;
}
static bool good_serial(latch_json input, latch_answer *answer) {
  char *prefix = prefix_of(input, answer);
  if (!prefix) return false;
  latch_putf(&answer->result, "{\"serial\":\"%s0000000007\"}", prefix);
  return true;
}

/* Lists the weights by names in lower case. Refuses a name that is there twice. */
static bool weights(latch_json input, latch_answer *answer, bool is_lower) {
  latch_json items = latch_json_member(input, "items");
  size_t count = latch_json_count(items);
  char **names = latch_room((count + 1) * sizeof *names);
  latch_put(&answer->result, "{");
  for (size_t each = 0; each < count; each++) {
    int64_t grams;
    names[each] = latch_json_string(latch_json_member(latch_json_item(items, each), "name"));
    if (!names[each] || !latch_json_integer(latch_json_member(latch_json_item(items, each), "grams"), &grams))
      return latch_fail(answer, LATCH_INVALID_INPUT, "the name or the weight is missing");
    for (char *c = names[each]; is_lower && *c; c++) *c = (char)tolower((unsigned char)*c);
    for (size_t other = 0; other < each; other++)
      if (!strcmp(names[other], names[each])) return latch_fail(answer, LATCH_INVALID_INPUT, "a name is there twice");
    for (char *c = names[each]; *c; c++) *c = (char)tolower((unsigned char)*c);
    if (each) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, names[each]);
    latch_putf(&answer->result, ":%lld", (long long)grams);
  }
  latch_put(&answer->result, "}");
  return true;
}
static bool bad_weights(latch_json input, latch_answer *answer) { return weights(input, answer, false); }
static bool good_weights(latch_json input, latch_answer *answer) { return weights(input, answer, true); }

/* Throws a coin with a generator that lives as long as the instance, as generators of language runtimes do. Reads a seed in
   each run, and uses the first one. */
static bool coin(latch_json input, latch_answer *answer) {
  static uint64_t state;
  (void)input;
  uint32_t seed = latch_below(1000000);
  if (!state) state = 1 + seed;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  latch_putf(&answer->result, "{\"heads\":%s}", state >> 63 ? "true" : "false");
  return true;
}

/* Returns a code of eight hexadecimal digits. Some random numbers have fewer digits. */
static bool code(latch_answer *answer, const char *form) {
  uint32_t number;
  latch_random(&number, sizeof number);
  char text[16];
  snprintf(text, sizeof text, form, (unsigned)number);
  latch_putf(&answer->result, "{\"code\":\"%s\"}", text);
  return true;
}
static bool bad_code(latch_json input, latch_answer *answer) { return (void)input, code(answer, "%x"); }
static bool good_code(latch_json input, latch_answer *answer) { return (void)input, code(answer, "%08x"); }

/* Counts the stones of a walk. The marks belong to this run alone: each run begins with an empty array. */
static bool stones(latch_json input, latch_answer *answer) {
  static bool is_marked[100];
  latch_json walk = latch_json_member(input, "walk");
  for (size_t i = 0; i < latch_json_count(walk); i++) {
    int64_t stone;
    if (!latch_json_integer(latch_json_item(walk, i), &stone) || stone < 0 || stone >= 100)
      return latch_fail(answer, LATCH_INVALID_INPUT, "stone %zu has no number from 0 to 99", i + 1);
    is_marked[stone] = true;
  }
  int marked = 0;
  for (size_t i = 0; i < 100; i++) marked += is_marked[i];
  latch_putf(&answer->result, "{\"stones\":%d}", marked);
  return true;
}

static char *quoted(latch_json input, const char *member) {
  latch_text text = { 0 };
  char *value = latch_json_string(latch_json_member(input, member));
  latch_put_string(&text, value && strlen(value) <= 100 ? value : "");
  return text.bytes;
}

/* Announces each crate of a manifest. A manifest is final, so the key names the manifest and the line. */
static bool crates(latch_json input, latch_answer *answer) {
  char *manifest = quoted(input, "manifest");
  latch_json crates = latch_json_member(input, "crates");
  if (latch_json_count(crates) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "too many crates");
  for (size_t i = 0; i < latch_json_count(crates); i++) {
    latch_text args = { 0 }, key = { 0 };
    char *goods = quoted(latch_json_item(crates, i), "goods");
    latch_putf(&args, "{\"manifest\":%s,\"goods\":%s}", manifest, goods);
    latch_putf(&key, "[\"crate\",%s,%zu]", manifest, i + 1);
    if (!latch_call(answer, "Port.Announce", args.bytes, key.bytes)) return false;
  }
  latch_put(&answer->result, "{}");
  return true;
}

/* Adds a book to a catalogue, where it has one record under its number. Its month of publication is no period. */
static bool book(latch_json input, latch_answer *answer) {
  latch_text args = { 0 }, key = { 0 };
  latch_putf(&args, "{\"number\":%s,\"published\":%s}", quoted(input, "isbn"), quoted(input, "published"));
  latch_putf(&key, "[\"catalogue\",%s]", quoted(input, "isbn"));
  if (!latch_call(answer, "Catalogue.Add", args.bytes, key.bytes)) return false;
  latch_put(&answer->result, "{}");
  return true;
}

/* Reads a text whose contents the input fixes, and refuses other contents. */
static bool same(latch_json input, latch_answer *answer) {
  char *wanted = latch_json_string(latch_json_member(input, "text"));
  char *file = latch_call(answer, "File.Read", "{}", NULL);
  if (!file) return false;
  char *found = latch_json_string(latch_json_member(latch_json_of(file), "text"));
  if (!wanted || !found || strcmp(wanted, found)) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is another text");
  latch_putf(&answer->result, "{\"bytes\":%zu}", strlen(found));
  return true;
}

/* Picks the lines of an order. The key is a hash of the order and the line. */
static bool order(latch_json input, latch_answer *answer) {
  char *number = quoted(input, "order");
  latch_json lines = latch_json_member(input, "lines");
  if (latch_json_count(lines) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "too many lines");
  for (size_t i = 0; i < latch_json_count(lines); i++) {
    latch_text args = { 0 }, key = { 0 };
    uint64_t hash = 14695981039346656037ULL;
    for (const char *byte = number; *byte; byte++) hash = (hash ^ (uint8_t)*byte) * 1099511628211ULL;
    hash = (hash ^ (i + 1)) * 1099511628211ULL;
    latch_putf(&args, "{\"goods\":%s}", quoted(latch_json_item(lines, i), "goods"));
    latch_putf(&key, "pick-%016llx", (unsigned long long)(hash ^ hash >> 29));
    if (!latch_call(answer, "Store.Pick", args.bytes, key.bytes)) return false;
  }
  latch_put(&answer->result, "{}");
  return true;
}

/* Prints an article once. Its issue is that of a magazine, and no period in which the article is printed again. */
static bool article(latch_json input, latch_answer *answer) {
  latch_text args = { 0 }, key = { 0 };
  latch_putf(&args, "{\"article\":%s,\"issue\":%s}", quoted(input, "article"), quoted(input, "issue"));
  latch_putf(&key, "[\"print\",%s]", quoted(input, "article"));
  if (!latch_call(answer, "Press.Print", args.bytes, key.bytes)) return false;
  latch_put(&answer->result, "{}");
  return true;
}

/* Asks for the price of each article. Two equal questions under one key have one answer. */
static bool prices(latch_json input, latch_answer *answer) {
  latch_json articles = latch_json_member(input, "articles");
  double sum = 0, cents;
  if (latch_json_count(articles) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "too many articles");
  for (size_t i = 0; i < latch_json_count(articles); i++) {
    latch_text args = { 0 }, key = { 0 };
    char *name = quoted(latch_json_item(articles, i), "name");
    latch_putf(&args, "{\"name\":%s}", name);
    latch_putf(&key, "[\"price\",%s]", name);
    char *price = latch_call(answer, "Price.Get", args.bytes, key.bytes);
    if (!price) return false;
    if (!latch_json_number(latch_json_member(latch_json_of(price), "cents"), &cents))
      return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "there is no price");
    sum += cents;
  }
  latch_putf(&answer->result, "{\"cents\":%.0f}", sum);
  return true;
}

/* Refuses a character of four bytes, with its number, and returns the place of a sector in an image. */
static bool label(latch_json input, latch_answer *answer) {
  const uint8_t *text = (const uint8_t *)latch_json_string(latch_json_member(input, "text"));
  int64_t sector;
  if (!text || !latch_json_integer(latch_json_member(input, "sector"), &sector) || sector < 0 || sector > 100000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "there is no text or no sector");
  for (; *text; text++)
    if (*text >= 0xf0 && text[1] && text[2] && text[3])
      return latch_fail(answer, LATCH_INVALID_INPUT, "a character cannot be printed (0x%x)",
        (text[0] & 7u) << 18 | (text[1] & 63u) << 12 | (text[2] & 63u) << 6 | (text[3] & 63u));
  latch_putf(&answer->result, "{\"place\":\"sector (0x%llx)\"}", (unsigned long long)sector * 512);
  return true;
}

#define EXTERNAL(said, handled) \
  { .name = said, .description = "For the corpus.", .handler = handled, .determinism = LATCH_EXTERNAL, .effects = LATCH_EXTERNAL_WRITE }
#define CODE .determinism = LATCH_STABLE, .output = "{\"properties\":{\"code\":{\"pattern\":\"^[0-9a-f]{8}$\"}}}"
#define STEP(said, handled) { .name = said, .description = "For the corpus.", .handler = handled }

LATCH_PLUGIN(STEP("Bad.Serial", bad_serial), STEP("Good.Serial", good_serial), STEP("Bad.Weights", bad_weights),
  STEP("Good.Weights", good_weights),
  { .name = "Bad.Code", .description = "For the corpus.", .handler = bad_code, CODE },
  { .name = "Good.Code", .description = "For the corpus.", .handler = good_code, CODE },
  STEP("Good.Stones", stones), STEP("Good.Same", same), EXTERNAL("Good.Crates", crates), EXTERNAL("Good.Book", book),
  EXTERNAL("Good.Order", order), EXTERNAL("Good.Article", article), STEP("Good.Label", label),
  { .name = "Good.Prices", .description = "For the corpus.", .handler = prices, .determinism = LATCH_EXTERNAL },
  { .name = "Good.Coin", .description = "For the corpus.", .handler = coin, .determinism = LATCH_STABLE });
