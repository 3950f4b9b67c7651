use std::collections::{BTreeSet, HashMap};

use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Week {
    meals: Vec<Meal>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Meal {
    name: String,
    goods: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Plan {
    goods: Vec<Good>,
    meals: BTreeSet<String>,
}

#[derive(Serialize, JsonSchema)]
struct Good {
    name: String,
    meals: usize,
}

fn plan(week: Week, _: &step::Context) -> Result<Plan, Error> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for meal in &week.meals {
        if meal.goods.is_empty() {
            return Err(Error::invalid_input(format!("{} needs no goods", meal.name)));
        }
        for good in &meal.goods {
            *counts.entry(good.trim().to_lowercase()).or_default() += 1;
        }
    }
    let mut goods: Vec<Good> = counts.into_iter().map(|(name, meals)| Good { name, meals }).collect();
    goods.sort_by(|a, b| b.meals.cmp(&a.meals).then_with(|| a.name.cmp(&b.name)));
    Ok(Plan { goods, meals: week.meals.into_iter().map(|meal| meal.name).collect() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("LarderPlan.Make", plan)
            .describe("Counts the goods for the meals of a week.")
            .determinism(Determinism::Pure),
    ],
}
