#include "latchwork.h"

#include <time.h>
#include <unistd.h>

static bool look(latch_json input, latch_answer *answer) {
  (void)input;
  struct timespec exact;
  uint32_t entropy[2], drawn[2];
  if (clock_gettime(CLOCK_REALTIME, &exact) || getentropy(entropy, sizeof entropy)) return latch_fail(answer, LATCH_INVALID_INPUT, "no clock");
  latch_random(drawn, sizeof drawn);
  printf("looking around\n");
  latchwork_plugin_clock_instant_t injected;
  latchwork_plugin_clock_now(&injected);
  latch_putf(&answer->result, "{\"clocks\":{\"now\":%lld.%09ld},", (long long)exact.tv_sec, exact.tv_nsec);
  latch_putf(&answer->result, "\"random\":{\"getentropy\":%u,\"random\":%u,\"uuid\":\"%s\"},", entropy[0], drawn[0], latch_uuid());
  latch_putf(&answer->result, "\"fixed\":{\"rand\":%d},\"injected_seconds\":%lld}", rand(), (long long)injected.seconds);
  return labs((long)(time(NULL) - injected.seconds)) <= 1;
}

static bool fail(latch_json input, latch_answer *answer) {
  char *how = latch_json_string(latch_json_member(input, "how"));
  if (!strcmp(how, "code")) return latch_fail(answer, (latch_code)77, "half of \xf0\x9f");
  if (!strcmp(how, "half result")) return latch_put(&answer->result, "{\"n\":\"\xf0\x9f\"}"), true;
  if (!strcmp(how, "big")) return latch_put(&answer->result, "{\"s\":\"9007199254740992\",\"n\":[-9007199254740992]}"), true;
  if (!strcmp(how, "nan")) {
    latch_put(&answer->result, "{\"s\":\"\",\"n\":");
    latch_put_number(&answer->result, strtod("nan", NULL));
    return latch_put(&answer->result, "}"), true;
  }
  if (!strcmp(how, "fails and answers")) return latch_fail(answer, LATCH_RATE_LIMIT, "not now"), true;
  if (!strcmp(how, "half print")) {
    time_t before = time(NULL);
    sleep(3600);
    usleep(500000);
    nanosleep(&(struct timespec){ 10, 500000000 }, NULL);
    printf("half \xff of it");
    fprintf(stderr, "slept %lld", (long long)(time(NULL) - before));
    /* A handler that continues after a failed call does not fail. */
    if (!latch_call(answer, "No.Tool", "{}", NULL)) latch_put(&answer->result, "{\"n\":1}");
    return true;
  }
  return latch_fail(answer, LATCH_AUTH_FORBIDDEN, "no key");
}

LATCH_PLUGIN({ .name = "Ambient.Look", .determinism = LATCH_STABLE, .handler = look }, { .name = "Ambient.Fail", .handler = fail });
