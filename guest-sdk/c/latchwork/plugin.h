/* Operators of a plugin. */
#ifndef LATCHWORK_PLUGIN_H
#define LATCHWORK_PLUGIN_H

#include "world.h"

/* Effects that an operator may have on the world. Combine several with |. */
enum {
  LATCH_READ_ONLY = 1,
  LATCH_PRODUCE_OUTCOME = 2,
  LATCH_INTERNAL_WRITE = 4,
  LATCH_EXTERNAL_WRITE = 8,
  LATCH_EXTERNAL_SEND = 16,
};

/* Repeatability of an operator. LATCH_USUAL means pure for a step and external for a tool. */
typedef enum { LATCH_USUAL, LATCH_PURE, LATCH_STABLE, LATCH_EXTERNAL } latch_determinism;

/* Answer to the question whether a call in doubt happened. */
typedef enum { LATCH_HAPPENED, LATCH_DID_NOT_HAPPEN, LATCH_NOT_YET, LATCH_UNKNOWN } latch_verdict;

/* An operator. Fields that are left out have the most restrictive default: a step without a determinism is pure, and a
   tool is external. */
typedef struct {
  const char *name;         /* Noun.Verb */
  const char *description;  /* one sentence for people */
  const char *input, *output; /* JSON Schemas */
  unsigned effects;
  latch_determinism determinism;
  const char *outcome_type, *outcome_status;
  uint32_t idempotent_by_key_seconds, settling_ms;
  uint32_t memory_bytes, timeout_ms, output_bytes; /* requested limits; 0: the limit of the host */

  /* Serves a call. Writes JSON to answer->result and returns true, or returns latch_fail(...). */
  bool (*handler)(latch_json input, latch_answer *answer);
  /* Tools: finds out whether the call with this key happened. Has no right to write. LATCH_HAPPENED needs the output
   * of the call itself in the answer. LATCH_NOT_YET needs retry_after_ms. If a latch_kv_... or latch_secret failed in
   * this function, the answer is that failure, and the verdict is ignored. A failure counts as LATCH_UNKNOWN.
   * latch-plugin.toml must have exports = ["reconcile"]. */
  latch_verdict (*reconcile)(latch_json args, const char *key, latch_answer *answer);
  /* Tools: returns NULL if a recorded change is still in place, else a description of the state found. Has no right
   * to write. If the check was not possible, call latch_fail. If a host call failed in this function, the answer is
   * that failure. */
  const char *(*verify)(latch_change change, latch_answer *answer);
  /* Tools: undoes the call that had these arguments, this result and this key. Fails if the call can no longer be
   * undone. After such a failure, a person decides. */
  bool (*compensate)(latch_json args, latch_json result, const char *key, latch_answer *answer);
} latch_operator;

extern const latch_operator latch_operators[];
extern const size_t latch_operator_count;

/* Defines the operators of the plugin. Use this macro once: LATCH_PLUGIN({ .name = "Text.Count", .handler =
 * count, ... }) */
#define LATCH_PLUGIN(...)                                   \
  const latch_operator latch_operators[] = { __VA_ARGS__ }; \
  const size_t latch_operator_count = sizeof latch_operators / sizeof latch_operators[0]

static inline const latch_operator *latch_find(const char *name) {
  for (size_t i = 0; i < latch_operator_count; i++)
    if (strcmp(latch_operators[i].name, name) == 0) return &latch_operators[i];
  return NULL;
}

#endif
