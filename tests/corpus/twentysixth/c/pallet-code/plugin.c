#include "latchwork.h"

/* Makes the eighteen digits on a pallet: an extension digit, the number of the company from the configuration, the
 * serial number, and a check digit. */

static int weight[17];

static int check_digit(const char *digits) {
  if (!weight[0])
    for (int i = 0; i < 17; i++) weight[i] = i % 2 ? 1 : 3;
  int sum = 0;
  for (int i = 0; i < 17; i++) sum += weight[i] * (digits[i] - '0');
  return (10 - sum % 10) % 10;
}

static bool make(latch_json args, latch_answer *answer) {
  char *set = latch_config("company");
  if (!set) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the config has no company");
  char *company = latch_json_string(latch_json_of(set));
  size_t length = company ? strlen(company) : 0;
  if (length < 7 || length > 10 || strspn(company, "0123456789") != length)
    return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the number of the company has to have 7 to 10 digits");

  latch_json serials = latch_json_member(args, "serials");
  if (!latch_json_is(serials, '[')) return latch_fail(answer, LATCH_INVALID_INPUT, "the serial numbers are missing");
  int room = 16 - (int)length;
  int64_t bound = 1;
  for (int i = 0; i < room; i++) bound *= 10;

  latch_text codes = { 0 };
  latch_put(&codes, "");
  size_t count = 0;
  for (const char *at = latch_json_space(serials.at + 1); *at && *at != ']'; count++) {
    int64_t serial;
    if (!latch_json_integer((latch_json){ at }, &serial) || serial < 0 || serial >= bound)
      return latch_fail(answer, LATCH_INVALID_INPUT, "serial number %zu does not have %d digits", count, room);
    char code[32];
    snprintf(code, sizeof code, "3%s%0*lld", company, room, (long long)serial);
    latch_putf(&codes, "%s\"%s%d\"", count ? "," : "", code, check_digit(code));
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  latch_putf(&answer->result, "{\"codes\":[%s]}", codes.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Pallet.Code",
  .description = "Makes the codes of pallets from their serial numbers.",
  .input = "{\"type\":\"object\",\"properties\":{\"serials\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"maxItems\":5000}},"
           "\"required\":[\"serials\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"codes\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_PURE,
  .handler = make,
});
