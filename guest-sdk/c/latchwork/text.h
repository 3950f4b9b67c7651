/* Text that grows, and JSON written into it. */
#ifndef LATCHWORK_TEXT_H
#define LATCHWORK_TEXT_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Start with { 0 }. `bytes` always ends with a zero byte once something was put. */
typedef struct {
  char *bytes;
  size_t len, room;
} latch_text;

static inline void *latch_room(size_t size) {
  void *room = malloc(size ? size : 1);
  if (!room) abort();
  return room;
}

static inline void latch_put_bytes(latch_text *text, const char *bytes, size_t len) {
  if (text->len + len + 1 > text->room) {
    text->room = (text->len + len + 1) * 2;
    text->bytes = realloc(text->bytes, text->room);
    if (!text->bytes) abort();
  }
  if (len) memcpy(text->bytes + text->len, bytes, len);
  text->len += len;
  text->bytes[text->len] = 0;
}

static inline void latch_put(latch_text *text, const char *words) { latch_put_bytes(text, words, strlen(words)); }

static inline void latch_put_va(latch_text *text, const char *format, va_list values) {
  va_list again;
  va_copy(again, values);
  int len = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (len < 0) abort();
  char *made = latch_room((size_t)len + 1);
  vsnprintf(made, (size_t)len + 1, format, values);
  latch_put_bytes(text, made, (size_t)len);
  free(made);
}

/* As printf does. For strings inside of JSON use latch_put_string. */
__attribute__((format(printf, 2, 3))) static inline void latch_putf(latch_text *text, const char *format, ...) {
  va_list values;
  va_start(values, format);
  latch_put_va(text, format, values);
  va_end(values);
}

/* A JSON string, quoted and escaped. */
static inline void latch_put_string(latch_text *text, const char *words) {
  latch_put(text, "\"");
  for (const unsigned char *c = (const unsigned char *)words; *c; c++) {
    if (*c == '"' || *c == '\\') latch_putf(text, "\\%c", *c);
    else if (*c < 0x20) latch_putf(text, "\\u%04x", *c);
    else latch_put_bytes(text, (const char *)c, 1);
  }
  latch_put(text, "\"");
}

/* A JSON number that reads back as the same double; what JSON does not have becomes null. */
static inline void latch_put_number(latch_text *text, double number) {
  if (isfinite(number)) latch_putf(text, "%.17g", number);
  else latch_put(text, "null");
}

#endif
