//! `Vellum.Transfer`: moves a scanned page from the desk of the scanner to the vault.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest scan, in bytes.
const PAGE_MAX: usize = 8 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Page {
    /// File name of the page on the desk: up to 80 letters, digits, `-`, `_` and dots.
    page: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Transferred {
    page: String,
    bytes: usize,
    /// Digest of the scan, 16 hexadecimal digits.
    digest: String,
}

fn transfer(args: Page, _: &tool::Context) -> Result<Output<Transferred>, Error> {
    let page = named(args.page)?;
    let scan = match fs::read_up_to(&on_desk(&page), PAGE_MAX) {
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::invalid_input(format!("the desk has no page {page}")));
        }
        other => other?,
    };
    if scan.is_empty() {
        return Err(Error::invalid_input(format!("the scan of {page} is empty")));
    }
    fs::rename(&on_desk(&page), &in_vault(&page))?;
    let digest = digest(&scan);
    let change = Change::new("page", &page, "move").version(&digest).external_ref(in_vault(&page));
    Ok(Output::new(Transferred { page, bytes: scan.len(), digest }).change(change))
}

/// Checks that the vault still has the page as it was scanned.
fn verify(change: &Change) -> Result<Finding, Error> {
    match fs::read_up_to(&in_vault(&change.resource_id), PAGE_MAX) {
        Ok(scan) => Ok(Finding::compare(change.version.as_deref(), &digest(&scan))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            Ok(Finding::Mismatch(format!("the vault has no page {}", change.resource_id)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Brings the page back to the desk.
fn compensate(_: Page, done: Transferred, key: &str) -> Result<Output<()>, Error> {
    let page = done.page;
    let scan = match fs::read_up_to(&in_vault(&page), PAGE_MAX) {
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::policy_denied(format!("the vault has no page {page} any more")));
        }
        other => other?,
    };
    if digest(&scan) != done.digest {
        return Err(Error::policy_denied(format!("page {page} was scanned again since")));
    }
    match fs::publish(&on_desk(&page), &scan, key) {
        Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => {
            return Err(Error::policy_denied(format!("the desk has a new page {page}")));
        }
        other => other?,
    }
    fs::remove(&in_vault(&page))?;
    Ok(Output::new(()).change(Change::new("page", page, "move back")))
}

/// Accepts plain file names alone.
fn named(page: String) -> Result<String, Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if page.is_empty() || page.len() > 80 || page.starts_with('.') || !page.chars().all(plain) {
        return Err(Error::invalid_input(format!("{page:?} does not name a page")));
    }
    Ok(page)
}

fn on_desk(page: &str) -> String {
    format!("/desk/{page}")
}

fn in_vault(page: &str) -> String {
    format!("/vault/{page}")
}

/// Returns the 64-bit FNV-1a digest of a scan.
fn digest(scan: &[u8]) -> String {
    let hash = scan
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Vellum.Transfer", transfer)
            .describe("Moves a scanned page from the desk of the scanner to the vault.")
            .effects([Effect::InternalWrite])
            .verify(verify)
            .compensate(compensate),
    ],
    exports: [verify, compensate],
}
