//! Writes entries into the maintenance log of a wind farm, one file for each entry.

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Work {
    turbine: u32,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    turbine: u32,
    text: String,
    written_at: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Written {
    file: String,
    written_at: String,
    fingerprint: String,
}

/// A key has neither a dot nor a plus, so each key has a name of its own.
fn file(key: &str) -> String {
    format!("/log/{}.json", key.replace(':', ".").replace('/', "+"))
}

/// FNV-1a of the content.
fn fingerprint(content: &[u8]) -> String {
    let hash = content
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

fn read(file: &str) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(file) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn write(work: Work, context: &tool::Context) -> Result<Output<Written>, Error> {
    if work.text.trim().is_empty() || work.text.len() > 20_000 {
        return Err(Error::invalid_input("an entry has 1 to 20000 bytes"));
    }
    let key = context.external_key();
    let entry = Entry { turbine: work.turbine, text: work.text, written_at: wall::now().to_string() };
    let content = serde_json::to_vec(&entry).map_err(|error| Error::invalid_input(error.to_string()))?;
    fs::replace(&file(key), &content, key)?;
    Ok(written(key, entry, &content))
}

fn written(key: &str, entry: Entry, content: &[u8]) -> Output<Written> {
    let (file, fingerprint) = (file(key), fingerprint(content));
    let change = Change::new("entry", key, "create").version(&fingerprint).external_ref(&file);
    Output::new(Written { file, written_at: entry.written_at, fingerprint }).change(change)
}

fn find(_: Work, key: &str) -> Result<Verdict<Output<Written>>, Error> {
    let Some(content) = read(&file(key))? else { return Ok(Verdict::DidNotHappen) };
    Ok(match serde_json::from_slice(&content) {
        Ok(entry) => Verdict::Happened(written(key, entry, &content)),
        Err(_) => Verdict::Unknown,
    })
}

fn check(change: &Change) -> Result<Finding, Error> {
    Ok(match read(change.external_ref.as_deref().unwrap_or_default())? {
        Some(content) => Finding::compare(change.version.as_deref(), &fingerprint(&content)),
        None => Finding::Mismatch("the entry is missing".into()),
    })
}

fn take_back(_: Work, made: Written, key: &str) -> Result<Output<()>, Error> {
    match read(&made.file)? {
        Some(content) if fingerprint(&content) == made.fingerprint => fs::remove(&made.file)?,
        Some(_) => return Err(Error::policy_denied("the entry was changed after it was written")),
        None => return Err(Error::policy_denied("the entry is no longer there")),
    }
    Ok(Output::new(()).change(Change::new("entry", key, "delete").external_ref(made.file)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Turbine.Log", write)
            .describe("Writes an entry into the maintenance log.")
            .effects([Effect::InternalWrite])
            .reconcile(find)
            .verify(check)
            .compensate(take_back),
    ],
    exports: [reconcile, verify, compensate],
}
