//! Heartbeats: leases are prolonged while the process lives, and jobs that were lost are dropped. Beside
//! them the database's time is asked for, by a task of its own: a connection that hangs keeps no lease
//! from being prolonged.

use std::sync::{Arc, Weak};
use std::time::Duration;

use latchwork_core::ids::JobId;

use super::Worker;

/// Starts the heartbeat of a worker; it ends with the worker.
pub(super) fn keep_alive(worker: &Arc<Worker>) {
    let period = Duration::from_millis(u64::from(worker.parts.settings.heartbeat_ms));
    let weak = Arc::downgrade(worker);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(period).await;
            if beat(&weak).await.is_none() {
                return;
            }
        }
    });
    if !worker.parts.machine.follows() {
        return;
    }
    let weak = Arc::downgrade(worker);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(period).await;
            if follow(&weak).await.is_none() {
                return;
            }
        }
    });
}

/// The jobs in hand, each with its attempt.
fn held(worker: &Worker) -> Vec<(JobId, u32)> {
    let held = worker.held.lock().expect("no holder panics");
    held.iter().map(|(job_id, holding)| (job_id.clone(), holding.attempt)).collect()
}

async fn beat(worker: &Weak<Worker>) -> Option<()> {
    let worker = worker.upgrade()?;
    let held = held(&worker);
    if held.is_empty() {
        return Some(());
    }
    match worker.parts.journal.heartbeat(&held, worker.parts.settings.lease_ms).await {
        Ok(lost) => {
            for job_id in lost {
                let run = worker.held.lock().expect("no holder panics").get(&job_id).and_then(|of| of.run.clone());
                // What was lost is the claim that was asked about; this process may have made another since.
                if let Some(run) = run.filter(|run| held.contains(&(job_id, run.attempt()))) {
                    run.lose();
                }
            }
        }
        // The lease goes on until its time; a worker that cannot prolong it is refused by `acquire`.
        Err(error) => tracing::warn!(%error, "the heartbeat failed"),
    }
    Some(())
}

/// Asks for the database's time, where anything is in hand.
async fn follow(worker: &Weak<Worker>) -> Option<()> {
    let worker = worker.upgrade()?;
    if held(&worker).is_empty() {
        return Some(());
    }
    let machine = &worker.parts.machine;
    let asked_us = machine.boot_us();
    let answer = worker.parts.journal.now_us().await;
    let margin_us = u64::from(worker.parts.settings.clock_margin_ms) * 1000;
    match answer {
        // The clock is ahead by as long as the answer was on its way, at most: the margin covers that.
        Ok(now_us) if machine.boot_us() - asked_us <= margin_us => machine.follow(now_us, asked_us),
        Ok(_) => tracing::debug!("the database's time came too late to go by"),
        Err(error) => tracing::debug!(%error, "the database does not tell the time"),
    }
    Some(())
}
