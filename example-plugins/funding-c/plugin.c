/* Email.Review: reviews a draft, corrects it where possible, and reports findings. */
#include "latchwork.h"

#include <ctype.h>

static const char *FILLERS[] = { "very ", "really ", "extremely ", "truly ", "incredibly ", "absolutely " };
static const char *SPAM[] = { "act now", "buy now", "click here", "free money", "guarantee", "risk-free", "urgent", "100%" };

/* Findings so far, as the items of a JSON array. */
static latch_text findings;
static bool ready = true;

static void note(const char *rule, bool fixed, const char *message) {
  latch_putf(&findings, "%s{\"rule\":\"%s\",\"fixed\":%s,\"message\":", findings.len ? "," : "", rule, fixed ? "true" : "false");
  latch_put_string(&findings, message);
  latch_put(&findings, "}");
  ready = ready && fixed;
}

static const char *said(const char *format, const char *what) {
  latch_text text = { 0 };
  for (; *format; format++)
    if (*format == '@') latch_put(&text, what);
    else latch_put_bytes(&text, format, 1);
  return text.bytes;
}

/* Returns the text with single spaces between words and no spaces at line ends. */
static char *tidy(const char *body) {
  latch_text text = { 0 };
  latch_put(&text, "");
  for (const char *c = body; *c; c++) {
    bool space = *c == ' ' || *c == '\t' || *c == '\r';
    bool ends = space && (c[1] == '\n' || c[1] == ' ' || c[1] == '\t' || c[1] == '\r' || c[1] == 0);
    bool begins = space && (text.len == 0 || text.bytes[text.len - 1] == '\n');
    if (!ends && !begins) latch_put_bytes(&text, space ? " " : c, 1);
  }
  return text.bytes;
}

static char *without(const char *body, const char *word, const char *instead) {
  latch_text text = { 0 };
  latch_put(&text, "");
  size_t len = strlen(word);
  while (*body) {
    if (strncmp(body, word, len) == 0) latch_put(&text, instead), body += len;
    else latch_put_bytes(&text, body++, 1);
  }
  return text.bytes;
}

static char *lower(const char *body) {
  latch_text copy = { 0 };
  latch_put(&copy, body);
  for (char *c = copy.bytes; *c; c++) *c = (char)tolower((unsigned char)*c);
  return copy.bytes;
}

static int words(const char *body) {
  int count = 0;
  for (bool inside = false; *body; body++) {
    bool word = !isspace((unsigned char)*body);
    count += word && !inside;
    inside = word;
  }
  return count;
}

static char *mend(char *body) {
  char *better = tidy(body);
  if (strcmp(better, body)) note("spacing", true, "spaces tidied");
  if (strchr(better, '!')) {
    better = without(without(better, "!!", "!"), "!", ".");
    note("tone", true, "exclamation marks turned into full stops");
  }
  for (size_t i = 0; i < sizeof FILLERS / sizeof *FILLERS; i++)
    if (strstr(better, FILLERS[i])) {
      better = without(better, FILLERS[i], "");
      note("tone", true, said("`@` taken out", FILLERS[i]));
    }
  return better;
}

static void judge(const char *body, int least, int most) {
  int count = words(body);
  latch_text number = { 0 };
  latch_putf(&number, "%d", count);
  if (count < least) note("length", false, said("@ words say too little", number.bytes));
  if (count > most) note("length", false, said("@ words are not read", number.bytes));
  if (strncmp(body, "Dear ", 5) && strncmp(body, "Hello ", 6) && strncmp(body, "Good ", 5)) note("greeting", false, "it begins without a greeting");
  char *small = lower(body);
  if (!strstr(small, "regards,") && !strstr(small, "sincerely,") && !strstr(small, "wishes,")) note("closing", false, "it ends without a closing line");
  if (!strchr(body, '?')) note("ask", false, "it asks for nothing");
  if (strstr(body, "{{") || strstr(small, "[name]") || strstr(small, "lorem ipsum")) note("placeholder", false, "a placeholder is left");
  for (size_t i = 0; i < sizeof SPAM / sizeof *SPAM; i++)
    if (strstr(small, SPAM[i])) note("spam", false, said("`@` sounds like advertising", SPAM[i]));
}

static int bound(latch_json input, const char *name, int otherwise) {
  int64_t given;
  return latch_json_integer(latch_json_member(input, name), &given) ? (int)given : otherwise;
}

static bool review(latch_json input, latch_answer *answer) {
  latch_json draft = latch_json_member(input, "draft");
  char *to = latch_json_string(latch_json_member(draft, "to"));
  char *subject = latch_json_string(latch_json_member(draft, "subject"));
  char *body = latch_json_string(latch_json_member(draft, "body"));
  if (!to || !subject || !body) return latch_fail(answer, LATCH_INVALID_INPUT, "the draft has no to, subject or body");
  subject = tidy(without(subject, "!", ""));
  if (!*subject) note("subject", false, "there is none");
  body = mend(body);
  judge(body, bound(input, "words_min", 60), bound(input, "words_max", 250));
  latch_log(LATCH_INFO, "%d words, %s", words(body), ready ? "ready" : "needs work");

  latch_putf(&answer->result, "{\"verdict\":\"%s\",\"findings\":[%s],\"to\":", ready ? "ready" : "needs_work", findings.bytes ? findings.bytes : "");
  latch_put_string(&answer->result, to);
  latch_put(&answer->result, ",\"subject\":");
  latch_put_string(&answer->result, subject);
  latch_put(&answer->result, ",\"body\":");
  latch_put_string(&answer->result, body);
  latch_putf(&answer->result, ",\"words\":%d}", words(body));
  return true;
}

LATCH_PLUGIN({
  .name = "Email.Review",
  .description = "Reviews a draft and mends what can be mended.",
  .input = "{\"type\":\"object\",\"required\":[\"draft\"],\"properties\":{\"draft\":{\"type\":\"object\"},"
           "\"words_min\":{\"type\":\"integer\"},\"words_max\":{\"type\":\"integer\"}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"verdict\",\"findings\",\"to\",\"subject\",\"body\",\"words\"]}",
  .outcome_type = "Email.Review",
  .outcome_status = "draft",
  .handler = review,
});
