//! Batches of many jobs in shared transactions.

use std::pin::Pin;
use std::task::Poll;

use latchwork_core::rules::ledger::RowState;
use latchwork_core::storage::{BatchKind, LedgerWrite, Record, WriteError};

use crate::support::store_fixture::{LogWriter, StoreFixture, ledger_row};

/// I15: 48 jobs write concurrently. Every third batch is refused for a reason that depends on its job.
pub(super) async fn conflict_of_one_job_fails_no_other_job(world: StoreFixture) {
    let mut logs = Vec::new();
    for job in 0..48 {
        logs.push(world.claimed_job(&format!("j{job}")).await);
    }
    let mut tasks = Vec::new();
    for (job, mut log) in logs.into_iter().enumerate() {
        let store = world.store.clone();
        tasks.push(tokio::spawn(async move {
            for round in 0..10 {
                let wrong = (job + round) % 3 == 0;
                let mut batch = if wrong { log.clone().append(1) } else { log.append(1) };
                let write = LedgerWrite::Insert(ledger_row(&format!("s{round}"), RowState::Committed, 1));
                batch.writes.ledger.push(write);
                let expected = match (wrong, job % 3) {
                    (false, _) => Ok(()),
                    (true, 0) => {
                        batch.expect_seq += 7;
                        Err(WriteError::Conflict { expected: log.seq + 7, found: log.seq })
                    }
                    (true, 1) => {
                        batch.attempt = 9;
                        Err(WriteError::Fenced { attempt: 9, current: 1 })
                    }
                    (true, _) => {
                        batch.expect_head.0[0] ^= 1;
                        Err(WriteError::OtherHead { seq: log.seq })
                    }
                };
                assert_eq!(store.write(batch).await, expected);
            }
            log
        }));
    }
    let mut logs: Vec<LogWriter> = Vec::new();
    for task in tasks {
        logs.push(task.await.unwrap());
    }
    for log in &logs {
        let record = world.store.load(&log.job_id).await.unwrap().unwrap();
        assert_eq!((record.row.next_seq, record.row.head), (log.seq, log.head));
        assert_eq!(record.ledger.len() as u64, log.seq - 2);
    }
    let counters = world.store.counters();
    assert_eq!(counters.batches + counters.refused, 480);
    assert_eq!(counters.refused, 160);
    // Batches of many jobs that wait together: all are submitted before the first result is read.
    let writes: Vec<_> = (0..6).flat_map(|_| logs.iter_mut().map(|log| log.append(1)).collect::<Vec<_>>()).collect();
    let results = join_all(writes.into_iter().map(|batch| world.store.write(batch)).collect()).await;
    assert!(results.iter().all(Result::is_ok));
    if world.dir.is_some() {
        let flushes = world.store.counters().flushes - counters.flushes;
        assert!(flushes <= 288 / 4, "batches share transactions: {flushes} flushes for 288 batches");
    }
}

/// I15.
pub(super) async fn batches_of_one_job_are_written_in_order(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let batches: Vec<_> = (0..300).map(|_| log.append(2)).collect();
    let mut wrong = log.clone();
    wrong.seq += 1;
    let mut writes: Vec<_> = batches.into_iter().map(|batch| world.store.write(batch)).collect();
    writes.push(world.store.write(wrong.append(1)));
    let before = world.store.counters().flushes;
    // All writes are polled in the order in which they were started.
    let results = join_all(writes).await;
    assert!(results[..300].iter().all(Result::is_ok));
    assert!(results[300].is_err());
    let record = world.store.load(&log.job_id).await.unwrap().unwrap();
    assert_eq!((record.events.len() as u64, record.row.head), (log.seq, log.head));
    if world.dir.is_some() {
        let flushes = world.store.counters().flushes - before;
        assert!(flushes <= 300 / 4, "{flushes} flushes for 300 batches");
    }
}

pub(super) async fn lingering_batches_are_written_in_order(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let before = world.store.counters().flushes;
    let mut alone = log.append(1);
    alone.writes.kind = BatchKind::Record(Record::Linger);
    world.store.write(alone).await.expect("a lingering batch is written after a few milliseconds");
    if world.dir.is_some() {
        assert_eq!(world.store.counters().flushes - before, 1);
    }
    // A lingering write and the next write share a flush, unless this task is interrupted between the two writes. The
    // test makes pairs of such writes until one pair shares a flush.
    let mut flushes = Vec::new();
    while flushes.len() < 8 && !flushes.contains(&1) {
        let before = world.store.counters().flushes;
        let mut first = log.append(1);
        first.writes.kind = BatchKind::Record(Record::Linger);
        let second = log.append(1);
        let results = join_all(vec![world.store.write(first), world.store.write(second)]).await;
        assert_eq!(results, [Ok(()), Ok(())]);
        assert_eq!(world.store.load(&log.job_id).await.unwrap().unwrap().events.len() as u64, log.seq);
        flushes.push(world.store.counters().flushes - before);
    }
    if world.dir.is_some() {
        assert_eq!(flushes.last(), Some(&1), "the lingering batch shares a flush: {flushes:?}");
    }
}

/// Drives all futures on this task and polls them in order.
async fn join_all<F: Future + Unpin>(futures: Vec<F>) -> Vec<F::Output> {
    let mut open: Vec<Result<F, Option<F::Output>>> = futures.into_iter().map(Ok).collect();
    std::future::poll_fn(|context| {
        for slot in &mut open {
            if let Ok(future) = slot
                && let Poll::Ready(output) = Pin::new(future).poll(context)
            {
                *slot = Err(Some(output));
            }
        }
        if open.iter().any(Result::is_ok) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    open.into_iter().filter_map(|slot| slot.err().flatten()).collect()
}
