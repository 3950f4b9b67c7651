/* Finds the wet patches of a field from a moisture survey. The survey is a grid of squares: `w` is wet, `.` is dry. */
#include "latchwork.h"

enum { MOST_ROWS = 160, MOST_COLUMNS = 160, MOST_DRAINS = 50 };

typedef struct {
  char *rows[MOST_ROWS];
  int row_count, column_count;
} survey;

typedef struct {
  int squares, top, left;
} patch;

/* Counts the squares that are connected with this one, and marks them as seen. */
static int spread(survey *field, int row, int column) {
  if (row < 0 || column < 0 || row >= field->row_count || column >= field->column_count) return 0;
  if (field->rows[row][column] != 'w') return 0;
  field->rows[row][column] = 's';
  int squares = 1;
  squares += spread(field, row, column + 1);
  squares += spread(field, row + 1, column);
  squares += spread(field, row, column - 1);
  squares += spread(field, row - 1, column);
  return squares;
}

/* The largest patch is first. Patches of the same size are in the order of the survey. */
static int by_size(const void *a, const void *b) {
  const patch *x = a, *y = b;
  if (x->squares != y->squares) return y->squares - x->squares;
  return x->top != y->top ? x->top - y->top : x->left - y->left;
}

static bool read_survey(latch_json list, survey *field, latch_answer *answer) {
  size_t count = latch_json_count(list);
  if (count == 0 || count > MOST_ROWS) return latch_fail(answer, LATCH_INVALID_INPUT, "the survey has %zu rows", count);
  field->row_count = (int)count;
  for (size_t i = 0; i < count; i++) {
    char *row = latch_json_string(latch_json_item(list, i));
    if (!row || strlen(row) > MOST_COLUMNS) return latch_fail(answer, LATCH_INVALID_INPUT, "row %zu cannot be read", i);
    if (i == 0) field->column_count = (int)strlen(row);
    if ((int)strlen(row) != field->column_count) return latch_fail(answer, LATCH_INVALID_INPUT, "row %zu has another length", i);
    field->rows[i] = row;
  }
  return true;
}

static bool plan_drains(latch_json input, latch_answer *answer) {
  static survey field;
  static patch patches[MOST_ROWS * MOST_COLUMNS];
  int64_t least = 1;
  latch_json_integer(latch_json_member(input, "least_squares"), &least);
  if (!read_survey(latch_json_member(input, "rows"), &field, answer)) return false;

  size_t found = 0;
  int wet = 0;
  for (int row = 0; row < field.row_count; row++)
    for (int column = 0; column < field.column_count; column++) {
      int squares = spread(&field, row, column);
      wet += squares;
      if (squares > 0 && squares >= least) patches[found++] = (patch){ squares, row, column };
    }
  qsort(patches, found, sizeof patches[0], by_size);

  latch_putf(&answer->result, "{\"wet_squares\":%d,\"patches\":%zu,\"drains\":[", wet, found);
  for (size_t i = 0; i < found && i < MOST_DRAINS; i++)
    latch_putf(&answer->result, "%s{\"row\":%d,\"column\":%d,\"squares\":%d}", i ? "," : "", patches[i].top, patches[i].left, patches[i].squares);
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Field.PlanDrains",
  .description = "Finds the wet patches of a field and proposes a drain for each of the largest ones.",
  .input = "{\"type\":\"object\",\"required\":[\"rows\"],\"additionalProperties\":false,\"properties\":{"
           "\"least_squares\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":25600},"
           "\"rows\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":160,\"items\":{\"type\":\"string\",\"pattern\":\"^[w.]{1,160}$\"}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"wet_squares\",\"patches\",\"drains\"],\"properties\":{"
            "\"wet_squares\":{\"type\":\"integer\"},\"patches\":{\"type\":\"integer\"},"
            "\"drains\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"row\",\"column\",\"squares\"]}}}}",
  .handler = plan_drains,
});
