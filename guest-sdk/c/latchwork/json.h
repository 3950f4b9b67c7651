/* JSON reader. The host passes only valid JSON, so these functions check only for missing values
 * and wrong types. For a missing value or a wrong type, they return NULL or false. */
#ifndef LATCHWORK_JSON_H
#define LATCHWORK_JSON_H

#include "text.h"

/* A value within a JSON text. `at` is NULL if the value is missing. */
typedef struct {
  const char *at;
} latch_json;

static inline const char *latch_json_space(const char *at) {
  while (at && *at && strchr(" \t\r\n", *at)) at++;
  return at;
}

static inline const char *latch_json_skip_string(const char *at) {
  for (at++; *at && *at != '"'; at++)
    if (*at == '\\' && at[1]) at++;
  return *at ? at + 1 : at;
}

/* Returns the position after the value at `at`. */
static inline const char *latch_json_skip(const char *at) {
  size_t depth = 0;
  for (at = latch_json_space(at); *at; ) {
    if (*at == '"') at = latch_json_skip_string(at);
    else if (*at == '{' || *at == '[') depth++, at++;
    else if (*at == '}' || *at == ']') { if (depth == 0) return at; depth--, at++; }
    else if (*at == ',' || *at == ':') { if (depth == 0) return at; at++; }
    else at++;
    if (depth == 0 && (*at == ',' || *at == '}' || *at == ']' || *at == 0 || strchr(" \t\r\n", *at))) return at;
  }
  return at;
}

static inline latch_json latch_json_of(const char *text) { return (latch_json){ latch_json_space(text) }; }

static inline bool latch_json_is(latch_json value, char first) { return value.at && *value.at == first; }

static inline bool latch_json_is_null(latch_json value) { return !value.at || *value.at == 'n'; }

static inline int latch_json_hex(const char *at) {
  int code = 0;
  for (int i = 0; i < 4; i++) {
    char c = at[i];
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

static inline void latch_json_put_utf8(latch_text *text, long code) {
  char bytes[4];
  size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  if (len == 1) bytes[0] = (char)code;
  else {
    for (size_t i = len - 1; i > 0; i--, code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)((len == 2 ? 0xc0 : len == 3 ? 0xe0 : 0xf0) | code);
  }
  latch_put_bytes(text, bytes, len);
}

/* Returns the unescaped text of a string. Returns NULL if the value is not a string or contains U+0000,
 * which a C string cannot hold. */
static inline char *latch_json_string(latch_json value) {
  if (!latch_json_is(value, '"')) return NULL;
  latch_text text = { 0 };
  latch_put(&text, "");
  for (const char *at = value.at + 1; *at && *at != '"'; at++) {
    if (*at != '\\') { latch_put_bytes(&text, at, 1); continue; }
    at++;
    const char *known = "\"\\/bfnrt", *plain = "\"\\/\b\f\n\r\t", *found = strchr(known, *at);
    if (found && *at) { latch_put_bytes(&text, plain + (found - known), 1); continue; }
    long code = latch_json_hex(at + 1);
    if (code <= 0) return NULL;
    at += 4;
    if (code >= 0xd800 && code < 0xdc00 && at[1] == '\\' && at[2] == 'u') {
      long low = latch_json_hex(at + 3);
      if (low >= 0xdc00 && low < 0xe000) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), at += 6;
    }
    latch_json_put_utf8(&text, code);
  }
  return text.bytes;
}

/* Returns a member of an object, or a missing value. */
static inline latch_json latch_json_member(latch_json object, const char *name) {
  latch_json none = { NULL };
  if (!latch_json_is(object, '{')) return none;
  const char *at = latch_json_space(object.at + 1);
  while (*at == '"') {
    char *key = latch_json_string((latch_json){ at });
    at = latch_json_space(latch_json_skip_string(at));
    if (*at == ':') at = latch_json_space(at + 1);
    bool same = key && strcmp(key, name) == 0;
    free(key);
    if (same) return (latch_json){ at };
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  return none;
}

/* Returns an item of an array, counted from 0, or a missing value. */
static inline latch_json latch_json_item(latch_json array, size_t index) {
  latch_json none = { NULL };
  if (!latch_json_is(array, '[')) return none;
  const char *at = latch_json_space(array.at + 1);
  for (; *at && *at != ']'; index--) {
    if (index == 0) return (latch_json){ at };
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  return none;
}

static inline size_t latch_json_count(latch_json array) {
  size_t count = 0;
  if (!latch_json_is(array, '[')) return 0;
  for (const char *at = latch_json_space(array.at + 1); *at && *at != ']'; count++) {
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  return count;
}

static inline bool latch_json_number(latch_json value, double *number) {
  if (!value.at || !strchr("-0123456789", *value.at)) return false;
  *number = strtod(value.at, NULL);
  return true;
}

/* Reads an integer with a magnitude below 2^53, which every language reads exactly. Returns false for
 * larger numbers and for fractions. */
static inline bool latch_json_integer(latch_json value, int64_t *integer) {
  double number;
  if (!latch_json_number(value, &number)) return false;
  if (number != floor(number) || fabs(number) > 9007199254740991.0) return false;
  *integer = (int64_t)number;
  return true;
}

static inline bool latch_json_bool(latch_json value, bool *is) {
  if (!latch_json_is(value, 't') && !latch_json_is(value, 'f')) return false;
  *is = *value.at == 't';
  return true;
}

/* Returns the JSON text of the value, or `null` if the value is missing. */
static inline char *latch_json_text(latch_json value) {
  latch_text text = { 0 };
  if (value.at) latch_put_bytes(&text, value.at, (size_t)(latch_json_skip(value.at) - value.at));
  else latch_put(&text, "null");
  return text.bytes;
}

#endif
