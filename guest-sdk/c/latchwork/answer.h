/* The answer of an operator. */
#ifndef LATCHWORK_ANSWER_H
#define LATCHWORK_ANSWER_H

#include "json.h"

/* The ten failure codes of plugins. The host may retry a call that fails with one of the first five. The
 * other codes are final. */
typedef enum {
  LATCH_NETWORK_TIMEOUT,
  LATCH_RATE_LIMIT,
  LATCH_TEMPORARY_PROVIDER_ERROR,
  LATCH_TRANSIENT_DB_LOCK,
  LATCH_DEPENDENCY_UNAVAILABLE,
  LATCH_POLICY_DENIED,
  LATCH_INVALID_INPUT,
  LATCH_SCHEMA_VALIDATION_FAILED,
  LATCH_MISSING_REQUIRED_CONTEXT,
  LATCH_AUTH_FORBIDDEN,
} latch_code;

/* A change in the world. Unknown fields are NULL. */
typedef struct {
  const char *resource_type, *resource_id, *operation, *version, *etag, *external_ref;
} latch_change;

/* An answer under construction: a result or a failure. */
typedef struct {
  latch_text result;  /* JSON */
  const char *receipt; /* JSON, or NULL */
  latch_change changes[16];
  size_t change_count;

  bool failed;
  bool passing; /* only a host call has failed; if the handler then returns true, the answer succeeds */
  latch_code code;
  char *message;
  const char *detail;      /* JSON, or NULL */
  uint32_t retry_after_ms; /* 0: the host chooses the backoff */
  bool applied_unknown;
} latch_answer;

/* Default for applied_unknown: true if a failure with this code may have changed the world. */
static inline bool latch_usually_unknown(latch_code code) {
  return code == LATCH_NETWORK_TIMEOUT || code == LATCH_TEMPORARY_PROVIDER_ERROR || code == LATCH_DEPENDENCY_UNAVAILABLE ||
         code == LATCH_SCHEMA_VALIDATION_FAILED;
}

/* Fails the answer and returns false: `return latch_fail(answer, LATCH_INVALID_INPUT, "%s is empty", name);`. Set other
 * fields after latch_fail, because latch_fail sets `applied_unknown` to the default of the code, and clears the fields
 * that a failed host call has set. */
__attribute__((format(printf, 3, 4))) static inline bool latch_fail(latch_answer *answer, latch_code code, const char *format, ...) {
  latch_text message = { 0 };
  va_list values;
  va_start(values, format);
  latch_put_va(&message, format, values);
  va_end(values);
  if (answer->passing) {
    answer->detail = NULL;
    answer->retry_after_ms = 0;
  }
  answer->failed = true;
  answer->passing = false;
  answer->code = code;
  answer->message = message.bytes;
  answer->applied_unknown = latch_usually_unknown(code);
  return false;
}

static inline bool latch_set_passing(latch_answer *answer, bool gave) {
  answer->passing = true;
  return gave;
}

/* Records the failure of a host call. Unlike latch_fail, latch_passing lets the handler continue without the value
 * and succeed. */
#define latch_passing(answer, ...) latch_set_passing(answer, latch_fail(answer, __VA_ARGS__))

/* Returns true if the handler has succeeded. `gave` is the value that the handler returned. Clears a failure
 * that was only recorded by latch_passing. */
static inline bool latch_answered(bool gave, latch_answer *answer) {
  if (gave && answer->passing) answer->failed = answer->passing = false;
  return gave && !answer->failed;
}

/* Returns a copy of a text. The copy of NULL is NULL. */
static inline const char *latch_copy(const char *text) {
  return text ? memcpy(latch_room(strlen(text) + 1), text, strlen(text) + 1) : NULL;
}

/* Records a change in the world and copies its texts. An answer holds at most 16 changes. Recording a
 * 17th change aborts the plugin. */
static inline void latch_changed(latch_answer *answer, latch_change change) {
  size_t room = sizeof answer->changes / sizeof answer->changes[0];
  if (answer->change_count == room) abort();
  answer->changes[answer->change_count++] = (latch_change){
    .resource_type = latch_copy(change.resource_type),
    .resource_id = latch_copy(change.resource_id),
    .operation = latch_copy(change.operation),
    .version = latch_copy(change.version),
    .etag = latch_copy(change.etag),
    .external_ref = latch_copy(change.external_ref),
  };
}

#endif
