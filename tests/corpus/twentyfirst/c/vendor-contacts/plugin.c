#include "latchwork.h"

static char *entry(const char *vendor) {
  latch_text name = { 0 };
  latch_putf(&name, "vendor/%s", vendor);
  return name.bytes;
}

static bool saved(const char *vendor, latch_answer *answer) {
  latch_put(&answer->result, "{\"vendor\":");
  latch_put_string(&answer->result, vendor);
  latch_put(&answer->result, ",\"saved\":true}");
  latch_changed(answer, (latch_change){ .resource_type = "contact", .resource_id = vendor, .operation = "update" });
  return true;
}

/* An address has one @, with text on both sides and a dot on the right. */
static bool is_address(const char *email) {
  const char *at = strchr(email, '@');
  return at && at != email && !strchr(at + 1, '@') && strchr(at + 1, '.') > at + 1;
}

static bool save(latch_json args, latch_answer *answer) {
  char *vendor = latch_json_string(latch_json_member(args, "vendor"));
  char *email = latch_json_string(latch_json_member(args, "email"));
  char *phone = latch_json_string(latch_json_member(args, "phone"));
  if (!vendor || !email) return latch_fail(answer, LATCH_INVALID_INPUT, "vendor or email are no texts");
  if (!is_address(email)) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is no address", email);
  latch_text contact = { 0 };
  latch_put(&contact, "{\"email\":");
  latch_put_string(&contact, email);
  latch_put(&contact, ",\"phone\":");
  if (phone) latch_put_string(&contact, phone);
  else latch_put(&contact, "null");
  latch_put(&contact, "}");
  return latch_kv_set(answer, entry(vendor), contact.bytes) && saved(vendor, answer);
}

/* Called after a crash: finds out whether the contact was saved. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)key;
  char *vendor = latch_json_string(latch_json_member(args, "vendor")), *contact;
  if (!vendor || !latch_kv_get(answer, entry(vendor), &contact)) return LATCH_UNKNOWN;
  if (!contact) return LATCH_DID_NOT_HAPPEN;
  saved(vendor, answer);
  return LATCH_HAPPENED;
}

static bool get(latch_json args, latch_answer *answer) {
  char *vendor = latch_json_string(latch_json_member(args, "vendor")), *contact;
  if (!vendor) return latch_fail(answer, LATCH_INVALID_INPUT, "the vendor is no text");
  if (!latch_kv_get(answer, entry(vendor), &contact)) return false;
  latch_putf(&answer->result, "{\"contact\":%s}", contact ? contact : "null");
  return true;
}

#define VENDOR "\"vendor\":{\"type\":\"string\",\"pattern\":\"^V[0-9]{1,8}$\"}"

LATCH_PLUGIN({
  .name = "Contact.Save",
  .description = "Saves the address and the phone number of a vendor, in place of earlier ones.",
  .input = "{\"type\":\"object\",\"properties\":{" VENDOR ","
           "\"email\":{\"type\":\"string\",\"maxLength\":200},\"phone\":{\"type\":\"string\",\"maxLength\":40}},"
           "\"required\":[\"vendor\",\"email\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"vendor\":{\"type\":\"string\"},\"saved\":{\"type\":\"boolean\"}},"
            "\"required\":[\"vendor\",\"saved\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = save,
  .reconcile = find,
}, {
  .name = "Contact.Get",
  .description = "Returns the contact of a vendor, or null.",
  .input = "{\"type\":\"object\",\"properties\":{" VENDOR "},\"required\":[\"vendor\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"contact\"]}",
  .effects = LATCH_READ_ONLY,
  .handler = get,
});
