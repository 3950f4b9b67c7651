use latchwork_guest::serde_json::json;
use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Board {
    title: String,
    lines: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Saved {
    file: String,
    at: String,
}

fn path(key: &str) -> String {
    format!("/boards/{}.txt", key.replace([':', '/'], "+"))
}

fn saved(key: &str, at: &str) -> Output<Saved> {
    let file = path(key);
    Output::new(Saved { file: file.clone(), at: at.to_owned() })
        .receipt(json!({ "file": &file }))
        .change(Change::new("board", key, "create").version(at).external_ref(file))
}

fn save(board: Board, context: &tool::Context) -> Result<Output<Saved>, Error> {
    if board.lines.is_empty() {
        return Err(Error::invalid_input("the board is empty"));
    }
    let key = context.external_key();
    let at = wall::now().to_string();
    let text = format!("{at}\n{}\n{}\n", board.title, board.lines.join("\n"));
    fs::replace(&path(key), text.as_bytes(), key)?;
    Ok(saved(key, &at))
}

/// Returns the first line of a board, which is the time at which it was saved.
fn time_of(file: &str) -> Result<Option<String>, Error> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text.lines().next().unwrap_or_default().to_owned())),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn find(_: Board, key: &str) -> Result<Verdict<Output<Saved>>, Error> {
    Ok(match time_of(&path(key))? {
        Some(at) => Verdict::Happened(saved(key, &at)),
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match time_of(&path(&change.resource_id))? {
        Some(at) => Finding::compare(change.version.as_deref(), &at),
        None => Finding::Mismatch("the board is missing".into()),
    })
}

fn take_back(_: Board, result: Saved, _: &str) -> Result<Output<()>, Error> {
    if time_of(&result.file)?.as_deref() != Some(result.at.as_str()) {
        return Err(Error::policy_denied("the board was changed or removed after it was saved"));
    }
    fs::remove(&result.file)?;
    Ok(Output::new(()).change(Change::new("board", result.file, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Board.Save", save)
            .describe("Saves a board as a text file with the time at its top.")
            .effects([Effect::InternalWrite])
            .reconcile(find)
            .verify(verify)
            .compensate(take_back),
    ],
    exports: [reconcile, verify, compensate],
}
