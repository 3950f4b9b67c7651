#include "latchwork.h"

/* Drafts the blurb of a book for the window of a bookshop. A model shortens the synopsis of the publisher. For a book
 * that came without one, the record of the wholesaler gives the subjects that the model writes about. */

static char *asked(const char *title, const char *task, const char *material) {
  latch_text prompt = { 0 }, args = { 0 };
  latch_putf(&prompt, "%s Title: %s\n\n%s", task, title, material);
  latch_put(&args, "{\"model\":\"small-writer\",\"prompt\":");
  latch_put_string(&args, prompt.bytes);
  latch_put(&args, ",\"params\":{\"max_tokens\":160,\"temperature\":0}}");
  return args.bytes;
}

static char *subjects_of(const char *isbn, latch_answer *answer) {
  latch_text args = { 0 };
  latch_put(&args, "{\"isbn\":");
  latch_put_string(&args, isbn);
  latch_put(&args, "}");
  char *record = latch_call(answer, "Wholesale.Record", args.bytes, NULL);
  if (!record) return NULL;
  latch_json subjects = latch_json_member(latch_json_of(record), "subjects");
  latch_text list = { 0 };
  latch_put(&list, "");
  size_t count = latch_json_count(subjects);
  for (size_t i = 0; i < count && i < 12; i++) {
    char *subject = latch_json_string(latch_json_item(subjects, i));
    if (subject) latch_putf(&list, "%s%s", list.len ? ", " : "", subject);
  }
  return list.bytes;
}

static bool draft(latch_json input, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(input, "title"));
  char *isbn = latch_json_string(latch_json_member(input, "isbn"));
  char *synopsis = latch_json_string(latch_json_member(input, "synopsis"));
  if (!title || !isbn) return latch_fail(answer, LATCH_INVALID_INPUT, "title or isbn is no text");

  const char *source = "synopsis";
  char *args;
  if (synopsis && *synopsis) {
    args = asked(title, "Shorten this synopsis to three sentences without the ending.", synopsis);
  } else {
    char *subjects = subjects_of(isbn, answer);
    if (!subjects) return false;
    if (!*subjects) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "nothing is known about %s", isbn);
    source = "subjects";
    args = asked(title, "Write two inviting sentences about a book on these subjects.", subjects);
  }
  char *made = latch_call(answer, "Model.Complete", args, NULL);
  if (!made) return false;
  char *text = latch_json_string(latch_json_member(latch_json_of(made), "text"));
  if (!text || !*text) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the model wrote nothing");

  latch_put(&answer->result, "{\"title\":");
  latch_put_string(&answer->result, title);
  latch_put(&answer->result, ",\"blurb\":");
  latch_put_string(&answer->result, text);
  latch_putf(&answer->result, ",\"source\":\"%s\"}", source);
  return true;
}

LATCH_PLUGIN({
  .name = "Blurb.Draft",
  .description = "Drafts the blurb of a book.",
  .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"maxLength\":200},"
           "\"isbn\":{\"type\":\"string\",\"pattern\":\"^[0-9]{13}$\"},\"synopsis\":{\"type\":\"string\",\"maxLength\":6000}},"
           "\"required\":[\"title\",\"isbn\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"title\",\"blurb\",\"source\"]}",
  .effects = LATCH_PRODUCE_OUTCOME,
  .outcome_type = "Draft.Blurb",
  .outcome_status = "draft",
  /* The wording is that of the model. */
  .determinism = LATCH_STABLE,
  .handler = draft,
});
