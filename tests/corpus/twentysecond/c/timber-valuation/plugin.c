#include "latchwork.h"

/* Values the lots of a timber sale. Volumes are litres and prices are cents for a cubic metre, so a value in
 * thousandths of a cent is exact. */

typedef struct {
  char grade[3];
  int64_t litres, value;
  int lots;
} grade_sum;

static const struct {
  const char *grade;
  int64_t cents;
} least[] = { { "A", 9000 }, { "B", 6500 }, { "C", 4000 }, { "D", 1500 } };

static int grade_index(const char *grade) {
  for (size_t i = 0; i < sizeof least / sizeof least[0]; i++)
    if (strcmp(least[i].grade, grade) == 0) return (int)i;
  return -1;
}

static bool value(latch_json input, latch_answer *answer) {
  grade_sum sums[4] = { 0 };
  int64_t total = 0, below = 0;
  latch_json lots = latch_json_member(input, "lots");
  for (size_t i = 0; ; i++) {
    latch_json lot = latch_json_item(lots, i);
    if (!lot.at) break;
    char *grade = latch_json_string(latch_json_member(lot, "grade"));
    int64_t litres, cents;
    if (!grade || !latch_json_integer(latch_json_member(lot, "litres"), &litres) ||
        !latch_json_integer(latch_json_member(lot, "cents_per_m3"), &cents))
      return latch_fail(answer, LATCH_INVALID_INPUT, "lot %zu is not complete", i + 1);
    int index = grade_index(grade);
    if (index < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "lot %zu has an unknown grade", i + 1);
    if (cents < least[index].cents) below++;
    sums[index].litres += litres;
    sums[index].value += litres * cents;
    sums[index].lots++;
    total += litres * cents;
  }

  latch_put(&answer->result, "{\"grades\":[");
  bool first = true;
  for (size_t i = 0; i < 4; i++) {
    if (sums[i].lots == 0) continue;
    latch_putf(&answer->result, "%s{\"grade\":\"%s\",\"lots\":%d,\"litres\":%lld,\"value\":%lld}", first ? "" : ",",
               least[i].grade, sums[i].lots, (long long)sums[i].litres, (long long)sums[i].value);
    first = false;
  }
  latch_putf(&answer->result, "],\"below_least_price\":%lld,\"value\":%lld}", (long long)below, (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "TimberSale.Value",
  .description = "Values the lots of a timber sale, by grade and in total.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"lots\"],\"properties\":{"
           "\"lots\":{\"type\":\"array\",\"maxItems\":500,\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
           "\"required\":[\"grade\",\"litres\",\"cents_per_m3\"],\"properties\":{"
           "\"grade\":{\"type\":\"string\",\"enum\":[\"A\",\"B\",\"C\",\"D\"]},"
           "\"litres\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100000000},"
           "\"cents_per_m3\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":2000000}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"grades\",\"below_least_price\",\"value\"],\"properties\":{"
            "\"grades\":{\"type\":\"array\",\"maxItems\":4},\"below_least_price\":{\"type\":\"integer\",\"minimum\":0},"
            "\"value\":{\"type\":\"integer\",\"minimum\":0}}}",
  .handler = value,
});
