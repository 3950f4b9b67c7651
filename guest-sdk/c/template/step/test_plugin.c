#include "plugin.c"

#include "testing.h"

int main(void) {
  const char *made = latch_test("{{Noun}}.Greet", "{\"name\":\"Ada \\u00fc\"}", NULL);
  LATCH_EXPECT(made && strstr(made, "\"greeting\":\"Hello, Ada ü!\""));
  LATCH_EXPECT(strcmp(latch_host.logged, "greeting Ada ü for ada") == 0);

  latch_answer answer;
  LATCH_EXPECT(!latch_test("{{Noun}}.Greet", "{\"name\":\"\"}", &answer));
  LATCH_EXPECT(answer.code == LATCH_INVALID_INPUT);
  puts("2 tests passed");
  return 0;
}
