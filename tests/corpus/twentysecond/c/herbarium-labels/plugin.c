#include "latchwork.h"

/* Makes the two printed lines of each herbarium label. A line of the label printer has 32 columns. */

enum { LINE = 32 };

static int compare(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

/* Removes spaces at both ends and joins runs of spaces. */
static char *tidy(const char *text) {
  latch_text made = { 0 };
  latch_put(&made, "");
  bool gap = false;
  for (; *text; text++) {
    if (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r') {
      gap = made.len > 0;
      continue;
    }
    if (gap) latch_put(&made, " ");
    gap = false;
    latch_put_bytes(&made, text, 1);
  }
  return made.bytes;
}

static void put_line(latch_text *out, const char *text) {
  latch_text line = { 0 };
  latch_putf(&line, "%.*s", LINE, text);
  latch_put_string(out, line.bytes);
}

static bool print(latch_json input, latch_answer *answer) {
  latch_json sheets = latch_json_member(input, "sheets");
  char *house = latch_json_string(latch_json_member(input, "house"));
  if (!house) return latch_fail(answer, LATCH_INVALID_INPUT, "house is not a plain text");
  int64_t numbers[200];
  size_t count = 0;
  latch_put(&answer->result, "{\"labels\":[");
  for (size_t i = 0; ; i++) {
    latch_json sheet = latch_json_item(sheets, i);
    if (!sheet.at) break;
    char *species = latch_json_string(latch_json_member(sheet, "species"));
    char *collector = latch_json_string(latch_json_member(sheet, "collector"));
    if (!species || !collector) return latch_fail(answer, LATCH_INVALID_INPUT, "sheet %zu has no plain text", i + 1);
    int64_t number;
    if (!latch_json_integer(latch_json_member(sheet, "number"), &number))
      return latch_fail(answer, LATCH_INVALID_INPUT, "sheet %zu has no number", i + 1);
    numbers[count++] = number;
    species = tidy(species);
    if (!*species) return latch_fail(answer, LATCH_INVALID_INPUT, "sheet %lld has no species", (long long)number);

    latch_text second = { 0 };
    latch_putf(&second, "%s %lld", house, (long long)number);
    collector = tidy(collector);
    if (*collector) latch_putf(&second, ", leg. %s", collector);
    latch_putf(&answer->result, "%s{\"number\":%lld,\"first\":", i ? "," : "", (long long)number);
    put_line(&answer->result, species);
    latch_put(&answer->result, ",\"second\":");
    put_line(&answer->result, second.bytes);
    latch_put(&answer->result, "}");
  }
  qsort(numbers, count, sizeof numbers[0], compare);
  size_t repeated = 0;
  for (size_t i = 1; i < count; i++) repeated += numbers[i] == numbers[i - 1];
  latch_putf(&answer->result, "],\"repeated_numbers\":%zu}", repeated);
  return true;
}

LATCH_PLUGIN({
  .name = "HerbariumLabel.Print",
  .description = "Makes the printed lines of herbarium labels.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"house\",\"sheets\"],\"properties\":{"
           "\"house\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{1,6}$\"},"
           "\"sheets\":{\"type\":\"array\",\"maxItems\":200,\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
           "\"required\":[\"number\",\"species\",\"collector\"],\"properties\":{"
           "\"number\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":99999999},"
           "\"species\":{\"type\":\"string\",\"maxLength\":200},\"collector\":{\"type\":\"string\",\"maxLength\":100}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"labels\",\"repeated_numbers\"],\"properties\":{"
            "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"number\",\"first\",\"second\"],"
            "\"properties\":{\"first\":{\"type\":\"string\",\"maxLength\":32},\"second\":{\"type\":\"string\",\"maxLength\":32}}}},"
            "\"repeated_numbers\":{\"type\":\"integer\"}}}",
  .handler = print,
});
