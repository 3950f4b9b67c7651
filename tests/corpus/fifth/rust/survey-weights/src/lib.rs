//! Sums the weighted answers of a survey. The sums are collected in a `HashMap` and sorted before they become output.

use std::collections::{HashMap, HashSet};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Answer {
    person: String,
    choice: String,
    weight: u16,
}

#[derive(Deserialize, JsonSchema)]
struct Survey {
    answers: Vec<Answer>,
}

#[derive(Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
struct Sum {
    choice: String,
    weight: u32,
    people: u32,
}

#[derive(Serialize, JsonSchema)]
struct Sums {
    sums: Vec<Sum>,
    people: usize,
}

fn sums(survey: Survey, _: &step::Context) -> Result<Sums, Error> {
    if survey.answers.len() > 10_000 {
        return Err(Error::invalid_input("more than 10,000 answers"));
    }
    let mut people = HashSet::new();
    let mut found: HashMap<&str, (u32, u32)> = HashMap::new();
    for answer in &survey.answers {
        if !people.insert(answer.person.as_str()) {
            return Err(Error::invalid_input(format!("{} has two answers", answer.person)));
        }
        let (weight, count) = found.entry(&answer.choice).or_default();
        *weight += u32::from(answer.weight);
        *count += 1;
    }
    let mut sums: Vec<Sum> =
        found.into_iter().map(|(choice, (weight, people))| Sum { choice: choice.to_owned(), weight, people }).collect();
    sums.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.cmp(b)));
    Ok(Sums { sums, people: people.len() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Survey.Sum", sums).describe("Sums the weighted answers of a survey.")],
}
