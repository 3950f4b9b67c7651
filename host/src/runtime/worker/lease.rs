//! Leases of the held jobs. No other module stores whether a lease is lost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::CancellationToken;

use latchwork_core::model::ids::JobId;

/// Lease of one claim of a job.
pub(crate) struct Lease {
    attempt: u32,
    /// Cancelled when the lease is lost.
    lost: CancellationToken,
}

impl Lease {
    fn new(attempt: u32) -> Self {
        Self { attempt, lost: CancellationToken::new() }
    }

    /// Marks the lease as lost and wakes the run, which then aborts its tries.
    fn revoke(&self) {
        self.lost.cancel();
    }

    /// Returns true if the lease is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_cancelled()
    }

    /// Completes when the lease is lost, at once if it was lost before.
    pub(crate) async fn wait_until_lost(&self) {
        self.lost.cancelled().await;
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

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn loss_before_the_wait_is_noticed() {
        let (held, job_id) = (HeldJobs::default(), JobId::from("job_a"));
        let job = held.hold(&job_id, 2);
        let lease = job.lease();
        assert_eq!(lease.wait_until_lost().now_or_never(), None);
        held.revoke(&job_id, 2);
        assert!(lease.is_lost());
        assert_eq!(lease.wait_until_lost().now_or_never(), Some(()));
        assert_eq!(lease.wait_until_lost().now_or_never(), Some(()), "the loss is never forgotten");
    }

    #[test]
    fn loss_of_an_earlier_attempt_is_ignored() {
        let (held, job_id) = (HeldJobs::default(), JobId::from("job_a"));
        drop(held.hold(&job_id, 1));
        let job = held.hold(&job_id, 2);
        held.revoke(&job_id, 1);
        assert!(!job.lease().is_lost());
        assert_eq!(held.attempts(), [(job_id, 2)]);
    }
}
