//! State that all jobs of a worker share.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tokio::sync::Notify;

use latchwork_core::model::ids::JobId;
use latchwork_core::model::rules::Rules;
use latchwork_core::storage::LeaseRequest;

use super::lease::HeldJobs;
use super::limits::OperatorLimits;
use super::settings::WorkerParts;

/// Drives the jobs that this process has claimed.
pub struct Worker {
    pub(crate) parts: WorkerParts,
    /// Jobs that this process has claimed.
    pub(crate) held: HeldJobs,
    pub(crate) limits: OperatorLimits,
    stopping: AtomicBool,
    /// Notified when the worker stops.
    stopped: Notify,
    /// Number of answers to calls that have arrived but are not recorded yet.
    answers_unrecorded: AtomicU32,
}

/// Guard that counts one answer as not recorded yet.
pub(crate) struct UnrecordedGuard<'w>(&'w AtomicU32);

impl Drop for UnrecordedGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Worker {
    /// Creates a worker that holds no jobs.
    pub(crate) fn new(parts: WorkerParts) -> Self {
        let limits = OperatorLimits::new(&parts.settings.limits, parts.machine.clone());
        Self {
            parts,
            held: HeldJobs::default(),
            limits,
            stopping: AtomicBool::new(false),
            stopped: Notify::new(),
            answers_unrecorded: AtomicU32::new(0),
        }
    }

    /// Stops the worker. Tool calls in flight finish and are recorded, then every held job is released.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.stopped.notify_waiters();
    }

    /// Returns the held jobs.
    pub fn held_jobs(&self) -> Vec<JobId> {
        self.held.job_ids()
    }

    /// Returns the number of answers to calls that have arrived but are not recorded yet.
    pub fn answers_unrecorded(&self) -> u32 {
        self.answers_unrecorded.load(Ordering::Relaxed)
    }

    /// Counts one more unrecorded answer until the returned guard is dropped.
    pub(crate) fn count_unrecorded(&self) -> UnrecordedGuard<'_> {
        self.answers_unrecorded.fetch_add(1, Ordering::Relaxed);
        UnrecordedGuard(&self.answers_unrecorded)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Completes when the worker stops.
    pub(crate) async fn wait_for_stop(&self) {
        // Registers for the notification before checking the flag. Otherwise a stop in between would be missed.
        let notified = self.stopped.notified();
        if !self.is_stopping() {
            notified.await;
        }
    }

    /// Returns the owner and lease duration for claims of this worker.
    pub fn lease_request(&self) -> LeaseRequest {
        LeaseRequest { owner: self.parts.owner.clone(), lease_ms: self.parts.settings.lease_ms }
    }

    /// Returns the currently configured rules of a tenant, or the rules of `default` if the tenant has none.
    pub(crate) fn rules(&self, tenant: &str) -> Rules {
        let rules = &self.parts.rules;
        rules.get(tenant).or_else(|| rules.get("default")).cloned().unwrap_or_default()
    }
}
