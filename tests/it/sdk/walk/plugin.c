#include "latchwork.h"

#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec + time.tv_nsec / 1e9;
}

static char *keep(latch_answer *answer, const char *format, ...) {
  latch_text text = { 0 }, args = { 0 };
  va_list values;
  va_start(values, format);
  latch_put_va(&text, format, values);
  va_end(values);
  latch_put(&args, "{\"text\":");
  latch_put_string(&args, text.bytes);
  latch_put(&args, "}");
  char *made = latch_call(answer, "MadeJsTool.Keep", args.bytes, NULL);
  return made ? latch_json_string(latch_json_member(latch_json_of(made), "key")) : NULL;
}

static bool walk(latch_json input, latch_answer *answer) {
  (void)input;
  char *id = latch_uuid();
  double at = now();
  char *first = keep(answer, "%s at %f", id, at);
  if (!first) return false;
  latch_text halfway = { 0 };
  latch_putf(&halfway, "{\"id\":\"%s\"}", id);
  latch_emit("halfway", halfway.bytes);
  double dice = latch_below(1u << 30) / (double)(1u << 30);
  char *second = keep(answer, "%f after %s", dice, first);
  if (!second) return false;
  latch_putf(&answer->result, "{\"id\":\"%s\",\"at\":%.6f,\"dice\":%.17g,\"until\":%.6f,\"keys\":[\"%s\",\"%s\"]}", id, at, dice, now(), first, second);
  return true;
}

LATCH_PLUGIN({ .name = "Walk.There", .determinism = LATCH_STABLE, .handler = walk });
