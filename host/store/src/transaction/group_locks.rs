//! Locks that a group takes on PostgreSQL before it reads anything. A group first locks the rows of its jobs, in the
//! order of the job ids. It then locks its action keys and its key-value maps, in the order of the lock numbers. All
//! workers use this order, so they cannot deadlock.
//!
//! SQLite has one writer and needs no locks.

use std::collections::BTreeSet;

use latchwork_core::model::ids::{Hash, JobId, Operator};
use latchwork_core::storage::{ActionWrite, Batch};

use crate::sql::row::{RowReader, StoredRow};
use crate::sql::statement_batch::StatementBatch;

/// Locks that a group needs.
#[derive(Debug, Default)]
pub(crate) struct GroupLocks {
    pub(crate) jobs: BTreeSet<JobId>,
    /// Action keys of which the group reads the waiting jobs. Each entry has a job, the operator and the key. The key
    /// belongs to the tenant of the job.
    waited_keys: Vec<(JobId, Operator, Hash)>,
    /// Numbers of the locks of action keys and key-value maps.
    numbers: BTreeSet<i64>,
}

/// Returns the number of the lock whose name is the hash of these parts.
pub(crate) fn lock_number(name: &[&[u8]]) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = Hash::of(name).0;
    i64::from_le_bytes([a, b, c, d, e, f, g, h])
}

impl GroupLocks {
    /// Adds the locks of a batch.
    pub(crate) fn add_batch(&mut self, batch: &Batch) {
        self.jobs.insert(batch.job_id.clone());
        for write in &batch.writes.actions {
            let (operator, key) = match write {
                ActionWrite::Reserve { operator, key, .. }
                | ActionWrite::Settle { operator, key, .. }
                | ActionWrite::WithdrawReceipt { operator, key, .. }
                | ActionWrite::Wait { operator, key } => (operator, key),
            };
            // The lock number does not depend on the tenant, so transactions with equal keys of two tenants
            // wait for each other. Equal keys of two tenants are rare, so this costs little.
            self.numbers.insert(lock_number(&[operator.as_str().as_bytes(), &key.0]));
            self.waited_keys.push((batch.job_id.clone(), operator.clone(), *key));
        }
    }

    /// Adds the locks of work that is not a batch.
    pub(crate) fn add_work(&mut self, jobs: Vec<JobId>, numbers: Vec<i64>) {
        self.jobs.extend(jobs);
        self.numbers.extend(numbers);
    }

    /// Appends the queries for the jobs that wait for the action keys of the batches. Returns true if there are
    /// any queries.
    pub(crate) fn push_waiter_queries(&self, statements: &mut StatementBatch) -> bool {
        let asked = statements.push_over_rows(
            "SELECT j.job_id FROM ",
            3,
            WAITS,
            &self.waited_keys,
            |statements, (job_id, operator, key)| {
                statements.text(job_id.as_str()).text(operator.as_str()).hash(*key);
            },
        );
        asked > 0
    }

    /// Adds the jobs that wait for the action keys of the group. The group writes to these jobs, too.
    pub(crate) fn add_waiters(&mut self, rows: &[Vec<StoredRow>]) {
        for row in rows.iter().flatten() {
            if let Ok(job_id) = RowReader::new(row, "jobs").text() {
                self.jobs.insert(JobId::from(job_id));
            }
        }
    }

    /// Appends the statements that take all locks.
    pub(crate) fn push_locks(&self, statements: &mut StatementBatch) {
        let jobs: Vec<&JobId> = self.jobs.iter().collect();
        statements.push_over_rows(
            "SELECT j.id FROM ",
            1,
            " CROSS JOIN jobs j ON j.job_id = v.column1 ORDER BY j.job_id FOR UPDATE OF j",
            &jobs,
            |statements, job_id| {
                statements.text(job_id.as_str());
            },
        );
        let numbers: Vec<i64> = self.numbers.iter().copied().collect();
        statements.push_over_rows(
            "SELECT COUNT(pg_advisory_xact_lock(v.column1)) FROM ",
            1,
            "",
            &numbers,
            |statements, number| {
                statements.int(*number);
            },
        );
    }
}

/// SQL joins that add, as `j`, each job that waits for one of the action keys in `v`. A row of `v` has three
/// columns: a job of the key's tenant, the operator and the key.
pub(crate) const WAITS: &str = " CROSS JOIN jobs asking ON asking.job_id = v.column1 CROSS JOIN action_waits w ON \
    w.tenant_id = asking.tenant_id AND w.operator = v.column2 AND w.key = v.column3 CROSS JOIN jobs j ON j.id = w.job";
