#include "latchwork.h"

#include <time.h>

static bool greet(latch_json input, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(input, "name"));
  if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "the name is empty");
  latch_log(LATCH_INFO, "greeting %s for %s", name, latch_get_context().actor);

  char at[32];
  time_t now = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  latch_text greeting = { 0 };
  latch_putf(&greeting, "Hello, %s!", name);

  latch_put(&answer->result, "{\"greeting\":");
  latch_put_string(&answer->result, greeting.bytes);
  latch_putf(&answer->result, ",\"id\":\"%s\",\"at\":\"%s\"}", latch_uuid(), at);
  return true;
}

LATCH_PLUGIN({
  .name = "{{Noun}}.Greet",
  .description = "Greets a person by name.",
  .input = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
           "\"required\":[\"name\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"greeting\",\"id\",\"at\"]}",
  /* Stable and not pure: equal input gives a different id in each job. */
  .determinism = LATCH_STABLE,
  .handler = greet,
});
