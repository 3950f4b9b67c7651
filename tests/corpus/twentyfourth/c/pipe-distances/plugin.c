#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

/* The pipes of a district. Each segment has the number of the segment upstream of it, or -1 at the pump house. */
typedef struct {
  int32_t *upstream;
  int64_t *metres;
  int64_t *distance; /* metres from the pump house to the end of the segment, or -1 before it is measured */
  bool *measuring;
  int32_t ring;
} network;

static latch_json next_item(latch_json item) {
  const char *at = latch_json_space(latch_json_skip(item.at));
  return (latch_json){ *at == ',' ? latch_json_space(at + 1) : NULL };
}

/* Measures a segment after the segments that feed it. Returns false if the segment feeds itself. */
static bool measure(network *pipes, int32_t segment) {
  if (pipes->distance[segment] >= 0) return true;
  if (pipes->measuring[segment]) {
    pipes->ring = segment;
    return false;
  }
  pipes->measuring[segment] = true;
  int64_t before = 0;
  int32_t feeder = pipes->upstream[segment];
  if (feeder >= 0) {
    if (!measure(pipes, feeder)) return false;
    before = pipes->distance[feeder];
  }
  pipes->distance[segment] = before + pipes->metres[segment];
  pipes->measuring[segment] = false;
  return true;
}

static bool survey(latch_json input, latch_answer *answer) {
  latch_json segments = latch_json_member(input, "segments");
  size_t count = latch_json_count(segments);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the district has no segments");
  network pipes = {
    .upstream = latch_room(count * sizeof(int32_t)),
    .metres = latch_room(count * sizeof(int64_t)),
    .distance = latch_room(count * sizeof(int64_t)),
    .measuring = latch_room(count * sizeof(bool)),
  };
  latch_json item = latch_json_item(segments, 0);
  for (size_t i = 0; i < count; i++, item = next_item(item)) {
    int64_t upstream, metres;
    if (!latch_json_integer(latch_json_item(item, 0), &upstream) || !latch_json_integer(latch_json_item(item, 1), &metres))
      return latch_fail(answer, LATCH_INVALID_INPUT, "segment %zu is not a pair of integers", i);
    if (upstream < -1 || upstream >= (int64_t)count)
      return latch_fail(answer, LATCH_INVALID_INPUT, "segment %zu is fed by an unknown segment", i);
    if (metres < 1) return latch_fail(answer, LATCH_INVALID_INPUT, "segment %zu has no length", i);
    pipes.upstream[i] = (int32_t)upstream;
    pipes.metres[i] = metres;
    pipes.distance[i] = -1;
    pipes.measuring[i] = false;
  }
  size_t farthest = 0;
  int64_t total = 0;
  for (size_t i = 0; i < count; i++) {
    if (!measure(&pipes, (int32_t)i))
      return latch_fail(answer, LATCH_INVALID_INPUT, "segment %d feeds itself", (int)pipes.ring);
    total += pipes.metres[i];
    if (pipes.distance[i] > pipes.distance[farthest]) farthest = i;
  }
  latch_putf(&answer->result, "{\"farthest_segment\":%zu,\"farthest_metres\":%lld,\"total_metres\":%lld}", farthest,
             (long long)pipes.distance[farthest], (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "Pipes.Survey",
  .description = "Finds the segment of a water district that is farthest from its pump house.",
  .input = JSON({"type":"object","required":["segments"],"additionalProperties":false,"properties":{
    "segments":{"type":"array","maxItems":40000,
      "items":{"type":"array","minItems":2,"maxItems":2,"items":{"type":"integer","minimum":-1,"maximum":100000}}}}}),
  .output = JSON({"type":"object","required":["farthest_segment","farthest_metres","total_metres"],"additionalProperties":false,"properties":{
    "farthest_segment":{"type":"integer"},"farthest_metres":{"type":"integer"},"total_metres":{"type":"integer"}}}),
  .handler = survey,
});
