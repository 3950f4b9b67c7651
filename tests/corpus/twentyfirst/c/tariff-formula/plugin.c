#include "latchwork.h"

#include <ctype.h>

/* A formula that is being read. `problem` is the first problem, or NULL. */
typedef struct {
  const char *start, *at;
  latch_json values;
  const char *problem;
} reader;

static double sum(reader *r);

static double stop(reader *r, const char *problem) {
  if (!r->problem) r->problem = problem;
  return 0;
}

static char next(reader *r) {
  while (*r->at == ' ') r->at++;
  return *r->at;
}

/* A name is a letter, then letters, digits and underscores. */
static double named(reader *r) {
  char name[33];
  size_t len = 0;
  while (isalnum((unsigned char)*r->at) || *r->at == '_') {
    if (len == sizeof name - 1) return stop(r, "a name has more than 32 characters");
    name[len++] = *r->at++;
  }
  name[len] = 0;
  double value;
  if (!latch_json_number(latch_json_member(r->values, name), &value)) return stop(r, "a name has no value");
  return value;
}

static double literal(reader *r) {
  double whole = 0, scale = 1;
  while (isdigit((unsigned char)*r->at)) whole = whole * 10 + (*r->at++ - '0');
  if (*r->at == '.') {
    if (!isdigit((unsigned char)*++r->at)) return stop(r, "digits are missing after a point");
    while (isdigit((unsigned char)*r->at)) whole = whole * 10 + (*r->at++ - '0'), scale *= 10;
  }
  return whole / scale;
}

static double factor(reader *r) {
  char c = next(r);
  if (c == '(') {
    r->at++;
    double value = sum(r);
    if (r->problem) return 0;
    if (next(r) != ')') return stop(r, "a closing parenthesis is missing");
    r->at++;
    return value;
  }
  if (isdigit((unsigned char)c)) return literal(r);
  if (isalpha((unsigned char)c)) return named(r);
  return stop(r, "a value is missing");
}

static double product(reader *r) {
  double value = factor(r);
  for (char c = next(r); !r->problem && (c == '*' || c == '/'); c = next(r)) {
    r->at++;
    double other = factor(r);
    if (c == '/' && other == 0 && !r->problem) return stop(r, "a division by zero");
    value = c == '*' ? value * other : value / other;
  }
  return value;
}

static double sum(reader *r) {
  double value = product(r);
  for (char c = next(r); !r->problem && (c == '+' || c == '-'); c = next(r)) {
    r->at++;
    double other = product(r);
    value = c == '+' ? value + other : value - other;
  }
  return value;
}

static bool evaluate(latch_json input, latch_answer *answer) {
  char *formula = latch_json_string(latch_json_member(input, "formula"));
  if (!formula) return latch_fail(answer, LATCH_INVALID_INPUT, "the formula is no text");
  reader r = { .start = formula, .at = formula, .values = latch_json_member(input, "values") };
  double price = sum(&r);
  if (!r.problem && next(&r)) stop(&r, "an operator is missing");
  if (!r.problem && !isfinite(price)) stop(&r, "the price is too large");
  if (r.problem)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s at character %d", r.problem, (int)(r.at - r.start) + 1);
  latch_put(&answer->result, "{\"price\":");
  latch_put_number(&answer->result, price);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Tariff.Evaluate",
  .description = "Computes the price that a tariff formula gives for a set of values.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"formula\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":20000},"
           "\"values\":{\"type\":\"object\",\"maxProperties\":100,\"additionalProperties\":{\"type\":\"number\"}}},"
           "\"required\":[\"formula\",\"values\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"price\":{\"type\":\"number\"}},\"required\":[\"price\"]}",
  .handler = evaluate,
});
