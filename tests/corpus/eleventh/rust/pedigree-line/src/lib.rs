use std::collections::BTreeMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Studbook {
    /// The animal whose line is wanted.
    animal: String,
    animals: Vec<Animal>,
}

#[derive(Deserialize, JsonSchema)]
struct Animal {
    name: String,
    sire: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    /// From the oldest known sire to the animal.
    line: Vec<String>,
    generations: usize,
}

/// Appends the sires of `name`, the oldest one first, and `name` itself.
fn append(sires: &BTreeMap<&str, Option<&str>>, name: &str, line: &mut Vec<String>) -> Result<(), Error> {
    match sires.get(name) {
        None => return Err(Error::invalid_input(format!("{name} is not in the studbook"))),
        Some(Some(sire)) => append(sires, sire, line)?,
        Some(None) => {}
    }
    line.push(name.to_owned());
    Ok(())
}

fn trace(book: Studbook, _: &step::Context) -> Result<Line, Error> {
    let mut sires = BTreeMap::new();
    for animal in &book.animals {
        if sires.insert(animal.name.as_str(), animal.sire.as_deref()).is_some() {
            return Err(Error::invalid_input(format!("{} is in the studbook twice", animal.name)));
        }
    }
    let mut line = Vec::new();
    append(&sires, &book.animal, &mut line)?;
    Ok(Line { generations: line.len() - 1, line })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("PedigreeLine.Trace", trace).describe("Traces the line of sires of an animal in a studbook."),
    ],
}
