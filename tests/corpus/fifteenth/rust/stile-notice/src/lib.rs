//! Sets the notice at a stile of a footpath. The display of the stile shows the content of one file.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, fs, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The display has room for this many characters.
const TEXT_MAX: usize = 400;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Notice {
    /// Id of the stile, such as `fell-12`.
    stile: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Shown {
    path: String,
    /// Text that the display showed before.
    before: String,
}

fn path(stile: &str) -> Result<String, Error> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if stile.is_empty() || stile.len() > 32 || !stile.chars().all(plain) {
        return Err(Error::invalid_input(format!("{stile:?} is no id of a stile")));
    }
    Ok(format!("/displays/{stile}.txt"))
}

/// Reads the notice at a stile. A stile without a notice has no file.
fn current(path: &str) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn show(notice: Notice, context: &tool::Context) -> Result<Output<Shown>, Error> {
    let path = path(&notice.stile)?;
    let length = notice.text.chars().count();
    if length == 0 || length > TEXT_MAX {
        return Err(Error::invalid_input(format!("a notice has 1 to {TEXT_MAX} characters, not {length}")));
    }
    let before = current(&path)?.unwrap_or_default();
    fs::replace(&path, notice.text.as_bytes(), context.external_key())?;
    log::info!("{path} shows {length} characters");
    let change = Change::new("notice", &notice.stile, "update").version(&notice.text).external_ref(&path);
    Ok(Output::new(Shown { path, before }).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match current(&path(&change.resource_id)?)? {
        Some(text) => Finding::compare(change.version.as_deref(), &text),
        None => Finding::Mismatch(format!("stile {} has no notice", change.resource_id)),
    })
}

/// Shows the earlier text again, unless another notice was set since.
fn restore(notice: Notice, shown: Shown, _: &str) -> Result<Output<Shown>, Error> {
    match current(&shown.path)? {
        Some(text) if text == notice.text => {}
        Some(_) => return Err(Error::policy_denied(format!("stile {} has another notice now", notice.stile))),
        None => return Err(Error::policy_denied(format!("stile {} has no notice any more", notice.stile))),
    }
    let own = tool::Context::default();
    fs::replace(&shown.path, shown.before.as_bytes(), own.external_key())?;
    let change = Change::new("notice", &notice.stile, "update").version(&shown.before).external_ref(&shown.path);
    Ok(Output::new(Shown { path: shown.path, before: notice.text }).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Notice.Show", show)
            .describe("Sets the notice at a stile.")
            .effects([Effect::InternalWrite])
            .verify(verify)
            .compensate(restore),
    ],
    exports: [verify, compensate],
}
