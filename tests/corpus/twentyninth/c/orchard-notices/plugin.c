#include "latchwork.h"

/* Tells the tenants of an orchard which rows they prune this winter. A tenant gets one notice for a row in a winter,
 * whichever job asks. A notice that the gateway was too busy for is sent once more at the end. */

#define MOST 80

typedef struct {
  char *tenant, *key, *args;
  int64_t row;
  bool sent;
  char *notice;      /* number of the notice, or NULL if the gateway gave none */
  latch_code code;   /* why there is none */
} notice;

static notice notices[MOST];
static size_t count;

static bool read_notices(latch_json input, latch_answer *answer) {
  int64_t winter;
  char *orchard = latch_json_string(latch_json_member(input, "orchard"));
  latch_json rows = latch_json_member(input, "rows");
  if (!orchard || !latch_json_integer(latch_json_member(input, "winter"), &winter))
    return latch_fail(answer, LATCH_INVALID_INPUT, "orchard or winter is missing");
  count = latch_json_count(rows);
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "an orchard has at most %d rows", MOST);
  for (size_t i = 0; i < count; i++) {
    latch_json one = latch_json_item(rows, i);
    notice *n = &notices[i];
    n->tenant = latch_json_string(latch_json_member(one, "tenant"));
    if (!n->tenant || !latch_json_integer(latch_json_member(one, "row"), &n->row))
      return latch_fail(answer, LATCH_INVALID_INPUT, "entry %zu has no row or no tenant", i + 1);

    latch_text key = { 0 }, args = { 0 };
    latch_putf(&key, "[\"pruning\",%lld,", (long long)winter);
    latch_put_string(&key, orchard);
    latch_putf(&key, ",%lld,", (long long)n->row);
    latch_put_string(&key, n->tenant);
    latch_put(&key, "]");
    n->key = key.bytes;

    latch_put(&args, "{\"orchard\":");
    latch_put_string(&args, orchard);
    latch_put(&args, ",\"tenant\":");
    latch_put_string(&args, n->tenant);
    latch_putf(&args, ",\"row\":%lld,\"winter\":%lld}", (long long)n->row, (long long)winter);
    n->args = args.bytes;

    for (size_t k = 0; k < i; k++)
      if (strcmp(notices[k].key, n->key) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "row %lld is listed twice for %s", (long long)n->row, n->tenant);
  }
  return true;
}

static void send_notice(notice *n, latch_answer *answer) {
  char *sent = latch_call(answer, "Gateway.Notify", n->args, n->key);
  n->sent = sent != NULL;
  if (sent) n->notice = latch_json_string(latch_json_member(latch_json_of(sent), "notice"));
  else n->code = answer->code;
}

static const char *reason(latch_code code) {
  switch (code) {
    case LATCH_RATE_LIMIT: return "gateway busy";
    case LATCH_INVALID_INPUT: return "address refused";
    case LATCH_POLICY_DENIED: return "not permitted";
    default: return "no answer";
  }
}

static bool notify(latch_json input, latch_answer *answer) {
  if (!read_notices(input, answer)) return false;
  for (size_t i = 0; i < count; i++) send_notice(&notices[i], answer);
  for (size_t i = 0; i < count; i++)
    if (!notices[i].sent && notices[i].code == LATCH_RATE_LIMIT) send_notice(&notices[i], answer);

  size_t unconfirmed = 0;
  latch_put(&answer->result, "{\"rows\":[");
  for (size_t i = 0; i < count; i++) {
    latch_putf(&answer->result, "%s{\"row\":%lld,\"tenant\":", i ? "," : "", (long long)notices[i].row);
    latch_put_string(&answer->result, notices[i].tenant);
    if (!notices[i].sent) {
      latch_putf(&answer->result, ",\"unconfirmed\":\"%s\"}", reason(notices[i].code));
      unconfirmed++;
      continue;
    }
    latch_put(&answer->result, ",\"notice\":");
    latch_put_string(&answer->result, notices[i].notice ? notices[i].notice : "");
    latch_put(&answer->result, "}");
  }
  latch_putf(&answer->result, "],\"unconfirmed\":%zu}", unconfirmed);
  return true;
}

LATCH_PLUGIN({
  .name = "Orchard.Notify",
  .description = "Tells the tenants of an orchard which rows they prune this winter.",
  .input = "{\"type\":\"object\",\"properties\":{\"orchard\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
           "\"winter\":{\"type\":\"integer\",\"minimum\":2020,\"maximum\":2100},"
           "\"rows\":{\"type\":\"array\",\"maxItems\":80,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"row\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":500},"
           "\"tenant\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80}},"
           "\"required\":[\"row\",\"tenant\"],\"additionalProperties\":false}}},"
           "\"required\":[\"orchard\",\"winter\",\"rows\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"rows\",\"unconfirmed\"]}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = notify,
});
