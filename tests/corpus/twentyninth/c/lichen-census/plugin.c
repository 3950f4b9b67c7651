#include "latchwork.h"

#include <unistd.h>

/* Adds up the sightings of a lichen survey, species by species. */

#define BUCKETS 256
#define MOST 400

typedef struct species {
  char *name;
  int64_t thalli;
  int plots;
  struct species *next;
} species;

static uint64_t salt;
static species *buckets[BUCKETS];
static species *all[MOST];
static size_t known;

/* SipHash would be better still, but the tables are small. */
static unsigned bucket_of(const char *name) {
  uint64_t hash = 14695981039346656037ull ^ salt;
  for (const unsigned char *c = (const unsigned char *)name; *c; c++) hash = (hash ^ *c) * 1099511628211ull;
  return (unsigned)((hash ^ (hash >> 29)) % BUCKETS);
}

static species *entry_of(char *name) {
  unsigned at = bucket_of(name);
  for (species *s = buckets[at]; s; s = s->next)
    if (strcmp(s->name, name) == 0) return s;
  species *fresh = latch_room(sizeof *fresh);
  *fresh = (species){ .name = name, .next = buckets[at] };
  buckets[at] = fresh;
  all[known++] = fresh;
  return fresh;
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(species *const *)a)->name, (*(species *const *)b)->name);
}

static bool tally(latch_json input, latch_answer *answer) {
  /* Surveys are uploaded by the public: an uploader shall not be able to choose names that all fall into one bucket. */
  if (getentropy(&salt, sizeof salt) != 0) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "no salt for the table");

  latch_json sightings = latch_json_member(input, "sightings");
  size_t count = latch_json_count(sightings);
  int64_t total = 0;
  for (size_t i = 0; i < count; i++) {
    latch_json one = latch_json_item(sightings, i);
    char *name = latch_json_string(latch_json_member(one, "species"));
    int64_t thalli;
    if (!name || !latch_json_integer(latch_json_member(one, "thalli"), &thalli))
      return latch_fail(answer, LATCH_INVALID_INPUT, "sighting %zu has no species or no count", i);
    if (!*name) return latch_fail(answer, LATCH_INVALID_INPUT, "sighting %zu has an empty species", i);
    species *entry = entry_of(name);
    entry->thalli += thalli;
    entry->plots++;
    total += thalli;
  }
  qsort(all, known, sizeof all[0], by_name);

  latch_putf(&answer->result, "{\"total\":%lld,\"species\":[", (long long)total);
  for (size_t i = 0; i < known; i++) {
    latch_put(&answer->result, i ? ",{\"name\":" : "{\"name\":");
    latch_put_string(&answer->result, all[i]->name);
    latch_putf(&answer->result, ",\"thalli\":%lld,\"plots\":%d}", (long long)all[i]->thalli, all[i]->plots);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Lichen.Tally",
  .description = "Adds up the sightings of a lichen survey by species.",
  .input = "{\"type\":\"object\",\"properties\":{\"sightings\":{\"type\":\"array\",\"maxItems\":400,\"items\":"
           "{\"type\":\"object\",\"properties\":{\"species\":{\"type\":\"string\",\"maxLength\":80},"
           "\"thalli\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000}},"
           "\"required\":[\"species\",\"thalli\"],\"additionalProperties\":false}}},"
           "\"required\":[\"sightings\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"total\",\"species\"]}",
  .determinism = LATCH_PURE,
  .handler = tally,
});
