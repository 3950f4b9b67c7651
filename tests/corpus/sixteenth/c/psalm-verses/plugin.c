/* Psalm.Measure: counts the verses and words of a psalm, for the choir's plan of a service. */
#include "latchwork.h"

#include <ctype.h>
#include <strings.h>

/* Measures of a psalm. */
typedef struct {
  int verses, words, longest;
} measure;

/* Adds a line. A line that begins with a number begins a verse, and the number is no word. */
static void add_line(const char *line, const char *end, int *in_verse, measure *sum) {
  while (line < end && isspace((unsigned char)*line)) line++;
  if (line < end && isdigit((unsigned char)*line)) {
    sum->verses++;
    *in_verse = 0;
    while (line < end && !isspace((unsigned char)*line)) line++;
  }
  if (sum->verses == 0) return;
  for (bool inside = false; line < end; line++) {
    bool word = !isspace((unsigned char)*line);
    if (word && !inside) sum->words++, (*in_verse)++;
    inside = word;
  }
  if (*in_verse > sum->longest) sum->longest = *in_verse;
}

static measure measured(const char *text) {
  measure sum = { 0 };
  int in_verse = 0;
  while (*text) {
    const char *end = strchr(text, '\n');
    if (!end) end = text + strlen(text);
    add_line(text, end, &in_verse, &sum);
    text = *end ? end + 1 : end;
  }
  return sum;
}

static bool measure_psalm(latch_json input, latch_answer *answer) {
  char *path = latch_json_string(latch_json_member(input, "path"));
  char *wanted = latch_json_string(latch_json_member(input, "sha256"));
  if (!path || !*path) return latch_fail(answer, LATCH_INVALID_INPUT, "the path is empty");

  latch_text args = { 0 };
  latch_put(&args, "{\"path\":");
  latch_put_string(&args, path);
  latch_put(&args, "}");
  char *file = latch_call(answer, "File.Read", args.bytes, NULL);
  if (!file) return false;
  char *text = latch_json_string(latch_json_member(latch_json_of(file), "text"));
  char *found = latch_json_string(latch_json_member(latch_json_of(file), "sha256"));
  if (!text || !found) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is no text file", path);
  /* An input without a digest takes the text as it is. */
  if (wanted && strcasecmp(wanted, found) != 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s does not have the SHA-256 %s", path, wanted);

  measure sum = measured(text);
  if (sum.verses == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "%s has no numbered verses", path);
  latch_put(&answer->result, "{\"path\":");
  latch_put_string(&answer->result, path);
  latch_putf(&answer->result, ",\"verses\":%d,\"words\":%d,\"longest\":%d}", sum.verses, sum.words, sum.longest);
  return true;
}

LATCH_PLUGIN({
  .name = "Psalm.Measure",
  .description = "Counts the verses and words of a psalm in a text file.",
  .input = "{\"type\":\"object\",\"required\":[\"path\"],\"additionalProperties\":false,\"properties\":{"
           "\"path\":{\"type\":\"string\",\"maxLength\":400},"
           "\"sha256\":{\"type\":\"string\",\"pattern\":\"^[0-9a-fA-F]{64}$\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"path\",\"verses\",\"words\",\"longest\"]}",
  .determinism = LATCH_PURE,
  .handler = measure_psalm,
});
