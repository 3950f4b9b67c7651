//! The menu boards of a canteen: one text file for each screen, which the screens show.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Menu {
    /// Name of the board: small letters, digits and hyphens.
    board: String,
    /// Lines of the menu, from top to bottom.
    lines: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Shown {
    board: String,
    lines: usize,
    /// The menu that was on the board before; null for a new board.
    previous: Option<Vec<String>>,
}

fn path(board: &str) -> Result<String, Error> {
    let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    if board.is_empty() || board.len() > 40 || !board.bytes().all(fits) {
        return Err(Error::invalid_input(format!("{board:?} is no name of a board")));
    }
    Ok(format!("/boards/{board}.txt"))
}

/// Text of a board: each line ends with a line end.
fn render(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Text of the board, or `None` if there is no such board.
fn current(path: &str) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// FNV-1a of a text: names the version of a board.
fn version(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

fn write(menu: Menu, context: &tool::Context) -> Result<Output<Shown>, Error> {
    let path = path(&menu.board)?;
    if menu.lines.is_empty() || menu.lines.len() > 60 {
        return Err(Error::invalid_input("a board has 1 to 60 lines"));
    }
    if let Some(line) = menu.lines.iter().find(|line| line.contains(['\n', '\r']) || line.chars().count() > 80) {
        return Err(Error::invalid_input(format!("{line:?} does not fit on one line of a board")));
    }
    // The earlier menu is kept in the result, from which `take_back` puts it on the board again.
    let previous = current(&path)?.map(|text| text.lines().map(str::to_owned).collect());
    let text = render(&menu.lines);
    fs::replace(&path, text.as_bytes(), context.external_key())?;
    let operation = if previous.is_some() { "update" } else { "create" };
    let change = Change::new("board", &menu.board, operation).version(version(&text)).external_ref(&path);
    let receipt = json!({ "board": menu.board, "version": version(&text) });
    Ok(Output::new(Shown { board: menu.board, lines: menu.lines.len(), previous }).receipt(receipt).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match current(change.external_ref.as_deref().unwrap_or_default())? {
        Some(text) => Finding::compare(change.version.as_deref(), &version(&text)),
        None => Finding::Mismatch("the board has no menu".into()),
    })
}

fn take_back(menu: Menu, shown: Shown, key: &str) -> Result<Output<()>, Error> {
    let path = path(&menu.board)?;
    if current(&path)?.as_deref() != Some(render(&menu.lines).as_str()) {
        return Err(Error::policy_denied(format!("the menu of {} was changed since", menu.board)));
    }
    let operation = match &shown.previous {
        Some(lines) => {
            fs::replace(&path, render(lines).as_bytes(), key)?;
            "update"
        }
        None => {
            fs::remove(&path).map_err(|error| Error::from(error).applied_unknown())?;
            "delete"
        }
    };
    Ok(Output::new(()).change(Change::new("board", &menu.board, operation).external_ref(&path)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Board.Write", write)
            .describe("Writes the menu of a board, which can be taken back.")
            .effects([Effect::InternalWrite])
            .verify(verify)
            .compensate(take_back),
    ],
    exports: [verify, compensate],
}
