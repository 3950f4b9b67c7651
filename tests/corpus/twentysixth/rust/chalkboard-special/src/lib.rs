//! Writes the special of the day on the chalkboards of a cafe.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const DISH_BYTES_MAX: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Special {
    /// Name of the board: lower-case letters, digits and `-`.
    board: String,
    dish: String,
    price_cents: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Written {
    board: String,
    text: String,
}

/// Content of the file of a board, from which the screen in the cafe takes its text.
#[derive(Serialize, Deserialize)]
struct Board {
    text: String,
    /// External key of the call that wrote the text.
    written_by: String,
}

fn path(board: &str) -> String {
    format!("/boards/{board}.json")
}

fn text(special: &Special) -> String {
    format!("{}  {}.{:02}", special.dish.trim(), special.price_cents / 100, special.price_cents % 100)
}

fn check(special: &Special) -> Result<(), Error> {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if special.board.is_empty() || special.board.len() > 40 || !special.board.chars().all(letters) {
        return Err(Error::invalid_input(format!("{:?} is no name of a board", special.board)));
    }
    if special.dish.trim().is_empty() || special.dish.len() > DISH_BYTES_MAX {
        return Err(Error::invalid_input(format!("a dish has 1 to {DISH_BYTES_MAX} bytes")));
    }
    if special.price_cents == 0 {
        return Err(Error::invalid_input("the dish has no price"));
    }
    Ok(())
}

fn write(special: Special, context: &tool::Context) -> Result<Output<Written>, Error> {
    check(&special)?;
    let key = context.external_key();
    let board = Board { text: text(&special), written_by: key.to_owned() };
    let content = serde_json::to_vec(&board).map_err(|error| Error::invalid_input(error.to_string()))?;
    fs::replace(&path(&special.board), &content, key)?;
    Ok(written(&special, key))
}

/// The board names the call that wrote it. After a crash this shows whether the write came through.
fn find(special: Special, key: &str) -> Result<Verdict<Output<Written>>, Error> {
    let content = match fs::read(&path(&special.board)) {
        Ok(content) => content,
        Err(error) if error.kind() == fs::ErrorKind::NotFound => return Ok(Verdict::DidNotHappen),
        Err(error) => return Err(error.into()),
    };
    let board: Board = serde_json::from_slice(&content)
        .map_err(|error| Error::schema_validation_failed(format!("the file of the board is damaged: {error}")))?;
    Ok(if board.written_by == key { Verdict::Happened(written(&special, key)) } else { Verdict::DidNotHappen })
}

fn written(special: &Special, key: &str) -> Output<Written> {
    Output::new(Written { board: special.board.clone(), text: text(special) })
        .change(Change::new("chalkboard", &special.board, "update").version(key).external_ref(path(&special.board)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Chalkboard.Write", write)
            .describe("Writes the special of the day on a chalkboard.")
            .effects([Effect::InternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}
