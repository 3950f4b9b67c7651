/* Functions of the host. Steps: time, random numbers, tools and events. Tools: the invocation, kv, config
 * and secrets. Both: the context and the log. A component imports only the functions that it calls.
 *
 * The C functions time(), clock_gettime(), getentropy() and arc4random() also use the host. In a step
 * their values are injected and the same in replay. In a tool they are real. printf writes log records. */
#ifndef LATCHWORK_WORLD_H
#define LATCHWORK_WORLD_H

#include "answer.h"

static inline latch_string_t latch_str(const char *words) {
  return (latch_string_t){ (uint8_t *)words, strlen(words) };
}

/* Returns a copy of a string of the host, with a zero byte at the end. */
static inline char *latch_own(latch_string_t given) {
  latch_text text = { 0 };
  latch_put_bytes(&text, (const char *)given.ptr, given.len);
  return text.bytes;
}

typedef enum { LATCH_TRACE, LATCH_DEBUG, LATCH_INFO, LATCH_WARN, LATCH_ERROR } latch_level;

/* Writes a log record. `format` is a printf format. */
__attribute__((format(printf, 2, 3))) static inline void latch_log(latch_level level, const char *format, ...) {
  latch_text text = { 0 };
  va_list values;
  va_start(values, format);
  latch_put_va(&text, format, values);
  va_end(values);
  latch_utf8_clean(text.bytes, text.len);
  latch_string_t message = { (uint8_t *)text.bytes, text.len };
  latchwork_plugin_log_write((latchwork_plugin_log_level_t)level, &message);
  free(text.bytes);
}

/* Trace context: tenant, actor and ids of the job. */
typedef struct {
  char *tenant, *actor, *correlation_id, *job_id, *plan_id, *step_id;
} latch_context;

static inline latch_context latch_get_context(void) {
  latchwork_plugin_context_step_context_t c;
  latchwork_plugin_context_get(&c);
  return (latch_context){ latch_own(c.tenant), latch_own(c.actor), latch_own(c.correlation_id),
                          latch_own(c.job_id), latch_own(c.plan_id), latch_own(c.step_id) };
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Fills a buffer with `len` random bytes. */
static inline void latch_random(void *into, size_t len) {
  for (size_t done = 0; done < len; ) {
    uint32_t part = len - done > 65536 ? 65536 : (uint32_t)(len - done);
    latch_list_u8_t bytes;
    latchwork_plugin_rng_bytes(part, &bytes);
    memcpy((char *)into + done, bytes.ptr, bytes.len);
    free(bytes.ptr);
    done += part;
  }
}

/* Returns a uniform random number below `bound`, or 0 if `bound` is 0. */
static inline uint32_t latch_below(uint32_t bound) { return latchwork_plugin_rng_below(bound); }

/* Returns a random UUID, 36 characters in lower case. */
static inline char *latch_uuid(void) {
  uint8_t b[16];
  latch_random(b, sizeof b);
  b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
  b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
  latch_text text = { 0 };
  for (int i = 0; i < 16; i++) latch_putf(&text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
  return text.bytes;
}

/* Calls a tool. Returns its answer as JSON text. On failure, returns NULL and copies the failure of the
 * call to `answer`. `action_key` identifies the action across jobs, or is NULL. */
static inline char *latch_call(latch_answer *answer, const char *operator_name, const char *args, const char *action_key) {
  latch_string_t name = latch_str(operator_name), text = latch_str(args), key, result;
  if (action_key) key = latch_str(action_key);
  latchwork_plugin_tools_error_t error;
  if (latchwork_plugin_tools_call(&name, &text, action_key ? &key : NULL, &result, &error)) return latch_own(result);
  latch_passing(answer, (latch_code)error.code, "%s", latch_own(error.message));
  answer->retry_after_ms = error.retry_after_ms.is_some ? error.retry_after_ms.val : 0;
  answer->detail = error.detail.is_some ? latch_own(error.detail.val) : NULL;
  answer->applied_unknown = error.applied != 0;
  return NULL;
}

/* Emits an informational event for consumers outside the host. `payload` is JSON text. */
static inline void latch_emit(const char *name, const char *payload) {
  latch_string_t n = latch_str(name), p = latch_str(payload);
  latchwork_plugin_events_emit(&n, &p);
}

/* --- tools ------------------------------------------------------------------------------------ */

/* The running call. Send `external_key` to the downstream system as the idempotency key. The key is the
 * same in every try of the call. `trace_id` is the trace id of the job, which all calls of the job share. `attempt`
 * differs between tries. `tries_before` counts recorded earlier tries, also those that certainly changed nothing. */
typedef struct {
  char *trace_id, *slot, *external_key;
  uint32_t attempt, tries_before, timeout_ms;
} latch_invocation;

static inline latch_invocation latch_get_invocation(void) {
  latchwork_plugin_invocation_invocation_context_t i;
  latchwork_plugin_invocation_get(&i);
  return (latch_invocation){ latch_own(i.trace_id), latch_own(i.slot), latch_own(i.external_key),
                             i.attempt, i.tries_before, i.timeout_ms };
}

/* Returns a key of the plugin's `config` table as JSON text, or NULL if the key is not set. */
static inline char *latch_config(const char *key) {
  latch_string_t name = latch_str(key), value;
  return latchwork_plugin_config_get(&name, &value) ? latch_own(value) : NULL;
}

/* Returns the placeholder of a secret. Returns NULL and fails `answer` if the secret has no grant or no value. */
static inline char *latch_secret(latch_answer *answer, const char *secret) {
  latch_string_t name = latch_str(secret), value;
  latchwork_plugin_secrets_secret_error_t error;
  if (latchwork_plugin_secrets_get(&name, &value, &error)) return latch_own(value);
  if (error.tag == LATCHWORK_PLUGIN_SECRETS_SECRET_ERROR_NOT_GRANTED)
    latch_passing(answer, LATCH_POLICY_DENIED, "secret %s is not granted: bind it to a server in grants.http of latch.toml", secret);
  else latch_passing(answer, LATCH_MISSING_REQUIRED_CONTEXT, "secret %s is granted but has no value", secret);
  return NULL;
}

/* Marks a function whose result must be used. The compiler warns if a caller ignores the result. */
#define LATCH_CHECKED __attribute__((warn_unused_result))

static inline bool latch_kv_failed(latch_answer *answer, const char *key, const latchwork_plugin_kv_kv_error_t *error) {
  if (error->tag == LATCHWORK_PLUGIN_KV_KV_ERROR_NOT_GRANTED)
    return latch_passing(answer, LATCH_POLICY_DENIED, "kv key %s: no kv grant; add grants = { kv = ... } in latch.toml", key);
  if (error->tag == LATCHWORK_PLUGIN_KV_KV_ERROR_TOO_LARGE)
    return latch_passing(answer, LATCH_INVALID_INPUT, "kv key %s: entry too large; a key has at most 256 bytes and a value at most 64 KiB", key);
  return latch_passing(answer, LATCH_DEPENDENCY_UNAVAILABLE, "kv key %s: %s", key, latch_own(error->val.unavailable));
}

/* Reads the value of a key. `*value` is NULL if the key is not set. Returns false and fails `answer` if
 * the key-value store cannot be read, or if the value has a zero byte. */
LATCH_CHECKED static inline bool latch_kv_get(latch_answer *answer, const char *key, char **value) {
  latch_string_t name = latch_str(key);
  latch_option_list_u8_t found;
  latchwork_plugin_kv_kv_error_t error;
  if (!latchwork_plugin_kv_get(&name, &found, &error)) return latch_kv_failed(answer, key, &error);
  if (found.is_some && memchr(found.val.ptr, 0, found.val.len))
    return latch_passing(answer, LATCH_INVALID_INPUT, "kv key %s: the value has a zero byte, which a text in C cannot contain", key);
  *value = found.is_some ? latch_own((latch_string_t){ found.val.ptr, found.val.len }) : NULL;
  return true;
}

LATCH_CHECKED static inline bool latch_kv_set(latch_answer *answer, const char *key, const char *value) {
  latch_string_t name = latch_str(key);
  latch_list_u8_t bytes = { (uint8_t *)value, strlen(value) };
  latchwork_plugin_kv_kv_error_t error;
  return latchwork_plugin_kv_set(&name, &bytes, &error) || latch_kv_failed(answer, key, &error);
}

LATCH_CHECKED static inline bool latch_kv_delete(latch_answer *answer, const char *key, bool *was_there) {
  latch_string_t name = latch_str(key);
  latchwork_plugin_kv_kv_error_t error;
  return latchwork_plugin_kv_delete(&name, was_there, &error) || latch_kv_failed(answer, key, &error);
}

#endif
