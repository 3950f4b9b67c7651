//! `Niche.Reserve`: reserves a niche of a wine cellar. The file of a niche names the call that reserved it.

use latchwork_guest::tool::{Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, log, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// Number of the niche.
    niche: u16,
    /// Name of the guest who wants the niche.
    guest: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Reserved {
    niche: u16,
    /// Path of the reservation.
    file: String,
}

/// Content of the file of a niche.
#[derive(Serialize, Deserialize, PartialEq)]
struct Holder {
    /// External key of the call.
    call: String,
    guest: String,
}

fn file(niche: u16) -> String {
    format!("/cellar/niche-{niche}.json")
}

/// Returns the holder of a niche. Returns `None` if the niche is free.
fn holder(path: &str) -> Result<Option<Holder>, Error> {
    let content = match fs::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == fs::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::from(error)),
    };
    let holder = serde_json::from_slice(&content);
    holder.map(Some).map_err(|error| Error::dependency_unavailable(format!("{path}: {error}")).not_applied())
}

fn reserve(wish: Wish, context: &tool::Context) -> Result<Output<Reserved>, Error> {
    if wish.guest.trim().is_empty() {
        return Err(Error::invalid_input("guest: empty"));
    }
    if !(1..=480).contains(&wish.niche) {
        return Err(Error::invalid_input(format!("the cellar has no niche {}", wish.niche)));
    }
    let (path, key) = (file(wish.niche), context.external_key());
    let own = Holder { call: key.to_owned(), guest: wish.guest };
    let content = serde_json::to_vec(&own).map_err(|error| Error::invalid_input(error.to_string()))?;
    match fs::publish(&path, &content, key) {
        Ok(()) => Ok(reserved(wish.niche, key)),
        Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => match holder(&path)? {
            Some(holder) if holder.call == key => Ok(reserved(wish.niche, key)),
            Some(_) => Err(Error::policy_denied(format!("niche {} is taken", wish.niche))),
            None => Err(Error::transient_db_lock(format!("niche {} has just become free", wish.niche))),
        },
        Err(error) => Err(error.into()),
    }
}

/// Called after a crash: the call happened if the niche is reserved under its key.
fn find(wish: Wish, key: &str) -> Result<Verdict<Output<Reserved>>, Error> {
    Ok(match holder(&file(wish.niche))? {
        Some(holder) if holder.call == key => Verdict::Happened(reserved(wish.niche, key)),
        _ => Verdict::DidNotHappen,
    })
}

/// Called when a job is resumed: checks that the niche still belongs to the recorded call.
fn verify(change: &Change) -> Result<Finding, Error> {
    let path = change.external_ref.as_deref().unwrap_or_default();
    Ok(match holder(path)? {
        Some(holder) => Finding::compare(change.version.as_deref(), &holder.call),
        None => Finding::Mismatch(format!("niche {} is free", change.resource_id)),
    })
}

/// Called when the job is undone: frees the niche.
fn give_up(wish: Wish, done: Reserved, key: &str) -> Result<Output<()>, Error> {
    let own = Holder { call: key.to_owned(), guest: wish.guest };
    if holder(&done.file)? != Some(own) {
        return Err(Error::policy_denied(format!("niche {} has another holder or none", done.niche)));
    }
    match fs::remove(&done.file) {
        Ok(()) => {}
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::policy_denied(format!("niche {} was freed by another party", done.niche)));
        }
        Err(error) => return Err(error.into()),
    }
    log::info!("niche {} is free again", done.niche);
    Ok(Output::new(()).change(Change::new("niche", done.niche.to_string(), "delete").external_ref(done.file)))
}

fn reserved(niche: u16, key: &str) -> Output<Reserved> {
    let change = Change::new("niche", niche.to_string(), "create").version(key).external_ref(file(niche));
    Output::new(Reserved { niche, file: file(niche) }).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Niche.Reserve", reserve)
            .describe("Reserves a niche of the wine cellar for a guest.")
            .effects([Effect::InternalWrite])
            .reconcile(find)
            .verify(verify)
            .compensate(give_up),
    ],
    exports: [reconcile, verify, compensate],
}
