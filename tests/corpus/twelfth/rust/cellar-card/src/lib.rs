//! `Cellar.Note`: writes the card of a cheese that ripens in the cellar.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Card {
    cheese: String,
    shelf: u16,
    /// Remarks of the cellar master.
    #[serde(default)]
    remarks: String,
    /// Days until the wheel is turned, 1 to 30.
    turn_after: u8,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Written {
    file: String,
    turns_in_90_days: u32,
}

/// The file of a card. It is named after the call, with characters that every file system takes.
fn file(key: &str) -> String {
    let name: String = key.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    format!("/cellar/{name}.txt")
}

fn text(card: &Card) -> String {
    let remarks = card.remarks.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut text = format!("{}\nshelf {}, turn every {} days\n", card.cheese.trim(), card.shelf, card.turn_after);
    for line in remarks {
        text.push_str("- ");
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn written(card: &Card, key: &str) -> Output<Written> {
    let file = file(key);
    let change = Change::new("card", key, "create").external_ref(&file).version(text(card));
    Output::new(Written { file, turns_in_90_days: 90 / u32::from(card.turn_after.max(1)) }).change(change)
}

fn note(card: Card, context: &tool::Context) -> Result<Output<Written>, Error> {
    if card.cheese.trim().is_empty() {
        return Err(Error::invalid_input("the cheese has no name"));
    }
    if !(1..=30).contains(&card.turn_after) {
        return Err(Error::invalid_input("a wheel is turned after 1 to 30 days"));
    }
    let key = context.external_key();
    fs::replace(&file(key), text(&card).as_bytes(), key)?;
    Ok(written(&card, key))
}

/// Called after a crash: the card is complete or missing, because it is written in one piece.
fn find(card: Card, key: &str) -> Result<Verdict<Output<Written>>, Error> {
    Ok(if fs::exists(&file(key))? { Verdict::Happened(written(&card, key)) } else { Verdict::DidNotHappen })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Cellar.Note", note)
            .describe("Writes the card of a cheese that ripens in the cellar.")
            .effects([Effect::InternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}
