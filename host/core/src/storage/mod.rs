//! Interfaces that a worker needs from its stores. There are two implementations: [`crate::memory`], the reference
//! model of a store, and `latchwork-store`. All implementations pass the same conformance suite.
//!
//! A [`Batch`] is one atomic write to one job. A store writes a batch completely or not at all. One transaction may
//! contain the batches of many jobs. A conflict in one job never fails the batch of another job.
//!
//! Batches of one job take effect in the order in which the futures of [`Journal::write`] are first polled. [`admit`]
//! decides for all stores which batches may be written.

mod action_row;
pub mod admit;
mod batch;
mod changes;
mod error;
pub mod expectation;
pub mod expected_requests;
mod inbox;
mod kind;
pub mod map;
mod query;
pub mod quiescence;
mod rows;
mod state_reason;
mod submission;
mod traits;
mod writes;

pub use crate::storage::state_reason::{StateReason, reason_event_markers, state_reason};
pub use action_row::ActionRow;
pub use batch::Batch;
pub use changes::{ActionWrite, LedgerWrite, Payload};
pub use error::{StoreError, WriteError};
pub use inbox::{InboxError, InboxRequest, InboxRow, ManualVerdict, NotExpected, StoredRequest};
pub use kind::{AttemptEnd, BatchKind, Merge, Record, StartCalls};
pub use map::{MapName, QuotaExceeded, SetError};
pub use query::{ClaimExclusions, Counters, JobFilter, LeaseRequest};
pub use rows::{Claim, JobRow, JobTail, LogEnd, Owner, StoredJob};
pub use submission::{NewJob, QueueLimit, Submitted};
pub use traits::{Clock, EffectStore, Journal, KeyValue};
pub use writes::{Draft, Writes};
