//! Counts the topics of texts. Hash maps are used for the counting alone: the output is sorted by count and name, and
//! sums are made in the order of the names.

use std::collections::{BTreeMap, HashMap, HashSet};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Texts {
    texts: Vec<String>,
    ignored: HashSet<String>,
}

#[derive(Serialize, JsonSchema)]
struct Tally {
    topics: Vec<Topic>,
    shares: BTreeMap<String, f64>,
    evenness: f64,
}

#[derive(Serialize, JsonSchema)]
struct Topic {
    topic: String,
    count: u32,
}

fn tally(input: Texts, _: &step::Context) -> Result<Tally, Error> {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for text in &input.texts {
        let words: HashSet<String> = text.split_whitespace().map(str::to_lowercase).collect();
        for word in words.difference(&input.ignored) {
            *counts.entry(word.clone()).or_default() += 1;
        }
    }
    let total: u32 = counts.values().sum();
    if total == 0 {
        return Err(Error::invalid_input("the texts have no topics"));
    }
    let shares: BTreeMap<String, f64> =
        counts.iter().map(|(topic, count)| (topic.clone(), f64::from(*count) / f64::from(total))).collect();
    let evenness = shares.values().map(|share| share * share).sum();
    let mut topics: Vec<Topic> = counts.into_iter().map(|(topic, count)| Topic { topic, count }).collect();
    topics.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.topic.cmp(&b.topic)));
    topics.truncate(10);
    Ok(Tally { topics, shares, evenness })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Topic.Tally", tally).describe("Counts the topics of texts."),
    ],
}
