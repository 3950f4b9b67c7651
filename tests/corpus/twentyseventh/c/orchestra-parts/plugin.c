/* Posts the printed parts of a concert to the players who borrow them. */
#include "latchwork.h"

enum { KEY_ROOM = 72 };

/* One parcel: the part of a work for a player. */
typedef struct {
  char *work, *player, *part;
} parcel;

/* The action key: a part goes out once for a concert, whichever job asks for it. No field contains a bar, the schema
 * sees to that. */
static void action_key(char key[KEY_ROOM], const char *concert, const parcel *one) {
  snprintf(key, KEY_ROOM, "parts|%s|%s|%s|%s", concert, one->work, one->player, one->part);
}

static bool same(const parcel *a, const parcel *b) {
  return strcmp(a->work, b->work) == 0 && strcmp(a->player, b->player) == 0 && strcmp(a->part, b->part) == 0;
}

static bool send_one(const char *concert, const parcel *one, latch_answer *answer) {
  latch_text args = { 0 };
  latch_put(&args, "{\"to\":");
  latch_put_string(&args, one->player);
  latch_put(&args, ",\"content\":");
  latch_text content = { 0 };
  latch_putf(&content, "%s: %s", one->work, one->part);
  latch_put_string(&args, content.bytes);
  latch_put(&args, "}");

  char key[KEY_ROOM];
  action_key(key, concert, one);
  char *sent = latch_call(answer, "Courier.Send", args.bytes, key);
  if (!sent) return false;
  char *label = latch_json_string(latch_json_member(latch_json_of(sent), "label"));
  if (!label) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the courier gave no label for %s", one->player);
  if (answer->result.bytes[answer->result.len - 1] != '[') latch_put(&answer->result, ",");
  latch_put_string(&answer->result, label);
  return true;
}

static bool dispatch(latch_json input, latch_answer *answer) {
  char *concert = latch_json_string(latch_json_member(input, "concert"));
  latch_json list = latch_json_member(input, "parcels");
  size_t count = latch_json_count(list);
  if (!concert || count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "there is nothing to send");

  parcel *parcels = latch_room(count * sizeof *parcels);
  for (size_t i = 0; i < count; i++) {
    latch_json one = latch_json_item(list, i);
    parcels[i] = (parcel){
      .work = latch_json_string(latch_json_member(one, "work")),
      .player = latch_json_string(latch_json_member(one, "player")),
      .part = latch_json_string(latch_json_member(one, "part")),
    };
    if (!parcels[i].work || !parcels[i].player || !parcels[i].part)
      return latch_fail(answer, LATCH_INVALID_INPUT, "parcel %zu is incomplete", i + 1);
    for (size_t k = 0; k < i; k++)
      if (same(&parcels[i], &parcels[k]))
        return latch_fail(answer, LATCH_INVALID_INPUT, "parcel %zu repeats parcel %zu", i + 1, k + 1);
  }

  latch_put(&answer->result, "{\"labels\":[");
  for (size_t i = 0; i < count; i++)
    if (!send_one(concert, &parcels[i], answer)) return false;
  latch_put(&answer->result, "]}");
  return true;
}

#define FIELD "{\"type\":\"string\",\"minLength\":1,\"maxLength\":120,\"pattern\":\"^[^|]*$\"}"

LATCH_PLUGIN({
  .name = "Parts.Dispatch",
  .description = "Posts the parts of a concert to the players.",
  .input = "{\"type\":\"object\",\"properties\":{\"concert\":" FIELD ",\"parcels\":{\"type\":\"array\",\"items\":"
           "{\"type\":\"object\",\"properties\":{\"work\":" FIELD ",\"player\":" FIELD ",\"part\":" FIELD "},"
           "\"required\":[\"work\",\"player\",\"part\"]}}},\"required\":[\"concert\",\"parcels\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
            "\"required\":[\"labels\"]}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = dispatch,
});
