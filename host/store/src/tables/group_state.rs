//! State of the jobs that a group of batches touches.

use std::collections::BTreeMap;

use latchwork_core::model::ids::JobId;
use latchwork_core::model::job::JobState;
use latchwork_core::storage::StoreError;
use latchwork_core::storage::admit::{ActionKeys, JobSnapshot};

/// A job of the group.
pub(crate) struct GroupJob {
    pub(crate) id: i64,
    pub(crate) snapshot: JobSnapshot,
    /// State of the job before the group. If the group does not change the state, the column `state` and its index are
    /// not updated.
    pub(crate) initial_state: JobState,
    /// True if the group writes the job's row.
    pub(crate) touched: bool,
    /// Description of inconsistent stored data of the job.
    pub(crate) damage: Option<String>,
}

/// All data that the group touches, including the changes of the batches admitted so far.
#[derive(Default)]
pub(crate) struct GroupState {
    pub(crate) jobs: BTreeMap<JobId, GroupJob>,
    pub(crate) actions: ActionKeys,
    /// Jobs whose own row is damaged.
    pub(crate) damaged: BTreeMap<JobId, StoreError>,
}

impl GroupState {
    /// Calls `take` to load a row into the job's snapshot. If `take` fails, only this job counts as damaged.
    pub(crate) fn update_job(&mut self, job_id: &str, take: impl FnOnce(&mut JobSnapshot) -> Result<(), StoreError>) {
        let Some(known) = self.jobs.get_mut(job_id) else { return };
        if let Err(error) = take(&mut known.snapshot) {
            known.damage.get_or_insert(match error {
                StoreError::Damaged(message) => message,
                other => other.to_string(),
            });
        }
    }
}
