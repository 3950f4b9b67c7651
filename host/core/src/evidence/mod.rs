//! Evidence: the history of a job as one file, and a check that needs only this file.
//!
//! A file consists of JSON lines, each canonical (RFC 8785). The lines are in this order:
//!
//! - a header
//! - the events, exactly as they were hashed
//! - the ledger rows and the effects, from their own tables
//! - the payloads
//! - the response
//! - a trailer with the SHA-256 of all preceding bytes
//! - a signature, if the file is signed
//!
//! `docs/howto/evidence.md` describes the format field by field.
//!
//! [`write()`] turns the contents of the stores into bytes. [`verify()`] turns bytes into [`Verified`], which contains
//! a [`VerifyReport`]. All functions of this module are pure: they read no file and no clock. A test can therefore try
//! every change of a single byte.

mod check;
mod line;
mod payloads;
mod read;
mod record;
mod report;
mod salts;
mod sign;
mod trust;
mod verify;
mod withhold;
mod write;

pub use line::SCHEMAS;
pub use read::Evidence;
pub use record::{AnswerKind, Content, EffectRecord, EvidenceHeader, JobRecord, PayloadRecord, PluginRecord};
pub use report::{DecisionReport, EvidenceProblem, NotChecked, ProblemKind, SignatureReport, VerifyReport};
pub use salts::Salts;
pub use sign::{append_signature, message};
pub use trust::{IsSignature, Trust, TrustedKeys};
pub use verify::{Verified, verify, verify_with};
pub use withhold::{UnknownLabel, Withhold};
pub use write::{Export, ExportError, write};

#[cfg(test)]
pub(crate) mod forge;
