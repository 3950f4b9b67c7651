#include "latchwork.h"

#include <ctype.h>

/* Evaluates the formula of a price sheet, such as "(net + freight) * 1.2". Names are replaced by the
 * values of the sheet; percentages are written as factors. */
typedef struct {
  const char *at, *trouble;
  latch_json values;
} parser;

static double sum(parser *p);

static char next(parser *p) {
  while (isspace((unsigned char)*p->at)) p->at++;
  return *p->at;
}

static double atom(parser *p) {
  char c = next(p);
  if (c == '(') {
    p->at++;
    double value = sum(p);
    if (next(p) == ')') p->at++;
    else p->trouble = "a parenthesis is not closed";
    return value;
  }
  double value = 0;
  size_t len = strspn(p->at, "abcdefghijklmnopqrstuvwxyz_");
  if (len) {
    if (!latch_json_number(latch_json_member(p->values, strndup(p->at, len)), &value)) p->trouble = "a name has no value";
    p->at += len;
    return value;
  }
  len = strspn(p->at, "0123456789.");
  if (!len) p->trouble = "a number or a name is missing";
  value = atof(strndup(p->at, len));
  p->at += len;
  return value;
}

static double product(parser *p) {
  double value = atom(p);
  while (!p->trouble && next(p) == '*') {
    p->at++;
    value *= atom(p);
  }
  return value;
}

static double sum(parser *p) {
  double value = product(p);
  for (char c = next(p); !p->trouble && (c == '+' || c == '-'); c = next(p)) {
    p->at++;
    value += c == '+' ? product(p) : -product(p);
  }
  return value;
}

static bool evaluate(latch_json input, latch_answer *answer) {
  char *formula = latch_json_string(latch_json_member(input, "formula"));
  if (!formula) return latch_fail(answer, LATCH_INVALID_INPUT, "formula is missing");
  parser p = { formula, NULL, latch_json_member(input, "values") };
  double value = sum(&p);
  if (!p.trouble && next(&p)) p.trouble = "there is something behind the formula";
  if (!p.trouble && !isfinite(value)) p.trouble = "the value is too large";
  if (p.trouble) return latch_fail(answer, LATCH_INVALID_INPUT, "%s, at character %d", p.trouble, (int)(p.at - formula));
  latch_put(&answer->result, "{\"value\":");
  latch_put_number(&answer->result, value);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Formula.Evaluate",
  .description = "Evaluates the formula of a price sheet.",
  .input = "{\"type\":\"object\",\"properties\":{\"formula\":{\"type\":\"string\"},\"values\":{\"type\":\"object\"}},"
           "\"required\":[\"formula\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"value\":{\"type\":\"number\"}},\"required\":[\"value\"]}",
  .handler = evaluate,
});
