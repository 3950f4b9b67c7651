//! Reads and writes the rows of jobs.

use std::collections::BTreeSet;

use latchwork_core::model::ids::JobId;
use latchwork_core::storage::admit::{JobSnapshot, releases_claim};
use latchwork_core::storage::{Batch, JobFilter, JobRow, StoreError};

use crate::os::clock::Timestamps;
use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::group_state::{GroupJob, GroupState};
use crate::tables::rows::{JOB_COLUMNS, state_number};

/// Columns that [`load_row`] reads, in order.
pub(crate) const SNAPSHOT_COLUMNS: &str = "j.job_id, j.id, j.tenant_id, j.state, j.attempt, j.next_seq, j.head, \
    j.cancel_requested, j.inbox_pending, j.wake_at_us, j.lease_until_us, o.boot_id";

/// SQL that joins the owner of the current claim to the job `j`.
pub(crate) const JOIN_HOLDER: &str =
    " LEFT JOIN claims c ON c.job = j.id AND c.attempt = j.attempt LEFT JOIN owners o ON o.id = c.owner";

/// Appends the queries for the jobs of the batches. Returns the number of statements.
pub(crate) fn read(statements: &mut StatementBatch, batches: &[&Batch]) -> usize {
    let ids: BTreeSet<&JobId> = batches.iter().map(|batch| &batch.job_id).collect();
    let ids: Vec<&JobId> = ids.into_iter().collect();
    statements.push_over_rows(
        &format!("SELECT {SNAPSHOT_COLUMNS} FROM "),
        1,
        &format!(" CROSS JOIN jobs j ON j.job_id = v.column1{JOIN_HOLDER}"),
        &ids,
        |statements, id| {
            statements.text(id.as_str());
        },
    )
}

/// Loads a row of [`SNAPSHOT_COLUMNS`] into the state of the group.
pub(crate) fn load_row(seen: &mut GroupState, mut row: RowReader<'_>, now: &Timestamps) -> Result<(), StoreError> {
    let job_id = JobId::from(row.text()?);
    let id = row.int()?;
    match read_snapshot(&job_id, row, now) {
        Ok(standing) => {
            let was = standing.state;
            seen.jobs.entry(job_id).or_insert(GroupJob {
                id,
                snapshot: standing,
                initial_state: was,
                touched: false,
                damage: None,
            });
        }
        Err(error) => {
            seen.damaged.insert(job_id, error);
        }
    }
    Ok(())
}

fn read_snapshot(job_id: &JobId, mut row: RowReader<'_>, now: &Timestamps) -> Result<JobSnapshot, StoreError> {
    let mut standing = JobSnapshot {
        job_id: job_id.clone(),
        tenant_id: row.text()?,
        state: row.job_state()?,
        attempt: row.u32()?,
        next_seq: row.u64()?,
        head: row.hash()?,
        cancel_requested: row.bool()?,
        inbox_pending: row.bool()?,
        wake_at_us: row.int_or_null()?,
        lease_live: false,
        ledger: Default::default(),
        effects: Default::default(),
        payloads: Default::default(),
        inbox: Default::default(),
    };
    let until = row.int_or_null()?;
    let holder_boot = row.text_or_null()?;
    // A lease of another boot has ended, because the boot-time clock was reset.
    let same_boot = now.boot_id.as_deref().is_none_or(|boot_id| holder_boot.as_deref() == Some(boot_id));
    standing.lease_live = same_boot && until.is_some_and(|until| now.boot_us < until);
    Ok(standing)
}

/// Appends the statements that update the rows of the jobs that the group changed.
pub(crate) fn update<'a>(statements: &mut StatementBatch, jobs: impl Iterator<Item = &'a GroupJob>, now_us: i64) {
    // If the state stays the same, the statement does not set the column `state`, so the index on `state` is
    // not updated.
    let (stay, change): (Vec<&GroupJob>, Vec<&GroupJob>) =
        jobs.filter(|known| known.touched).partition(|known| known.initial_state == known.snapshot.state);
    statements.push_over_rows(
        "UPDATE jobs SET next_seq = v.column2, head = v.column3, inbox_pending = v.column4, updated_us = v.column5 FROM ",
        5,
        " WHERE jobs.id = v.column1",
        &stay,
        |statements, known| {
            let standing = &known.snapshot;
            statements.int(known.id).bits(standing.next_seq).hash(standing.head).int(standing.inbox_pending).int(now_us);
        },
    );
    statements.push_over_rows(
        "UPDATE jobs SET next_seq = v.column2, head = v.column3, inbox_pending = v.column4, updated_us = v.column5, \
         state = v.column6, wake_at_us = v.column7, lease_until_us = CASE v.column8 WHEN 1 THEN NULL ELSE \
         lease_until_us END FROM ",
        8,
        " WHERE jobs.id = v.column1",
        &change,
        |statements, known| {
            let standing = &known.snapshot;
            statements
                .int(known.id)
                .bits(standing.next_seq)
                .hash(standing.head)
                .int(standing.inbox_pending)
                .int(now_us);
            statements
                .int(state_number(standing.state))
                .int_or_null(standing.wake_at_us)
                .int(releases_claim(standing.state));
        },
    );
}
pub(crate) async fn read_job(readers: &Readers, job_id: &JobId) -> Result<Option<JobRow>, StoreError> {
    let mut statements = StatementBatch::new(&format!("SELECT {JOB_COLUMNS} FROM jobs j WHERE j.job_id = ?"));
    statements.text(job_id.as_str());
    let rows = readers.run(StatementName::JOB_READ, statements).await?;
    rows.iter().flatten().next().map(|row| JobRow::try_from(RowReader::new(row, "jobs"))).transpose()
}

pub(crate) async fn read_jobs(readers: &Readers, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError> {
    let mut sql = format!("SELECT {JOB_COLUMNS} FROM jobs j WHERE 1 = 1");
    if filter.state.is_some() {
        sql.push_str(" AND j.state = ?");
    }
    if filter.open {
        sql.push_str(" AND j.state <= 5");
    }
    if filter.needs_audit {
        sql.push_str(" AND j.state > 5 AND j.inbox_pending = 1");
    }
    if filter.older_than.is_some() {
        sql.push_str(" AND j.id < (SELECT o.id FROM jobs o WHERE o.job_id = ?)");
    }
    sql.push_str(" ORDER BY j.id DESC LIMIT ?");
    let mut statements = StatementBatch::new(&sql);
    if let Some(state) = filter.state {
        statements.int(state_number(state));
    }
    if let Some(last) = &filter.older_than {
        statements.text(last.as_str());
    }
    statements.int(filter.limit);
    let rows = readers.run(StatementName::JOBS_READ, statements).await?;
    rows.iter().flatten().map(|row| JobRow::try_from(RowReader::new(row, "jobs"))).collect()
}
