//! Many jobs in the same transactions.

use latchwork_core::ledger::RowState;
use latchwork_core::storage::{Flush, LedgerWrite, WriteError};

use super::world::{Log, World, row};

/// Jobs write at the same time; every third batch is wrong in its own way.
pub(crate) async fn one_jobs_conflict_fails_nobody_else(world: World) {
    let mut logs = Vec::new();
    for job in 0..48 {
        logs.push(world.running(&format!("j{job}")).await);
    }
    let mut tasks = Vec::new();
    for (job, mut log) in logs.into_iter().enumerate() {
        let store = world.store.clone();
        tasks.push(tokio::spawn(async move {
            for round in 0..10 {
                let wrong = (job + round) % 3 == 0;
                let mut batch = if wrong { log.clone().append(1) } else { log.append(1) };
                let write = LedgerWrite::Insert(row(&format!("s{round}"), RowState::Committed, 1));
                batch.ledger.push(write);
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
    for task in tasks {
        let log: Log = task.await.unwrap();
        let record = world.store.load(&log.job_id).await.unwrap().unwrap();
        assert_eq!((record.row.next_seq, record.row.head), (log.seq, log.head));
        assert_eq!(record.ledger.len() as u64, log.seq - 2);
    }
    let counters = world.store.counters();
    assert_eq!(counters.batches + counters.refused, 480);
    assert_eq!(counters.refused, 160);
    if world.dir.is_some() {
        assert!(counters.flushes < 480, "they share transactions: {counters:?}");
    }
}

pub(crate) async fn batches_of_one_job_follow_each_other(world: World) {
    let mut log = world.running("one").await;
    let batches: Vec<_> = (0..300).map(|_| log.append(2)).collect();
    let mut wrong = log.clone();
    wrong.seq += 1;
    let mut writes: Vec<_> = batches.into_iter().map(|batch| world.store.write(batch)).collect();
    writes.push(world.store.write(wrong.append(1)));
    let before = world.store.counters().flushes;
    // Each is polled in the order of its call.
    let results = join_all(writes).await;
    assert!(results[..300].iter().all(Result::is_ok));
    assert!(results[300].is_err());
    let record = world.store.load(&log.job_id).await.unwrap().unwrap();
    assert_eq!((record.events.len() as u64, record.row.head), (log.seq, log.head));
    if world.dir.is_some() {
        let flushes = world.store.counters().flushes - before;
        assert!(flushes <= 20, "{flushes} flushes for 300 batches");
    }
}

pub(crate) async fn lingering_batches_are_written_in_order(world: World) {
    let mut log = world.running("one").await;
    let before = world.store.counters().flushes;
    let mut alone = log.append(1);
    alone.flush = Flush::Linger;
    world.store.write(alone).await.expect("written after a few milliseconds, without any other");
    let mut first = log.append(1);
    first.flush = Flush::Linger;
    let second = log.append(1);
    let results = join_all(vec![world.store.write(first), world.store.write(second)]).await;
    assert_eq!(results, [Ok(()), Ok(())]);
    assert_eq!(world.store.load(&log.job_id).await.unwrap().unwrap().events.len() as u64, log.seq);
    if world.dir.is_some() {
        assert_eq!(world.store.counters().flushes - before, 2, "the lingering one rode along");
    }
}

/// Drive all futures on this task, polling them in order.
async fn join_all<F: Future + Unpin>(futures: Vec<F>) -> Vec<F::Output> {
    let mut open: Vec<Option<F>> = futures.into_iter().map(Some).collect();
    let mut done: Vec<Option<F::Output>> = open.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        for (future, done) in open.iter_mut().zip(&mut done) {
            if let Some(running) = future {
                if let std::task::Poll::Ready(output) = std::pin::Pin::new(running).poll(context) {
                    *done = Some(output);
                    *future = None;
                }
            }
        }
        if open.iter().all(Option::is_none) {
            let done = std::mem::take(&mut done);
            return std::task::Poll::Ready(done.into_iter().map(|output| output.expect("all are done")).collect());
        }
        std::task::Poll::Pending
    })
    .await
}
