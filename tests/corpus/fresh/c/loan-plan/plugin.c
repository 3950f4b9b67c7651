#include "latchwork.h"

/* A loan: what is owed after a period follows from what was owed after the period before. */
struct loan {
  double owed, rate, payment;
  double interest; /* paid so far */
};

static double rounded(double amount) { return floor(amount * 100 + 0.5) / 100; }

static double after(struct loan *loan, int64_t period) {
  if (period == 0) return loan->owed;
  double before = after(loan, period - 1);
  if (before <= 0) return 0;
  double interest = rounded(before * loan->rate);
  loan->interest += interest;
  double rest = before + interest - loan->payment;
  return rest > 0 ? rounded(rest) : 0;
}

static bool plan(latch_json input, latch_answer *answer) {
  struct loan loan = { 0 };
  int64_t periods;
  if (!latch_json_number(latch_json_member(input, "owed"), &loan.owed) ||
      !latch_json_number(latch_json_member(input, "rate"), &loan.rate) ||
      !latch_json_number(latch_json_member(input, "payment"), &loan.payment) ||
      !latch_json_integer(latch_json_member(input, "periods"), &periods))
    return latch_fail(answer, LATCH_INVALID_INPUT, "owed, rate, payment and periods are numbers");
  if (loan.owed < 0 || loan.owed > 1e9 || loan.rate < 0 || loan.rate > 0.01 || periods < 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "owed: 0 to 1e9, rate: 0 to 0.01 for each period");
  double rest = after(&loan, periods);
  if (!isfinite(rest)) return latch_fail(answer, LATCH_INVALID_INPUT, "the debt grows beyond all bounds");
  latch_putf(&answer->result, "{\"rest\":%.2f,\"interest\":%.2f}", rest, loan.interest);
  return true;
}

LATCH_PLUGIN({
  .name = "Loan.Plan",
  .description = "Computes what is owed after a number of days or months.",
  .input = "{\"type\":\"object\",\"properties\":{\"owed\":{\"type\":\"number\"},\"rate\":{\"type\":\"number\"},"
           "\"payment\":{\"type\":\"number\",\"minimum\":0},\"periods\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000000}},"
           "\"required\":[\"owed\",\"rate\",\"payment\",\"periods\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"rest\":{\"type\":\"number\"},\"interest\":{\"type\":\"number\"}},"
            "\"required\":[\"rest\",\"interest\"]}",
  .determinism = LATCH_PURE,
  .handler = plan,
});
