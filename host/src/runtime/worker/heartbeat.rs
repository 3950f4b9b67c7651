//! Sends heartbeats, which extend the leases of held jobs, and aborts the runs of jobs whose lease was lost. A separate
//! task reads the database's time, so that a slow query for the time does not delay a heartbeat.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::settings::WorkerParts;
use super::worker_state::Worker;

impl Worker {
    /// Creates a worker that holds no jobs and starts its heartbeat. The heartbeat runs until the worker is
    /// dropped.
    pub fn start(parts: WorkerParts) -> Arc<Worker> {
        let worker = Arc::new(Worker::new(parts));
        keep_alive(&worker);
        worker
    }
}

/// Starts the heartbeat of a worker. Also starts the synchronization of the clock if the clock follows the database.
/// The heartbeat and the synchronization end when the worker is dropped.
fn keep_alive(worker: &Arc<Worker>) {
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

async fn heartbeat(worker: &Weak<Worker>) -> Option<()> {
    let worker = worker.upgrade()?;
    let held = worker.held.attempts();
    if held.is_empty() {
        return Some(());
    }
    match worker.parts.journal.heartbeat(&held, worker.parts.settings.lease_ms).await {
        Ok(lost) => {
            for (job_id, attempt) in held.iter().filter(|(job_id, _)| lost.contains(job_id)) {
                worker.held.revoke(job_id, *attempt);
            }
        }
        // A failed heartbeat does not end a lease early. If no heartbeat succeeds before a lease expires, the store
        // refuses new barriers of this worker.
        Err(error) => tracing::warn!(%error, "heartbeat failed; leases were not extended"),
    }
    Some(())
}

/// Reads the database's time if any job is held, and synchronizes the local clock with it.
async fn synchronize_clock(worker: &Weak<Worker>) -> Option<()> {
    let worker = worker.upgrade()?;
    if worker.held.attempts().is_empty() {
        return Some(());
    }
    let machine = &worker.parts.machine;
    let asked_us = machine.boot_us();
    let answer = worker.parts.journal.now_us().await;
    let margin_us = u64::from(worker.parts.settings.clock_margin_ms) * 1000;
    match answer {
        // The database read its clock at an unknown moment during the query, so the returned time may be wrong by up to
        // the duration of the query. The clock margin covers an error only up to the margin itself. A query that took
        // longer than the margin is therefore ignored.
        Ok(now_us) if machine.boot_us() - asked_us <= margin_us => machine.synchronize(now_us, asked_us),
        Ok(_) => tracing::debug!("the database's time arrived too late and was ignored"),
        Err(error) => tracing::debug!(%error, "cannot read the database's time"),
    }
    Some(())
}
