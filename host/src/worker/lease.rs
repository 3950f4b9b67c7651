//! Sends heartbeats, which extend the leases of held jobs, and aborts the runs of jobs whose lease was lost. A separate
//! task reads the database's time. A slow query for the time therefore cannot delay a heartbeat.

use std::sync::{Arc, Weak};
use std::time::Duration;

use latchwork_core::model::ids::JobId;

use super::Worker;

/// Starts the heartbeat of a worker. Also starts the synchronization of the clock if the clock follows the
/// database. Both end when the worker is dropped.
pub(super) fn keep_alive(worker: &Arc<Worker>) {
    let period = Duration::from_millis(u64::from(worker.parts.settings.heartbeat_ms));
    let weak = Arc::downgrade(worker);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(period).await;
            if heartbeat(&weak).await.is_none() {
                return;
            }
        }
    });
    if !worker.parts.machine.is_synchronized() {
        return;
    }
    let weak = Arc::downgrade(worker);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(period).await;
            if synchronize_clock(&weak).await.is_none() {
                return;
            }
        }
    });
}

/// Returns the held jobs, each with its attempt.
fn held_attempts(worker: &Worker) -> Vec<(JobId, u32)> {
    let held = worker.held.lock().expect("no holder panics");
    held.iter().map(|(job_id, holding)| (job_id.clone(), holding.attempt)).collect()
}

async fn heartbeat(worker: &Weak<Worker>) -> Option<()> {
    let worker = worker.upgrade()?;
    let held = held_attempts(&worker);
    if held.is_empty() {
        return Some(());
    }
    match worker.parts.journal.heartbeat(&held, worker.parts.settings.lease_ms).await {
        Ok(lost) => {
            for job_id in lost {
                let run = worker.held.lock().expect("no holder panics").get(&job_id).and_then(|of| of.run.clone());
                // Ignore the loss if this process has claimed the job again since the heartbeat was sent.
                if let Some(run) = run.filter(|run| held.contains(&(job_id, run.attempt()))) {
                    run.revoke_lease();
                }
            }
        }
        // The leases remain valid until they expire. After that, the store refuses new barriers of this
        // worker.
        Err(error) => tracing::warn!(%error, "heartbeat failed; leases were not extended"),
    }
    Some(())
}

/// Reads the database's time if any job is held, and synchronizes the local clock with it.
async fn synchronize_clock(worker: &Weak<Worker>) -> Option<()> {
    let worker = worker.upgrade()?;
    if held_attempts(&worker).is_empty() {
        return Some(());
    }
    let machine = &worker.parts.machine;
    let asked_us = machine.boot_us();
    let answer = worker.parts.journal.now_us().await;
    let margin_us = u64::from(worker.parts.settings.clock_margin_ms) * 1000;
    match answer {
        // The database read its clock at an unknown moment between the request and the answer. The time may therefore
        // be wrong by up to the duration of the query. An answer that took longer than the clock margin is ignored. The
        // clock margin therefore covers this error.
        Ok(now_us) if machine.boot_us() - asked_us <= margin_us => machine.synchronize(now_us, asked_us),
        Ok(_) => tracing::debug!("the database's time arrived too late and was ignored"),
        Err(error) => tracing::debug!(%error, "cannot read the database's time"),
    }
    Some(())
}
