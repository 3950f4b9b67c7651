/* Keeps which picture hangs on which hook of a gallery. Hanging and taking down are calls of their own. */
#include "latchwork.h"

#include <ctype.h>

/* A hook is named by its wall and number, such as "east/12". */
static bool is_hook(const char *hook) {
  if (!hook || !*hook || strlen(hook) > 40) return false;
  for (; *hook; hook++)
    if (!isalnum((unsigned char)*hook) && *hook != '/') return false;
  return true;
}

static char *entry_name(const char *hook) {
  latch_text name = { 0 };
  latch_putf(&name, "hook/%s", hook);
  return name.bytes;
}

static bool hang(latch_json args, latch_answer *answer) {
  char *hook = latch_json_string(latch_json_member(args, "hook"));
  char *picture = latch_json_string(latch_json_member(args, "picture"));
  if (!is_hook(hook)) return latch_fail(answer, LATCH_INVALID_INPUT, "no hook of the gallery");
  if (!picture || !*picture || strlen(picture) > 200) return latch_fail(answer, LATCH_INVALID_INPUT, "no inventory number");
  char *name = entry_name(hook);
  if (!latch_kv_set(answer, name, picture)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "hook", .resource_id = name, .operation = "hang", .version = picture });
  latch_put(&answer->result, "{\"hook\":");
  latch_put_string(&answer->result, hook);
  latch_put(&answer->result, "}");
  return true;
}

static bool take_down(latch_json args, latch_answer *answer) {
  char *hook = latch_json_string(latch_json_member(args, "hook"));
  if (!is_hook(hook)) return latch_fail(answer, LATCH_INVALID_INPUT, "no hook of the gallery");
  char *name = entry_name(hook);
  bool was_there;
  if (!latch_kv_delete(answer, name, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "nothing hangs on %s", hook);
  latch_changed(answer, (latch_change){ .resource_type = "hook", .resource_id = name, .operation = "take-down" });
  latch_put(&answer->result, "{\"hook\":");
  latch_put_string(&answer->result, hook);
  latch_put(&answer->result, "}");
  return true;
}

/* Both operators change the entry of a hook, so one function checks the newest change of either. */
static const char *check_hook(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the hook is empty";
  if (change.version && strcmp(found, change.version) != 0) {
    latch_text state = { 0 };
    latch_putf(&state, "the hook has %s", found);
    return state.bytes;
  }
  return NULL;
}

#define HOOK_OUTPUT "{\"type\":\"object\",\"required\":[\"hook\"],\"properties\":{\"hook\":{\"type\":\"string\"}}}"

LATCH_PLUGIN(
  {
    .name = "Picture.Hang",
    .description = "Notes that a picture hangs on a hook.",
    .input = "{\"type\":\"object\",\"required\":[\"hook\",\"picture\"],\"properties\":{\"hook\":{\"type\":\"string\"},"
             "\"picture\":{\"type\":\"string\"}}}",
    .output = HOOK_OUTPUT,
    .effects = LATCH_INTERNAL_WRITE,
    .handler = hang,
    .verify = check_hook,
  },
  {
    .name = "Picture.TakeDown",
    .description = "Notes that a hook is free.",
    .input = "{\"type\":\"object\",\"required\":[\"hook\"],\"properties\":{\"hook\":{\"type\":\"string\"}}}",
    .output = HOOK_OUTPUT,
    .effects = LATCH_INTERNAL_WRITE,
    .handler = take_down,
    .verify = check_hook,
  }
);
