//! Issues the receipts for heirlooms that a museum takes into its care.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const TEXT_BYTES_MAX: usize = 500;
const WEEK: Duration = Duration::from_secs(7 * 86_400);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Heirloom {
    owner: String,
    item: String,
    /// Seconds since 1970 at which the counter closes.
    counter_closes: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Issued {
    file: String,
    issued_at: String,
    /// Digits that the owner shows when the heirloom is collected.
    code: String,
}

/// Content of a file.
#[derive(Serialize, Deserialize)]
struct Receipt {
    owner: String,
    item: String,
    issued_at: String,
    code: String,
}

/// Path of the receipt of a call. A key has neither `.` nor `+`.
fn path(key: &str) -> String {
    format!("/receipts/{}.json", key.replace(':', ".").replace('/', "+"))
}

/// FNV-1a, as a name for the content of a receipt.
fn version(content: &[u8]) -> String {
    let hash = content
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

fn read(path: &str) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn content(receipt: &Receipt) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(receipt).map_err(|error| Error::invalid_input(error.to_string()))
}

/// Output of the call whose receipt has this content.
fn issued(file: String, content: &[u8]) -> Result<Output<Issued>, Error> {
    let receipt: Receipt = serde_json::from_slice(content)
        .map_err(|error| Error::schema_validation_failed(format!("{file} is damaged: {error}")))?;
    let change = Change::new("receipt", &file, "create").version(version(content)).external_ref(&file);
    Ok(Output::new(Issued { file, issued_at: receipt.issued_at, code: receipt.code }).change(change))
}

/// Six digits. The remainder of 2^32 favours no code by more than one part in four thousand.
fn code() -> String {
    let number = wall::random(4).iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    format!("{:06}", number % 1_000_000)
}

fn issue(heirloom: Heirloom, context: &tool::Context) -> Result<Output<Issued>, Error> {
    for (name, text) in [("owner", &heirloom.owner), ("item", &heirloom.item)] {
        if text.trim().is_empty() || text.len() > TEXT_BYTES_MAX {
            return Err(Error::invalid_input(format!("the {name} has 1 to {TEXT_BYTES_MAX} bytes")));
        }
    }
    let key = context.external_key();
    let path = path(key);
    if let Some(content) = read(&path)? {
        return issued(path, &content);
    }
    let now = wall::now();
    if now.seconds >= heirloom.counter_closes {
        return Err(Error::invalid_input("the counter has closed"));
    }
    let receipt = Receipt { owner: heirloom.owner, item: heirloom.item, issued_at: now.to_string(), code: code() };
    let content = content(&receipt)?;
    fs::replace(&path, &content, key)?;
    issued(path, &content)
}

fn find(_: Heirloom, key: &str) -> Result<Verdict<Output<Issued>>, Error> {
    let path = path(key);
    Ok(match read(&path)? {
        Some(content) => Verdict::Happened(issued(path, &content)?),
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(&change.resource_id)? {
        Some(content) => Finding::compare(change.version.as_deref(), &version(&content)),
        None => Finding::Mismatch("the receipt is missing".into()),
    })
}

/// Removes the receipt, if it is still as it was issued.
fn withdraw(heirloom: Heirloom, issued: Issued, key: &str) -> Result<Output<()>, Error> {
    let path = path(key);
    let receipt =
        Receipt { owner: heirloom.owner, item: heirloom.item, issued_at: issued.issued_at, code: issued.code };
    match read(&path)? {
        None => return Err(Error::policy_denied("the receipt was removed by others")),
        Some(found) if found != content(&receipt)? => {
            return Err(Error::policy_denied("the receipt was changed since it was issued"));
        }
        Some(_) => {}
    }
    fs::remove(&path)?;
    Ok(Output::new(()).change(Change::new("receipt", &path, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Receipt.Issue", issue)
            .describe("Issues the receipt for an heirloom.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(WEEK)
            .reconcile(find)
            .verify(verify)
            .compensate(withdraw),
    ],
    exports: [reconcile, verify, compensate],
}
