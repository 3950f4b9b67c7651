//! Heartbeats: leases are prolonged while the process lives, and jobs that were lost are dropped.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Worker;

/// Starts the heartbeat of a worker; it ends with the worker.
pub(super) fn keep_alive(worker: &Arc<Worker>) {
    let weak = Arc::downgrade(worker);
    let period = Duration::from_millis(u64::from(worker.parts.settings.heartbeat_ms));
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(period).await;
            if beat(&weak).await.is_none() {
                return;
            }
        }
    });
}

async fn beat(worker: &Weak<Worker>) -> Option<()> {
    let worker = worker.upgrade()?;
    let held: Vec<_> = {
        let held = worker.held.lock().expect("no holder panics");
        held.iter().map(|(job_id, run)| (job_id.clone(), run.attempt())).collect()
    };
    if held.is_empty() {
        return Some(());
    }
    let machine = &worker.parts.machine;
    if machine.follows() {
        match worker.parts.journal.now_us().await {
            Ok(now_us) => machine.follow(now_us),
            Err(error) => tracing::debug!(%error, "the database does not tell the time"),
        }
    }
    match worker.parts.journal.heartbeat(&held, worker.parts.settings.lease_ms).await {
        Ok(lost) => {
            for job_id in lost {
                let run = worker.held.lock().expect("no holder panics").get(&job_id).cloned();
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
