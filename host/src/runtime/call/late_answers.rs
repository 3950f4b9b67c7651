//! Records an answer without its events if the joint write of the answer and its events failed or is no longer
//! possible. Notifies the lease holder of late answers.

use std::time::Duration;

use latchwork_core::model::effect::{Answer, Effect};
use latchwork_core::storage::{InboxError, InboxRequest, StoreError, WriteError};

use crate::runtime::audit_finished_inbox;
use crate::runtime::job::Run;

/// Time for which the worker retries to record an answer if a user watches the job.
const RECORD_TIMEOUT_WATCHED: Duration = Duration::from_secs(20);
/// Time for which the worker retries to record an answer if no user watches the job.
const RECORD_TIMEOUT: Duration = Duration::from_secs(600);
/// First and longest pause between two tries to record an answer.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

impl Run {
    /// Stores the answer of a call without its events, after the joint write of the answer and its events has failed.
    /// If another attempt has claimed the job since then, notifies the new lease holder.
    pub(crate) async fn persist_answer(&self, effect: &Effect) {
        if !effect.is_informative() {
            return;
        }
        let until_us = self.record_deadline_us();
        let put = self.store_effect(effect, until_us).await;
        if let Err(error) = &put {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "gave up recording an answer");
        }
        // The new lease holder must be notified even if the write succeeded. If the write took longer than the lease,
        // another attempt may have claimed the job and read its effects before the answer was stored.
        if must_notify(effect, &put) && self.is_superseded(until_us).await {
            self.notify_late_answer(effect, until_us).await;
        }
    }

    /// Records the answer of a call whose job this worker has lost, and notifies the new lease holder.
    pub(crate) async fn record_late_answer(&self, effect: &Effect) {
        if !effect.is_informative() {
            return;
        }
        let until_us = self.record_deadline_us();
        let put = self.store_effect(effect, until_us).await;
        if let Err(error) = &put {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "gave up recording a late answer");
        }
        if must_notify(effect, &put) {
            self.notify_late_answer(effect, until_us).await;
        }
    }

    /// Returns the boot-clock time until which the worker retries to record an answer, in microseconds.
    fn record_deadline_us(&self) -> u64 {
        let patience = if self.observer.is_watching() { RECORD_TIMEOUT_WATCHED } else { RECORD_TIMEOUT };
        self.machine().boot_us() + patience.as_micros() as u64
    }

    /// Puts an answer into the effect store. This write requires no claim. Retries while the store is unavailable,
    /// because no other process has the answer.
    async fn store_effect(&self, effect: &Effect, until_us: u64) -> Result<(), WriteError> {
        let (mut again, mut pause) = (false, RETRY_PAUSES.0);
        loop {
            let put = self.worker.parts.effects.put(&self.job_id, std::slice::from_ref(effect)).await;
            match put {
                Err(error @ (WriteError::Unavailable(_) | WriteError::Unknown(_)))
                    if self.machine().boot_us() < until_us =>
                {
                    if !again {
                        tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "cannot record an answer now; keeping it and \
                            retrying");
                    }
                    again = true;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RETRY_PAUSES.1);
                }
                ended => return ended,
            }
        }
    }

    /// Returns true if another attempt has claimed the job, or if the current attempt cannot be determined.
    async fn is_superseded(&self, until_us: u64) -> bool {
        loop {
            match self.worker.parts.journal.job(&self.job_id).await {
                Ok(row) => return row.is_none_or(|row| row.attempt != self.attempt),
                Err(StoreError::Unavailable(_)) if self.machine().boot_us() < until_us => {}
                Err(_) => return true,
            }
            tokio::time::sleep(RETRY_PAUSES.1).await;
        }
    }

    /// Puts a request about the late answer into the job's inbox.
    async fn notify_late_answer(&self, effect: &Effect, until_us: u64) {
        let parts = &self.worker.parts;
        let notified = loop {
            let request = InboxRequest::LateEffect { slot: effect.slot.clone(), try_no: effect.try_no };
            let worker = &parts.owner.worker;
            match parts.journal.put_inbox(&self.job_id, worker, Some("late answer"), request).await {
                Err(InboxError::Store(StoreError::Unavailable(_))) if self.machine().boot_us() < until_us => {
                    tokio::time::sleep(RETRY_PAUSES.1).await;
                }
                notified => break notified,
            }
        };
        if let Err(error) = notified {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "cannot notify the job of a late answer");
            return;
        }
        // The lease holder processes the request. A finished job has no lease holder, so this worker processes the
        // inbox of a finished job.
        if let Err(error) = audit_finished_inbox(&*parts.journal, &*parts.effects, self.machine(), &self.job_id).await {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "a late answer is in the inbox but not in the log");
        }
    }
}

/// Returns true if the job must be notified of a late answer.
///
/// A stored answer is always reported. An answer that could not be stored is reported only if it is a result. If the
/// answer could not be stored, the effect store usually contains a verdict about the call. If this verdict says that
/// the call did not happen, a result contradicts the verdict, and the job must record the conflict.
fn must_notify(effect: &Effect, put: &Result<(), WriteError>) -> bool {
    put.is_ok() || matches!(effect.answer, Answer::Ok(_))
}
