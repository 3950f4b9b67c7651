#include "latchwork.h"

/* Invites the patrons of a choir to one concert. A patron is invited once to a concert, whichever job asks. */

#define MOST 60

typedef struct {
  char name[96];
} invitation_key;

/* Season, concert and patron distinguish an invitation. */
static invitation_key key_for(const char *season, const char *concert, const char *patron) {
  invitation_key key;
  snprintf(key.name, sizeof key.name, "choir-invitation|%s|%s|%s", season, concert, patron);
  return key;
}

static bool is_listed(char **names, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

static bool invite(latch_json input, latch_answer *answer) {
  char *season = latch_json_string(latch_json_member(input, "season"));
  char *concert = latch_json_string(latch_json_member(input, "concert"));
  latch_json patrons = latch_json_member(input, "patrons");
  size_t count = latch_json_count(patrons);
  if (!season || !concert) return latch_fail(answer, LATCH_INVALID_INPUT, "season or concert is no text");
  if (strchr(season, '|') || strchr(concert, '|')) return latch_fail(answer, LATCH_INVALID_INPUT, "a bar separates the parts of a key");

  char *names[MOST];
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d patrons", MOST);
  for (size_t i = 0; i < count; i++) {
    names[i] = latch_json_string(latch_json_item(patrons, i));
    if (!names[i]) return latch_fail(answer, LATCH_INVALID_INPUT, "patron %zu is no text", i + 1);
    if (strchr(names[i], '|')) return latch_fail(answer, LATCH_INVALID_INPUT, "a bar separates the parts of a key");
    /* Checked for the whole list before the first letter leaves. */
    if (is_listed(names, i, names[i])) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is listed twice", names[i]);
  }

  latch_put(&answer->result, "{\"invited\":[");
  for (size_t i = 0; i < count; i++) {
    latch_text args = { 0 };
    latch_put(&args, "{\"season\":");
    latch_put_string(&args, season);
    latch_put(&args, ",\"concert\":");
    latch_put_string(&args, concert);
    latch_put(&args, ",\"patron\":");
    latch_put_string(&args, names[i]);
    latch_put(&args, "}");
    char *sent = latch_call(answer, "Post.Invite", args.bytes, key_for(season, concert, names[i]).name);
    if (!sent) return false;
    latch_put(&answer->result, i ? ",{\"patron\":" : "{\"patron\":");
    latch_put_string(&answer->result, names[i]);
    latch_putf(&answer->result, ",\"letter\":%s}", latch_json_text(latch_json_member(latch_json_of(sent), "letter")));
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Choir.Invite",
  .description = "Invites patrons to a concert, each of them once.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"season\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":20},"
           "\"concert\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":120},"
           "\"patrons\":{\"type\":\"array\",\"maxItems\":60,\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80}}},"
           "\"required\":[\"season\",\"concert\",\"patrons\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"invited\"]}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = invite,
});
