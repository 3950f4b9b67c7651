#include "latchwork.h"

enum { SLOTS = 127 };

/* A table of interned words. Equal words share one copy. */
typedef struct {
  char *slots[SLOTS];
  char *words[SLOTS];
  size_t count;
} table;

static char *interned(table *known, const char *word) {
  for (size_t i = 0; i < known->count; i++)
    if (strcmp(known->words[i], word) == 0) return known->words[i];
  if (known->count == SLOTS - 1) return NULL;
  return known->words[known->count++] = strdup(word);
}

/* Adds a word to the open slots. A word is identified by its address. */
static void add(table *known, char *word) {
  size_t slot = ((uintptr_t)word >> 4) * 2654435761u % SLOTS;
  while (known->slots[slot] && known->slots[slot] != word) slot = (slot + 1) % SLOTS;
  known->slots[slot] = word;
}

static bool distinct(latch_json input, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(input, "text"));
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "text is missing");
  table known = { 0 };
  for (char *word = strtok(text, " \n\t"); word; word = strtok(NULL, " \n\t")) {
    char *kept = interned(&known, word);
    if (!kept) return latch_fail(answer, LATCH_INVALID_INPUT, "the text has too many words");
    add(&known, kept);
  }
  latch_put(&answer->result, "{\"words\":[");
  for (size_t slot = 0, put = 0; slot < SLOTS; slot++) {
    if (!known.slots[slot]) continue;
    if (put++) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, known.slots[slot]);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Words.Distinct",
  .description = "Lists the distinct words of a text.",
  .input = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"
           "\"required\":[\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"words\"]}",
  .determinism = LATCH_PURE,
  .handler = distinct,
});
