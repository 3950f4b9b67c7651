//! Claims: the holder of each job and the end of its lease.

use async_trait::async_trait;

use latchwork_core::model::ids::JobId;
use latchwork_core::rules::ledger::LedgerRow;
use latchwork_core::storage::{Claim, ClaimExclusions, JobRow, LeaseRequest, Owner, StoreError};

use crate::os::clock::Timestamps;
use crate::sql::dialect::Dialect;
use crate::sql::error::TransactionFailure;
use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::jobs::JOIN_HOLDER;
use crate::tables::rows::{JOB_COLUMNS, OWNER_COLUMNS, owner};
use crate::tables::timers::push_next_query;
use crate::transaction::tx::Tx;
use crate::transaction::work::TransactionPart;

/// Selection of jobs to claim.
#[derive(Clone, Debug)]
pub(crate) enum ClaimTarget {
    /// One job.
    Job(JobId),
    /// Any job that the filter does not exclude.
    Any(ClaimExclusions),
}

impl ClaimTarget {
    /// Returns the condition under which job `j` can be claimed. A job that waits for a time cannot be claimed
    /// until it is `PENDING`.
    fn claimable(&self, dialect: Dialect) -> String {
        let (now, numbers, texts) = (dialect.now(), dialect.numbers(), dialect.texts());
        let which = match self {
            Self::Job(_) => "j.job_id = ?".to_owned(),
            Self::Any(_) => format!("j.tenant_id NOT IN ({texts}) AND j.job_id NOT IN ({texts})"),
        };
        format!(
            "j.state <= 2 AND (j.state = 1 OR j.lease_until_us IS NULL OR j.lease_until_us <= {now} OR (? IS NOT NULL AND \
             (o.boot_id IS NULL OR o.boot_id <> ?)) OR o.id IN ({numbers})) AND {which}"
        )
    }

    /// Binds the parameters of [`ClaimTarget::claimable`] in order:
    ///
    /// - the time of the lease clock, or NULL if only the server knows the time
    /// - the boot id of this machine, twice
    /// - the keys of dead owners of this kernel, as a JSON array
    /// - the job, or two JSON arrays with the excluded tenants and jobs
    fn bind(&self, statements: &mut StatementBatch, now: Option<&Timestamps>, dead: &str) {
        statements.int_or_null(now.map(|now| now.boot_us));
        // On PostgreSQL the boot id is NULL, which disables the condition on `o.boot_id`. On PostgreSQL, this condition
        // would be wrong. If another worker claims the job concurrently, PostgreSQL evaluates the condition again, with
        // the new row of the job but without the row of the new claim. `o.boot_id` is then NULL, although the new lease
        // holder may be alive.
        let boot_id = now.and_then(|now| now.boot_id.as_deref());
        statements.text_or_null(boot_id).text_or_null(boot_id).text(dead);
        let array = |texts: Vec<&str>| serde_json::to_string(&texts).expect("texts are JSON");
        match self {
            Self::Job(job_id) => statements.text(job_id.as_str()),
            Self::Any(except) => statements
                .text(array(except.tenants.iter().map(String::as_str).collect()))
                .text(array(except.jobs.iter().map(JobId::as_str).collect())),
        };
    }

    /// Builds a statement batch of three queries:
    ///
    /// - Whether a job can be claimed. Skips jobs that wait for a time, are parked or are finished.
    /// - The owners of this boot that hold running jobs. Skips the same jobs, and pending jobs too.
    /// - The time of the next timer or waiting job.
    pub(crate) fn search(&self, dialect: Dialect, here: Option<&Timestamps>, boot_id: &str) -> StatementBatch {
        let claimable = self.claimable(dialect);
        let mut statements =
            StatementBatch::new(&format!("SELECT EXISTS (SELECT 1 FROM jobs j{JOIN_HOLDER} WHERE {claimable})"));
        self.bind(&mut statements, here, "[]");
        let which = if let Self::Job(_) = self { " AND j.job_id = ?" } else { "" };
        statements.push(&format!(
            "SELECT DISTINCT o.id, {OWNER_COLUMNS} FROM jobs j{JOIN_HOLDER} WHERE j.state = 2 AND o.boot_id = ?{which}"
        ));
        statements.text(boot_id);
        if let Self::Job(job_id) = self {
            statements.text(job_id.as_str());
        }
        push_next_query(&mut statements, dialect, here);
        statements
    }

    /// Builds the query that finds the first claimable job and locks its row.
    pub(crate) fn select_first(&self, dialect: Dialect, now: &Timestamps, dead: &str) -> StatementBatch {
        let mut statements = StatementBatch::new(&format!(
            "SELECT j.id FROM jobs j{JOIN_HOLDER} WHERE {} ORDER BY j.priority DESC, j.id LIMIT 1{}",
            self.claimable(dialect),
            dialect.skip_locked("j")
        ));
        self.bind(&mut statements, Some(now), dead);
        statements
    }
}

/// Appends the statements that make `claimer` the holder of the job with the key `job`. The SQL text may contain the
/// key as a literal, because the key is a number from the database.
pub(crate) fn push_claim(statements: &mut StatementBatch, job: &str, claimer: &LeaseRequest, now: &Timestamps) {
    let owner = &claimer.owner;
    statements.push(
        "INSERT INTO owners (worker, boot_id, lock_path, lock_dev, lock_ino, lock_content) VALUES (?, ?, ?, ?, ?, ?) ON \
         CONFLICT DO NOTHING",
    );
    bind_owner(statements, owner);
    statements.push(&format!(
        "UPDATE jobs SET state = 2, attempt = attempt + 1, wake_at_us = NULL, lease_until_us = ?, updated_us = ? WHERE \
         id = {job}"
    ));
    statements.int(now.boot_us + i64::from(claimer.lease_ms) * 1000).int(now.now_us);
    statements.push(&format!(
        "INSERT INTO claims SELECT j.id, j.attempt, o.id, ? FROM jobs j CROSS JOIN owners o ON o.worker = ? AND \
         o.boot_id = ? AND o.lock_path = ? AND o.lock_dev = ? AND o.lock_ino = ? AND o.lock_content = ? WHERE j.id = \
         {job}"
    ));
    statements.int(now.now_us);
    bind_owner(statements, owner);
}

fn bind_owner(statements: &mut StatementBatch, owner: &Owner) {
    statements.text(owner.worker.as_str()).text(owner.boot_id.as_str()).text(owner.lock_path.as_str());
    statements.bits(owner.lock_dev).bits(owner.lock_ino).text(owner.lock_content.as_str());
}

/// Work that claims the first job of a selection.
pub(crate) struct ClaimWork {
    pub(crate) target: ClaimTarget,
    pub(crate) claimer: LeaseRequest,
    /// Keys of dead owners, as a JSON array.
    pub(crate) dead_owners: String,
}

#[async_trait]
impl TransactionPart for ClaimWork {
    type Output = Option<Claim>;

    fn starts_work(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure> {
        let now = tx.now().await?;
        let statements = self.target.select_first(tx.dialect, &now, &self.dead_owners);
        let rows = tx.run(StatementName::CLAIM_FIND, statements).await?;
        let Some(row) = rows.iter().flatten().next() else { return Ok(None) };
        let id = RowReader::new(row, "jobs").int()?.to_string();
        let mut statements = StatementBatch::default();
        push_claim(&mut statements, &id, &self.claimer, &now);
        statements.push(&format!("SELECT {JOB_COLUMNS} FROM jobs j WHERE j.id = {id}"));
        let rows = tx.run_last(StatementName::CLAIM_TAKE, statements).await?;
        let row = rows.iter().flatten().next().ok_or_else(|| TransactionFailure::Sql(sqlx::Error::RowNotFound))?;
        Ok(Some(Claim { row: JobRow::try_from(RowReader::new(row, "jobs"))?, now_us: now.now_us }))
    }
}

/// Work that extends leases. Returns the jobs that the caller no longer holds.
pub(crate) struct ExtendLeases {
    pub(crate) held: Vec<(JobId, u32)>,
    pub(crate) lease_ms: u32,
}

#[async_trait]
impl TransactionPart for ExtendLeases {
    type Output = Vec<JobId>;

    fn starts_work(&self) -> bool {
        true
    }

    fn jobs(&self) -> Vec<JobId> {
        self.held.iter().map(|(job_id, _)| job_id.clone()).collect()
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure> {
        let until_us = tx.now().await?.boot_us + i64::from(self.lease_ms) * 1000;
        let mut statements = StatementBatch::default();
        statements.push_over_rows(
            "UPDATE jobs SET lease_until_us = v.column3 FROM ",
            3,
            " WHERE jobs.job_id = v.column1 AND jobs.attempt = v.column2 AND jobs.state = 2 RETURNING jobs.job_id",
            &self.held,
            |statements, (job_id, attempt)| {
                statements.text(job_id.as_str()).int(*attempt).int(until_us);
            },
        );
        let mut lost: Vec<JobId> = self.held.iter().map(|(job_id, _)| job_id.clone()).collect();
        for row in tx.run_last(StatementName::HEARTBEAT, statements).await?.iter().flatten() {
            let kept = RowReader::new(row, "jobs").text()?;
            lost.retain(|job_id| job_id.as_str() != kept);
        }
        Ok(lost)
    }
}

/// Returns the owner that held the job in the attempt of `row`, and the database's current time. `now` is the current
/// time, or `None` if the server supplies the time.
pub(crate) async fn read_owner(
    readers: &Readers,
    dialect: Dialect,
    now: Option<&Timestamps>,
    job_id: &JobId,
    row: &LedgerRow,
) -> Result<(Owner, i64), StoreError> {
    let mut statements = StatementBatch::new(&format!(
        "SELECT {OWNER_COLUMNS}, {} FROM jobs j CROSS JOIN claims c ON c.job = j.id AND c.attempt = ? CROSS JOIN \
         owners o ON o.id = c.owner WHERE j.job_id = ?",
        dialect.now()
    ));
    statements.int_or_null(now.map(|now| now.now_us)).int(row.attempt).text(job_id.as_str());
    let rows = readers.run(StatementName::OWNER_READ, statements).await?;
    let Some(found) = rows.iter().flatten().next() else {
        return Err(StoreError::Damaged(format!(
            "table claims, row (job_id {job_id}, attempt {}): it is missing, but slot {} was started under it",
            row.attempt, row.slot
        )));
    };
    let mut stored = RowReader::new(found, "owners");
    Ok((owner(&mut stored)?, stored.int()?))
}

/// Query for the lock files of all owners that have, or had earlier, a claim on a job that is now open.
const NAMED: &str = "SELECT DISTINCT o.lock_path FROM jobs j JOIN claims c ON c.job = j.id JOIN owners o ON o.id = \
                     c.owner WHERE j.state <= 5";

/// Returns the paths of the lock files to which claims of open jobs refer.
pub(crate) async fn read_named_locks(readers: &Readers) -> Result<Vec<String>, StoreError> {
    let rows = readers.run(StatementName::OWNERS_NAMED, StatementBatch::new(NAMED)).await?;
    rows.iter().flatten().map(|row| RowReader::new(row, "owners").text()).collect()
}
