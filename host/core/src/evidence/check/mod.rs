//! Checks the records of a file against each other. Each module makes one check, for example of the ledger
//! against the log.

mod compensation;

mod arguments;
mod confirmations;
mod contents;
pub(super) mod decisions;
mod effects;
mod executions;
mod gates;
mod header;
mod ledger;
mod outcome;

use super::read::Evidence;
use super::report::VerifyReport;
use crate::state::{Durable, FoldError};

/// Runs the checks that need the fold of the events.
pub(super) fn check_with_fold(evidence: &Evidence, durable: &Durable, report: &mut VerifyReport) {
    header::check(evidence, &durable.job, report);
    ledger::check(evidence, &durable.job, report);
    effects::check(evidence, &durable.job, report);
    contents::check(evidence, &durable.job, report);
    arguments::check(evidence, durable, report);
    outcome::check(evidence, durable, report);
}

/// Runs the checks that do not need the fold. They verify the most important rules independently of the fold.
pub(super) fn check_without_fold(evidence: &Evidence, report: &mut VerifyReport) {
    executions::check(evidence, report);
    confirmations::check(evidence, report);
}

/// Returns the sequence number of the event at which the fold stopped.
pub(super) fn seq_of(error: &FoldError) -> u64 {
    match error {
        FoldError::BadStart { seq, .. }
        | FoldError::Job { seq, .. }
        | FoldError::Step { seq, .. }
        | FoldError::Missing { seq, .. }
        | FoldError::Altered { seq, .. }
        | FoldError::Invalid { seq, .. } => *seq,
        FoldError::Plan(_) => 1,
        FoldError::BrokenChain { found, .. } => *found,
    }
}
