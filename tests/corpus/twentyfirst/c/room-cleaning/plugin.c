#include "latchwork.h"

typedef struct {
  int64_t building, room;
  bool linen;
} stay;

static bool read_stay(latch_json item, stay *s) {
  if (!latch_json_bool(latch_json_member(item, "linen"), &s->linen)) s->linen = true;
  return latch_json_integer(latch_json_member(item, "building"), &s->building) &&
         latch_json_integer(latch_json_member(item, "room"), &s->room);
}

static bool order(latch_json input, latch_answer *answer) {
  char *date = latch_json_string(latch_json_member(input, "date"));
  latch_json list = latch_json_member(input, "departures");
  size_t count = latch_json_count(list);
  stay *stays = latch_room(count * sizeof *stays);
  for (size_t i = 0; i < count; i++) {
    if (!read_stay(latch_json_item(list, i), &stays[i]))
      return latch_fail(answer, LATCH_INVALID_INPUT, "departure %zu has no building or no room", i + 1);
    for (size_t k = 0; k < i; k++)
      if (stays[k].building == stays[i].building && stays[k].room == stays[i].room)
        return latch_fail(answer, LATCH_INVALID_INPUT, "room %lld of building %lld is listed twice",
                          (long long)stays[i].room, (long long)stays[i].building);
  }

  latch_put(&answer->result, "{\"orders\":[");
  for (size_t i = 0; i < count; i++) {
    stay s = stays[i];
    latch_text args = { 0 }, key = { 0 };
    latch_putf(&args, "{\"date\":\"%s\",\"building\":%lld,\"room\":%lld,\"linen\":%s}", date, (long long)s.building,
               (long long)s.room, s.linen ? "true" : "false");
    /* One cleaning for each room and day, whichever job orders it. */
    latch_putf(&key, "cleaning/%s/%lld%lld", date, (long long)s.building, (long long)s.room);
    char *made = latch_call(answer, "Cleaning.Order", args.bytes, key.bytes);
    if (!made) return false;
    char *ticket = latch_json_string(latch_json_member(latch_json_of(made), "ticket"));
    if (!ticket) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "Cleaning.Order returned no ticket");
    latch_putf(&answer->result, "%s{\"building\":%lld,\"room\":%lld,\"ticket\":", i ? "," : "", (long long)s.building,
               (long long)s.room);
    latch_put_string(&answer->result, ticket);
    latch_put(&answer->result, "}");
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Departure.Clean",
  .description = "Orders the cleaning of each room that guests leave on a day.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"date\":{\"type\":\"string\",\"pattern\":\"^[0-9]{4}-[0-9]{2}-[0-9]{2}$\"},"
           "\"departures\":{\"type\":\"array\",\"maxItems\":100,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"building\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":99},"
           "\"room\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9999},\"linen\":{\"type\":\"boolean\"}},"
           "\"required\":[\"building\",\"room\"],\"additionalProperties\":false}}},"
           "\"required\":[\"date\",\"departures\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"orders\":{\"type\":\"array\"}},\"required\":[\"orders\"]}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = order,
});
