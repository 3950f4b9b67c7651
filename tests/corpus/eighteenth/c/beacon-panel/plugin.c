/* Beacon.Panel: the last battery voltage of each harbour beacon, under the short label of the duty panel. */
#include "latchwork.h"

/* The panel has room for this many characters. */
#define LABEL 12
#define MOST 500

typedef struct {
  char *beacon;
  double volts;
} reading;

static reading latest[MOST];
static size_t known;

/* Returns the first characters of a name. A character of several bytes stays whole. */
static char *label(const char *name) {
  latch_text text = { 0 };
  latch_put(&text, "");
  int characters = 0;
  for (const char *c = name; *c; c++) {
    bool begins = ((unsigned char)*c & 0xc0) != 0x80;
    if (begins && characters++ == LABEL) break;
    latch_put_bytes(&text, c, 1);
  }
  while (text.len > 0 && text.bytes[text.len - 1] == ' ') text.bytes[--text.len] = 0;
  return text.bytes;
}

/* Keeps the reading in place of an earlier reading of the same beacon. */
static bool keep(char *beacon, double volts) {
  for (size_t i = 0; i < known; i++) {
    if (strcmp(latest[i].beacon, beacon) != 0) continue;
    latest[i].volts = volts;
    return true;
  }
  if (known == MOST) return false;
  latest[known++] = (reading){ beacon, volts };
  return true;
}

static bool panel(latch_json input, latch_answer *answer) {
  latch_json readings = latch_json_member(input, "readings");
  double least = 11.5;
  latch_json_number(latch_json_member(input, "least"), &least);
  size_t count = latch_json_count(readings);
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(readings, i);
    char *beacon = latch_json_string(latch_json_member(item, "beacon"));
    double volts;
    if (!beacon || !*label(beacon)) return latch_fail(answer, LATCH_INVALID_INPUT, "reading %zu has no beacon", i);
    if (!latch_json_number(latch_json_member(item, "volts"), &volts) || volts < 0 || volts > 60)
      return latch_fail(answer, LATCH_INVALID_INPUT, "the voltage of %s is out of range", beacon);
    if (!keep(beacon, volts)) return latch_fail(answer, LATCH_INVALID_INPUT, "there are more than %d beacons", MOST);
  }

  int low = 0;
  latch_put(&answer->result, "{\"panel\":{");
  for (size_t i = 0; i < known; i++) {
    if (i > 0) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, label(latest[i].beacon));
    latch_put(&answer->result, ":");
    latch_put_number(&answer->result, latest[i].volts);
    if (latest[i].volts < least) low++;
  }
  latch_putf(&answer->result, "},\"beacons\":%zu,\"low\":%d}", known, low);
  latch_log(LATCH_INFO, "%zu beacons, %d with a low battery", known, low);
  return true;
}

LATCH_PLUGIN({
  .name = "Beacon.Panel",
  .description = "Gives the last battery voltage of each beacon under its short label.",
  .input = "{\"type\":\"object\",\"properties\":{\"least\":{\"type\":\"number\"},\"readings\":{\"type\":\"array\","
           "\"items\":{\"type\":\"object\",\"properties\":{\"beacon\":{\"type\":\"string\"},"
           "\"volts\":{\"type\":\"number\"}},\"required\":[\"beacon\",\"volts\"],\"additionalProperties\":false}}},"
           "\"required\":[\"readings\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"panel\":{\"type\":\"object\","
            "\"additionalProperties\":{\"type\":\"number\"}},\"beacons\":{\"type\":\"integer\"},"
            "\"low\":{\"type\":\"integer\"}},\"required\":[\"panel\",\"beacons\",\"low\"]}",
  .handler = panel,
});
