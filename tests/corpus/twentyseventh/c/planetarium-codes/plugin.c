/* Makes the door code of a group that visits the planetarium, and the time from which the code opens the door. */
#include "latchwork.h"

#include <time.h>

enum { GROUPS = 2, LARGEST = 180 };

/* A door code has two groups of four, such as 7F3A-B029. The keypads of the doors have the digits 0 to 9 and A to F. */
static void put_code(latch_text *text) {
  uint16_t part[GROUPS];
  latch_random(part, sizeof part);
  for (int i = 0; i < GROUPS; i++) latch_putf(text, "%s%X", i ? "-" : "", part[i]);
}

/* Small groups enter by the side door, large ones through the hall, which needs an attendant. */
static const char *door_of(int64_t people, bool wheelchair) {
  if (wheelchair) return "ramp";
  return people > 25 ? "hall" : "side";
}

static bool issue(latch_json input, latch_answer *answer) {
  char *group = latch_json_string(latch_json_member(input, "group"));
  int64_t people;
  bool wheelchair = false;
  if (!group || !*group) return latch_fail(answer, LATCH_INVALID_INPUT, "the group has no name");
  if (!latch_json_integer(latch_json_member(input, "people"), &people) || people < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a group has at least one person");
  if (people > LARGEST) return latch_fail(answer, LATCH_INVALID_INPUT, "the dome seats %d people", LARGEST);
  latch_json_bool(latch_json_member(input, "wheelchair"), &wheelchair);

  char made[32];
  time_t now = time(NULL);
  strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));

  latch_put(&answer->result, "{\"group\":");
  latch_put_string(&answer->result, group);
  latch_put(&answer->result, ",\"code\":\"");
  put_code(&answer->result);
  latch_putf(&answer->result, "\",\"door\":\"%s\",\"made\":\"%s\"}", door_of(people, wheelchair), made);
  latch_log(LATCH_INFO, "a code for %lld people", (long long)people);
  return true;
}

LATCH_PLUGIN({
  .name = "Door.Code",
  .description = "Makes the door code of a visiting group.",
  .input = "{\"type\":\"object\",\"properties\":{\"group\":{\"type\":\"string\"},\"people\":{\"type\":\"integer\"},"
           "\"wheelchair\":{\"type\":\"boolean\"}},\"required\":[\"group\",\"people\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"group\":{\"type\":\"string\"},"
            "\"code\":{\"type\":\"string\",\"pattern\":\"^[0-9A-F]{4}-[0-9A-F]{4}$\"},"
            "\"door\":{\"enum\":[\"side\",\"hall\",\"ramp\"]},\"made\":{\"type\":\"string\",\"format\":\"date-time\"}},"
            "\"required\":[\"group\",\"code\",\"door\",\"made\"]}",
  /* Stable: each job gets a code and a time of its own. */
  .determinism = LATCH_STABLE,
  .handler = issue,
});
