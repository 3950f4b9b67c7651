//! Writes of ledger rows.

use crate::decide::Context;
use crate::decide::types::Invocation;
use crate::model::manifest::PinnedOperator;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::state::Durable;
use crate::storage::LedgerWrite;

/// Returns the write that replaces the slot's ledger row, or inserts the row if the slot has none.
pub(crate) fn replace_row(durable: &Durable, row: LedgerRow) -> LedgerWrite {
    match durable.rows.get(&row.slot) {
        None => LedgerWrite::Insert(row),
        Some(old) => LedgerWrite::Update { expect: old.state, expect_try: old.try_no, expect_nonce: old.nonce, row },
    }
}

/// Returns the row of an invocation that this attempt does not execute. The caller overwrites the state, the
/// try number and the other fields it knows.
pub(crate) fn unexecuted_row(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> LedgerRow {
    let old = durable.rows.get(&invocation.slot);
    LedgerRow {
        slot: invocation.slot.clone(),
        operator: invocation.operator.clone(),
        args_hash: invocation.args_ref.hash,
        state: RowState::FailedFinal,
        attempt: durable.job.attempt,
        nonce: context.random,
        try_no: 0,
        first_attempt: old.map_or(0, |row| row.first_attempt),
        first_started_us: old.map_or(context.now_us, |row| row.first_started_us),
        world_changing: durable.job.pinned(&invocation.operator).is_some_and(PinnedOperator::is_world_changing),
        timeout_ms: 0,
        deadline_us: 0,
        next_try_us: None,
        result_hash: None,
        action_key: invocation.action_key,
    }
}
