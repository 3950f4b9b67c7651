/* Composes the tray labels of a hospital kitchen. A dish with an allergen of the patient is replaced by the next dish
 * of the menu that the patient may eat. */
#include "latchwork.h"

enum { MOST_DISHES = 12, MOST_PATIENTS = 120 };

typedef struct {
  char *name;
  latch_json allergens;
} dish;

static bool has_text(latch_json list, const char *text) {
  size_t count = latch_json_count(list);
  for (size_t i = 0; i < count; i++) {
    char *one = latch_json_string(latch_json_item(list, i));
    if (one && strcmp(one, text) == 0) return true;
  }
  return false;
}

static bool may_eat(const dish *meal, latch_json avoids) {
  size_t count = latch_json_count(avoids);
  for (size_t i = 0; i < count; i++) {
    char *allergen = latch_json_string(latch_json_item(avoids, i));
    if (allergen && has_text(meal->allergens, allergen)) return false;
  }
  return true;
}

static bool compose(latch_json input, latch_answer *answer) {
  latch_json menu = latch_json_member(input, "menu"), patients = latch_json_member(input, "patients");
  size_t dish_count = latch_json_count(menu), patient_count = latch_json_count(patients), without = 0;
  if (dish_count > MOST_DISHES || patient_count > MOST_PATIENTS) return latch_fail(answer, LATCH_INVALID_INPUT, "the order is too large");

  dish dishes[MOST_DISHES];
  for (size_t i = 0; i < dish_count; i++) {
    latch_json item = latch_json_item(menu, i);
    dishes[i] = (dish){ latch_json_string(latch_json_member(item, "name")), latch_json_member(item, "allergens") };
    if (!dishes[i].name) return latch_fail(answer, LATCH_INVALID_INPUT, "dish %zu has no name", i + 1);
  }

  latch_put(&answer->result, "{\"labels\":[");
  for (size_t i = 0; i < patient_count; i++) {
    latch_json patient = latch_json_item(patients, i);
    char *bed = latch_json_string(latch_json_member(patient, "bed"));
    if (!bed) return latch_fail(answer, LATCH_INVALID_INPUT, "patient %zu has no bed", i + 1);
    latch_json avoids = latch_json_member(patient, "avoids");
    const dish *chosen = NULL;
    for (size_t k = 0; k < dish_count && !chosen; k++)
      if (may_eat(&dishes[k], avoids)) chosen = &dishes[k];
    if (!chosen) {
      without++;
      /* The dietician looks for this line, so it names the job. */
      latch_log(LATCH_WARN, "job %s: no dish of the menu for bed %s", latch_get_context().job_id, bed);
    }
    latch_put(&answer->result, i ? ",{\"bed\":" : "{\"bed\":");
    latch_put_string(&answer->result, bed);
    latch_put(&answer->result, ",\"dish\":");
    if (chosen) latch_put_string(&answer->result, chosen->name);
    else latch_put(&answer->result, "null");
    latch_put(&answer->result, "}");
  }
  latch_putf(&answer->result, "],\"without_dish\":%zu}", without);
  return true;
}

LATCH_PLUGIN({
  .name = "Label.Compose",
  .description = "Chooses a dish for each patient and composes the tray labels.",
  .input = "{\"type\":\"object\",\"required\":[\"menu\",\"patients\"],\"additionalProperties\":false,\"properties\":{"
           "\"menu\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":12,\"items\":{\"type\":\"object\",\"required\":[\"name\"],"
           "\"additionalProperties\":false,\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
           "\"allergens\":{\"type\":\"array\",\"maxItems\":14,\"items\":{\"type\":\"string\",\"maxLength\":30}}}}},"
           "\"patients\":{\"type\":\"array\",\"maxItems\":120,\"items\":{\"type\":\"object\",\"required\":[\"bed\"],"
           "\"additionalProperties\":false,\"properties\":{\"bed\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":20},"
           "\"avoids\":{\"type\":\"array\",\"maxItems\":14,\"items\":{\"type\":\"string\",\"maxLength\":30}}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"labels\",\"without_dish\"],\"properties\":{\"without_dish\":{\"type\":\"integer\"},"
            "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"bed\",\"dish\"]}}}}",
  .handler = compose,
});
