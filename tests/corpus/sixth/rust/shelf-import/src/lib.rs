//! Imports the titles of a shelf. Each title is announced by an event of its own.

use latchwork_guest::{Error, events, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shelf {
    titles: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Imported {
    titles: usize,
    longest: usize,
}

/// Returns the name of an event: the title in lower case, with hyphens.
fn slug(title: &str) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}

fn import(shelf: Shelf, _: &step::Context) -> Result<Imported, Error> {
    if shelf.titles.len() > 100 || shelf.titles.iter().any(|title| slug(title).is_empty()) {
        return Err(Error::invalid_input("at most 100 titles, each with a letter or a digit"));
    }
    for (place, title) in shelf.titles.iter().enumerate() {
        events::emit(&format!("imported-{}", slug(title)), &json!({ "place": place, "title": title }))?;
    }
    let longest = shelf.titles.iter().map(|title| title.chars().count()).max().unwrap_or(0);
    Ok(Imported { titles: shelf.titles.len(), longest })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Shelf.Import", import).describe("Imports the titles of a shelf."),
    ],
}
