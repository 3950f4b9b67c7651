/* Menu.Card: the lines of a menu card, which have room for 32 bytes. */
#include "latchwork.h"

enum { ROOM = 32, MOST = 50 };

/* Number of dishes of each course. */
static int courses[4];
static const char *COURSES[] = { "starter", "main", "dessert", "drink" };

/* Returns the bytes of a text that fit, without half of a character. */
static size_t fitting(const char *text) {
  size_t len = strlen(text);
  if (len <= ROOM) return len;
  len = ROOM;
  while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) len--;
  return len;
}

static int course_of(latch_json dish) {
  char *name = latch_json_string(latch_json_member(dish, "course"));
  for (int i = 0; name && i < 4; i++)
    if (strcmp(COURSES[i], name) == 0) return i;
  return -1;
}

static bool card(latch_json input, latch_answer *answer) {
  latch_json dishes = latch_json_member(input, "dishes");
  size_t count = latch_json_count(dishes);
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu dishes: at most %d", count, MOST);
  memset(courses, 0, sizeof courses);
  latch_put(&answer->result, "{\"lines\":[");
  for (size_t i = 0; i < count; i++) {
    latch_json dish = latch_json_item(dishes, i);
    char *name = latch_json_string(latch_json_member(dish, "name"));
    int course = course_of(dish);
    if (!name || course < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "dish %zu has no name or no course", i);
    courses[course]++;
    name[fitting(name)] = 0;
    latch_put(&answer->result, i ? "," : "");
    latch_put_string(&answer->result, name);
  }
  latch_put(&answer->result, "]");
  for (int i = 0; i < 4; i++) latch_putf(&answer->result, ",\"%ss\":%d", COURSES[i], courses[i]);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Menu.Card",
  .description = "Writes the lines of a menu card.",
  .input = "{\"type\":\"object\",\"properties\":{\"dishes\":{\"type\":\"array\"}},"
           "\"required\":[\"dishes\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"lines\"]}",
  .determinism = LATCH_PURE,
  .handler = card,
});
