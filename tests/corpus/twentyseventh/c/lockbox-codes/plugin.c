/* Gives out the code of a lockbox to a visiting craftsman. A code is valid for the minutes that the visit takes. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

enum { LONGEST = 12 * 60 };

typedef struct {
  char code[16];
  int64_t until;
} lease;

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "lease/%s", key);
  return name.bytes;
}

/* Reads the lease of an earlier try of this call. */
static bool earlier(const char *name, lease *found, bool *is_there, latch_answer *answer) {
  char *entry;
  *is_there = false;
  if (!latch_kv_get(answer, name, &entry)) return false;
  if (!entry) return true;
  latch_json at = latch_json_of(entry);
  char *code = latch_json_string(latch_json_member(at, "code"));
  if (!code || !latch_json_integer(latch_json_member(at, "until"), &found->until))
    return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the entry %s is no lease", name);
  snprintf(found->code, sizeof found->code, "%s", code);
  *is_there = true;
  return true;
}

static bool lend(latch_json args, latch_answer *answer) {
  char *box = latch_json_string(latch_json_member(args, "box"));
  int64_t minutes;
  if (!box || !*box || strlen(box) > 40) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such box");
  if (!latch_json_integer(latch_json_member(args, "minutes"), &minutes) || minutes < 1 || minutes > LONGEST)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a visit takes 1 to %d minutes", LONGEST);

  char *name = entry_name(latch_get_invocation().external_key);
  lease given;
  bool is_there;
  if (!earlier(name, &given, &is_there, answer)) return false;

  /* A repeated call gets the code that was given out, as long as the box opens with it. */
  int64_t now = (int64_t)time(NULL);
  if (!is_there || given.until <= now) {
    uint32_t digits;
    if (getentropy(&digits, sizeof digits) != 0) return latch_fail(answer, LATCH_TRANSIENT_DB_LOCK, "no code could be drawn");
    snprintf(given.code, sizeof given.code, "%06u", digits % 1000000);
    given.until = now + minutes * 60;
    latch_text entry = { 0 };
    latch_putf(&entry, "{\"code\":\"%s\",\"until\":%lld,\"box\":", given.code, (long long)given.until);
    latch_put_string(&entry, box);
    latch_put(&entry, "}");
    if (!latch_kv_set(answer, name, entry.bytes)) return false;
  }

  latch_put(&answer->result, "{\"box\":");
  latch_put_string(&answer->result, box);
  latch_putf(&answer->result, ",\"code\":\"%s\",\"until\":%lld}", given.code, (long long)given.until);
  latch_changed(answer, (latch_change){ .resource_type = "lease", .resource_id = name, .operation = "create", .version = given.code });
  return true;
}

LATCH_PLUGIN({
  .name = "Lockbox.Lend",
  .description = "Gives out a code that opens a lockbox for some minutes.",
  .input = "{\"type\":\"object\",\"properties\":{\"box\":{\"type\":\"string\"},\"minutes\":{\"type\":\"integer\"}},"
           "\"required\":[\"box\",\"minutes\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\",\"pattern\":\"^[0-9]{6}$\"}},"
            "\"required\":[\"box\",\"code\",\"until\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  /* The entry of a call stays in the map, so a repetition within a day finds it. */
  .idempotent_by_key_seconds = 24 * 60 * 60,
  .handler = lend,
});
