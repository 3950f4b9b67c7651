/* Locker.Announce: tells the new tenant of a storage locker when the keys are handed over. */
#include "latchwork.h"

static char *text_of(latch_json input, const char *name) { return latch_json_string(latch_json_member(input, name)); }

/* Writes the letter with the place and the time of the handover. */
static char *letter(const char *tenant, const char *building, const char *locker, const char *date, const char *hour) {
  latch_text body = { 0 };
  latch_putf(&body, "Dear %s,\n\nyour locker %s in building %s is ready. ", tenant, locker, building);
  latch_putf(&body, "Please collect the keys at the gate on %s, from %s.\n\n", date, hour);
  latch_put(&body, "Bring your contract and an identity card.\n\nThe storage office\n");
  return body.bytes;
}

static bool announce(latch_json input, latch_answer *answer) {
  char *building = text_of(input, "building"), *locker = text_of(input, "locker"), *date = text_of(input, "date");
  char *tenant = text_of(input, "tenant"), *mail = text_of(input, "mail");
  if (!building || !locker || !date || !tenant || !mail)
    return latch_fail(answer, LATCH_INVALID_INPUT, "building, locker, date, tenant and mail have to be texts");
  if (!strchr(mail, '@')) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is no mail address", mail);
  char *hour = text_of(input, "hour");
  if (!hour) hour = "09:00";

  latch_text args = { 0 };
  latch_put(&args, "{\"to\":");
  latch_put_string(&args, mail);
  latch_put(&args, ",\"subject\":\"The keys of your locker\",\"body\":");
  latch_put_string(&args, letter(tenant, building, locker, date, hour));
  latch_put(&args, "}");

  /* A handover of a locker at one time is announced once, whichever job asks for it. */
  latch_text action = { 0 };
  latch_putf(&action, "handover:%s:%s:%s%s", date, hour, building, locker);
  char *reply = latch_call(answer, "Mail.Send", args.bytes, action.bytes);
  if (!reply) return false;

  latch_put(&answer->result, "{\"to\":");
  latch_put_string(&answer->result, mail);
  latch_put(&answer->result, ",\"place\":");
  latch_text place = { 0 };
  latch_putf(&place, "building %s, locker %s", building, locker);
  latch_put_string(&answer->result, place.bytes);
  latch_put(&answer->result, ",\"from\":");
  latch_put_string(&answer->result, hour);
  latch_putf(&answer->result, ",\"mail\":%s}", reply);
  return true;
}

LATCH_PLUGIN({
  .name = "Locker.Announce",
  .description = "Tells the new tenant of a storage locker when the keys are handed over.",
  .input = "{\"type\":\"object\",\"required\":[\"building\",\"locker\",\"date\",\"tenant\",\"mail\"],\"properties\":{"
           "\"building\":{\"type\":\"string\",\"pattern\":\"^[0-9]{1,3}$\"},"
           "\"locker\":{\"type\":\"string\",\"pattern\":\"^[0-9]{1,4}$\"},"
           "\"date\":{\"type\":\"string\",\"pattern\":\"^[0-9]{4}-[0-9]{2}-[0-9]{2}$\"},"
           "\"hour\":{\"type\":\"string\",\"pattern\":\"^[0-9]{2}:[0-9]{2}$\"},"
           "\"tenant\":{\"type\":\"string\",\"minLength\":1},\"mail\":{\"type\":\"string\"}},"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"to\",\"place\",\"from\",\"mail\"]}",
  .effects = LATCH_EXTERNAL_SEND,
  .determinism = LATCH_EXTERNAL,
  .handler = announce,
});
