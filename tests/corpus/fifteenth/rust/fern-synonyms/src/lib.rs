//! Replaces outdated scientific names of ferns by the accepted names.

use std::collections::BTreeMap;

use latchwork_guest::{Code, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Names in one list at most.
const NAMES_MAX: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Names {
    names: Vec<String>,
}

#[derive(Deserialize)]
struct Match {
    accepted: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Resolved {
    /// Accepted name of each given name.
    accepted: BTreeMap<String, String>,
    /// Names without an accepted name, in the order of the input.
    unresolved: Vec<String>,
}

/// Writes a name in the form of the checklist: the genus in upper case, single blanks.
fn normal(name: &str) -> String {
    let mut words = name.split_whitespace();
    let mut text = String::new();
    if let Some(genus) = words.next() {
        let mut letters = genus.chars();
        text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        text.extend(letters.flat_map(char::to_lowercase));
    }
    for word in words {
        text.push(' ');
        text.push_str(&word.to_lowercase());
    }
    text
}

/// Looks a name up in the checklist, which is a table inside its plugin. The web index has names that are newer than
/// the checklist.
fn accepted(name: &str) -> Result<Option<String>, Error> {
    let found: Match = tools::call("Checklist.Find", &json!({ "group": "ferns", "name": name }))?;
    if found.accepted.is_some() {
        return Ok(found.accepted);
    }
    match tools::call::<_, Match>("NameIndex.Search", &json!({ "query": name, "rank": "species" })) {
        Ok(found) => Ok(found.accepted),
        Err(error) if error.code() == Code::InvalidInput => Ok(None),
        Err(error) => Err(error.context(format!("searching {name}"))),
    }
}

fn resolve(input: Names, _: &step::Context) -> Result<Resolved, Error> {
    if input.names.len() > NAMES_MAX {
        return Err(Error::invalid_input(format!("the list has more than {NAMES_MAX} names")));
    }
    let mut resolved = Resolved { accepted: BTreeMap::new(), unresolved: Vec::new() };
    for given in input.names {
        let name = normal(&given);
        if name.split(' ').count() < 2 {
            return Err(Error::invalid_input(format!("{given:?} is not the name of a species")));
        }
        if resolved.accepted.contains_key(&given) || resolved.unresolved.contains(&given) {
            continue;
        }
        match accepted(&name)? {
            Some(accepted) => {
                resolved.accepted.insert(given, accepted);
            }
            None => resolved.unresolved.push(given),
        }
    }
    Ok(resolved)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Fern.Resolve", resolve).describe("Finds the accepted names of ferns."),
    ],
}
