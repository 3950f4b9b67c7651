//! `Zine.Outline`: lists the sections of a zine with their numbers and anchors.

use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of sections.
const SECTIONS_MAX: usize = 2_000;
/// Longest title, in bytes.
const TITLE_MAX: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Zine {
    name: String,
    sections: Vec<Section>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Section {
    title: String,
    #[serde(default)]
    sections: Vec<Section>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Outline {
    name: String,
    entries: Vec<Entry>,
    /// Depth of the deepest section.
    depth: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// Depth of the section, from 1.
    depth: usize,
    /// Number of the section among its siblings, from 1.
    number: usize,
    title: String,
    /// Name that links lead to. It is unique in the zine.
    anchor: String,
}

/// Work in progress: the entries so far, and the number of titles that led to each anchor.
#[derive(Default)]
struct Listing {
    entries: Vec<Entry>,
    anchors: HashMap<String, usize>,
    depth: usize,
}

fn outline(zine: Zine, _: &step::Context) -> Result<Outline, Error> {
    if zine.name.len() > TITLE_MAX {
        return Err(Error::invalid_input(format!("the name of a zine has at most {TITLE_MAX} bytes")));
    }
    let mut listing = Listing::default();
    listing.add(zine.sections, 1)?;
    if listing.entries.is_empty() {
        return Err(Error::invalid_input(format!("{:?} has no sections", zine.name)));
    }
    Ok(Outline { name: zine.name, entries: listing.entries, depth: listing.depth })
}

impl Listing {
    /// Adds the sections of one level, each followed by the sections inside it.
    fn add(&mut self, sections: Vec<Section>, depth: usize) -> Result<(), Error> {
        for (index, section) in sections.into_iter().enumerate() {
            let title = section.title.trim().to_owned();
            if title.is_empty() || title.len() > TITLE_MAX || title.chars().any(char::is_control) {
                return Err(Error::invalid_input(format!("{title:?} cannot be the title of a section")));
            }
            if self.entries.len() == SECTIONS_MAX {
                return Err(Error::invalid_input(format!("a zine has at most {SECTIONS_MAX} sections")));
            }
            let anchor = self.anchor(&title);
            self.depth = self.depth.max(depth);
            self.entries.push(Entry { depth, number: index + 1, title, anchor });
            self.add(section.sections, depth + 1)?;
        }
        Ok(())
    }

    /// Returns the anchor of a title: its letters and digits, and a place among the sections with the same ones.
    fn anchor(&mut self, title: &str) -> String {
        let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
        let uses = self.anchors.entry(slug.clone()).or_default();
        *uses += 1;
        format!("{slug}_{uses}")
    }
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Zine.Outline", outline)
            .describe("Lists the sections of a zine with their numbers and anchors."),
    ],
}
