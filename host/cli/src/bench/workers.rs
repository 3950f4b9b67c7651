//! Measures jobs that worker processes claim from one database.

use serde::Serialize;

use latchwork::host::{EnqueueResult, Host};
use latchwork_core::model::ids::JobId;
use latchwork_core::model::job::JobState;
use latchwork_core::storage::JobFilter;

use crate::bench::workload::ACTOR;
use crate::bench::{BenchError, Workload};

/// The measured interval starts when this percentage of the jobs has ended. The interval therefore excludes the start
/// of the worker processes.
const FROM_PERCENT: usize = 20;
/// The measured interval ends when this percentage of the jobs has ended. The interval therefore excludes the end of
/// the worker processes.
const TO_PERCENT: usize = 80;

/// Results of a measurement with several workers.
#[derive(Clone, Debug, Serialize)]
pub struct SharedMeasurement {
    /// Kind of job.
    pub workload: &'static str,
    /// Unit of `per_second`: calls, steps or jobs.
    pub unit: &'static str,
    /// Number of worker processes.
    pub workers: u32,
    /// Number of jobs that the workers completed.
    pub jobs: u32,
    /// Units per second of all workers together.
    pub per_second: f64,
}

/// Returns the number of jobs that earlier benchmarks left in the database. Returns `None` if the database
/// contains other jobs.
///
/// # Errors
/// The database cannot be read.
pub async fn jobs_before(host: &Host) -> Result<Option<u64>, BenchError> {
    let rows = host.journal().jobs(&JobFilter { limit: u32::MAX, ..JobFilter::default() }).await?;
    Ok(rows.iter().all(|row| row.actor_id == ACTOR).then_some(rows.len() as u64))
}

/// Submits jobs, numbered from `first`, to the queue without claiming them.
///
/// # Errors
/// A job is refused.
pub async fn enqueue_jobs(host: &Host, workload: Workload, first: u64, jobs: u32) -> Result<Vec<JobId>, BenchError> {
    let mut ids = Vec::new();
    for number in first..first + u64::from(jobs) {
        match host.enqueue(workload.submission(host, number)?).await? {
            EnqueueResult::New(row) => ids.push(row.job_id),
            EnqueueResult::Attached(row) => {
                return Err(BenchError::NotCompleted(row.job_id, "before it began".to_owned()));
            }
        }
    }
    Ok(ids)
}

/// Returns the rate at which the jobs `ids` ended. The end times are from the database's clock.
///
/// # Errors
/// A job is not completed.
pub async fn measure_completed(
    host: &Host,
    workload: Workload,
    workers: u32,
    ids: &[JobId],
) -> Result<SharedMeasurement, BenchError> {
    let mut ends_us = Vec::new();
    for id in ids {
        let row = host.journal().job(id).await?;
        match row.filter(|row| row.state == JobState::Completed) {
            Some(row) => ends_us.push(row.updated_us),
            None => return Err(BenchError::NotCompleted(id.clone(), "before it was over".to_owned())),
        }
    }
    Ok(SharedMeasurement {
        workload: workload.name(),
        unit: workload.unit(),
        workers,
        jobs: u32::try_from(ids.len()).unwrap_or(u32::MAX),
        per_second: ends_per_second(&mut ends_us) * f64::from(workload.units_per_job()),
    })
}

fn ends_per_second(ends_us: &mut [i64]) -> f64 {
    ends_us.sort_unstable();
    let at = |percent: usize| (ends_us.len() * percent / 100).min(ends_us.len().saturating_sub(1));
    let (from, to) = (at(FROM_PERCENT), at(TO_PERCENT));
    let (Some(first), Some(last)) = (ends_us.get(from), ends_us.get(to)) else { return 0.0 };
    (to - from) as f64 * 1e6 / (last - first).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_excludes_start_and_end() {
        // The first job ends early and the last job ends late. Between them, one job ends per millisecond.
        let mut ends: Vec<i64> = (0..100).map(|n| 1_000_000 + n * 1_000).collect();
        (ends[0], ends[99]) = (0, 9_000_000);
        assert_eq!(ends_per_second(&mut ends), 1000.0);
        assert_eq!(ends_per_second(&mut []), 0.0);
    }
}
