/* Draws the code of an invitation and keeps it under the key of the call. A code is read out within minutes, so that
 * an older one is drawn again when the invitation is asked for once more. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

#define FRESH_SECONDS (15 * 60)

typedef struct {
  long long drawn_at;
  unsigned code;
} invite;

static bool parse(const char *text, invite *into) {
  return text && sscanf(text, "%lld %u", &into->drawn_at, &into->code) == 2;
}

static bool given(invite one, const char *key, latch_answer *answer) {
  latch_text version = { 0 };
  latch_putf(&version, "%06u", one.code);
  latch_putf(&answer->result, "{\"code\":\"%06u\"}", one.code);
  latch_changed(answer, (latch_change){ "invite", key, "create", .version = version.bytes });
  return true;
}

static bool draw(latch_json args, latch_answer *answer) {
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  if (!guest || !*guest) return latch_fail(answer, LATCH_INVALID_INPUT, "guest is missing");
  char *key = latch_get_invocation().external_key, *found;
  if (!latch_kv_get(answer, key, &found)) return false;
  long long now = (long long)time(NULL);
  invite one;
  if (!parse(found, &one) || now - one.drawn_at > FRESH_SECONDS) {
    uint32_t number;
    if (getentropy(&number, sizeof number) != 0)
      return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "no random numbers");
    one = (invite){ now, number % 1000000 };
    latch_text entry = { 0 };
    latch_putf(&entry, "%lld %u %s", one.drawn_at, one.code, guest);
    if (!latch_kv_set(answer, key, entry.bytes)) return false;
  }
  return given(one, key, answer);
}

/* Called after a crash: finds out whether the call happened. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  invite one;
  if (!latch_kv_get(answer, key, &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  if (!parse(found, &one)) return LATCH_UNKNOWN;
  given(one, key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Invite.Draw",
  .description = "Draws the code of an invitation.",
  .input = "{\"type\":\"object\",\"properties\":{\"guest\":{\"type\":\"string\",\"maxLength\":80}},"
           "\"required\":[\"guest\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"}},\"required\":[\"code\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 86400,
  .handler = draw,
  .reconcile = find,
});
