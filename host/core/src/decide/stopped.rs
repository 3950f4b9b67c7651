//! What a person may say of a job that does not go on by itself.

use crate::ids::Slot;
use crate::job::JobState;
use crate::state::Job;

/// Returns true if the job can be told to go on, or be failed.
pub fn is_stopped(job: &Job) -> bool {
    matches!(job.state, JobState::Parked | JobState::Diverged)
}

/// Returns true if what the call at `slot` changed waits to be taken as it is now, or as gone: the latter only of a job
/// that is over, since an open one goes on with what it recorded.
pub fn is_confirmable(job: &Job, slot: &Slot, gone: bool) -> bool {
    let over = job.state.is_terminal();
    let mut asked = job.asked().filter(|_| !over).map(|failed| &failed.slot).chain(job.disputed());
    asked.any(|asked| asked == slot) && (over || !gone)
}
