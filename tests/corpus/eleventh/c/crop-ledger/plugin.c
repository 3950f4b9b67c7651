#include "latchwork.h"

#define SLOTS 128

/* Names of crops, each kept once, so that a name can be compared by its pointer. */
static char *names[SLOTS];
static size_t name_count;

static const char *intern(char *name) {
  for (size_t i = 0; i < name_count; i++)
    if (strcmp(names[i], name) == 0) return names[i];
  if (name_count == SLOTS / 2) return NULL;
  return names[name_count++] = name;
}

typedef struct {
  const char *crop;
  double kg;
  int loads;
} row;

static row table[SLOTS];

static row *find(const char *crop) {
  size_t at = ((uintptr_t)crop >> 3) % SLOTS;
  while (table[at].crop && table[at].crop != crop) at = (at + 1) % SLOTS;
  table[at].crop = crop;
  return &table[at];
}

static bool total(latch_json input, latch_answer *answer) {
  latch_json loads = latch_json_member(input, "loads");
  size_t count = latch_json_count(loads);
  memset(table, 0, sizeof table);
  for (size_t i = 0; i < count; i++) {
    latch_json load = latch_json_item(loads, i);
    char *name = latch_json_string(latch_json_member(load, "crop"));
    double kg;
    if (!name || !latch_json_number(latch_json_member(load, "kg"), &kg) || !(kg >= 0 && kg < 1e6))
      return latch_fail(answer, LATCH_INVALID_INPUT, "load %zu has no crop or no weight", i + 1);
    const char *crop = intern(name);
    if (!crop) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d crops", SLOTS / 2);
    row *found = find(crop);
    found->kg += kg;
    found->loads++;
  }

  latch_put(&answer->result, "{\"crops\":[");
  bool first = true;
  for (size_t i = 0; i < SLOTS; i++) {
    if (!table[i].crop) continue;
    latch_put(&answer->result, first ? "{\"crop\":" : ",{\"crop\":");
    latch_put_string(&answer->result, table[i].crop);
    latch_putf(&answer->result, ",\"loads\":%d,\"kg\":", table[i].loads);
    latch_put_number(&answer->result, table[i].kg);
    latch_put(&answer->result, "}");
    first = false;
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "CropLedger.Total",
  .description = "Adds up the delivered loads of each crop.",
  .input = "{\"type\":\"object\",\"properties\":{\"loads\":{\"type\":\"array\",\"maxItems\":500,\"items\":{\"type\":\"object\","
           "\"properties\":{\"crop\":{\"type\":\"string\"},\"kg\":{\"type\":\"number\"}},\"required\":[\"crop\",\"kg\"]}}},"
           "\"required\":[\"loads\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"crops\":{\"type\":\"array\"}},\"required\":[\"crops\"]}",
  .handler = total,
});
