//! Trace ids of the jobs that a worker loaded most recently, for log lines.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use latchwork_core::model::ids::JobId;

/// Maximum number of remembered jobs. If the list is full, the job that was remembered first is forgotten.
const REMEMBERED: usize = 1024;

/// Trace ids of the jobs that a worker loaded most recently. Clones share the list: the worker adds to one clone, and
/// the formatter of log lines reads another.
#[derive(Clone, Debug, Default)]
pub struct TraceIds(Arc<Mutex<VecDeque<(JobId, String)>>>);

impl TraceIds {
    /// Remembers the trace id of a job.
    pub(crate) fn remember(&self, job_id: &JobId, trace_id: &str) {
        let mut known = self.lock();
        if known.iter().any(|(known, _)| known == job_id) {
            return;
        }
        if known.len() == REMEMBERED {
            known.pop_front();
        }
        known.push_back((job_id.clone(), trace_id.to_owned()));
    }

    /// Returns the trace id of a job if the worker has recently loaded the job.
    pub fn get(&self, job_id: &str) -> Option<String> {
        self.lock().iter().rev().find(|(known, _)| known.as_str() == job_id).map(|(_, trace_id)| trace_id.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(JobId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_list_and_separate_lists_share_nothing() {
        let (worker, other) = (TraceIds::default(), TraceIds::default());
        let job = |n: usize| JobId::new(format!("job_{n}"));
        worker.remember(&job(0), "first");
        worker.remember(&job(0), "again");
        assert_eq!(worker.clone().get("job_0").as_deref(), Some("first"));
        assert_eq!(other.get("job_0"), None);
        (1..=REMEMBERED).for_each(|n| worker.remember(&job(n), "t"));
        assert_eq!((worker.get("job_0"), worker.get("job_1").as_deref()), (None, Some("t")), "the oldest is forgotten");
    }
}
