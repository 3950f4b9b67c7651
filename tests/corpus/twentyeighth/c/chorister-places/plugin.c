/* Gives the singers of a choir their places: by voice, then drawn by lot. The conductor chooses the number of the draw,
 * so the same number gives the same places again. */
#include "latchwork.h"

enum { MOST = 400, ROW = 12 };

typedef struct {
  char *name;
  int voice;
  int lot; /* place in the draw: different for each singer */
} singer;

static const char *voices[] = { "soprano", "alto", "tenor", "bass" };

/* Singers by voice and lot. No two lots are equal, so the order is complete. */
static int by_place(const void *a, const void *b) {
  const singer *one = a, *other = b;
  return one->voice != other->voice ? one->voice - other->voice : one->lot - other->lot;
}

static int voice_of(const char *word) {
  for (int i = 0; word && i < 4; i++)
    if (strcmp(word, voices[i]) == 0) return i;
  return -1;
}

/* A draw of 0 to count - 1 without repetition: Fisher and Yates, with the generator of the C library. */
static int *drawn(size_t count, unsigned number) {
  int *lots = latch_room(count * sizeof *lots);
  for (size_t i = 0; i < count; i++) lots[i] = (int)i;
  srand(number);
  for (size_t i = count; i > 1; i--) {
    size_t k = (size_t)rand() % i;
    int kept = lots[i - 1];
    lots[i - 1] = lots[k];
    lots[k] = kept;
  }
  return lots;
}

static bool place(latch_json input, latch_answer *answer) {
  int64_t number;
  latch_json list = latch_json_member(input, "singers");
  size_t count = latch_json_count(list);
  if (!latch_json_integer(latch_json_member(input, "draw"), &number) || number < 1 || number > 1000000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the draw has no number from 1 to 1000000");
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu singers: the stage has room for %d", count, MOST);

  static singer singers[MOST];
  int *lots = drawn(count, (unsigned)number);
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    singers[i] = (singer){ .name = latch_json_string(latch_json_member(item, "name")), .lot = lots[i],
                           .voice = voice_of(latch_json_string(latch_json_member(item, "voice"))) };
    if (!singers[i].name) return latch_fail(answer, LATCH_INVALID_INPUT, "singer %zu has no name", i + 1);
    if (singers[i].voice < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "%s has no voice", singers[i].name);
  }
  qsort(singers, count, sizeof *singers, by_place);

  latch_log(LATCH_INFO, "draw %lld: %zu singers", (long long)number, count);
  latch_put(&answer->result, "{\"rows\":[");
  for (size_t i = 0; i < count; i++) {
    latch_put(&answer->result, i % ROW ? "," : i ? "],[" : "[");
    latch_put_string(&answer->result, singers[i].name);
  }
  latch_put(&answer->result, count ? "]]}" : "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Choir.Place",
  .description = "Gives the singers of a choir their places.",
  .input = "{\"type\":\"object\",\"required\":[\"draw\",\"singers\"],\"properties\":{\"draw\":{\"type\":\"integer\"},"
           "\"singers\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"rows\"],\"properties\":{\"rows\":{\"type\":\"array\",\"items\":"
            "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}}",
  .determinism = LATCH_PURE,
  .handler = place,
});
