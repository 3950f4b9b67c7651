/* Exports of a plugin, implemented by its operators. `latch plugin build` compiles this file together
 * with the plugin and defines LATCH_VERSION. */
#include "latchwork.h"

/* The generated bindings refer to this symbol. The object file that normally defines it is not linked, because the
 * build sets the world of the component itself. */
void __component_type_object_force_link_latch(void) {}

#ifdef LATCH_TOOL
enum { USUAL = LATCH_EXTERNAL };
#else
enum { USUAL = LATCH_PURE };
#endif

/* Defined in wasi.c: logs all printed text, including a last line without a line end. */
void latch_flush(void);

static latch_option_u32_t wanted(uint32_t limit) { return (latch_option_u32_t){ limit != 0, limit }; }
static char *own(const latch_string_t *given) { return latch_own(*given); }

/* Returns a copy on the heap, because the bindings free every value that is passed to them. */
static latch_string_t given(const char *words) {
  latch_string_t copy;
  latch_string_dup(&copy, words ? words : "");
  latch_utf8_clean((char *)copy.ptr, copy.len);
  return copy;
}
static latch_option_string_t given_option(const char *words) {
  return (latch_option_string_t){ words != NULL, words ? given(words) : (latch_string_t){ NULL, 0 } };
}

void exports_latchwork_plugin_plugin_describe(exports_latchwork_plugin_plugin_manifest_t *manifest) {
  manifest->version = given(LATCH_VERSION);
  manifest->operators.len = latch_operator_count;
  manifest->operators.ptr = latch_room(latch_operator_count * sizeof *manifest->operators.ptr);
  for (size_t i = 0; i < latch_operator_count; i++) {
    const latch_operator *from = &latch_operators[i];
    exports_latchwork_plugin_plugin_operator_t *to = &manifest->operators.ptr[i];
    to->name = given(from->name);
    to->description = given(from->description);
    to->input_schema = given(from->input ? from->input : "{}");
    to->output_schema = given(from->output ? from->output : "{}");
    unsigned effects = from->effects ? from->effects : from->outcome_type ? LATCH_PRODUCE_OUTCOME : LATCH_READ_ONLY;
    to->effects.ptr = latch_room(5);
    to->effects.len = 0;
    for (uint8_t effect = 0; effect < 5; effect++)
      if (effects & (1u << effect)) to->effects.ptr[to->effects.len++] = effect;
    to->determinism = (exports_latchwork_plugin_plugin_determinism_t)((from->determinism ? (int)from->determinism : (int)USUAL) - LATCH_PURE);
    to->outcome_type = given_option(from->outcome_type);
    to->outcome_status = given_option(from->outcome_status);
    to->resolution.idempotent_by_key_seconds = from->idempotent_by_key_seconds;
    to->resolution.settling_ms = from->settling_ms;
    to->limits.memory_bytes = wanted(from->memory_bytes);
    to->limits.timeout_ms = wanted(from->timeout_ms);
    to->limits.output_bytes = wanted(from->output_bytes);
  }
}

/* Marks the failure as a defect of the operator. The host reports a failure with this mark as PLUGIN_EXCEPTION. */
static void mistaken(latch_answer *answer) { answer->detail = "{\"latchwork:exception\":{}}"; }

static void put_error(latch_answer *answer, latchwork_plugin_types_error_t *error) {
  if ((unsigned)answer->code > LATCH_AUTH_FORBIDDEN) {
    latch_fail(answer, LATCH_INVALID_INPUT, "invalid failure code %d: %s", (int)answer->code, answer->message);
    mistaken(answer);
  }
  error->code = (latchwork_plugin_types_error_code_t)answer->code;
  error->message = given(answer->message);
  error->retry_after_ms = wanted(answer->retry_after_ms);
  error->detail.is_some = answer->detail != NULL;
  if (answer->detail) error->detail.val = given(answer->detail);
  error->applied = answer->applied_unknown ? 1 : 0;
}

static const char *result(const latch_answer *answer) { return answer->result.bytes ? answer->result.bytes : "null"; }

static void put_output(const latch_answer *answer, latchwork_plugin_types_tool_output_t *output) {
  output->result = given(result(answer));
  output->receipt.is_some = answer->receipt != NULL;
  if (answer->receipt) output->receipt.val = given(answer->receipt);
  output->usage.is_some = false;
  output->state_changes.len = answer->change_count;
  output->state_changes.ptr = latch_room(answer->change_count * sizeof *output->state_changes.ptr);
  for (size_t i = 0; i < answer->change_count; i++) {
    const latch_change *change = &answer->changes[i];
    output->state_changes.ptr[i] = (latchwork_plugin_types_state_change_t){
      given(change->resource_type), given(change->resource_id), given(change->operation),
      given_option(change->version), given_option(change->etag), given_option(change->external_ref),
    };
  }
}

/* Returns the operator with this name. Fails the answer and returns NULL if there is none. */
static const latch_operator *find(latch_string_t *name, latch_answer *answer) {
  const latch_operator *found = latch_find(own(name));
  if (!found) latch_fail(answer, LATCH_INVALID_INPUT, "this plugin has no operator %s", own(name));
  return found;
}

/* Returns the digits of the first integer that other JSON readers would round, or NULL. */
static const char *rounded(const char *json) {
  while (*json) {
    if (*json == '"') {
      json = latch_json_skip_string(json);
      continue;
    }
    if ((*json < '0' || *json > '9') && *json != '-') {
      json++;
      continue;
    }
    /* strspn reads the whole text in some libraries. */
    size_t len = 0;
    bool integer = true;
    for (; json[len]; len++) {
      bool fraction = json[len] == '.' || json[len] == 'e' || json[len] == 'E' || json[len] == '+';
      if (!fraction && json[len] != '-' && (json[len] < '0' || json[len] > '9')) break;
      integer &= !fraction;
    }
    if (integer && len >= 16 && (len > 18 || llabs(strtoll(json, NULL, 10)) >= 1ll << 53)) {
      latch_text digits = { 0 };
      latch_put_bytes(&digits, json, len);
      return digits.bytes;
    }
    json += len;
  }
  return NULL;
}

/* Returns true if the result is valid UTF-8 without integers that other readers would round. Otherwise
 * fails the answer and returns false. */
static bool fit(const char *name, latch_answer *answer) {
  const latch_text *made = &answer->result;
  if (!made->bytes) return true;
  size_t good = latch_utf8(made->bytes, made->len);
  if (good < made->len) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "output of %s is not JSON: byte %zu is not valid UTF-8", name, good);
  const char *integer = rounded(made->bytes);
  if (integer) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "output of %s is not JSON: %s: integers of 2^53 or more lose precision in other languages; use a string", name, integer);
  return true;
}

/* Runs the handler. Returns true with a result, or false with a failed answer. */
static bool handled(const latch_operator *operator_, latch_string_t *input, latch_answer *answer) {
  if (!operator_) return false;
  if (latch_answered(operator_->handler(latch_json_of(own(input)), answer), answer) && fit(operator_->name, answer)) return true;
  if (!answer->failed) {
    latch_fail(answer, LATCH_INVALID_INPUT, "%s returned false without latch_fail", operator_->name);
    mistaken(answer);
    /* Without latch_fail, the handler does not state whether the world has changed. The outcome of a world-changing
     * call is then unknown. */
    const unsigned writes = LATCH_INTERNAL_WRITE | LATCH_EXTERNAL_WRITE | LATCH_EXTERNAL_SEND;
    answer->applied_unknown = (operator_->effects & writes) != 0;
  }
  return false;
}

bool exports_latchwork_plugin_run_run(latch_string_t *name, latch_string_t *input, latch_string_t *ret, latchwork_plugin_types_error_t *error) {
  latch_answer answer = { 0 };
  bool good = handled(find(name, &answer), input, &answer);
  latch_flush();
  if (good) {
    *ret = given(result(&answer));
    return true;
  }
  put_error(&answer, error);
  return false;
}

bool exports_latchwork_plugin_invoke_invoke(latch_string_t *name, latch_string_t *args, latchwork_plugin_types_tool_output_t *ret, latchwork_plugin_types_error_t *error) {
  latch_answer answer = { 0 };
  bool good = handled(find(name, &answer), args, &answer);
  latch_flush();
  if (good) {
    put_output(&answer, ret);
    return true;
  }
  put_error(&answer, error);
  return false;
}

bool exports_latchwork_plugin_reconcile_reconcile(latch_string_t *name, latch_string_t *key, latch_string_t *args, exports_latchwork_plugin_reconcile_verdict_t *ret, latchwork_plugin_types_error_t *error) {
  latch_answer answer = { 0 };
  const latch_operator *found = find(name, &answer);
  latch_verdict verdict = found && found->reconcile ? found->reconcile(latch_json_of(own(args)), own(key), &answer) : LATCH_UNKNOWN;
  latch_flush();
  if (answer.failed) {
    put_error(&answer, error);
    return false;
  }
  ret->tag = (uint8_t)verdict;
  if (verdict == LATCH_HAPPENED) put_output(&answer, &ret->val.happened);
  if (verdict == LATCH_NOT_YET) ret->val.not_yet = answer.retry_after_ms;
  return true;
}

static const char *known(const latch_option_string_t *value) { return value->is_some ? latch_own(value->val) : NULL; }

bool exports_latchwork_plugin_verify_verify(latch_string_t *name, latchwork_plugin_types_state_change_t *from, exports_latchwork_plugin_verify_finding_t *ret, latchwork_plugin_types_error_t *error) {
  latch_answer answer = { 0 };
  const latch_operator *found = find(name, &answer);
  latch_change change = { own(&from->resource_type), own(&from->resource_id), own(&from->operation),
                          known(&from->version), known(&from->etag), known(&from->external_ref) };
  if (found && !found->verify) latch_fail(&answer, LATCH_DEPENDENCY_UNAVAILABLE, "%s has no verify handler", found->name);
  const char *mismatch = answer.failed ? NULL : found->verify(change, &answer);
  latch_flush();
  if (answer.failed) {
    put_error(&answer, error);
    return false;
  }
  ret->tag = mismatch != NULL;
  if (mismatch) ret->val.mismatch = given(mismatch);
  return true;
}

bool exports_latchwork_plugin_compensate_compensate(latch_string_t *name, latch_string_t *key, latch_string_t *args, latch_string_t *done, latchwork_plugin_types_tool_output_t *ret, latchwork_plugin_types_error_t *error) {
  latch_answer answer = { 0 };
  const latch_operator *found = find(name, &answer);
  if (found && !found->compensate) latch_fail(&answer, LATCH_INVALID_INPUT, "%s cannot be undone: it has no compensate handler", found->name);
  if (!answer.failed && latch_answered(found->compensate(latch_json_of(own(args)), latch_json_of(own(done)), own(key), &answer), &answer) && fit(found->name, &answer)) {
    latch_flush();
    put_output(&answer, ret);
    return true;
  }
  latch_flush();
  if (!answer.failed) {
    latch_fail(&answer, LATCH_INVALID_INPUT, "the compensate handler of %s returned false without latch_fail", found->name);
    mistaken(&answer);
  }
  put_error(&answer, error);
  return false;
}
