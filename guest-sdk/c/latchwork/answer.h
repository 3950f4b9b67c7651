/* What an operator answers. */
#ifndef LATCHWORK_ANSWER_H
#define LATCHWORK_ANSWER_H

#include "json.h"

/* The ten codes a plugin may fail with. The host retries the first five by itself. */
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

/* One change in the world. Those that are not known are NULL. */
typedef struct {
  const char *resource_type, *resource_id, *operation, *version, *etag, *external_ref;
} latch_change;

/* An answer under construction: a result, or a failure. */
typedef struct {
  latch_text result;  /* JSON */
  const char *receipt; /* JSON; NULL where there is none */
  latch_change changes[16];
  size_t change_count;

  bool failed;
  bool passing; /* only something that was asked failed; the handler may go on, and give true */
  latch_code code;
  char *message;
  const char *detail;      /* JSON; NULL where there is none */
  uint32_t retry_after_ms; /* 0: as the host thinks best */
  bool applied_unknown;
} latch_answer;

/* Whether the world may have been changed where nothing else is said. */
static inline bool latch_usually_unknown(latch_code code) {
  return code == LATCH_NETWORK_TIMEOUT || code == LATCH_TEMPORARY_PROVIDER_ERROR || code == LATCH_DEPENDENCY_UNAVAILABLE ||
         code == LATCH_SCHEMA_VALIDATION_FAILED;
}

/* Fail: `return latch_fail(answer, LATCH_INVALID_INPUT, "%s is empty", name);` Gives false. */
__attribute__((format(printf, 3, 4))) static inline bool latch_fail(latch_answer *answer, latch_code code, const char *format, ...) {
  latch_text message = { 0 };
  va_list values;
  va_start(values, format);
  latch_put_va(&message, format, values);
  va_end(values);
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

/* What was asked failed: as latch_fail, but a handler that goes on without it may still answer. */
#define latch_passing(answer, ...) latch_set_passing(answer, latch_fail(answer, __VA_ARGS__))

/* Whether a handler that gave this has answered. */
static inline bool latch_answered(bool gave, latch_answer *answer) {
  if (gave && answer->passing) answer->failed = answer->passing = false;
  return gave && !answer->failed;
}

/* Say what was changed. */
static inline void latch_changed(latch_answer *answer, latch_change change) {
  size_t room = sizeof answer->changes / sizeof answer->changes[0];
  if (answer->change_count == room) abort();
  answer->changes[answer->change_count++] = change;
}

#endif
