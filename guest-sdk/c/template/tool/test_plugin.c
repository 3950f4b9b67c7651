#include "plugin.c"

#include "testing.h"

int main(void) {
  const char *args = "{\"text\":\"hello\"}", *key = latch_host.external_key;
  latch_answer answer;
  LATCH_EXPECT(!latch_test("{{Noun}}.Keep", args, &answer));
  LATCH_EXPECT(answer.code == LATCH_POLICY_DENIED);

  latch_host.grant_kv = true;
  answer = (latch_answer){ 0 };
  LATCH_EXPECT(find(latch_json_of(args), key, &answer) == LATCH_DID_NOT_HAPPEN);
  const char *made = latch_test("{{Noun}}.Keep", args, &answer);
  LATCH_EXPECT(made && strcmp(made, "{\"key\":\"latch:job_test:s1:1\"}") == 0);
  LATCH_EXPECT(answer.change_count == 1);
  answer = (latch_answer){ 0 };
  LATCH_EXPECT(find(latch_json_of(args), key, &answer) == LATCH_HAPPENED);
  puts("2 tests passed");
  return 0;
}
