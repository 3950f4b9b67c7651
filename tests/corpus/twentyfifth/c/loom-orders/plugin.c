#include "latchwork.h"

/* Books the looms of a mill for one week. A job is a loom and the bolt of cloth that is woven on it. */
typedef struct {
  int64_t loom, bolt, metres;
} job;

static bool schedule(latch_json input, latch_answer *answer) {
  char *week = latch_json_string(latch_json_member(input, "week"));
  latch_json list = latch_json_member(input, "jobs");
  size_t count = latch_json_count(list);
  job *jobs = latch_room(count * sizeof *jobs);
  for (size_t i = 0; i < count; i++) {
    latch_json one = latch_json_item(list, i);
    latch_json_integer(latch_json_member(one, "loom"), &jobs[i].loom);
    latch_json_integer(latch_json_member(one, "bolt"), &jobs[i].bolt);
    latch_json_integer(latch_json_member(one, "metres"), &jobs[i].metres);
    for (size_t k = 0; k < i; k++)
      if (jobs[k].loom == jobs[i].loom && jobs[k].bolt == jobs[i].bolt)
        return latch_fail(answer, LATCH_INVALID_INPUT, "loom %d has bolt %d twice", (int)jobs[i].loom, (int)jobs[i].bolt);
  }
  latch_put(&answer->result, "{\"week\":");
  latch_put_string(&answer->result, week);
  latch_put(&answer->result, ",\"slots\":[");
  for (size_t i = 0; i < count; i++) {
    latch_text args = { 0 }, key = { 0 };
    latch_putf(&args, "{\"week\":\"%s\",\"loom\":%d,\"bolt\":%d,\"metres\":%d}", week, (int)jobs[i].loom, (int)jobs[i].bolt, (int)jobs[i].metres);
    /* One booking of the week for each loom and bolt. */
    latch_putf(&key, "mill-%s-%d%d", week, (int)jobs[i].loom, (int)jobs[i].bolt);
    char *booked = latch_call(answer, "Mill.Book", args.bytes, key.bytes);
    if (!booked) return false;
    char *slot = latch_json_string(latch_json_member(latch_json_of(booked), "slot"));
    if (!slot) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the mill named no slot for loom %d", (int)jobs[i].loom);
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, slot);
  }
  latch_put(&answer->result, "]}");
  return true;
}

#define NUMBER(top) "{\"type\":\"integer\",\"minimum\":1,\"maximum\":" top "}"

LATCH_PLUGIN({
  .name = "Loom.Schedule",
  .description = "Books the looms of a mill for a week.",
  .input = "{\"type\":\"object\",\"properties\":{\"week\":{\"type\":\"string\",\"pattern\":\"^20[0-9]{2}-W[0-5][0-9]$\"},"
           "\"jobs\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":60,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"loom\":" NUMBER("400") ",\"bolt\":" NUMBER("99999") ",\"metres\":" NUMBER("5000") "},"
           "\"required\":[\"loom\",\"bolt\",\"metres\"],\"additionalProperties\":false}}},"
           "\"required\":[\"week\",\"jobs\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"week\",\"slots\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = schedule,
});
