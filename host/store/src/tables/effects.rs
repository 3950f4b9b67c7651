//! Effects: stored answers of tools, written once per job, slot and try.

use std::collections::BTreeMap;

use async_trait::async_trait;

use latchwork_core::model::effect::Effect;
use latchwork_core::model::ids::{JobId, Slot};
use latchwork_core::storage::{Batch, StoreError, WriteError, admit};

use crate::sql::error::TransactionFailure;
use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::group_state::GroupState;
use crate::transaction::tx::Tx;
use crate::transaction::work::TransactionPart;

/// SQL for the database key of a job. If the journal of the job is in another database, the job's row in `foreign_jobs`
/// gives the key. Otherwise the job's row in `jobs` gives the key. The SQL has two parameters, and both are the job id.
const KEY_OF_JOB: &str =
    "(SELECT id FROM jobs WHERE job_id = ? UNION ALL SELECT -id FROM foreign_jobs WHERE job_id = ? LIMIT 1)";

/// Appends queries that find which effects of the batches are already stored. Returns the number of appended
/// statements.
pub(crate) fn read(statements: &mut StatementBatch, batches: &[&Batch]) -> usize {
    let tries: Vec<(&JobId, &Effect)> =
        batches.iter().flat_map(|batch| batch.writes.effects.iter().map(|effect| (&batch.job_id, effect))).collect();
    statements.push_over_rows(
        "SELECT j.job_id, e.slot, e.try, e.bytes FROM ",
        3,
        " CROSS JOIN jobs j ON j.job_id = v.column1 CROSS JOIN effects e ON e.job = j.id AND e.slot = v.column2 \
         AND e.try = v.column3",
        &tries,
        |statements, (job_id, effect)| {
            statements.text(job_id.as_str()).text(effect.slot.as_str()).int(effect.try_no);
        },
    )
}

/// Loads an effect into the state of the group.
pub(crate) fn load_row(seen: &mut GroupState, mut row: RowReader<'_>) -> Result<(), StoreError> {
    let job_id = row.text()?;
    seen.update_job(&job_id, |standing| {
        standing.effects.insert((Slot::from(row.text()?), row.u32()?), row.blob()?);
        Ok(())
    });
    Ok(())
}

/// Writes new effects.
pub(crate) fn insert(statements: &mut StatementBatch, effects: &[(i64, &Effect)]) {
    statements.push_over_rows(
        "INSERT INTO effects SELECT column1, column2, column3, column4 FROM ",
        4,
        " WHERE column1 IS NOT NULL",
        effects,
        |statements, (job, effect)| {
            statements.int(*job).text(effect.slot.as_str()).int(effect.try_no).blob(effect.to_bytes());
        },
    );
}

/// Work that writes effects without a batch, and therefore without fencing.
pub(crate) struct PutEffects {
    pub(crate) job_id: JobId,
    pub(crate) effects: Vec<Effect>,
}

#[async_trait]
impl TransactionPart for PutEffects {
    type Output = Result<(), WriteError>;

    fn starts_work(&self) -> bool {
        false
    }

    fn jobs(&self) -> Vec<JobId> {
        vec![self.job_id.clone()]
    }

    fn needs_marker(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure> {
        let mut statements = StatementBatch::new(&format!("SELECT {KEY_OF_JOB}"));
        statements.text(self.job_id.as_str()).text(self.job_id.as_str());
        let mut key =
            RowReader::new(&tx.run(StatementName::EFFECTS_FIND, statements).await?[0][0], "jobs").int_or_null()?;
        if key.is_none() {
            let mut statements = StatementBatch::new("INSERT INTO foreign_jobs (job_id) VALUES (?) RETURNING -id");
            statements.text(self.job_id.as_str());
            key = Some(
                RowReader::new(&tx.run(StatementName::EFFECTS_INSERT, statements).await?[0][0], "foreign_jobs")
                    .int()?,
            );
        }
        let key = key.unwrap_or_default();
        let mut statements = StatementBatch::default();
        statements.push_over_rows(
            "SELECT e.slot, e.try, e.bytes FROM ",
            3,
            " CROSS JOIN effects e ON e.job = v.column1 AND e.slot = v.column2 AND e.try = v.column3",
            &self.effects,
            |statements, effect| {
                statements.int(key).text(effect.slot.as_str()).int(effect.try_no);
            },
        );
        if statements.is_empty() {
            return Ok(Ok(()));
        }
        let mut stored = BTreeMap::new();
        for row in tx.run(StatementName::EFFECTS_FIND, statements).await?.iter().flatten() {
            let mut row = RowReader::new(row, "effects");
            stored.insert((Slot::from(row.text()?), row.u32()?), row.blob()?);
        }
        let new = match admit::new_effects_of(&stored, &self.effects) {
            Ok(new) => new,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let new: Vec<(i64, &Effect)> = new.into_iter().map(|index| (key, &self.effects[index])).collect();
        let mut statements = StatementBatch::default();
        insert(&mut statements, &new);
        if !new.is_empty() {
            tx.run_last(StatementName::EFFECTS_INSERT, statements).await?;
        }
        Ok(Ok(()))
    }
}

/// Returns the effects of a job.
pub(crate) async fn read_effects(readers: &Readers, job_id: &JobId) -> Result<Vec<Effect>, StoreError> {
    let mut statements = StatementBatch::new(&format!(
        "SELECT slot, try, bytes FROM effects WHERE job = {KEY_OF_JOB} ORDER BY slot, try"
    ));
    statements.text(job_id.as_str()).text(job_id.as_str());
    let rows = readers.run(StatementName::EFFECTS_READ, statements).await?;
    let read = |row| {
        let mut row = RowReader::new(row, "effects");
        let (slot, try_no, bytes) = (row.text()?, row.u32()?, row.blob()?);
        let effect: Effect = serde_json::from_slice(&bytes).map_err(|error| row.damaged(&error.to_string()))?;
        if effect.slot.as_str() != slot || effect.try_no != try_no {
            return Err(row.damaged(&format!("it belongs to slot {}, try {}", effect.slot, effect.try_no)));
        }
        Ok(effect)
    };
    rows.iter().flatten().map(read).collect()
}
