/* Corpus of steps whose mistake shows in their calls of tools, or for an input of the greatest length. Each bad_* step breaks
   a rule of the checker. The good_* step next to it looks similar and breaks no rule. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

static char *text_of(latch_json value, const char *member) {
  char *text = latch_json_string(latch_json_member(value, member));
  return text ? text : "";
}

static bool counted(latch_answer *answer, int64_t count) {
  latch_putf(&answer->result, "{\"count\":%lld}", (long long)count);
  return true;
}

static char *mail_to(const char *to) {
  latch_text args = { 0 };
  latch_put(&args, "{\"to\":");
  latch_put_string(&args, to);
  latch_put(&args, "}");
  return args.bytes;
}

static bool send(latch_answer *answer, const char *to, const char *action) {
  return latch_call(answer, "Mail.Send", mail_to(to), action) && counted(answer, 1);
}

/* Announces the keys of a locker. Without a separator, locker 14 in building 72 has the key of locker 214 in building 7. */
static bool locker(latch_json input, latch_answer *answer, const char *separator) {
  latch_text action = { 0 }, to = { 0 };
  latch_putf(&action, "keys:%s%s%s", text_of(input, "building"), separator, text_of(input, "locker"));
  latch_putf(&to, "%s, building %s", text_of(input, "locker"), text_of(input, "building"));
  return send(answer, to.bytes, action.bytes);
}
static bool bad_locker(latch_json input, latch_answer *answer) { return locker(input, answer, ""); }
static bool good_locker(latch_json input, latch_answer *answer) { return locker(input, answer, "/"); }

/* The key has the letters and digits of a name. Names in other letters have the same key. */
static bool greet(latch_json input, latch_answer *answer, bool keeps_all) {
  char *name = text_of(input, "name");
  latch_text action = { 0 };
  latch_put(&action, "greeting:");
  for (char *c = name; *c; c++)
    if (keeps_all || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')) latch_putf(&action, "%c", *c);
  return send(answer, name, action.bytes);
}
static bool bad_greeting(latch_json input, latch_answer *answer) { return greet(input, answer, false); }
static bool good_greeting(latch_json input, latch_answer *answer) { return greet(input, answer, true); }

/* Sends a mail to each house. Two houses of one street need different keys. */
static bool houses(latch_json input, latch_answer *answer, bool has_number) {
  latch_json homes = latch_json_member(input, "homes");
  for (size_t i = 0; i < latch_json_count(homes); i++) {
    latch_json home = latch_json_item(homes, i);
    char *street = text_of(home, "street"), *number = text_of(home, "number");
    latch_text action = { 0 }, to = { 0 };
    latch_putf(&action, "[\"pickup\",\"%s\",\"%s\"]", street, has_number ? number : "");
    latch_putf(&to, "%s %s", street, number);
    if (!latch_call(answer, "Mail.Send", mail_to(to.bytes), action.bytes)) return false;
  }
  return counted(answer, (int64_t)latch_json_count(homes));
}
static bool bad_houses(latch_json input, latch_answer *answer) { return houses(input, answer, false); }
static bool good_houses(latch_json input, latch_answer *answer) { return houses(input, answer, true); }

/* Sends a notice for each parcel, and refuses a parcel twice. An owner can have two parcels. */
static bool parcels(latch_json input, latch_answer *answer, bool has_parcel) {
  latch_json roll = latch_json_member(input, "roll");
  size_t count = latch_json_count(roll);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++)
      if (!strcmp(text_of(latch_json_item(roll, i), "parcel"), text_of(latch_json_item(roll, j), "parcel")))
        return latch_fail(answer, LATCH_INVALID_INPUT, "a parcel is there twice");
  for (size_t i = 0; i < count; i++) {
    latch_json entry = latch_json_item(roll, i);
    char *parcel = text_of(entry, "parcel"), *owner = text_of(entry, "owner");
    latch_text action = { 0 }, to = { 0 };
    latch_putf(&action, "[\"levy\",\"%s\",\"%s\"]", owner, has_parcel ? parcel : "");
    latch_putf(&to, "%s, parcel %s", owner, parcel);
    if (!latch_call(answer, "Mail.Send", mail_to(to.bytes), action.bytes)) return false;
  }
  return counted(answer, (int64_t)count);
}
static bool bad_parcels(latch_json input, latch_answer *answer) { return parcels(input, answer, false); }
static bool good_parcels(latch_json input, latch_answer *answer) { return parcels(input, answer, true); }

/* Sends the bill of a month. The effect recurs, so its key needs the month. */
static bool bill(latch_json input, latch_answer *answer, bool has_month) {
  char *month = text_of(input, "month"), *tenant = text_of(input, "tenant");
  latch_text action = { 0 }, to = { 0 };
  latch_putf(&action, "bill:%s:%s", tenant, has_month ? month : "");
  latch_putf(&to, "%s, rent of %s", tenant, month);
  return send(answer, to.bytes, action.bytes);
}
static bool bad_bill(latch_json input, latch_answer *answer) { return bill(input, answer, false); }
static bool good_bill(latch_json input, latch_answer *answer) { return bill(input, answer, true); }

/* Charges the dues of a quarter, such as 2026-Q1. */
static bool dues(latch_json input, latch_answer *answer, bool has_year) {
  char *quarter = text_of(input, "quarter");
  if (strlen(quarter) != 7) return latch_fail(answer, LATCH_INVALID_INPUT, "the quarter is missing");
  latch_text action = { 0 };
  latch_putf(&action, "dues:%s", has_year ? quarter : quarter + 5);
  latch_text args = { 0 };
  latch_put(&args, "{\"quarter\":");
  latch_put_string(&args, quarter);
  latch_put(&args, "}");
  return latch_call(answer, "Mail.Send", args.bytes, action.bytes) && counted(answer, 1);
}
static bool bad_dues(latch_json input, latch_answer *answer) { return dues(input, answer, false); }
static bool good_dues(latch_json input, latch_answer *answer) { return dues(input, answer, true); }

/* Reads the meters in a month, such as 2026-03. The call has the number of the month alone. */
static bool meters(latch_json input, latch_answer *answer, bool has_year) {
  char *month = text_of(input, "month");
  if (strlen(month) != 7) return latch_fail(answer, LATCH_INVALID_INPUT, "the month is missing");
  latch_text action = { 0 }, args = { 0 };
  latch_putf(&action, "meters:%s", has_year ? month : month + 5);
  latch_put(&args, "{\"month\":");
  latch_put_string(&args, month + 5);
  latch_put(&args, "}");
  return latch_call(answer, "Mail.Send", args.bytes, action.bytes) && counted(answer, 1);
}
static bool bad_meters(latch_json input, latch_answer *answer) { return meters(input, answer, false); }
static bool good_meters(latch_json input, latch_answer *answer) { return meters(input, answer, true); }

/* Books the yearly service of a day. The arguments have no day. */
static bool service(latch_json input, latch_answer *answer, size_t digits) {
  char *day = text_of(input, "day");
  if (strlen(day) != 10) return latch_fail(answer, LATCH_INVALID_INPUT, "the day is missing");
  latch_text action = { 0 };
  latch_putf(&action, "service:%s", day + 10 - digits);
  return latch_call(answer, "Mail.Send", "{}", action.bytes) && counted(answer, 1);
}
static bool bad_service(latch_json input, latch_answer *answer) { return service(input, answer, 5); }
static bool good_service(latch_json input, latch_answer *answer) { return service(input, answer, 10); }

/* Orders the cleaning of rooms of buildings. */
static bool clean(latch_json input, latch_answer *answer, const char *between) {
  latch_json rooms = latch_json_member(input, "rooms");
  size_t count = latch_json_count(rooms);
  for (size_t each = 0; each < count; each++) {
    int64_t building, room;
    if (!latch_json_integer(latch_json_member(latch_json_item(rooms, each), "building"), &building) ||
        !latch_json_integer(latch_json_member(latch_json_item(rooms, each), "room"), &room))
      return latch_fail(answer, LATCH_INVALID_INPUT, "the building or the room is missing");
    latch_text action = { 0 }, args = { 0 };
    latch_putf(&action, "clean:%lld%s%lld", (long long)building, between, (long long)room);
    latch_putf(&args, "{\"building\":%lld,\"room\":%lld}", (long long)building, (long long)room);
    if (!latch_call(answer, "Mail.Send", args.bytes, action.bytes)) return false;
  }
  return counted(answer, (int)count);
}
static bool bad_clean(latch_json input, latch_answer *answer) { return clean(input, answer, ""); }
static bool good_clean(latch_json input, latch_answer *answer) { return clean(input, answer, "/"); }

/* Looks up the address of each name, and sends a mail. Two names can have one street. */
static bool look_up(latch_json input, latch_answer *answer, bool has_name) {
  latch_json people = latch_json_member(input, "people");
  for (size_t i = 0; i < latch_json_count(people); i++) {
    latch_json person = latch_json_item(people, i);
    char *name = text_of(person, "name"), *street = text_of(person, "street");
    latch_text action = { 0 };
    if (!latch_call(answer, "Address.Find", mail_to(street), NULL)) return false;
    latch_putf(&action, "[\"visit\",\"%s\",\"%s\"]", street, has_name ? name : "");
    if (!latch_call(answer, "Mail.Send", mail_to(name), action.bytes)) return false;
  }
  return counted(answer, (int64_t)latch_json_count(people));
}
static bool bad_visits(latch_json input, latch_answer *answer) { return look_up(input, answer, false); }
static bool good_visits(latch_json input, latch_answer *answer) { return look_up(input, answer, true); }

/* Asks for the temperature until it is low. */
static bool cool(latch_answer *answer, int64_t calls_max) {
  for (int64_t calls = 1; calls <= calls_max; calls++) {
    char *reply = latch_call(answer, "Oven.Read", "{}", NULL);
    int64_t degrees = 0;
    if (!reply) return false;
    if (!latch_json_integer(latch_json_member(latch_json_of(reply), "degrees"), &degrees) || degrees < 50)
      return counted(answer, calls);
  }
  return latch_fail(answer, LATCH_POLICY_DENIED, "the oven is still hot");
}
static bool bad_oven(latch_json input, latch_answer *answer) { return (void)input, cool(answer, INT64_MAX); }
static bool good_oven(latch_json input, latch_answer *answer) { return (void)input, cool(answer, 100); }

/* Returns the time after a pause. */
static bool nap(latch_json input, latch_answer *answer) {
  (void)input;
  sleep(60);
  return counted(answer, time(NULL));
}

/* Counts pairs of equal names. Both steps compare each name with all names before it. */
static bool pairs(latch_json input, latch_answer *answer) {
  latch_json names = latch_json_member(input, "names");
  int64_t found = 0;
  for (size_t i = 0; i < latch_json_count(names); i++)
    for (size_t j = 0; j < i; j++)
      found += strcmp(latch_json_string(latch_json_item(names, i)), latch_json_string(latch_json_item(names, j))) == 0;
  return counted(answer, found);
}

/* Counts the rows that have two cells. */
static bool rows(latch_json input, latch_answer *answer, bool logs_each) {
  int64_t used = 0, skipped = 0, cells = 1, length = 0;
  for (const char *c = text_of(input, "rows"); *c; c++) {
    if (*c != '\n') {
      length++;
      cells += *c == ';';
      continue;
    }
    if (cells == 2) used++;
    else if (length > 0) skipped++;
    if (cells != 2 && length > 0 && logs_each) latch_log(LATCH_WARN, "a row has %lld cells", (long long)cells);
    cells = 1, length = 0;
  }
  if (skipped && !logs_each) latch_log(LATCH_WARN, "%lld rows are skipped", (long long)skipped);
  return counted(answer, used);
}
static bool bad_rows(latch_json input, latch_answer *answer) { return rows(input, answer, true); }
static bool good_rows(latch_json input, latch_answer *answer) { return rows(input, answer, false); }

/* Reads the price of a good from a list. Pure: the answer has to follow from the input. */
static bool price(latch_json input, latch_answer *answer) {
  char *reply = latch_call(answer, "Price.List", "{}", NULL);
  if (!reply) return false;
  char *list = latch_json_string(latch_json_member(latch_json_of(reply), "text"));
  char *row = list ? strstr(list, text_of(input, "good")) : NULL;
  if (!row) return latch_fail(answer, LATCH_INVALID_INPUT, "the list has no such good");
  return counted(answer, atoi(row + strlen(text_of(input, "good"))));
}

/* Hands a number to a tool as a JSON integer. */
static bool track(latch_json input, latch_answer *answer, long long greatest) {
  char *digits = text_of(input, "number");
  long long number = strtoll(digits, NULL, 10);
  if (strlen(digits) > 18 || number <= 0 || number > greatest) return latch_fail(answer, LATCH_INVALID_INPUT, "the number is too large");
  latch_text args = { 0 };
  latch_putf(&args, "{\"number\":%lld}", number);
  return latch_call(answer, "Track.Take", args.bytes, NULL) && counted(answer, 1);
}
static bool bad_track(latch_json input, latch_answer *answer) { return track(input, answer, INT64_MAX); }
static bool good_track(latch_json input, latch_answer *answer) { return track(input, answer, 9007199254740991); }

/* Sends a page if the level is high. */
static bool page(latch_json input, latch_answer *answer) {
  int64_t level = 0;
  latch_json_integer(latch_json_member(input, "level"), &level);
  if (level < 3) return counted(answer, 0);
  return latch_call(answer, "Pager.Send", "{}", NULL) && counted(answer, 1);
}

/* Charges the nights of a ship. All charges have the same arguments. */
static bool nights(latch_json input, latch_answer *answer, const char *between) {
  latch_json nights = latch_json_member(input, "nights");
  size_t count = latch_json_count(nights);
  for (size_t each = 0; each < count; each++) {
    latch_text action = { 0 };
    latch_json night = latch_json_item(nights, each);
    latch_putf(&action, "night:%s%s%s", text_of(night, "berth"), between, text_of(night, "number"));
    if (!latch_call(answer, "Mail.Send", "{\"cents\":1850}", action.bytes)) return false;
  }
  return counted(answer, (int64_t)count);
}
static bool bad_nights(latch_json input, latch_answer *answer) { return nights(input, answer, ""); }
static bool good_nights(latch_json input, latch_answer *answer) { return nights(input, answer, "/"); }

/* Collects the rent of the present month. The arguments have no month. */
static bool rent(latch_answer *answer, const char *form) {
  time_t now = time(NULL);
  char action[40];
  strftime(action, sizeof action, form, gmtime(&now));
  return latch_call(answer, "Mail.Send", "{}", action) && counted(answer, 1);
}
static bool bad_rent(latch_json input, latch_answer *answer) { return (void)input, rent(answer, "rent/%B"); }
static bool good_rent(latch_json input, latch_answer *answer) { return (void)input, rent(answer, "rent/%B/%Y"); }

/* Charges the dues of a month. The arguments have neither month nor year, which are two members of the input. */
static bool season(latch_json input, latch_answer *answer, bool has_year) {
  int64_t year = 0;
  latch_json_integer(latch_json_member(input, "year"), &year);
  latch_text action = { 0 };
  latch_putf(&action, "season:%s", text_of(input, "month"));
  if (has_year) latch_putf(&action, "/%lld", (long long)year);
  return latch_call(answer, "Mail.Send", "{}", action.bytes) && counted(answer, 1);
}
static bool bad_season(latch_json input, latch_answer *answer) { return season(input, answer, false); }
static bool good_season(latch_json input, latch_answer *answer) { return season(input, answer, true); }

/* Debits an instalment for each due date, or one that names none. */
static bool instalments(latch_json input, latch_answer *answer, bool has_date) {
  latch_json dates = latch_json_member(input, "dates");
  size_t count = latch_json_count(dates);
  for (size_t each = 0; each < count; each++) {
    latch_text action = { 0 };
    latch_putf(&action, "instalment:%s", has_date ? latch_json_string(latch_json_item(dates, each)) : "next");
    if (!latch_call(answer, "Mail.Send", "{\"cents\":5000}", action.bytes)) return false;
  }
  return counted(answer, (int64_t)count);
}
static bool bad_instalments(latch_json input, latch_answer *answer) { return instalments(input, answer, false); }
static bool good_instalments(latch_json input, latch_answer *answer) { return instalments(input, answer, true); }

/* Calls each person of a roster once. A name that is there twice is refused: at its second place, or before the first call. */
static bool roster(latch_json input, latch_answer *answer, bool at_once) {
  latch_json people = latch_json_member(input, "people");
  size_t count = latch_json_count(people);
  for (int turn = 0; turn < 2; turn++)
    for (size_t i = 0; i < count; i++) {
      char *name = text_of(latch_json_item(people, i), "name");
      for (size_t k = 0; k < i && (turn == 1 || at_once); k++)
        if (!strcmp(name, text_of(latch_json_item(people, k), "name"))) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is there twice", name);
      latch_text action = { 0 };
      latch_putf(&action, "roster:%s", name);
      if (turn == 1 && !latch_call(answer, "Mail.Send", mail_to(name), action.bytes)) return false;
    }
  return counted(answer, (int64_t)count);
}
static bool bad_roster(latch_json input, latch_answer *answer) { return roster(input, answer, false); }
static bool good_roster(latch_json input, latch_answer *answer) { return roster(input, answer, true); }

/* Sends the news of a day, which it asks for first. The key and the subject have the day of one clock read, or of two. */
static bool digest(latch_answer *answer, bool reads_once) {
  char day[16], later[16];
  time_t now = time(NULL);
  strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
  if (!latch_call(answer, "News.Get", "{}", NULL)) return false;
  if (!reads_once) now = time(NULL);
  strftime(later, sizeof later, "%Y-%m-%d", gmtime(&now));
  latch_text action = { 0 };
  latch_putf(&action, "digest:%s", day);
  return latch_call(answer, "Mail.Send", mail_to(later), action.bytes) && counted(answer, 1);
}
static bool bad_digest(latch_json input, latch_answer *answer) { return (void)input, digest(answer, false); }
static bool good_digest(latch_json input, latch_answer *answer) { return (void)input, digest(answer, true); }

static bool bad_week(latch_json input, latch_answer *answer) { return (void)input, rent(answer, "week/%Y-%V"); }
static bool good_week(latch_json input, latch_answer *answer) { return (void)input, rent(answer, "week/%G-%V"); }

/* Puts the message of a failed call into an event, as it is or as a JSON string. */
static bool notice(latch_json input, latch_answer *answer, bool is_quoted) {
  latch_text payload = { 0 };
  if (latch_call(answer, "Mail.Send", mail_to(text_of(input, "to")), "notice")) return counted(answer, 1);
  if (is_quoted) latch_put_string(&payload, answer->message);
  else latch_putf(&payload, "\"%s\"", answer->message);
  latch_emit("not-sent", payload.bytes);
  return false;
}
static bool bad_notice(latch_json input, latch_answer *answer) { return notice(input, answer, false); }
static bool good_notice(latch_json input, latch_answer *answer) { return notice(input, answer, true); }

/* Counts the words of a file. Pure: the input has to fix the content of the file. */
static bool proof(latch_json input, latch_answer *answer, bool compares) {
  char *reply = latch_call(answer, "File.Read", "{}", NULL);
  if (!reply) return false;
  char *text = latch_json_string(latch_json_member(latch_json_of(reply), "text")), *expected = text_of(input, "text");
  if (!text || strlen(text) != strlen(expected) || (compares && strcmp(text, expected)))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the file has another content");
  int64_t words = 1;
  for (char *each = text; *each; each++) words += *each == ' ';
  return counted(answer, words);
}
static bool bad_proof(latch_json input, latch_answer *answer) { return proof(input, answer, false); }
static bool good_proof(latch_json input, latch_answer *answer) { return proof(input, answer, true); }

/* Sends a mail to each guest of an event. A guest keeps its key if another one leaves the list. */
static bool invite(latch_json input, latch_answer *answer, bool by_place) {
  latch_json guests = latch_json_member(input, "guests");
  for (size_t i = 0; i < latch_json_count(guests); i++) {
    char *guest = latch_json_string(latch_json_item(guests, i));
    for (size_t k = 0; k < i; k++)
      if (!strcmp(guest, latch_json_string(latch_json_item(guests, k)))) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is listed twice", guest);
  }
  for (size_t i = 0; i < latch_json_count(guests); i++) {
    char *guest = latch_json_string(latch_json_item(guests, i));
    latch_text action = { 0 };
    latch_put(&action, "[\"invite\",");
    latch_put_string(&action, text_of(input, "event"));
    latch_put(&action, ",");
    if (by_place) latch_putf(&action, "%zu", i);
    else latch_put_string(&action, guest);
    latch_put(&action, "]");
    if (!latch_call(answer, "Mail.Send", mail_to(guest), action.bytes)) return false;
  }
  return counted(answer, (int64_t)latch_json_count(guests));
}
static bool bad_invite(latch_json input, latch_answer *answer) { return invite(input, answer, true); }
static bool good_invite(latch_json input, latch_answer *answer) { return invite(input, answer, false); }

#define NAMES(max) "{\"type\":\"object\",\"properties\":{\"names\":{\"type\":\"array\",\"maxItems\":" max ",\"items\":{\"type\":\"string\"}}}}"
#define STEP(said, handled, ...) { .name = said, .description = "For the corpus.", .handler = handled, ##__VA_ARGS__ }
#define SENDS .effects = LATCH_EXTERNAL_SEND, .determinism = LATCH_EXTERNAL

LATCH_PLUGIN(
  STEP("Bad.Locker", bad_locker, SENDS), STEP("Good.Locker", good_locker, SENDS), STEP("Bad.Greeting", bad_greeting, SENDS),
  STEP("Bad.Visits", bad_visits, SENDS), STEP("Good.Visits", good_visits, SENDS),
  STEP("Bad.Bill", bad_bill, SENDS), STEP("Good.Bill", good_bill, SENDS),
  STEP("Bad.Dues", bad_dues, SENDS), STEP("Good.Dues", good_dues, SENDS), STEP("Bad.Meters", bad_meters, SENDS), STEP("Good.Meters", good_meters, SENDS), STEP("Bad.Service", bad_service, SENDS),
  STEP("Good.Service", good_service, SENDS), STEP("Bad.Clean", bad_clean, SENDS), STEP("Good.Clean", good_clean, SENDS),
  STEP("Bad.Parcels", bad_parcels, SENDS), STEP("Good.Parcels", good_parcels, SENDS),
  STEP("Bad.Houses", bad_houses, SENDS), STEP("Good.Houses", good_houses, SENDS),
  STEP("Good.Greeting", good_greeting, SENDS), STEP("Bad.Oven", bad_oven, .determinism = LATCH_EXTERNAL),
  STEP("Good.Oven", good_oven, .determinism = LATCH_EXTERNAL), STEP("Good.Nap", nap, .determinism = LATCH_STABLE), STEP("Bad.Pairs", pairs, .input = NAMES("20000")),
  STEP("Good.Pairs", pairs, .input = NAMES("40")), STEP("Bad.Rows", bad_rows), STEP("Good.Rows", good_rows),
  STEP("Bad.Price", price), STEP("Good.Price", price), STEP("Bad.Track", bad_track, SENDS),
  STEP("Good.Track", good_track, SENDS), STEP("Bad.Page", page, .determinism = LATCH_EXTERNAL),
  STEP("Good.Page", page, SENDS), STEP("Bad.Nights", bad_nights, SENDS), STEP("Good.Nights", good_nights, SENDS),
  STEP("Bad.Rent", bad_rent, SENDS), STEP("Good.Rent", good_rent, SENDS), STEP("Bad.Proof", bad_proof),
  STEP("Good.Proof", good_proof), STEP("Bad.Season", bad_season, SENDS), STEP("Good.Season", good_season, SENDS),
  STEP("Bad.Instalments", bad_instalments, SENDS), STEP("Good.Instalments", good_instalments, SENDS), STEP("Bad.Roster", bad_roster, SENDS),
  STEP("Good.Roster", good_roster, SENDS), STEP("Bad.Digest", bad_digest, SENDS), STEP("Good.Digest", good_digest, SENDS),
  STEP("Bad.Week", bad_week, SENDS), STEP("Good.Week", good_week, SENDS), STEP("Bad.Notice", bad_notice, SENDS),
  STEP("Good.Notice", good_notice, SENDS), STEP("Bad.Invite", bad_invite, SENDS), STEP("Good.Invite", good_invite, SENDS));
