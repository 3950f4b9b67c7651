//! Effects: stored answers of tools, written once per job, slot and try.

use async_trait::async_trait;
use latchwork_core::admit;
use latchwork_core::effect::Effect;
use latchwork_core::ids::{JobId, Slot};
use latchwork_core::storage::{Batch, EffectStore, StoreError, WriteError};
use std::collections::BTreeMap;

use crate::Database;
use crate::error::Failure;
use crate::group::Seen;
use crate::row::Stored;
use crate::script::Script;
use crate::statement::Name;
use crate::writer::{Tx, Work};

/// Key of a job: the key of its row, or of its `foreign_jobs` row if its journal is in another database. Has
/// two parameters, both the job id.
const KEY_OF_JOB: &str =
    "(SELECT id FROM jobs WHERE job_id = ? UNION ALL SELECT -id FROM foreign_jobs WHERE job_id = ? LIMIT 1)";

/// Appends the queries for effects that batches contain and that may be stored already. Returns the number of
/// statements.
pub(crate) fn read(script: &mut Script, batches: &[&Batch]) -> usize {
    let tries: Vec<(&JobId, &Effect)> =
        batches.iter().flat_map(|batch| batch.effects.iter().map(|effect| (&batch.job_id, effect))).collect();
    script.over(
        "SELECT j.job_id, e.slot, e.try, e.bytes FROM ",
        3,
        " CROSS JOIN jobs j ON j.job_id = v.column1 CROSS JOIN effects e ON e.job = j.id AND e.slot = v.column2 \
         AND e.try = v.column3",
        &tries,
        |script, (job_id, effect)| {
            script.text(job_id.as_str()).text(effect.slot.as_str()).int(effect.try_no);
        },
    )
}

/// Loads a row into the group.
pub(crate) fn take(seen: &mut Seen, mut row: Stored<'_>) -> Result<(), StoreError> {
    let job_id = row.text()?;
    seen.job(&job_id, |standing| {
        standing.effects.insert((Slot::from(row.text()?), row.u32()?), row.blob()?);
        Ok(())
    });
    Ok(())
}

/// Writes new effects.
pub(crate) fn insert(script: &mut Script, effects: &[(i64, &Effect)]) {
    script.over(
        "INSERT INTO effects SELECT column1, column2, column3, column4 FROM ",
        4,
        " WHERE column1 IS NOT NULL",
        effects,
        |script, (job, effect)| {
            script.int(*job).text(effect.slot.as_str()).int(effect.try_no).blob(effect.to_bytes());
        },
    );
}

/// Writes effects on their own, without fencing.
struct Put {
    job_id: JobId,
    effects: Vec<Effect>,
}

#[async_trait]
impl Work for Put {
    type Done = Result<(), WriteError>;

    fn starts(&self) -> bool {
        false
    }

    fn jobs(&self) -> Vec<JobId> {
        vec![self.job_id.clone()]
    }

    fn is_marked(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Done, Failure> {
        let mut script = Script::new(&format!("SELECT {KEY_OF_JOB}"));
        script.text(self.job_id.as_str()).text(self.job_id.as_str());
        let mut key = Stored::new(&tx.run(Name::EFFECTS_FIND, script).await?[0][0], "jobs").int_or_null()?;
        if key.is_none() {
            let mut script = Script::new("INSERT INTO foreign_jobs (job_id) VALUES (?) RETURNING -id");
            script.text(self.job_id.as_str());
            key = Some(Stored::new(&tx.run(Name::EFFECTS_INSERT, script).await?[0][0], "foreign_jobs").int()?);
        }
        let key = key.unwrap_or_default();
        let mut script = Script::default();
        script.over(
            "SELECT e.slot, e.try, e.bytes FROM ",
            3,
            " CROSS JOIN effects e ON e.job = v.column1 AND e.slot = v.column2 AND e.try = v.column3",
            &self.effects,
            |script, effect| {
                script.int(key).text(effect.slot.as_str()).int(effect.try_no);
            },
        );
        if script.is_empty() {
            return Ok(Ok(()));
        }
        let mut stored = BTreeMap::new();
        for row in tx.run(Name::EFFECTS_FIND, script).await?.iter().flatten() {
            let mut row = Stored::new(row, "effects");
            stored.insert((Slot::from(row.text()?), row.u32()?), row.blob()?);
        }
        let new = match admit::new_effects_of(&stored, &self.effects) {
            Ok(new) => new,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let new: Vec<(i64, &Effect)> = new.into_iter().map(|index| (key, &self.effects[index])).collect();
        let mut script = Script::default();
        insert(&mut script, &new);
        if !new.is_empty() {
            tx.run_last(Name::EFFECTS_INSERT, script).await?;
        }
        Ok(Ok(()))
    }
}

#[async_trait]
impl EffectStore for Database {
    async fn put(&self, job_id: &JobId, effects: &[Effect]) -> Result<(), WriteError> {
        self.writer.work(Put { job_id: job_id.clone(), effects: effects.to_vec() }).await?
    }

    async fn effects(&self, job_id: &JobId) -> Result<Vec<Effect>, StoreError> {
        let mut script =
            Script::new(&format!("SELECT slot, try, bytes FROM effects WHERE job = {KEY_OF_JOB} ORDER BY slot, try"));
        script.text(job_id.as_str()).text(job_id.as_str());
        let rows = self.readers.run(Name::EFFECTS_READ, script).await?;
        let read = |row| {
            let mut row = Stored::new(row, "effects");
            let (slot, try_no, bytes) = (row.text()?, row.u32()?, row.blob()?);
            let effect: Effect = serde_json::from_slice(&bytes).map_err(|error| row.damaged(&error.to_string()))?;
            if effect.slot.as_str() != slot || effect.try_no != try_no {
                return Err(row.damaged(&format!("it belongs to slot {}, try {}", effect.slot, effect.try_no)));
            }
            Ok(effect)
        };
        rows.iter().flatten().map(read).collect()
    }
}
