#include "latchwork.h"

#define MOST_PIECES 12

/* A program has one entry for each piece, and then a cover, which makes the program visible. Readers look for the cover
 * first. Pieces without a cover are no program, and the next try of the call replaces them. */
typedef struct {
  char *cover, *title, *piece[MOST_PIECES], *text[MOST_PIECES];
  size_t count;
} program;

static char *named(const char *key, const char *part) {
  latch_text name = { 0 };
  latch_putf(&name, "program/%s/%s", key, part);
  return name.bytes;
}

static bool read_program(latch_json args, const char *key, program *p, latch_answer *answer) {
  latch_json pieces = latch_json_member(args, "pieces");
  *p = (program){ .count = latch_json_count(pieces), .cover = named(key, "cover") };
  char *title = latch_json_string(latch_json_member(args, "title"));
  if (!title || !*title || strlen(title) > 500) return latch_fail(answer, LATCH_INVALID_INPUT, "title must have 1 to 500 bytes");
  if (p->count < 1 || p->count > MOST_PIECES)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a program has 1 to %d pieces", MOST_PIECES);
  for (size_t i = 0; i < p->count; i++) {
    char part[24];
    snprintf(part, sizeof part, "%zu", i);
    p->piece[i] = named(key, part);
    p->text[i] = latch_json_string(latch_json_item(pieces, i));
    if (!p->text[i] || !*p->text[i] || strlen(p->text[i]) > 2000)
      return latch_fail(answer, LATCH_INVALID_INPUT, "piece %zu must have 1 to 2000 bytes", i + 1);
  }
  latch_text cover = { 0 };
  latch_putf(&cover, "%zu pieces: %s", p->count, title);
  p->title = cover.bytes;
  return true;
}

static bool printed(const program *p, latch_answer *answer) {
  latch_put(&answer->result, "{\"cover\":");
  latch_put_string(&answer->result, p->cover);
  latch_putf(&answer->result, ",\"pieces\":%zu}", p->count);
  latch_changed(answer, (latch_change){ .resource_type = "program", .resource_id = p->cover, .operation = "create", .version = p->title });
  for (size_t i = 0; i < p->count; i++)
    latch_changed(answer, (latch_change){ .resource_type = "piece", .resource_id = p->piece[i], .operation = "create", .version = p->text[i] });
  return true;
}

static bool unsure(latch_answer *answer) {
  answer->applied_unknown = true;
  return false;
}

static bool print(latch_json args, latch_answer *answer) {
  program p;
  if (!read_program(args, latch_get_invocation().external_key, &p, answer)) return false;
  for (size_t i = 0; i < p.count; i++)
    if (!latch_kv_set(answer, p.piece[i], p.text[i])) return i == 0 ? false : unsure(answer);
  if (!latch_kv_set(answer, p.cover, p.title)) return unsure(answer);
  return printed(&p, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  program p;
  char *found;
  if (!read_program(args, key, &p, answer)) return LATCH_UNKNOWN;
  if (!latch_kv_get(answer, p.cover, &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  printed(&p, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the entry is missing";
  return strcmp(found, change.version) == 0 ? NULL : "the entry has another text";
}

static bool same(const char *entry, const char *text, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, entry, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (found && strcmp(found, text) == 0) return true;
  return latch_fail(answer, LATCH_POLICY_DENIED, "%s was changed or removed", entry);
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  program p;
  bool was_there;
  if (!read_program(args, key, &p, answer)) return false;
  if (!same(p.cover, p.title, answer)) return false;
  for (size_t i = 0; i < p.count; i++)
    if (!same(p.piece[i], p.text[i], answer)) return false;

  if (!latch_kv_delete(answer, p.cover, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the cover was removed by another party");
  for (size_t i = 0; i < p.count; i++) {
    if (!latch_kv_delete(answer, p.piece[i], &was_there)) return unsure(answer);
    if (!was_there) {
      latch_fail(answer, LATCH_POLICY_DENIED, "%s was removed by another party", p.piece[i]);
      return unsure(answer);
    }
  }
  latch_put(&answer->result, "{}");
  return true;
}

LATCH_PLUGIN({
  .name = "RecitalProgram.Print",
  .description = "Stores the printed program of a recital.",
  .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},"
           "\"pieces\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"required\":[\"title\",\"pieces\"],"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"cover\":{\"type\":\"string\"},\"pieces\":{\"type\":\"integer\"}},"
            "\"required\":[\"cover\",\"pieces\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = print,
  .reconcile = find,
  .verify = check,
  .compensate = withdraw,
});
