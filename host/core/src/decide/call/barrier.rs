//! The barrier of a try: the durable record that precedes the call of the tool.

use crate::decide::call::action;
use crate::decide::call::ledger_row::replace_row;
use crate::decide::call::tries::{is_keyed_retry, started_event};
use crate::decide::types::{Invocation, NextAction};
use crate::decide::{Context, Try, answered};
use crate::model::effect::{Answer, Effect, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::manifest::PinnedOperator;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::state::{Durable, label};
use crate::storage::{ActionWrite, Draft, Payload, StartCalls};

/// Starts one more try. Returns no barrier if the call only reads.
pub(crate) fn start(
    durable: &Durable,
    invocation: &Invocation,
    operator: &PinnedOperator,
    provenance: Provenance,
    context: &Context<'_>,
) -> (Option<Draft<StartCalls>>, Try) {
    let job = &durable.job;
    let slot = &invocation.slot;
    let call = job.calls.get(slot);
    let first_attempt = call.map(|call| call.first_attempt).filter(|first| *first > 0).unwrap_or(job.attempt);
    let try_no = call.map_or(0, |call| call.tries) + 1;
    let started = Try { try_no, first_attempt, nonce: context.random, provenance, timeout_ms: invocation.timeout_ms };
    if !operator.is_world_changing() {
        return (None, started);
    }
    let row = LedgerRow {
        slot: slot.clone(),
        operator: invocation.operator.clone(),
        args_hash: invocation.args_ref.hash,
        state: RowState::Inflight,
        attempt: job.attempt,
        nonce: started.nonce,
        try_no,
        first_attempt,
        first_started_us: durable
            .rows
            .get(slot)
            .filter(|row| row.first_attempt > 0)
            .map_or(context.now_us, |row| row.first_started_us),
        world_changing: true,
        timeout_ms: invocation.timeout_ms,
        deadline_us: 0,
        next_try_us: None,
        result_hash: None,
        action_key: invocation.action_key,
    };
    let mut draft = Draft {
        events: vec![started_event(invocation, &started)],
        ledger: vec![replace_row(durable, row)],
        ..Draft::default()
    };
    if !slot.is_step() && !durable.payloads.contains_key(&label::args(slot)) {
        draft.payloads.push(Payload { label: label::args(slot), bytes: invocation.args.clone() });
    }
    // Every try reserves the action key, because the end of an earlier round of retries may have released the key.
    if let Some(key) = invocation.action_key {
        draft.actions.push(ActionWrite::Reserve {
            operator: invocation.operator.clone(),
            key,
            args_hash: action::args_hash(&invocation.args),
            slot: slot.clone(),
        });
    }
    (Some(draft), started)
}

/// Continues a try whose barrier is durable. The worker received no acknowledgement of the barrier, so nothing was
/// executed yet. In an aborting job the call is not executed, and its answer is `CANCELLED`.
pub(crate) fn continue_try(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> NextAction {
    let slot = &invocation.slot;
    let open = Try::open(durable, slot).expect("a row in flight has its open try");
    let repeats = is_keyed_retry(durable, slot);
    let provenance = if repeats { Provenance::KeyedRetry } else { Provenance::Executed };
    let started = Try { provenance, ..open };
    if crate::decide::call::tries::may_execute(durable, slot) {
        // The draft of this barrier is empty, because the barrier is already durable. When the empty draft is
        // committed, the store checks again that the call may be executed. The store checks the claim, the lease, the
        // cancellation, and the identity of the database.
        let continued = vec![slot.clone()];
        let barrier = Draft { kind: StartCalls { continued }, ..Draft::default() };
        return NextAction::Execute { barrier: Some(barrier), started };
    }
    let answer = Answer::NotApplied(Failure::new(Code::Cancelled, "the job was given up before the call was made"));
    let (try_no, time_us) = (started.try_no, context.now_us);
    let effect = Effect { slot: slot.clone(), try_no, answer, provenance, time_us, spent: None };
    NextAction::Write(answered(durable, invocation, &started, effect, context))
}
