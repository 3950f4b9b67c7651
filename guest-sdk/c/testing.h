/* A test host for tests that are ordinary programs. Include this header in one file of the test, after
 * latchwork.h, together with the source of the plugin. */
#ifndef LATCHWORK_TESTING_H
#define LATCHWORK_TESTING_H

#include "latchwork.h"

/* Values that the test host returns. Set them in a test. */
static struct {
  int64_t seconds;
  const char *external_key;
  bool grant_kv;
  const char *tool_answer; /* JSON answer of every tool; NULL: there is no tool */
  /* Set by the test host: last log message, name of the last called tool, and the kv entries. */
  char *logged, *called;
  struct {
    char *key, *value;
  } kv[64];
} latch_host = { .seconds = 1763766000, .external_key = "latch:job_test:s1:1" };

/* Calls an operator. Returns its result as JSON text, or NULL with a failed `*answer`. */
static inline const char *latch_test(const char *name, const char *input, latch_answer *answer) {
  latch_answer fresh = { 0 };
  if (!answer) answer = &fresh;
  *answer = (latch_answer){ 0 };
  const latch_operator *found = latch_find(name);
  if (!found || !latch_answered(found->handler(latch_json_of(input), answer), answer)) return NULL;
  return answer->result.bytes ? answer->result.bytes : "null";
}

static inline void latch_expect(bool holds, const char *what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: %s does not hold\n", line, what);
  exit(1);
}
#define LATCH_EXPECT(condition) latch_expect((condition), #condition, __LINE__)

static latch_string_t latch_test_string(const char *words) {
  char *copy = latch_room(strlen(words) + 1);
  strcpy(copy, words);
  return latch_str(copy);
}

void latchwork_plugin_context_get(latchwork_plugin_context_step_context_t *ret) {
  *ret = (latchwork_plugin_context_step_context_t){ latch_test_string("default"), latch_test_string("ada"), latch_test_string("cor_test"),
                                                    latch_test_string("job_test"), latch_test_string("test"), latch_test_string("s1") };
}
void latchwork_plugin_log_write(latchwork_plugin_log_level_t level, latch_string_t *message) {
  (void)level;
  latch_host.logged = latch_own(*message);
}
void latchwork_plugin_clock_now(latchwork_plugin_clock_instant_t *ret) {
  *ret = (latchwork_plugin_clock_instant_t){ latch_host.seconds, 0 };
}
uint32_t latchwork_plugin_rng_next_u32(void) { return (uint32_t)rand(); }
uint32_t latchwork_plugin_rng_below(uint32_t bound) { return bound ? (uint32_t)rand() % bound : 0; }
void latchwork_plugin_rng_bytes(uint32_t len, latch_list_u8_t *ret) {
  *ret = (latch_list_u8_t){ latch_room(len), len };
  for (uint32_t i = 0; i < len; i++) ret->ptr[i] = (uint8_t)rand();
}
bool latchwork_plugin_tools_call(latch_string_t *name, latch_string_t *args, latch_string_t *key, latch_string_t *ret, latchwork_plugin_types_error_t *err) {
  (void)args, (void)key;
  latch_host.called = latch_own(*name);
  if (latch_host.tool_answer) return *ret = latch_test_string(latch_host.tool_answer), true;
  *err = (latchwork_plugin_types_error_t){ .code = LATCH_DEPENDENCY_UNAVAILABLE, .message = latch_test_string("the test host has no tool: set latch_host.tool_answer") };
  return false;
}
void latchwork_plugin_events_emit(latch_string_t *name, latch_string_t *payload) { (void)name, (void)payload; }
void latchwork_plugin_invocation_get(latchwork_plugin_invocation_invocation_context_t *ret) {
  *ret = (latchwork_plugin_invocation_invocation_context_t){ latch_test_string("trace_test"), latch_test_string("s1"),
                                                             latch_test_string(latch_host.external_key), 1, 0, 30000 };
}
bool latchwork_plugin_config_get(latch_string_t *key, latch_string_t *ret) { return (void)key, (void)ret, false; }
bool latchwork_plugin_secrets_get(latch_string_t *name, latch_string_t *ret, latchwork_plugin_secrets_secret_error_t *err) {
  (void)name, (void)ret;
  err->tag = LATCHWORK_PLUGIN_SECRETS_SECRET_ERROR_NOT_GRANTED;
  return false;
}

/* Returns the index of a key, or of the first free entry. Returns -1 without a kv grant. */
static int latch_test_kv(latch_string_t *key, latchwork_plugin_kv_kv_error_t *err) {
  err->tag = LATCHWORK_PLUGIN_KV_KV_ERROR_NOT_GRANTED;
  char *name = latch_own(*key);
  int i = 0;
  for (; latch_host.kv[i].key && strcmp(latch_host.kv[i].key, name); i++)
    if (i == 62) abort();
  if (!latch_host.kv[i].key) latch_host.kv[i].key = name;
  return latch_host.grant_kv ? i : -1;
}
bool latchwork_plugin_kv_get(latch_string_t *key, latch_option_list_u8_t *ret, latchwork_plugin_kv_kv_error_t *err) {
  int i = latch_test_kv(key, err);
  if (i < 0) return false;
  char *value = latch_host.kv[i].value;
  *ret = (latch_option_list_u8_t){ value != NULL, { (uint8_t *)value, value ? strlen(value) : 0 } };
  return true;
}
bool latchwork_plugin_kv_set(latch_string_t *key, latch_list_u8_t *value, latchwork_plugin_kv_kv_error_t *err) {
  int i = latch_test_kv(key, err);
  if (i < 0) return false;
  latch_host.kv[i].value = latch_own((latch_string_t){ value->ptr, value->len });
  return true;
}
bool latchwork_plugin_kv_delete(latch_string_t *key, bool *ret, latchwork_plugin_kv_kv_error_t *err) {
  int i = latch_test_kv(key, err);
  if (i < 0) return false;
  *ret = latch_host.kv[i].value != NULL;
  latch_host.kv[i].value = NULL;
  return true;
}

#endif
