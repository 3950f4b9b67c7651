/* Bills the water meters of one customer for one month. Each meter gets one invoice per month, in all jobs. */
#include "latchwork.h"

enum { MOST_METERS = 60, MOST_TRIES = 3 };

typedef struct {
  char *meter;
  int64_t litres;
} reading;

/* The key of an invoice: customer, month with its year, and meter, as a JSON array. */
static char *key_of(const char *customer, const char *month, const char *meter) {
  latch_text key = { 0 };
  latch_put(&key, "[\"water-invoice\",");
  latch_put_string(&key, customer);
  latch_put(&key, ",");
  latch_put_string(&key, month);
  latch_put(&key, ",");
  latch_put_string(&key, meter);
  latch_put(&key, "]");
  return key.bytes;
}

static bool read_meters(latch_json list, reading *readings, size_t count, latch_answer *answer) {
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    readings[i].meter = latch_json_string(latch_json_member(item, "meter"));
    if (!readings[i].meter || !latch_json_integer(latch_json_member(item, "litres"), &readings[i].litres))
      return latch_fail(answer, LATCH_INVALID_INPUT, "reading %zu is incomplete", i + 1);
    for (size_t k = 0; k < i; k++)
      if (strcmp(readings[k].meter, readings[i].meter) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "meter %s has two readings", readings[i].meter);
  }
  return true;
}

/* The host has made its retries before a call fails. A price service that restarts gets a few more calls. */
static char *price_of(latch_answer *answer, const char *month) {
  latch_text args = { 0 };
  latch_put(&args, "{\"month\":");
  latch_put_string(&args, month);
  latch_put(&args, "}");
  char *reply = NULL;
  for (int i = 0; i < MOST_TRIES && !reply; i++) {
    reply = latch_call(answer, "Price.Read", args.bytes, NULL);
    if (!reply && answer->code != LATCH_DEPENDENCY_UNAVAILABLE) return NULL;
  }
  return reply;
}

static bool bill(latch_json input, latch_answer *answer) {
  char *customer = latch_json_string(latch_json_member(input, "customer"));
  char *month = latch_json_string(latch_json_member(input, "month"));
  latch_json list = latch_json_member(input, "readings");
  size_t count = latch_json_count(list);
  reading readings[MOST_METERS];
  if (!customer || !month || count > MOST_METERS) return latch_fail(answer, LATCH_INVALID_INPUT, "the order is incomplete");
  if (!read_meters(list, readings, count, answer)) return false;

  int64_t price = 0;
  char *reply = price_of(answer, month);
  if (!reply) return false;
  if (!latch_json_integer(latch_json_member(latch_json_of(reply), "microcents_per_litre"), &price) || price < 0 || price > 1000000)
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "Price.Read gave no valid price");

  int64_t total = 0;
  latch_put(&answer->result, "{\"invoices\":[");
  for (size_t i = 0; i < count; i++) {
    /* At most 10^9 litres and 10^6 microcents: the product is below 2^53. */
    int64_t cents = (readings[i].litres * price + 500000) / 1000000;
    latch_text args = { 0 };
    latch_put(&args, "{\"customer\":");
    latch_put_string(&args, customer);
    latch_put(&args, ",\"meter\":");
    latch_put_string(&args, readings[i].meter);
    latch_put(&args, ",\"month\":");
    latch_put_string(&args, month);
    latch_putf(&args, ",\"cents\":%lld}", (long long)cents);
    char *made = latch_call(answer, "Invoice.Create", args.bytes, key_of(customer, month, readings[i].meter));
    if (!made) return false;
    char *number = latch_json_string(latch_json_member(latch_json_of(made), "number"));
    if (!number) return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "Invoice.Create gave no number");
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, number);
    total += cents;
  }
  latch_putf(&answer->result, "],\"total_cents\":%lld}", (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "Water.Bill",
  .description = "Creates the invoices for the water meters of a customer.",
  .input = "{\"type\":\"object\",\"required\":[\"customer\",\"month\",\"readings\"],\"additionalProperties\":false,\"properties\":{"
           "\"customer\":{\"type\":\"string\",\"pattern\":\"^[0-9]{1,12}$\"},\"month\":{\"type\":\"string\",\"pattern\":\"^20[0-9]{2}-(0[1-9]|1[0-2])$\"},"
           "\"readings\":{\"type\":\"array\",\"maxItems\":60,\"items\":{\"type\":\"object\",\"required\":[\"meter\",\"litres\"],"
           "\"additionalProperties\":false,\"properties\":{\"meter\":{\"type\":\"string\",\"pattern\":\"^[A-Z0-9]{1,16}$\"},"
           "\"litres\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000000000}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"invoices\",\"total_cents\"],\"properties\":{\"invoices\":{\"type\":\"array\","
            "\"items\":{\"type\":\"string\"}},\"total_cents\":{\"type\":\"integer\"}}}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = bill,
});
