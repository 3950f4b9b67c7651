#include "latchwork.h"

enum { DEEPEST = 300 };

typedef struct {
  const char *at;
  int depth, deepest;
  bool wrong;
} parser;

static double sum(parser *p);

static double factor(parser *p) {
  if (*p->at == '(') {
    if (++p->depth > DEEPEST) { p->wrong = true; return 0; }
    if (p->depth > p->deepest) p->deepest = p->depth;
    p->at++;
    double value = sum(p);
    if (*p->at == ')') p->at++; else p->wrong = true;
    p->depth--;
    return value;
  }
  char *end;
  double value = strtod(p->at, &end);
  if (end == p->at || !isfinite(value)) p->wrong = true; else p->at = end;
  return value;
}

static double product(parser *p) {
  double value = factor(p);
  while (!p->wrong && *p->at == '*') { p->at++; value *= factor(p); }
  return value;
}

static double sum(parser *p) {
  double value = product(p);
  while (!p->wrong && (*p->at == '+' || *p->at == '-')) {
    char sign = *p->at++;
    double next = product(p);
    value = sign == '+' ? value + next : value - next;
  }
  return value;
}

static bool evaluate(latch_json input, latch_answer *answer) {
  char *formula = latch_json_string(latch_json_member(input, "formula"));
  if (!formula) return latch_fail(answer, LATCH_INVALID_INPUT, "formula is missing");
  parser p = { .at = formula };
  double value = sum(&p);
  if (p.wrong || *p.at || !isfinite(value)) return latch_fail(answer, LATCH_INVALID_INPUT, "the formula is wrong");
  if (fabs(value) > 1e15) return latch_fail(answer, LATCH_INVALID_INPUT, "the value is too large");
  latch_put(&answer->result, "{\"value\":");
  latch_put_number(&answer->result, value);
  latch_putf(&answer->result, ",\"depth\":%d}", p.deepest);
  return true;
}

LATCH_PLUGIN({
  .name = "Formula.Evaluate",
  .description = "Evaluates a formula with sums, products and parentheses.",
  .input = "{\"type\":\"object\",\"properties\":{\"formula\":{\"type\":\"string\"}},"
           "\"required\":[\"formula\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"value\",\"depth\"]}",
  .determinism = LATCH_PURE,
  .handler = evaluate,
});
