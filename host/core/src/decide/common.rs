//! Drafts and invocations that several decisions need.

use crate::decide::types::Invocation;
use crate::event::Body;
use crate::model::ids::Slot;
use crate::model::payload::PayloadRef;
use crate::model::step::StepState;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::state::{Call, Durable};
use crate::storage::Draft;

/// Rebuilds the invocation of a slot from its records.
pub(super) fn recorded_invocation(durable: &Durable, slot: &Slot, call: &Call) -> Invocation {
    let row = durable.rows.get(slot);
    Invocation {
        slot: slot.clone(),
        operator: call.operator.clone(),
        args: durable.args(slot).map(|bytes| bytes.to_vec()).unwrap_or_default(),
        args_ref: PayloadRef { ..call.args },
        action_key: row.and_then(|row| row.action_key),
        timeout_ms: row.map_or(0, |row| row.timeout_ms),
        unusable: None,
        nonce: None,
        quiescence: None,
        reconcile_exhausted: false,
        max_cost_micro_usd: None,
        reserved_micro_usd: 0,
        month_micro_usd: None,
    }
}

pub(super) fn single_event(body: Body) -> Draft {
    Draft { events: vec![body], ..Draft::default() }
}

pub(super) fn unblock(durable: &Durable, slot: &Slot) -> Draft {
    let step_id = slot.step();
    let waits = durable.job.step(&step_id).is_some_and(|step| {
        step.state == StepState::Blocked && step.blocked.as_ref().is_some_and(|(on, _)| on == slot)
    });
    if waits { single_event(Body::StepUnblocked { step_id }) } else { Draft::default() }
}

/// Returns the world-changing calls that are in flight or in doubt. Leaves out the call of the open compensation,
/// because compensation resolves this call itself.
pub(super) fn calls_in_doubt(durable: &Durable) -> impl Iterator<Item = &LedgerRow> {
    let open = durable.job.open_compensation().map(|(slot, _)| slot);
    durable.rows.values().filter(move |row| {
        let in_doubt = matches!(row.state, RowState::Inflight | RowState::Indeterminate);
        row.world_changing && in_doubt && Some(&row.slot) != open
    })
}
