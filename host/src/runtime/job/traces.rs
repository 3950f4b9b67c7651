//! Trace ids of the jobs that this process loaded most recently, for log lines.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use latchwork_core::model::ids::JobId;

/// Maximum number of remembered jobs. If the list is full, the job that was remembered first is forgotten.
const REMEMBERED: usize = 1024;

static TRACES: Mutex<VecDeque<(JobId, String)>> = Mutex::new(VecDeque::new());

fn traces() -> MutexGuard<'static, VecDeque<(JobId, String)>> {
    TRACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers the trace id of a job.
pub fn remember_trace_id(job_id: &JobId, trace_id: &str) {
    let mut traces = traces();
    if traces.iter().any(|(known, _)| known == job_id) {
        return;
    }
    if traces.len() == REMEMBERED {
        traces.pop_front();
    }
    traces.push_back((job_id.clone(), trace_id.to_owned()));
}

/// Returns the trace id of a job if this process has recently loaded the job.
pub fn trace_id(job_id: &str) -> Option<String> {
    traces().iter().rev().find(|(known, _)| known.as_str() == job_id).map(|(_, trace_id)| trace_id.clone())
}
