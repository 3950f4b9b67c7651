//! Leases of the held jobs. No other module stores whether a lease is lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use latchwork_core::model::ids::JobId;

/// Lease of one claim of a job.
pub(crate) struct Lease {
    attempt: u32,
    lost: AtomicBool,
    /// Notified when the lease is lost.
    lost_notify: Notify,
}

impl Lease {
    fn new(attempt: u32) -> Self {
        Self { attempt, lost: AtomicBool::new(false), lost_notify: Notify::new() }
    }

    /// Marks the lease as lost and wakes the run, which then aborts its tries.
    fn revoke(&self) {
        self.lost.store(true, Ordering::Release);
        self.lost_notify.notify_waiters();
    }

    /// Returns true if the lease is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Completes when the lease is lost.
    pub(crate) async fn wait_until_lost(&self) {
        self.lost_notify.notified().await;
    }
}

/// Leases that the heartbeat extends, by job id. A job is held from its claim on, because loading it may take longer
/// than its lease.
#[derive(Default)]
pub(crate) struct HeldJobs(Mutex<BTreeMap<JobId, Arc<Lease>>>);

impl HeldJobs {
    fn lock_jobs(&self) -> MutexGuard<'_, BTreeMap<JobId, Arc<Lease>>> {
        self.0.lock().expect("no holder panics")
    }

    /// Holds a claimed job until the returned guard is dropped.
    pub(crate) fn hold(&self, job_id: &JobId, attempt: u32) -> HeldJob<'_> {
        let lease = Arc::new(Lease::new(attempt));
        self.lock_jobs().insert(job_id.clone(), lease.clone());
        HeldJob { held: self, job_id: job_id.clone(), lease }
    }

    /// Returns the held jobs.
    pub(crate) fn job_ids(&self) -> Vec<JobId> {
        self.lock_jobs().keys().cloned().collect()
    }

    /// Returns the held jobs, each with its attempt.
    pub(crate) fn attempts(&self) -> Vec<(JobId, u32)> {
        self.lock_jobs().iter().map(|(job_id, lease)| (job_id.clone(), lease.attempt)).collect()
    }

    /// Marks the lease of an attempt as lost. Ignores the loss if this process has claimed the job again since that
    /// attempt.
    pub(crate) fn revoke(&self, job_id: &JobId, attempt: u32) {
        let lease = self.lock_jobs().get(job_id).cloned();
        if let Some(lease) = lease.filter(|lease| lease.attempt == attempt) {
            lease.revoke();
        }
    }
}

/// Guard of a held job. Dropping the guard ends the heartbeat of the job's lease.
pub(crate) struct HeldJob<'w> {
    held: &'w HeldJobs,
    job_id: JobId,
    lease: Arc<Lease>,
}

impl HeldJob<'_> {
    /// Returns the lease of the job.
    pub(crate) fn lease(&self) -> Arc<Lease> {
        self.lease.clone()
    }
}

impl Drop for HeldJob<'_> {
    fn drop(&mut self) {
        self.held.lock_jobs().remove(&self.job_id);
    }
}
