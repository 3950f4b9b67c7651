#include "latchwork.h"

/* The key of the order of a team in a month. It is a JSON array, so no two orders have one key. */
static char *key_of(const char *month, const char *team) {
  latch_text key = { 0 };
  latch_putf(&key, "[\"snacks\",\"%s\",", month);
  latch_put_string(&key, team);
  latch_put(&key, "]");
  return key.bytes;
}

static bool order(latch_json input, latch_answer *answer) {
  char *month = latch_json_string(latch_json_member(input, "month"));
  latch_json list = latch_json_member(input, "teams");
  size_t count = latch_json_count(list);
  if (!count) return latch_fail(answer, LATCH_INVALID_INPUT, "no team orders snacks");
  char **teams = latch_room(count * sizeof *teams);
  int64_t *boxes = latch_room(count * sizeof *boxes);
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    teams[i] = latch_json_string(latch_json_member(item, "team"));
    if (!teams[i] || !latch_json_integer(latch_json_member(item, "boxes"), &boxes[i]))
      return latch_fail(answer, LATCH_INVALID_INPUT, "order %zu has no team or no boxes", i + 1);
    for (size_t k = 0; k < i; k++)
      if (strcmp(teams[k], teams[i]) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "team %s orders twice", teams[i]);
  }

  latch_text refused = { 0 };
  latch_put(&refused, "");
  latch_put(&answer->result, "{\"orders\":[");
  size_t ordered = 0;
  for (size_t i = 0; i < count; i++) {
    latch_text args = { 0 };
    latch_putf(&args, "{\"month\":\"%s\",\"boxes\":%lld,\"team\":", month, (long long)boxes[i]);
    latch_put_string(&args, teams[i]);
    latch_put(&args, "}");
    char *made = latch_call(answer, "Canteen.Order", args.bytes, key_of(month, teams[i]));
    if (!made) {
      /* The canteen refuses single orders. Every other failure ends the step. */
      if (answer->code != LATCH_POLICY_DENIED) return false;
      if (refused.len) latch_put(&refused, ",");
      latch_put_string(&refused, teams[i]);
      continue;
    }
    char *number = latch_json_string(latch_json_member(latch_json_of(made), "number"));
    if (!number) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "Canteen.Order returned no number");
    latch_put(&answer->result, ordered++ ? ",{\"team\":" : "{\"team\":");
    latch_put_string(&answer->result, teams[i]);
    latch_put(&answer->result, ",\"number\":");
    latch_put_string(&answer->result, number);
    latch_put(&answer->result, "}");
  }
  latch_putf(&answer->result, "],\"refused\":[%s]}", refused.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Snack.Order",
  .description = "Orders the snack boxes of all teams for a month.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"month\":{\"type\":\"string\",\"pattern\":\"^[0-9]{4}-(0[1-9]|1[0-2])$\"},"
           "\"teams\":{\"type\":\"array\",\"maxItems\":50,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"team\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":40},"
           "\"boxes\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":99}},"
           "\"required\":[\"team\",\"boxes\"],\"additionalProperties\":false}}},"
           "\"required\":[\"month\",\"teams\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"orders\":{\"type\":\"array\"},\"refused\":{\"type\":\"array\"}},"
            "\"required\":[\"orders\",\"refused\"]}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = order,
});
