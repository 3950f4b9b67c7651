#include "latchwork.h"

/* Counts the lines that a role sings. The request states the exact edition of the libretto by its size, so the lines
 * follow from the request: a file of another edition is refused. */

static bool count(latch_json input, latch_answer *answer) {
  char *file = latch_json_string(latch_json_member(input, "file"));
  char *role = latch_json_string(latch_json_member(input, "role"));
  int64_t size;
  if (!file || !role || !*role) return latch_fail(answer, LATCH_INVALID_INPUT, "file and role are needed");
  if (!latch_json_integer(latch_json_member(input, "bytes"), &size) || size < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the size of the edition is missing");

  latch_text args = { 0 };
  latch_put(&args, "{\"file\":");
  latch_put_string(&args, file);
  latch_put(&args, "}");
  char *given = latch_call(answer, "Archive.Read", args.bytes, NULL);
  char *text = given ? latch_json_string(latch_json_member(latch_json_of(given), "text")) : NULL;
  if (!text || (int64_t)strlen(text) != size)
    return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the archive does not have %s in this edition", file);

  size_t name = strlen(role);
  int lines = 0, words = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (strncmp(line, role, name) != 0 || line[name] != ':') continue;
    lines++;
    bool within = false;
    for (const char *c = line + name + 1; *c; c++) {
      bool letter = *c != ' ' && *c != '\t';
      if (letter && !within) words++;
      within = letter;
    }
  }
  if (lines == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "%s does not sing in %s", role, file);
  latch_putf(&answer->result, "{\"lines\":%d,\"words\":%d}", lines, words);
  return true;
}

LATCH_PLUGIN({
  .name = "Libretto.Count",
  .description = "Counts the lines of a role in one edition of a libretto.",
  .input = "{\"type\":\"object\",\"properties\":{\"file\":{\"type\":\"string\"},\"role\":{\"type\":\"string\"},"
           "\"bytes\":{\"type\":\"integer\"}},\"required\":[\"file\",\"role\",\"bytes\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"lines\",\"words\"]}",
  .determinism = LATCH_PURE,
  .handler = count,
});
