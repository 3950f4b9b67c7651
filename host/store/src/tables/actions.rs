//! Reservations of action keys, and the jobs that wait for them.

use std::collections::{BTreeMap, BTreeSet};

use latchwork_core::model::ids::{Hash, JobId, Operator};
use latchwork_core::storage::admit::ActionId;
use latchwork_core::storage::{ActionRow, ActionWrite, Batch, StoreError};

use crate::os::clock::Timestamps;
use crate::sql::readers::Readers;
use crate::sql::row::{RowReader, StoredRow};
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::group_state::GroupState;
use crate::tables::jobs::{self, JOIN_HOLDER, SNAPSHOT_COLUMNS};
use crate::tables::rows::ACTION_COLUMNS;
use crate::transaction::group_locks::WAITS;

/// Appends three queries about the action keys that the batches write. The queries read the reservations of the
/// keys, the ids of the jobs that wait for the keys, and the rows of these jobs. Returns the number of appended
/// statements, which is a multiple of three.
pub(crate) fn read(statements: &mut StatementBatch, batches: &[&Batch]) -> usize {
    let keys: BTreeSet<(&JobId, &Operator, &Hash)> = batches
        .iter()
        .flat_map(|batch| batch.writes.actions.iter().map(move |write| (batch, write)))
        .map(|(batch, write)| match write {
            ActionWrite::Reserve { operator, key, .. }
            | ActionWrite::Settle { operator, key, .. }
            | ActionWrite::WithdrawReceipt { operator, key, .. }
            | ActionWrite::Wait { operator, key } => (&batch.job_id, operator, key),
        })
        .collect();
    let keys: Vec<_> = keys.into_iter().collect();
    let mut bind = |statements: &mut StatementBatch, (job_id, operator, key): &(&JobId, &Operator, &Hash)| {
        statements.text(job_id.as_str()).text(operator.as_str()).hash(**key);
    };
    let held = statements.push_over_rows(
        &format!("SELECT a.tenant_id, a.operator, a.key, {ACTION_COLUMNS} FROM "),
        3,
        " CROSS JOIN jobs asking ON asking.job_id = v.column1 CROSS JOIN actions a ON a.tenant_id = \
         asking.tenant_id AND a.operator = v.column2 AND a.key = v.column3 CROSS JOIN jobs j ON j.id = a.job",
        &keys,
        &mut bind,
    );
    let waits =
        statements.push_over_rows("SELECT w.tenant_id, w.operator, w.key, j.job_id FROM ", 3, WAITS, &keys, &mut bind);
    let waiters = statements.push_over_rows(
        &format!("SELECT {SNAPSHOT_COLUMNS} FROM "),
        3,
        &format!("{WAITS}{JOIN_HOLDER}"),
        &keys,
        &mut bind,
    );
    held + waits + waiters
}

/// Loads the rows of the queries that [`read`] appended into the state of the group.
pub(crate) fn load_rows<'a>(
    seen: &mut GroupState,
    statements: impl ExactSizeIterator<Item = &'a Vec<StoredRow>>,
    now: &Timestamps,
) -> Result<(), StoreError> {
    let third = statements.len() / 3;
    for (index, rows) in statements.enumerate() {
        for row in rows {
            if index < third {
                let mut row = RowReader::new(row, "actions");
                let id = action_id(&mut row)?;
                seen.actions.held.insert(id, row.try_into()?);
            } else if index < 2 * third {
                let mut row = RowReader::new(row, "action_waits");
                let id = action_id(&mut row)?;
                seen.actions.waiting.entry(id).or_default().insert(JobId::from(row.text()?));
            } else {
                jobs::load_row(seen, RowReader::new(row, "jobs"), now)?;
            }
        }
    }
    Ok(())
}

fn action_id(row: &mut RowReader<'_>) -> Result<ActionId, StoreError> {
    Ok((row.text()?, Operator::from(row.text()?), row.hash()?))
}

/// Writes the current reservations and waits.
pub(crate) fn replace(
    statements: &mut StatementBatch,
    actions: &BTreeMap<ActionId, Option<(i64, ActionRow)>>,
    waits: &BTreeSet<(ActionId, i64)>,
) {
    let freed: Vec<&ActionId> = actions.iter().filter(|(_, row)| row.is_none()).map(|(id, _)| id).collect();
    let held: Vec<(&ActionId, &(i64, ActionRow))> =
        actions.iter().filter_map(|(id, row)| Some((id, row.as_ref()?))).collect();
    // These keys are now free or settled. The jobs that waited for the keys have been notified, so the waits of these
    // jobs are deleted.
    let over: Vec<&ActionId> = actions
        .iter()
        .filter(|(_, row)| row.as_ref().is_none_or(|(_, row)| row.receipt.is_some()))
        .map(|(id, _)| id)
        .collect();
    let waits: Vec<&(ActionId, i64)> = waits.iter().collect();
    let mut bind = |statements: &mut StatementBatch, id: &&ActionId| {
        statements.text(id.0.as_str()).text(id.1.as_str()).hash(id.2);
    };
    statements.push_over_rows(
        "DELETE FROM actions WHERE (tenant_id, operator, key) IN (SELECT column1, column2, column3 FROM ",
        3,
        ")",
        &freed,
        &mut bind,
    );
    statements.push_over_rows(
        "DELETE FROM action_waits WHERE (tenant_id, operator, key) IN (SELECT column1, column2, column3 FROM ",
        3,
        ")",
        &over,
        &mut bind,
    );
    statements.push_upsert(
        "actions",
        &["tenant_id", "operator", "key"],
        &["job", "slot", "args_hash", "receipt"],
        &held,
        |statements, (id, (job, row))| {
            statements.text(id.0.as_str()).text(id.1.as_str()).hash(id.2);
            statements.int(*job).text(row.slot.as_str()).hash(row.args_hash).blob_or_null(row.receipt.as_deref());
        },
    );
    statements.push_upsert(
        "action_waits",
        &["tenant_id", "operator", "key", "job"],
        &[],
        &waits,
        |statements, (id, job)| {
            statements.text(id.0.as_str()).text(id.1.as_str()).hash(id.2).int(*job);
        },
    );
}
pub(crate) async fn read_action(
    readers: &Readers,
    tenant: &str,
    operator: &Operator,
    key: Hash,
) -> Result<Option<ActionRow>, StoreError> {
    let mut statements = StatementBatch::new(&format!(
        "SELECT {ACTION_COLUMNS} FROM actions a CROSS JOIN jobs j ON j.id = a.job WHERE a.tenant_id = ? AND \
         a.operator = ? AND a.key = ?"
    ));
    statements.text(tenant).text(operator.as_str()).hash(key);
    let rows = readers.run(StatementName::ACTION_READ, statements).await?;
    rows.iter().flatten().next().map(|row| ActionRow::try_from(RowReader::new(row, "actions"))).transpose()
}
