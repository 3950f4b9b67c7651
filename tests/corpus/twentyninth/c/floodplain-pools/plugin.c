#include "latchwork.h"

/* Finds the pools of a flooded meadow in a raster of a survey flight: `~` is water, `.` is dry ground. Cells that touch
 * at a side belong to one pool. */

typedef struct {
  char **rows;
  int height, width;
} raster;

typedef struct {
  int cells, north, south, west, east;
} pool;

static bool is_water(const raster *r, int y, int x) {
  return y >= 0 && y < r->height && x >= 0 && x < r->width && r->rows[y][x] == '~';
}

static void fill(raster *r, int y, int x, pool *p) {
  if (!is_water(r, y, x)) return;
  r->rows[y][x] = '#';
  p->cells++;
  if (y < p->north) p->north = y;
  if (y > p->south) p->south = y;
  if (x < p->west) p->west = x;
  if (x > p->east) p->east = x;
  fill(r, y - 1, x, p);
  fill(r, y + 1, x, p);
  fill(r, y, x - 1, p);
  fill(r, y, x + 1, p);
}

static bool read_raster(latch_json input, raster *r, latch_answer *answer) {
  latch_json rows = latch_json_member(input, "rows");
  r->height = (int)latch_json_count(rows);
  r->rows = latch_room(sizeof *r->rows * (size_t)r->height);
  for (int y = 0; y < r->height; y++) {
    char *row = latch_json_string(latch_json_item(rows, (size_t)y));
    if (!row) return latch_fail(answer, LATCH_INVALID_INPUT, "row %d is no text", y + 1);
    int width = (int)strlen(row);
    if (y == 0) r->width = width;
    if (width != r->width) return latch_fail(answer, LATCH_INVALID_INPUT, "row %d has %d cells instead of %d", y + 1, width, r->width);
    r->rows[y] = row;
  }
  return true;
}

static bool find_pools(latch_json input, latch_answer *answer) {
  raster r = { 0 };
  int64_t least = 1;
  latch_json_integer(latch_json_member(input, "least_cells"), &least);
  if (!read_raster(input, &r, answer)) return false;

  int pools = 0, puddles = 0;
  latch_put(&answer->result, "{\"pools\":[");
  for (int y = 0; y < r.height; y++) {
    for (int x = 0; x < r.width; x++) {
      if (!is_water(&r, y, x)) continue;
      pool p = { .north = y, .south = y, .west = x, .east = x };
      fill(&r, y, x, &p);
      if (p.cells < least) { puddles++; continue; }
      latch_putf(&answer->result, "%s{\"cells\":%d,\"north\":%d,\"south\":%d,\"west\":%d,\"east\":%d}", pools++ ? "," : "",
                 p.cells, p.north, p.south, p.west, p.east);
    }
  }
  latch_putf(&answer->result, "],\"puddles\":%d}", puddles);
  return true;
}

LATCH_PLUGIN({
  .name = "Floodplain.Pools",
  .description = "Finds the pools in a raster of a flooded meadow.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"rows\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\",\"pattern\":\"^[.~]+$\"}},"
           "\"least_cells\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}},"
           "\"required\":[\"rows\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"pools\",\"puddles\"]}",
  .determinism = LATCH_PURE,
  .handler = find_pools,
});
