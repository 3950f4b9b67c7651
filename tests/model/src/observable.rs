//! Parts of the database by which traces are compared.

use std::collections::HashSet;

use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::RowState;

use crate::record::Record;
use crate::state::{Job, State};

/// Returns true if the database of `state` matches `job`. Otherwise adds the state's database to `expected`.
pub(crate) fn matches_database(state: &State, job: &Job, expected: &mut HashSet<String>) -> bool {
    let found = state.job.observable();
    if found != *job {
        expected.insert(format!("{found:?}"));
    }
    found == *job
}

impl Job {
    /// Returns a copy of the database that contains only the parts by which traces are compared.
    ///
    /// Leases are left out. Final states other than `CANCELLED` are treated as one. The owner of a row is kept only if
    /// the row is `INFLIGHT` or `INDETERMINATE`.
    pub fn observable(&self) -> Job {
        let mut job = self.clone();
        job.lease_live = false;
        if matches!(job.state(), JobState::Partial | JobState::Failed) {
            job.set_state(JobState::Completed);
        }
        job.records.iter_mut().for_each(Record::hide_unobserved);
        job
    }
}

impl Record {
    fn hide_unobserved(&mut self) {
        self.opener.1 = 0;
        if let Some(row) = &mut self.row {
            row.must_settle = false;
            let open = [RowState::Inflight as u8, RowState::Indeterminate as u8].contains(&row.state);
            if !open {
                (row.attempt, row.nonce, row.first_attempt) = (0, 0, 0);
            }
        }
    }
}
