#include "latchwork.h"

enum { BUCKETS = 61, MOST = 50 };

/* A set of interned names: equal names are the same pointer. */
static char *names[MOST];
static size_t name_count;
static const char *set[BUCKETS];

static char *intern(char *name) {
  for (size_t i = 0; i < name_count; i++)
    if (strcmp(names[i], name) == 0) return names[i];
  return names[name_count++] = name;
}

/* Adds a name to the set. Returns false if the set has it. */
static bool add(const char *name) {
  size_t at = ((uintptr_t)name >> 4) % BUCKETS;
  for (; set[at]; at = (at + 1) % BUCKETS)
    if (set[at] == name) return false;
  set[at] = name;
  return true;
}

static bool nodes(latch_json input, latch_answer *answer) {
  latch_json edges = latch_json_member(input, "edges");
  size_t count = latch_json_count(edges), different = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t end = 0; end < 2; end++) {
      char *name = latch_json_string(latch_json_item(latch_json_item(edges, i), end));
      if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "edge %zu has not two names", i);
      if (name_count == MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d nodes", MOST);
      if (add(intern(name))) different++;
    }
  latch_putf(&answer->result, "{\"count\":%zu,\"nodes\":[", different);
  const char *between = "";
  for (size_t at = 0; at < BUCKETS; at++) {
    if (!set[at]) continue;
    latch_put(&answer->result, between);
    latch_put_string(&answer->result, set[at]);
    between = ",";
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Graph.Nodes",
  .description = "Lists the nodes of a graph that is given by its edges.",
  .input = "{\"type\":\"object\",\"properties\":{\"edges\":{\"type\":\"array\",\"items\":{\"type\":\"array\",\"minItems\":2,"
           "\"maxItems\":2,\"items\":{\"type\":\"string\"}}}},\"required\":[\"edges\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"count\":{\"type\":\"integer\"},\"nodes\":{\"type\":\"array\","
            "\"items\":{\"type\":\"string\"}}},\"required\":[\"count\",\"nodes\"]}",
  .determinism = LATCH_PURE,
  .handler = nodes,
});
