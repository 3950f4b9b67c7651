/* A growing text buffer, and functions that write JSON to it. */
#ifndef LATCHWORK_TEXT_H
#define LATCHWORK_TEXT_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text buffer. Initialize with { 0 }. `bytes` is NULL until text is first appended. From then on `bytes` ends
 * with a zero byte. */
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

/* Appends formatted text, like printf. For strings inside JSON use latch_put_string. */
__attribute__((format(printf, 2, 3))) static inline void latch_putf(latch_text *text, const char *format, ...) {
  va_list values;
  va_start(values, format);
  latch_put_va(text, format, values);
  va_end(values);
}

/* Returns the length of the longest valid UTF-8 prefix. The result is `len` if all bytes are valid. */
static inline size_t latch_utf8(const char *text, size_t len) {
  const unsigned char *at = (const unsigned char *)text;
  size_t i = 0;
  while (i < len) {
    unsigned char c = at[i], low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    size_t more = c < 0x80 ? 0 : c < 0xc2 ? 4 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : 4;
    if (more == 4 || i + more >= len) return i;
    for (size_t k = 1; k <= more; k++, low = 0x80, high = 0xbf)
      if (at[i + k] < low || at[i + k] > high) return i;
    i += more + 1;
  }
  return len;
}

/* Replaces bytes that are not valid UTF-8 by question marks. The host would reject the whole text otherwise. */
static inline void latch_utf8_clean(char *text, size_t len) {
  for (size_t good = 0; (good += latch_utf8(text + good, len - good)) < len; ) text[good] = '?';
}

/* Appends a JSON string, quoted and escaped. */
static inline void latch_put_string(latch_text *text, const char *words) {
  latch_put(text, "\"");
  for (const unsigned char *c = (const unsigned char *)words; *c; c++) {
    if (*c == '"' || *c == '\\') latch_putf(text, "\\%c", *c);
    else if (*c < 0x20) latch_putf(text, "\\u%04x", *c);
    else latch_put_bytes(text, (const char *)c, 1);
  }
  latch_put(text, "\"");
}

/* Appends a JSON number that reads back as the same double. NaN and infinities become `NaN`, which is no JSON: the host
 * refuses the text. */
static inline void latch_put_number(latch_text *text, double number) {
  if (isfinite(number)) latch_putf(text, "%.17g", number);
  else latch_put(text, "NaN");
}

#endif
