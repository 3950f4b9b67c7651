#include "latchwork.h"

typedef struct {
  char *sku;
  int64_t pieces;
} tally;

static tally rows[256];
static size_t used;

static int by_sku(const void *a, const void *b) { return strcmp(((const tally *)a)->sku, ((const tally *)b)->sku); }

static tally *row(char *sku) {
  for (size_t i = 0; i < used; i++)
    if (strcmp(rows[i].sku, sku) == 0) return &rows[i];
  if (used == sizeof rows / sizeof rows[0]) return NULL;
  rows[used] = (tally){ sku, 0 };
  return &rows[used++];
}

static bool count(latch_json input, latch_answer *answer) {
  latch_json scans = latch_json_member(input, "scans");
  used = 0;
  for (size_t i = 0, n = latch_json_count(scans); i < n; i++) {
    latch_json scan = latch_json_item(scans, i);
    char *sku = latch_json_string(latch_json_member(scan, "sku"));
    int64_t pieces;
    if (!sku || !latch_json_integer(latch_json_member(scan, "pieces"), &pieces) || pieces < 0 || pieces > 1000000)
      return latch_fail(answer, LATCH_INVALID_INPUT, "scan %zu needs a sku and 0 to 1000000 pieces", i + 1);
    tally *one = row(sku);
    if (!one) return latch_fail(answer, LATCH_INVALID_INPUT, "more than 256 different skus");
    one->pieces += pieces;
  }
  qsort(rows, used, sizeof rows[0], by_sku);
  latch_put(&answer->result, "{\"lines\":[");
  for (size_t i = 0; i < used; i++) {
    latch_put(&answer->result, i ? ",{\"sku\":" : "{\"sku\":");
    latch_put_string(&answer->result, rows[i].sku);
    latch_putf(&answer->result, ",\"pieces\":%lld}", (long long)rows[i].pieces);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "StockTally.Count",
  .description = "Adds up the scans of a stocktaking.",
  .input = "{\"type\":\"object\",\"properties\":{\"scans\":{\"type\":\"array\",\"maxItems\":1000,\"items\":{\"type\":\"object\"}}},"
           "\"required\":[\"scans\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"lines\":{\"type\":\"array\"}},\"required\":[\"lines\"]}",
  .determinism = LATCH_PURE,
  .handler = count,
});
