//! Calls: performs one invocation, from the ledger's decision to the recorded answer.
//!
//! Floors, top first: `perform` · `doubt`, `record` · `execute` · `context`, `invocation`, `late_answers`, `pinned`,
//! `spending`, `undone`.

mod context;
mod doubt;
mod execute;
mod invocation;
mod late_answers;
mod perform;
mod pinned;
mod record;
mod spending;
mod undone;
