//! Evidence: what happened to a job as one file, and the check of it that needs nothing else.
//!
//! A file is JSON lines, each canonical (RFC 8785): a header, the events exactly as they were
//! hashed, the ledger rows and effects from their own tables, the payloads, the response, and a
//! trailer with the SHA-256 of all before it; perhaps a signature. `docs/evidence.md` is the
//! format, field by field.
//!
//! Everything here is pure: [`write()`] turns what the stores hold into bytes, [`verify`] turns
//! bytes into a [`Report`]. Neither reads a file or a clock, so that every single changed byte
//! can be tried.

mod check;
mod line;
mod payloads;
mod read;
mod record;
mod report;
mod salts;
mod sign;
mod verify;
mod withhold;
mod write;

pub use read::Evidence;
pub use record::{Content, EffectRecord, Header, Kind, PayloadRecord, PluginRecord};
pub use report::{Found, NotChecked, Problem, Report, SignatureReport};
pub use salts::Salts;
pub use sign::{PublicKey, SIGNATURE_BYTES, append_signature, message};
pub use verify::{IsSignature, Trust, Verified, verify};
pub use withhold::{UnknownLabel, Withhold};
pub use write::{Export, ExportError, write};

/// What the `schema` of a header says. A change of the format changes the number.
pub const SCHEMA: &str = "latchwork.evidence/1";

#[cfg(test)]
pub(crate) mod forge;
