//! Runs a number of concurrent jobs for a given time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use tokio::task::JoinSet;

use latchwork::host::{Host, SubmitResult};
use latchwork::runtime::NoObserver;
use latchwork_core::model::job::JobState;
use latchwork_engine::os::clock;

use crate::bench::{BenchError, Workload};

/// Parameters of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Kind of job.
    pub workload: Workload,
    /// Number of concurrent jobs.
    pub concurrency: u32,
    /// Duration of the measurement. A job that is in flight when this time has passed still runs to its end and is
    /// counted.
    pub time: Duration,
}

/// Results of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct LoadMeasurement {
    /// Kind of job.
    pub workload: &'static str,
    /// Unit of `per_second`: calls, steps or jobs.
    pub unit: &'static str,
    /// Number of concurrent jobs.
    pub at_once: u32,
    /// Number of jobs completed during the measurement.
    pub jobs: u64,
    /// Number of jobs in the database, including the jobs of the warm-up.
    pub jobs_stored: u64,
    /// Number of durable commits since the database was opened.
    pub flushes_stored: u64,
    /// Units per second.
    pub per_second: f64,
    /// Median time of one job from submission to response, in milliseconds.
    pub p50_ms: f64,
    /// 99th percentile of the time of one job, in milliseconds.
    pub p99_ms: f64,
    /// Number of durable commits per job.
    pub flushes_per_job: f64,
    /// Number of SQL statements per job.
    pub statements_per_job: f64,
}

/// Runs jobs of one workload from concurrent tasks. Each task submits its next job when its previous job has ended.
///
/// # Errors
/// A job could not be submitted or did not complete.
pub async fn run(host: &Arc<Host>, load: Load) -> Result<LoadMeasurement, BenchError> {
    let number = Arc::new(AtomicU64::new(0));
    // Warm-up, which is not measured. The first jobs also open connections, prepare statements and create instances.
    run_for(host, Load { time: load.time / 10, ..load }, &number).await?;
    let before = host.journal().counters();
    let started_us = clock::boot_us();
    let mut times_us = run_for(host, load, &number).await?;
    let spent_us = (clock::boot_us() - started_us).max(1);
    let after = host.journal().counters();
    times_us.sort_unstable();
    let jobs = times_us.len() as u64;
    let each = |count: u64| count as f64 / jobs as f64;
    Ok(LoadMeasurement {
        workload: load.workload.name(),
        unit: load.workload.unit(),
        at_once: load.concurrency,
        jobs,
        jobs_stored: number.load(Ordering::Relaxed),
        flushes_stored: after.flushes,
        per_second: jobs as f64 * f64::from(load.workload.units_per_job()) * 1e6 / spent_us as f64,
        p50_ms: percentile_ms(&times_us, 50),
        p99_ms: percentile_ms(&times_us, 99),
        flushes_per_job: each(after.flushes - before.flushes),
        statements_per_job: each(after.statements - before.statements),
    })
}

/// Returns the duration of each job, in microseconds.
async fn run_for(host: &Arc<Host>, load: Load, number: &Arc<AtomicU64>) -> Result<Vec<u64>, BenchError> {
    let until_us = clock::boot_us() + u64::try_from(load.time.as_micros()).unwrap_or(u64::MAX);
    let mut tasks = JoinSet::new();
    for _ in 0..load.concurrency {
        let (host, number) = (host.clone(), number.clone());
        tasks.spawn(async move {
            let mut times_us = Vec::new();
            // Runs at least one job, even if the time is too short for one job.
            loop {
                let submission = load.workload.submission(&host, number.fetch_add(1, Ordering::Relaxed))?;
                let started_us = clock::boot_us();
                run_one(&host, submission).await?;
                let now_us = clock::boot_us();
                times_us.push(now_us - started_us);
                if now_us >= until_us {
                    return Ok::<_, BenchError>(times_us);
                }
            }
        });
    }
    let mut times_us = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Ok(times) => times_us.extend(times?),
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }
    Ok(times_us)
}

async fn run_one(host: &Host, submission: latchwork::submit::Submission) -> Result<(), BenchError> {
    let response = match host.submit(submission).await? {
        SubmitResult::New(claim) => host.drive(claim, Arc::new(NoObserver)).await?,
        SubmitResult::Attached(row) => return Err(BenchError::NotCompleted(row.job_id, "before it began".to_owned())),
    };
    match response.state {
        JobState::Completed => Ok(()),
        state => Err(BenchError::NotCompleted(response.job_id, state.as_str().to_owned())),
    }
}

fn percentile_ms(sorted_us: &[u64], percent: usize) -> f64 {
    let at = (sorted_us.len() * percent).div_ceil(100).max(1) - 1;
    sorted_us.get(at).map_or(0.0, |us| *us as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::percentile_ms;

    #[test]
    fn percentiles_are_measured_times() {
        let times: Vec<u64> = (1..=200).map(|ms| ms * 1000).collect();
        assert_eq!(percentile_ms(&times, 50), 100.0);
        assert_eq!(percentile_ms(&times, 99), 198.0);
        assert_eq!(percentile_ms(&times[..1], 99), 1.0);
        assert_eq!(percentile_ms(&[], 50), 0.0);
    }
}
