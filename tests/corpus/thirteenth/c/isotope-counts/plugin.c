/* Isotope.Group: adds up the activity of the samples of a shipment, by isotope. */
#include "latchwork.h"

#define MOST 100
#define SLOTS 251

typedef struct {
  const char *isotope; /* interned: the same text is the same pointer */
  int samples;
  double becquerel;
} group;

static const char *names[MOST];
static size_t name_count;
static group table[SLOTS];

static const char *intern(char *text) {
  for (size_t i = 0; i < name_count; i++)
    if (strcmp(names[i], text) == 0) {
      free(text);
      return names[i];
    }
  names[name_count++] = text;
  return text;
}

/* The names are interned, so the pointer is all that has to be hashed. */
static group *slot_of(const char *isotope) {
  size_t at = ((uintptr_t)isotope >> 3) % SLOTS;
  while (table[at].isotope && table[at].isotope != isotope) at = (at + 1) % SLOTS;
  table[at].isotope = isotope;
  return &table[at];
}

static bool group_samples(latch_json input, latch_answer *answer) {
  latch_json samples = latch_json_member(input, "samples");
  size_t count = latch_json_count(samples);
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "a shipment has at most %d samples", MOST);
  double limit = 0;
  latch_json_number(latch_json_member(input, "limit_becquerel"), &limit);

  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    latch_json sample = latch_json_item(samples, i);
    char *isotope = latch_json_string(latch_json_member(sample, "isotope"));
    double becquerel;
    if (!isotope || !latch_json_number(latch_json_member(sample, "becquerel"), &becquerel))
      return latch_fail(answer, LATCH_INVALID_INPUT, "sample %zu has no isotope or no activity", i + 1);
    group *own = slot_of(intern(isotope));
    own->samples++;
    own->becquerel += becquerel;
    sum += becquerel;
  }

  latch_put(&answer->result, "{\"groups\":[");
  bool first = true;
  for (size_t i = 0; i < SLOTS; i++) {
    if (!table[i].isotope) continue;
    latch_put(&answer->result, first ? "{\"isotope\":" : ",{\"isotope\":");
    latch_put_string(&answer->result, table[i].isotope);
    latch_putf(&answer->result, ",\"samples\":%d,\"becquerel\":", table[i].samples);
    latch_put_number(&answer->result, table[i].becquerel);
    latch_put(&answer->result, "}");
    first = false;
  }
  latch_putf(&answer->result, "],\"exempt\":%s}", sum <= limit ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "Isotope.Group",
  .description = "Adds up the activity of a shipment by isotope.",
  .input = "{\"type\":\"object\",\"properties\":{\"limit_becquerel\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1000000000},"
           "\"samples\":{\"type\":\"array\",\"maxItems\":100,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"isotope\":{\"type\":\"string\",\"pattern\":\"^[A-Z][a-z]?-[0-9]{1,3}$\"},"
           "\"becquerel\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1000000000}},"
           "\"required\":[\"isotope\",\"becquerel\"],\"additionalProperties\":false}}},"
           "\"required\":[\"samples\",\"limit_becquerel\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"groups\",\"exempt\"]}",
  .handler = group_samples,
});
