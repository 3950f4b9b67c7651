#include "latchwork.h"

#include <ctype.h>

/* Orders the quarterly service of the ovens of a bakery. */

enum { MOST_OVENS = 30 };

/* Oven ids come from the shop and from the maker: "ov-7", "OV 7" and "OV7" are one oven. */
static char *plain_id(const char *oven) {
  latch_text id = { 0 };
  latch_put(&id, "");
  for (const char *c = oven; *c; c++) {
    if (*c == ' ' || *c == '-') continue;
    char upper = (char)toupper((unsigned char)*c);
    latch_put_bytes(&id, &upper, 1);
  }
  return id.bytes;
}

static char *args_of(const char *shop, const char *oven, const char *quarter) {
  latch_text args = { 0 };
  latch_put(&args, "{\"shop\":");
  latch_put_string(&args, shop);
  latch_put(&args, ",\"oven\":");
  latch_put_string(&args, oven);
  latch_put(&args, ",\"quarter\":");
  latch_put_string(&args, quarter);
  latch_put(&args, "}");
  return args.bytes;
}

/* The key has every value of the arguments, each in its own quotes. */
static char *key_of(const char *shop, const char *oven, const char *quarter) {
  latch_text key = { 0 };
  latch_put(&key, "[");
  latch_put_string(&key, shop);
  latch_put(&key, ",");
  latch_put_string(&key, oven);
  latch_put(&key, ",");
  latch_put_string(&key, quarter);
  latch_put(&key, "]");
  return key.bytes;
}

static bool order(latch_json input, latch_answer *answer) {
  char *shop = latch_json_string(latch_json_member(input, "shop"));
  char *quarter = latch_json_string(latch_json_member(input, "quarter"));
  if (!shop || !quarter) return latch_fail(answer, LATCH_INVALID_INPUT, "shop or quarter is no plain text");

  char *ids[MOST_OVENS];
  size_t count = 0;
  latch_json ovens = latch_json_member(input, "ovens");
  for (latch_json item; count < MOST_OVENS && (item = latch_json_item(ovens, count)).at; count++) {
    char *oven = latch_json_string(item);
    ids[count] = oven ? plain_id(oven) : "";
    if (!*ids[count]) return latch_fail(answer, LATCH_INVALID_INPUT, "oven %zu has no id", count + 1);
    for (size_t i = 0; i < count; i++)
      if (strcmp(ids[i], ids[count]) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "oven %s is listed twice", ids[count]);
  }

  latch_put(&answer->result, "{\"visits\":[");
  for (size_t i = 0; i < count; i++) {
    char *made = latch_call(answer, "ServiceVisit.Order", args_of(shop, ids[i], quarter), key_of(shop, ids[i], quarter));
    if (!made) return false;
    char *number = latch_json_string(latch_json_member(latch_json_of(made), "visit"));
    if (!number) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the visit for %s has no number", ids[i]);
    latch_put(&answer->result, i ? ",{\"oven\":" : "{\"oven\":");
    latch_put_string(&answer->result, ids[i]);
    latch_put(&answer->result, ",\"visit\":");
    latch_put_string(&answer->result, number);
    latch_put(&answer->result, "}");
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "OvenQuarter.Order",
  .description = "Orders the service visit of each oven for a quarter.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"shop\",\"quarter\",\"ovens\"],\"properties\":{"
           "\"shop\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
           "\"quarter\":{\"type\":\"string\",\"pattern\":\"^20[0-9]{2}-Q[1-4]$\"},"
           "\"ovens\":{\"type\":\"array\",\"maxItems\":30,\"items\":{\"type\":\"string\",\"maxLength\":30}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"visits\"],\"properties\":{\"visits\":{\"type\":\"array\",\"items\":{"
            "\"type\":\"object\",\"required\":[\"oven\",\"visit\"],\"properties\":{\"oven\":{\"type\":\"string\"},"
            "\"visit\":{\"type\":\"string\"}}}}}}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = order,
});
