//! Checks which decisions a person may make about a job that does not continue by itself.

use crate::model::ids::Slot;
use crate::model::job::JobState;
use crate::state::Job;

/// Returns true if a person may continue or abort the job.
pub fn is_parked_or_diverged(job: &Job) -> bool {
    matches!(job.state, JobState::Parked | JobState::Diverged)
}

/// Returns true if the effect of the call at `slot` waits for acceptance by a person. If `gone` is true, the job must
/// also be finished, because the steps of an open job rely on the recorded effect.
pub fn is_confirmable(job: &Job, slot: &Slot, gone: bool) -> bool {
    let over = job.state.is_terminal();
    let mut asked =
        job.changes_to_accept().filter(|_| !over).map(|failed| &failed.slot).chain(job.blocking_mismatches());
    asked.any(|asked| asked == slot) && (over || !gone)
}
