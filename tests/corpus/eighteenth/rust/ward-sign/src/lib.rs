//! `Sign.Show`: puts a text on the sign beside the door of a hospital room. Each sign shows one file.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, fs, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest text of a sign, in bytes.
const TEXT_BYTES: usize = 4096;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sign {
    /// Room: 1 to 32 of `a-z`, `0-9` and `-`.
    room: String,
    /// Text of the sign.
    text: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Shown {
    room: String,
    /// Text that the sign had before.
    previous: String,
}

/// Path of the file that the sign of a room shows.
fn path(room: &str) -> Result<String, Error> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if room.is_empty() || room.len() > 32 || !room.chars().all(plain) {
        return Err(Error::invalid_input(format!("{room:?} is no room")));
    }
    Ok(format!("/signs/{room}.txt"))
}

/// Reads the text of a sign, or `None` if the sign has no file.
fn text_of(path: &str) -> Result<Option<String>, Error> {
    match fs::read_up_to(path, TEXT_BYTES) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Error::policy_denied(format!("{path} is not text"))),
        },
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn show(sign: Sign, context: &tool::Context) -> Result<Output<Shown>, Error> {
    let path = path(&sign.room)?;
    if sign.text.trim().is_empty() || sign.text.len() > TEXT_BYTES {
        return Err(Error::invalid_input(format!("a sign has a text of at most {TEXT_BYTES} bytes")));
    }
    let previous = text_of(&path)?.unwrap_or_default();
    fs::replace(&path, sign.text.as_bytes(), context.external_key())?;
    log::info!("the sign of {} has a new text", sign.room);
    let change = Change::new("sign", &sign.room, "update").version(&sign.text).external_ref(path);
    Ok(Output::new(Shown { room: sign.room, previous }).change(change))
}

/// Checks whether the sign still shows the text.
fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match text_of(&path(&change.resource_id)?)? {
        Some(text) => Finding::compare(change.version.as_deref(), &text),
        None => Finding::Mismatch("the sign has no file".into()),
    })
}

/// Gives the sign its previous text, unless the text was changed since.
fn compensate(sign: Sign, shown: Shown, key: &str) -> Result<Output<()>, Error> {
    let path = path(&shown.room)?;
    match text_of(&path)? {
        Some(text) if text == sign.text => {}
        Some(_) => return Err(Error::policy_denied("the sign shows another text now")),
        None => return Err(Error::policy_denied("the file of the sign is missing")),
    }
    fs::replace(&path, shown.previous.as_bytes(), key)?;
    Ok(Output::new(()).change(Change::new("sign", shown.room, "update").version(shown.previous).external_ref(path)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sign.Show", show)
            .describe("Puts a text on the sign beside the door of a room.")
            .effects([Effect::InternalWrite])
            .verify(verify)
            .compensate(compensate),
    ],
    exports: [verify, compensate],
}
