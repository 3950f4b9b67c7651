#include "latchwork.h"

/* Adds up the parcels of a day by depot. */

enum { SLOTS = 256, MOST_DEPOTS = 200 };

typedef struct {
  const char *depot;
  int64_t parcels;
  int scans;
} tally;

static const char *names[MOST_DEPOTS];
static size_t name_count;
static tally slots[SLOTS];

/* Returns the one copy of a name, or NULL if there are too many names. */
static const char *intern(const char *name) {
  for (size_t i = 0; i < name_count; i++)
    if (strcmp(names[i], name) == 0) return names[i];
  if (name_count == MOST_DEPOTS) return NULL;
  return names[name_count++] = strdup(name);
}

/* The name is interned, so its pointer identifies the depot. */
static tally *slot_of(const char *depot) {
  size_t i = ((uintptr_t)depot >> 4) % SLOTS;
  while (slots[i].depot && slots[i].depot != depot) i = (i + 1) % SLOTS;
  slots[i].depot = depot;
  return &slots[i];
}

static bool add_up(latch_json input, latch_answer *answer) {
  latch_json scans = latch_json_member(input, "scans");
  size_t count = latch_json_count(scans);
  for (size_t i = 0; i < count; i++) {
    latch_json scan = latch_json_item(scans, i);
    char *name = latch_json_string(latch_json_member(scan, "depot"));
    int64_t parcels;
    if (!name || !latch_json_integer(latch_json_member(scan, "parcels"), &parcels))
      return latch_fail(answer, LATCH_INVALID_INPUT, "scan %d has no depot or no number of parcels", (int)i);
    const char *depot = intern(name);
    if (!depot) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d depots", MOST_DEPOTS);
    tally *t = slot_of(depot);
    t->parcels += parcels;
    t->scans++;
  }
  latch_put(&answer->result, "{\"depots\":[");
  bool first = true;
  for (size_t i = 0; i < SLOTS; i++) {
    if (!slots[i].depot) continue;
    latch_put(&answer->result, first ? "{\"depot\":" : ",{\"depot\":");
    latch_put_string(&answer->result, slots[i].depot);
    latch_putf(&answer->result, ",\"parcels\":%lld,\"scans\":%d}", (long long)slots[i].parcels, slots[i].scans);
    first = false;
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Depot.AddUp",
  .description = "Adds up the parcels of a day by depot.",
  .input = "{\"type\":\"object\",\"properties\":{\"scans\":{\"type\":\"array\",\"maxItems\":2000,\"items\":{\"type\":\"object\","
           "\"properties\":{\"depot\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
           "\"parcels\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000}},"
           "\"required\":[\"depot\",\"parcels\"]}}},\"required\":[\"scans\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"depots\":{\"type\":\"array\"}},\"required\":[\"depots\"]}",
  .determinism = LATCH_PURE,
  .handler = add_up,
});
