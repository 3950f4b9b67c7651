/* Chart.Print: sends the sheets of a nautical chart to the press and waits until the last one is printed. */
#include "latchwork.h"

#include <time.h>

enum { PATIENCE = 60 };

/* Starts the print and returns the number of the print, or NULL. */
static char *start(latch_answer *answer, const char *chart, int64_t sheets) {
  latch_text args = { 0 };
  latch_put(&args, "{\"chart\":");
  latch_put_string(&args, chart);
  latch_putf(&args, ",\"sheets\":%lld}", (long long)sheets);
  char *reply = latch_call(answer, "Press.Start", args.bytes, NULL);
  if (!reply) return NULL;
  char *print = latch_json_string(latch_json_member(latch_json_of(reply), "print"));
  if (!print) latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the press gave %s no number", chart);
  return print;
}

/* Asks the press for the state of a print: `waiting`, `printing`, `done` or `jammed`. */
static char *state(latch_answer *answer, const char *print, int64_t *printed) {
  latch_text args = { 0 };
  latch_put(&args, "{\"print\":");
  latch_put_string(&args, print);
  latch_put(&args, "}");
  char *reply = latch_call(answer, "Press.State", args.bytes, NULL);
  if (!reply) return NULL;
  latch_json told = latch_json_of(reply);
  if (!latch_json_integer(latch_json_member(told, "printed"), printed)) *printed = 0;
  char *name = latch_json_string(latch_json_member(told, "state"));
  if (!name) latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "print %s has no state", print);
  return name;
}

static bool print_chart(latch_json input, latch_answer *answer) {
  char *chart = latch_json_string(latch_json_member(input, "chart"));
  int64_t sheets;
  if (!chart || !*chart) return latch_fail(answer, LATCH_INVALID_INPUT, "the chart has no number");
  if (!latch_json_integer(latch_json_member(input, "sheets"), &sheets) || sheets < 1 || sheets > 48)
    return latch_fail(answer, LATCH_INVALID_INPUT, "chart %s: 1 to 48 sheets can be printed", chart);

  char *print = start(answer, chart, sheets);
  if (!print) return false;
  time_t begun = time(NULL);
  int64_t printed = 0;
  /* The press has one minute for a chart. */
  while (time(NULL) - begun < PATIENCE) {
    char *now = state(answer, print, &printed);
    if (!now) return false;
    if (strcmp(now, "jammed") == 0)
      return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "print %s is jammed at sheet %lld", print,
                        (long long)printed + 1);
    if (strcmp(now, "done") == 0) {
      latch_put(&answer->result, "{\"chart\":");
      latch_put_string(&answer->result, chart);
      latch_put(&answer->result, ",\"print\":");
      latch_put_string(&answer->result, print);
      latch_putf(&answer->result, ",\"sheets\":%lld}", (long long)printed);
      return true;
    }
  }
  return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "print %s took more than a minute", print);
}

LATCH_PLUGIN({
  .name = "Chart.Print",
  .description = "Prints the sheets of a nautical chart.",
  .input = "{\"type\":\"object\",\"properties\":{\"chart\":{\"type\":\"string\"},\"sheets\":{\"type\":\"integer\"}},"
           "\"required\":[\"chart\",\"sheets\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"chart\",\"print\",\"sheets\"]}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = print_chart,
});
