/* Assigns the pallets of one delivery to places in the cold store. */
#include "latchwork.h"

enum { MOST_PALLETS = 40 };

typedef struct {
  char *code;
  int64_t aisle, bay;
} pallet;

static bool read_pallet(latch_json item, pallet *into, latch_answer *answer) {
  into->code = latch_json_string(latch_json_member(item, "code"));
  if (!into->code || !*into->code) return latch_fail(answer, LATCH_INVALID_INPUT, "a pallet has no code");
  if (!latch_json_integer(latch_json_member(item, "aisle"), &into->aisle) ||
      !latch_json_integer(latch_json_member(item, "bay"), &into->bay))
    return latch_fail(answer, LATCH_INVALID_INPUT, "pallet %s has no place", into->code);
  return true;
}

/* Two pallets cannot stand in one place. The whole delivery is refused before anything is reserved. */
static bool all_places_differ(const pallet *pallets, size_t count, latch_answer *answer) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++)
      if (pallets[i].aisle == pallets[k].aisle && pallets[i].bay == pallets[k].bay)
        return latch_fail(answer, LATCH_INVALID_INPUT, "pallets %s and %s have the same place", pallets[k].code, pallets[i].code);
  return true;
}

static bool place(latch_json input, latch_answer *answer) {
  char *delivery = latch_json_string(latch_json_member(input, "delivery"));
  latch_json list = latch_json_member(input, "pallets");
  size_t count = latch_json_count(list);
  if (!delivery || count == 0 || count > MOST_PALLETS) return latch_fail(answer, LATCH_INVALID_INPUT, "the delivery is incomplete");

  pallet pallets[MOST_PALLETS];
  for (size_t i = 0; i < count; i++)
    if (!read_pallet(latch_json_item(list, i), &pallets[i], answer)) return false;
  if (!all_places_differ(pallets, count, answer)) return false;

  latch_put(&answer->result, "{\"delivery\":");
  latch_put_string(&answer->result, delivery);
  latch_put(&answer->result, ",\"tickets\":[");
  for (size_t i = 0; i < count; i++) {
    const pallet *one = &pallets[i];
    latch_text args = { 0 }, key = { 0 };
    latch_put(&args, "{\"delivery\":");
    latch_put_string(&args, delivery);
    latch_put(&args, ",\"code\":");
    latch_put_string(&args, one->code);
    latch_putf(&args, ",\"aisle\":%lld,\"bay\":%lld}", (long long)one->aisle, (long long)one->bay);
    /* A place is reserved once for a delivery, also if another job handles the same delivery again. */
    latch_putf(&key, "place/%s/%lld%lld", delivery, (long long)one->aisle, (long long)one->bay);

    char *reply = latch_call(answer, "Rack.Reserve", args.bytes, key.bytes);
    if (!reply) return false;
    char *ticket = latch_json_string(latch_json_member(latch_json_of(reply), "ticket"));
    if (!ticket) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "Rack.Reserve gave no ticket for pallet %s", one->code);
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, ticket);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Pallet.Place",
  .description = "Reserves a place in the cold store for each pallet of a delivery.",
  .input = "{\"type\":\"object\",\"required\":[\"delivery\",\"pallets\"],\"additionalProperties\":false,\"properties\":{"
           "\"delivery\":{\"type\":\"string\",\"pattern\":\"^[A-Z0-9-]{1,20}$\"},"
           "\"pallets\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":40,\"items\":{\"type\":\"object\","
           "\"required\":[\"code\",\"aisle\",\"bay\"],\"additionalProperties\":false,\"properties\":{"
           "\"code\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9 ._-]{1,30}$\"},"
           "\"aisle\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":30},"
           "\"bay\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":60}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"delivery\",\"tickets\"],\"properties\":{\"delivery\":{\"type\":\"string\"},"
            "\"tickets\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = place,
});
