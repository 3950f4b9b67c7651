/* Sends one letter of a campaign to every household of a parish. */
#include "latchwork.h"

#include <ctype.h>

enum { MOST = 500 };

/* Slugs of campaigns and households: lower-case letters, digits, '-' and '/'. The bar separates the parts of a key, so
 * it must not be in a slug. */
static bool is_slug(const char *text) {
  if (!text || !*text) return false;
  for (; *text; text++)
    if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) && *text != '-' && *text != '/') return false;
  return true;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* One letter per campaign and household, also if the mailout is run by two jobs. */
static const char *letter_key(const char *campaign, const char *household) {
  static char key[56];
  snprintf(key, sizeof key, "letter|%s|%s", campaign, household);
  return key;
}

static bool dispatch(latch_json input, latch_answer *answer) {
  char *campaign = latch_json_string(latch_json_member(input, "campaign"));
  char *template = latch_json_string(latch_json_member(input, "template"));
  latch_json households = latch_json_member(input, "households");
  size_t count = latch_json_count(households);
  if (!is_slug(campaign)) return latch_fail(answer, LATCH_INVALID_INPUT, "the campaign is no slug");
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu households: send at most %d at once", count, MOST);

  char **slugs = latch_room(count * sizeof *slugs), **sorted = latch_room(count * sizeof *sorted);
  for (size_t i = 0; i < count; i++) {
    slugs[i] = latch_json_string(latch_json_member(latch_json_item(households, i), "slug"));
    if (!is_slug(slugs[i])) return latch_fail(answer, LATCH_INVALID_INPUT, "household %zu has no slug", i + 1);
    sorted[i] = slugs[i];
  }
  /* Two entries of one household would be one letter. The secretary has to choose the right address. */
  qsort(sorted, count, sizeof *sorted, by_text);
  for (size_t i = 1; i < count; i++)
    if (strcmp(sorted[i - 1], sorted[i]) == 0)
      return latch_fail(answer, LATCH_INVALID_INPUT, "the household %s is listed twice", sorted[i]);

  latch_put(&answer->result, "{\"letters\":[");
  for (size_t i = 0; i < count; i++) {
    char *name = latch_json_string(latch_json_member(latch_json_item(households, i), "name"));
    latch_text args = { 0 };
    latch_put(&args, "{\"template\":");
    latch_put_string(&args, template);
    latch_put(&args, ",\"household\":");
    latch_put_string(&args, slugs[i]);
    latch_put(&args, ",\"salutation\":");
    latch_put_string(&args, name);
    latch_put(&args, "}");
    char *sent = latch_call(answer, "Letter.Dispatch", args.bytes, letter_key(campaign, slugs[i]));
    if (!sent) return false;
    char *id = latch_json_string(latch_json_member(latch_json_of(sent), "id"));
    if (!id) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the letter to %s has no id", slugs[i]);
    latch_put(&answer->result, i ? ",{\"household\":" : "{\"household\":");
    latch_put_string(&answer->result, slugs[i]);
    latch_put(&answer->result, ",\"letter\":");
    latch_put_string(&answer->result, id);
    latch_put(&answer->result, "}");
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Mailout.Dispatch",
  .description = "Sends the letter of a campaign to each household.",
  .input = "{\"type\":\"object\",\"required\":[\"campaign\",\"template\",\"households\"],\"properties\":{"
           "\"campaign\":{\"type\":\"string\"},\"template\":{\"type\":\"string\"},\"households\":{\"type\":\"array\","
           "\"items\":{\"type\":\"object\",\"required\":[\"slug\",\"name\"],\"properties\":{"
           "\"slug\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"letters\"],\"properties\":{\"letters\":{\"type\":\"array\"}}}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = dispatch,
});
