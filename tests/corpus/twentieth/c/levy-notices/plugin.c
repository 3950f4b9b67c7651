/* Levy.Notify: sends the notices of the dike levy for the parcels of a polder. */
#include "latchwork.h"

typedef struct {
  char *parcel, *owner, *address;
  int64_t cents;
} notice;

/* Reads one entry of the roll. Returns false if a field is missing. */
static bool read_notice(latch_json from, notice *into) {
  into->parcel = latch_json_string(latch_json_member(from, "parcel"));
  into->owner = latch_json_string(latch_json_member(from, "owner"));
  into->address = latch_json_string(latch_json_member(from, "address"));
  return into->parcel && *into->parcel && into->owner && *into->owner && into->address && *into->address &&
         latch_json_integer(latch_json_member(from, "cents"), &into->cents) && into->cents > 0;
}

/* The arguments of the letter for one parcel. */
static char *letter(const notice *one, const char *year) {
  latch_text text = { 0 }, args = { 0 };
  latch_putf(&text, "Levy %s for parcel %s: %lld.%02d", year, one->parcel, (long long)(one->cents / 100),
             (int)(one->cents % 100));
  latch_put(&args, "{\"to\":");
  latch_put_string(&args, one->address);
  latch_put(&args, ",\"text\":");
  latch_put_string(&args, text.bytes);
  latch_put(&args, "}");
  return args.bytes;
}

/* The key under which a letter of the year is sent once. */
static char *action(const notice *one, const char *year) {
  latch_text key = { 0 };
  latch_put(&key, "[\"levy\",");
  latch_put_string(&key, year);
  latch_put(&key, ",");
  latch_put_string(&key, one->owner);
  latch_put(&key, "]");
  return key.bytes;
}

static bool notify(latch_json input, latch_answer *answer) {
  char *year = latch_json_string(latch_json_member(input, "year"));
  latch_json roll = latch_json_member(input, "roll");
  size_t count = latch_json_count(roll);
  if (!year || strlen(year) != 4) return latch_fail(answer, LATCH_INVALID_INPUT, "the year has to have four digits");
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the roll of %s is empty", year);

  notice *notices = latch_room(count * sizeof *notices);
  for (size_t i = 0; i < count; i++) {
    if (!read_notice(latch_json_item(roll, i), &notices[i]))
      return latch_fail(answer, LATCH_INVALID_INPUT, "entry %zu of the roll is not complete", i + 1);
    for (size_t k = 0; k < i; k++)
      if (strcmp(notices[k].parcel, notices[i].parcel) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "parcel %s is on the roll twice", notices[i].parcel);
  }

  int64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (!latch_call(answer, "Letter.Send", letter(&notices[i], year), action(&notices[i], year))) return false;
    sum += notices[i].cents;
  }
  latch_putf(&answer->result, "{\"letters\":%zu,\"cents\":%lld}", count, (long long)sum);
  return true;
}

LATCH_PLUGIN({
  .name = "Levy.Notify",
  .description = "Sends a notice of the levy for each parcel.",
  .input = "{\"type\":\"object\",\"properties\":{\"year\":{\"type\":\"string\"},"
           "\"roll\":{\"type\":\"array\",\"maxItems\":200,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"parcel\":{\"type\":\"string\"},\"owner\":{\"type\":\"string\"},\"address\":{\"type\":\"string\"},"
           "\"cents\":{\"type\":\"integer\",\"maximum\":100000000}},"
           "\"required\":[\"parcel\",\"owner\",\"address\",\"cents\"],\"additionalProperties\":false}}},"
           "\"required\":[\"year\",\"roll\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"letters\",\"cents\"]}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = notify,
});
