/* The operators of a plugin. */
#ifndef LATCHWORK_PLUGIN_H
#define LATCHWORK_PLUGIN_H

#include "world.h"

/* What a plugin may do to the world; several are joined by |. */
enum {
  LATCH_READ_ONLY = 1,
  LATCH_PRODUCE_OUTCOME = 2,
  LATCH_INTERNAL_WRITE = 4,
  LATCH_EXTERNAL_WRITE = 8,
  LATCH_EXTERNAL_SEND = 16,
};

/* How repeatable an operator is; usually a step is pure and a tool external. */
typedef enum { LATCH_USUAL, LATCH_PURE, LATCH_STABLE, LATCH_EXTERNAL } latch_determinism;

/* Whether a call in doubt happened. */
typedef enum { LATCH_HAPPENED, LATCH_DID_NOT_HAPPEN, LATCH_NOT_YET, LATCH_UNKNOWN } latch_verdict;

/* One operator. What is left out is as harmless as it can be. */
typedef struct {
  const char *name;         /* Noun.Verb */
  const char *description;  /* one sentence for a person */
  const char *input, *output; /* JSON Schemas */
  unsigned effects;
  latch_determinism determinism;
  const char *outcome_type, *outcome_status;
  uint32_t idempotent_by_key_seconds, settling_ms;
  uint32_t memory_bytes, timeout_ms, output_bytes; /* limits wanted; 0 is the host's */

  /* Serve a call: put JSON into answer->result and give true, or give latch_fail(...). */
  bool (*handler)(latch_json input, latch_answer *answer);
  /* Tools: did the call with this key happen? For LATCH_HAPPENED the answer holds the result, for
   * LATCH_NOT_YET retry_after_ms. Changes nothing. latch-plugin.toml: exports = ["reconcile"]. */
  latch_verdict (*reconcile)(latch_json args, const char *key, latch_answer *answer);
  /* Tools: NULL where a recorded change is as it was recorded, else what was found. */
  const char *(*verify)(latch_change change, latch_answer *answer);
  /* Tools: undo the call that had these arguments, this result and this key. */
  bool (*compensate)(latch_json args, latch_json result, const char *key, latch_answer *answer);
} latch_operator;

extern const latch_operator latch_operators[];
extern const size_t latch_operator_count;

/* The plugin's operators, once: LATCH_PLUGIN({ .name = "Text.Count", .handler = count, ... }) */
#define LATCH_PLUGIN(...)                                   \
  const latch_operator latch_operators[] = { __VA_ARGS__ }; \
  const size_t latch_operator_count = sizeof latch_operators / sizeof latch_operators[0]

static inline const latch_operator *latch_find(const char *name) {
  for (size_t i = 0; i < latch_operator_count; i++)
    if (strcmp(latch_operators[i].name, name) == 0) return &latch_operators[i];
  return NULL;
}

#endif
