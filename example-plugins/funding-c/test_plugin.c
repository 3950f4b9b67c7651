#include "plugin.c"

#include "testing.h"

static const char *reviewed(const char *body) {
  findings = (latch_text){ 0 };
  ready = true;
  latch_text input = { 0 };
  latch_put(&input, "{\"words_min\":5,\"draft\":{\"to\":\"ada@example.org\",\"subject\":\"Inquiry!\",\"body\":");
  latch_put_string(&input, body);
  latch_put(&input, "}}");
  const char *made = latch_test("Email.Review", input.bytes, NULL);
  LATCH_EXPECT(made != NULL);
  return made;
}

int main(void) {
  const char *made = reviewed("Dear Professor Lind,\n\nmay  I really ask about snow? Great!\n\nKind regards,\nMira\n");
  LATCH_EXPECT(strstr(made, "\"verdict\":\"ready\"") && strstr(made, "\"subject\":\"Inquiry\""));
  LATCH_EXPECT(strstr(made, "may I ask about snow? Great."));
  LATCH_EXPECT(strstr(made, "\"rule\":\"spacing\"") && strstr(made, "\"rule\":\"tone\""));

  made = reviewed("Hi\n\n{{name}}, act now.\n");
  LATCH_EXPECT(strstr(made, "needs_work"));
  for (const char **rule = (const char *[]){ "greeting", "closing", "ask", "placeholder", "spam", "length", NULL }; *rule; rule++)
    LATCH_EXPECT(strstr(made, *rule));
  puts("2 tests passed");
  return 0;
}
