#include "latchwork.h"

#include <time.h>

/* Prints tags for trunks: each tag is an entry of the map, from which the tag printer takes it. */

/* The printer shows the name of a tag in one line of 40 characters. */
enum { NAME_SIZE = 41 };

static void name_of(char name[NAME_SIZE], const char *key) { snprintf(name, NAME_SIZE, "tag/%s", key); }

static bool give(latch_answer *answer, const char *name, const char *tag) {
  latch_put(&answer->result, "{\"name\":");
  latch_put_string(&answer->result, name);
  latch_putf(&answer->result, ",\"tag\":%s}", tag);
  return true;
}

static bool print(latch_json args, latch_answer *answer) {
  char *content = latch_json_string(latch_json_member(args, "content"));
  int64_t grams;
  if (!content || !*content) return latch_fail(answer, LATCH_INVALID_INPUT, "content is missing");
  if (!latch_json_integer(latch_json_member(args, "grams"), &grams) || grams < 1 || grams > 1000000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the weight has to be between 1 g and 1 t");

  char name[NAME_SIZE];
  name_of(name, latch_get_invocation().external_key);
  latch_text tag = { 0 };
  latch_put(&tag, "{\"content\":");
  latch_put_string(&tag, content);
  latch_putf(&tag, ",\"grams\":%lld,\"printed\":%lld}", (long long)grams, (long long)time(NULL));
  if (!latch_kv_set(answer, name, tag.bytes)) return false;
  return give(answer, name, tag.bytes);
}

/* The stored tag has the time of the first print, so the answer is the same. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char name[NAME_SIZE], *tag;
  name_of(name, key);
  if (!latch_kv_get(answer, name, &tag)) return LATCH_UNKNOWN;
  if (!tag) return LATCH_DID_NOT_HAPPEN;
  give(answer, name, tag);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Trunk.Tag",
  .description = "Prints the tag of a trunk.",
  .input = "{\"type\":\"object\",\"properties\":{\"content\":{\"type\":\"string\",\"maxLength\":200},\"grams\":{\"type\":\"integer\"}},"
           "\"required\":[\"content\",\"grams\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"tag\":{\"type\":\"object\"}},"
            "\"required\":[\"name\",\"tag\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = print,
  .reconcile = find,
});
