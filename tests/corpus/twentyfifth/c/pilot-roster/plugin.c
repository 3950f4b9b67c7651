#include "latchwork.h"

/* Enters the duties of harbour pilots for a month. */
enum { ASKED = 3 };

typedef struct {
  char *pilot, *ship;
} duty;

/* The tide office is asked a few times, because its line is poor. */
static bool tides(const char *month, int64_t *windows, latch_answer *answer) {
  latch_text args = { 0 };
  latch_putf(&args, "{\"month\":\"%s\"}", month);
  char *told = NULL;
  for (int i = 0; i < ASKED && !told; i++) told = latch_call(answer, "Tide.Windows", args.bytes, NULL);
  if (!told) return false;
  if (!latch_json_integer(latch_json_member(latch_json_of(told), "windows"), windows))
    return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the tide office named no number of windows");
  return true;
}

static bool assign(latch_json input, latch_answer *answer) {
  char *month = latch_json_string(latch_json_member(input, "month"));
  latch_json list = latch_json_member(input, "duties");
  size_t count = latch_json_count(list);
  duty *duties = latch_room(count * sizeof *duties);
  for (size_t i = 0; i < count; i++) {
    duties[i].pilot = latch_json_string(latch_json_member(latch_json_item(list, i), "pilot"));
    duties[i].ship = latch_json_string(latch_json_member(latch_json_item(list, i), "ship"));
    if (!duties[i].pilot || !duties[i].ship) return latch_fail(answer, LATCH_INVALID_INPUT, "duty %d has a name that is no text", (int)i + 1);
    for (size_t k = 0; k < i; k++)
      if (strcmp(duties[k].pilot, duties[i].pilot) == 0 && strcmp(duties[k].ship, duties[i].ship) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "duty %d repeats duty %d", (int)i + 1, (int)k + 1);
  }
  int64_t windows;
  if (!tides(month, &windows, answer)) return false;
  if ((int64_t)count > windows) return latch_fail(answer, LATCH_POLICY_DENIED, "the month has fewer tides than duties");

  latch_putf(&answer->result, "{\"month\":\"%s\",\"spare\":%lld,\"entries\":[", month, (long long)(windows - (int64_t)count));
  for (size_t i = 0; i < count; i++) {
    latch_text args = { 0 }, key = { 0 };
    latch_putf(&args, "{\"month\":\"%s\",\"pilot\":", month);
    latch_put_string(&args, duties[i].pilot);
    latch_put(&args, ",\"ship\":");
    latch_put_string(&args, duties[i].ship);
    latch_put(&args, "}");
    /* A pilot takes a ship once a month. */
    latch_putf(&key, "[\"pilot-duty\",\"%s\",", month);
    latch_put_string(&key, duties[i].pilot);
    latch_put(&key, ",");
    latch_put_string(&key, duties[i].ship);
    latch_put(&key, "]");
    char *entered = latch_call(answer, "Roster.Enter", args.bytes, key.bytes);
    if (!entered) return false;
    char *entry = latch_json_string(latch_json_member(latch_json_of(entered), "entry"));
    if (!entry) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the roster named no entry");
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, entry);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Pilot.Assign",
  .description = "Enters the duties of the harbour pilots for a month.",
  .input = "{\"type\":\"object\",\"properties\":{\"month\":{\"type\":\"string\",\"pattern\":\"^20[0-9]{2}-(0[1-9]|1[0-2])$\"},"
           "\"duties\":{\"type\":\"array\",\"maxItems\":62,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"pilot\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},\"ship\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60}},"
           "\"required\":[\"pilot\",\"ship\"],\"additionalProperties\":false}}},"
           "\"required\":[\"month\",\"duties\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"month\",\"spare\",\"entries\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = assign,
});
