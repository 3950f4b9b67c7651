/* Corpus of steps whose mistake shows in another build alone. */
#include "latchwork.h"

/* Adds up a bill. Without a discount, one step reads a variable without a value. The compiler leaves out such a read in some
   builds. */
static bool bad_bill(latch_json input, latch_answer *answer) {
  int64_t count = 0, discount;
  latch_json_integer(latch_json_member(input, "count"), &count);
  latch_json_integer(latch_json_member(input, "discount"), &discount);
  latch_putf(&answer->result, "{\"total\":%lld}", (long long)(count * 100 - discount % 100));
  return true;
}
static bool good_bill(latch_json input, latch_answer *answer) {
  int64_t count = 0, discount = 0;
  latch_json_integer(latch_json_member(input, "count"), &count);
  latch_json_integer(latch_json_member(input, "discount"), &discount);
  latch_putf(&answer->result, "{\"total\":%lld}", (long long)(count * 100 - discount % 100));
  return true;
}

LATCH_PLUGIN({ .name = "Bad.Bill", .description = "For the corpus.", .handler = bad_bill },
  { .name = "Good.Bill", .description = "For the corpus.", .handler = good_bill });
