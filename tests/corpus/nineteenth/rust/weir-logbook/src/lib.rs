//! `Weir.Log`: keeps an entry of the weir keeper as a file of its own.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest note, in bytes.
const NOTE_MAX: usize = 20_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Round {
    weir: String,
    /// Level at the gauge, in centimetres.
    level: i32,
    #[serde(default)]
    note: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Logged {
    file: String,
    bytes: usize,
}

fn log_round(round: Round, context: &tool::Context) -> Result<Output<Logged>, Error> {
    if round.weir.trim().is_empty() {
        return Err(Error::invalid_input("the entry names no weir"));
    }
    if round.note.len() > NOTE_MAX {
        return Err(Error::invalid_input(format!("a note has at most {NOTE_MAX} bytes")));
    }
    let key = context.external_key();
    let text = page(&round);
    tidy(key)?;
    fs::create_new(&draft(key), text.as_bytes()).map_err(|error| Error::from(error).not_applied())?;
    fs::rename(&draft(key), &file(key))?;
    Ok(logged(key, &text))
}

/// Looks for the entry of a call that was cut off, and clears its draft away.
fn reconcile(round: Round, key: &str) -> Result<Verdict<Output<Logged>>, Error> {
    if fs::exists(&file(key))? {
        return Ok(Verdict::Happened(logged(key, &page(&round))));
    }
    tidy(key)?;
    Ok(Verdict::DidNotHappen)
}

/// Takes an entry out of the logbook if it is still as it was written.
fn compensate(round: Round, done: Logged, _key: &str) -> Result<Output<()>, Error> {
    let found = match fs::read(&done.file) {
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::policy_denied(format!("{} does not exist any more", done.file)));
        }
        other => other?,
    };
    if found != page(&round).as_bytes() {
        return Err(Error::policy_denied(format!("{} was changed since", done.file)));
    }
    fs::remove(&done.file)?;
    Ok(Output::new(()).change(Change::new("entry", done.file, "delete")))
}

/// Removes the draft of a call, if there is one.
fn tidy(key: &str) -> Result<(), Error> {
    if fs::exists(&draft(key))? {
        fs::remove(&draft(key)).map_err(|error| Error::from(error).not_applied())?;
    }
    Ok(())
}

/// Returns the text of an entry.
fn page(round: &Round) -> String {
    let mut text = format!("weir:  {}\nlevel: {} cm\n", round.weir.trim(), round.level);
    if !round.note.trim().is_empty() {
        text.push_str(&format!("\n{}\n", round.note.trim()));
    }
    text
}

fn logged(key: &str, text: &str) -> Output<Logged> {
    let change = Change::new("entry", file(key), "create");
    Output::new(Logged { file: file(key), bytes: text.len() }).change(change)
}

/// Returns the path of the entry of a call.
fn file(key: &str) -> String {
    format!("/logbook/{}.txt", name(key))
}

/// Returns the path of the draft of a call. Readers of the logbook leave out names that begin with a dot.
fn draft(key: &str) -> String {
    format!("/logbook/.{}.draft", name(key))
}

/// Returns the external key as a part of a file name.
fn name(key: &str) -> String {
    key.replace(':', ".").replace('/', "+")
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Weir.Log", log_round)
            .describe("Keeps an entry of the weir keeper as a file of its own.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile)
            .compensate(compensate),
    ],
    exports: [reconcile, compensate],
}
