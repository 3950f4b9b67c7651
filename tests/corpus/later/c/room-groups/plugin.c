/* Booking.Group: groups the bookings of a day by room. */
#include "latchwork.h"

enum { BUCKETS = 16, MOST = 200 };

typedef struct group {
  const char *room;
  int bookings, guests;
  struct group *next;
} group;

static const char *names[MOST];
static size_t name_count;
static group *buckets[BUCKETS];

/* Returns the single copy of a name, so that equal names have equal addresses. */
static const char *intern(const char *name) {
  for (size_t i = 0; i < name_count; i++)
    if (strcmp(names[i], name) == 0) return names[i];
  names[name_count++] = name;
  return name;
}

static group *group_of(const char *room) {
  size_t at = ((uintptr_t)room >> 3) % BUCKETS;
  for (group *known = buckets[at]; known; known = known->next)
    if (known->room == room) return known;
  group *made = latch_room(sizeof *made);
  *made = (group){ .room = room, .next = buckets[at] };
  buckets[at] = made;
  return made;
}

static bool collect(latch_json input, latch_answer *answer) {
  latch_json bookings = latch_json_member(input, "bookings");
  size_t count = latch_json_count(bookings);
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu bookings: at most %d", count, MOST);
  for (size_t i = 0; i < count; i++) {
    latch_json booking = latch_json_item(bookings, i);
    char *room = latch_json_string(latch_json_member(booking, "room"));
    int64_t guests;
    if (!room || !latch_json_integer(latch_json_member(booking, "guests"), &guests) || guests < 1 || guests > 1000)
      return latch_fail(answer, LATCH_INVALID_INPUT, "booking %zu has no room or no guests", i);
    group *found = group_of(intern(room));
    found->bookings++;
    found->guests += (int)guests;
  }
  latch_put(&answer->result, "{\"rooms\":[");
  bool first = true;
  for (size_t at = 0; at < BUCKETS; at++)
    for (group *found = buckets[at]; found; found = found->next, first = false) {
      latch_put(&answer->result, first ? "{\"room\":" : ",{\"room\":");
      latch_put_string(&answer->result, found->room);
      latch_putf(&answer->result, ",\"bookings\":%d,\"guests\":%d}", found->bookings, found->guests);
    }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Booking.Group",
  .description = "Groups bookings by room.",
  .input = "{\"type\":\"object\",\"properties\":{\"bookings\":{\"type\":\"array\"}},"
           "\"required\":[\"bookings\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"rooms\"]}",
  .determinism = LATCH_PURE,
  .handler = collect,
});
