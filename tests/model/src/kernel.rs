//! Calls the production code: converts records of the model to the arguments of its functions, and converts the
//! results back.

use std::collections::{BTreeMap, BTreeSet};

use latchwork_core::model::effect;
use latchwork_core::model::effect::{Output, Provenance};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::{Hash, JobId, Operator, Slot};
use latchwork_core::rules::ledger;
use latchwork_core::rules::ledger::{Caller, LedgerDecision, LedgerRow, Quiescence, RowState, SlotFacts};
use latchwork_core::storage::admit::{ActionKeys, JobSnapshot};
use latchwork_core::storage::quiescence::{OwnerFacts, assess};
use latchwork_core::storage::{
    AttemptEnd, Batch, BatchKind, InboxRequest, LedgerWrite, ManualVerdict, WriteError, admit,
};

use crate::ModelClass;
use crate::inbox::ModelRequest;
use crate::plan::{EFFECTS, EVENTS, PlannedWrite, ROW};
use crate::record::{Answer, Effect, EffectOrigin, ModelRow, Record};
use crate::state::{Job, Run, TryClock};

const SETTLING_MS: u32 = 500;
const MARGIN_MS: u32 = 2_000;
const DEADLINE_US: i64 = 30_000_000;

fn slot_name(slot: u8) -> Slot {
    Slot::new(format!("s{slot}"))
}

fn operator() -> Operator {
    Operator::new("Tool.Call")
}

fn row(slot: u8, row: &ModelRow) -> LedgerRow {
    let state = RowState::from_number(i64::from(row.state)).expect("only known states are stored");
    // The next try after a definite failure may follow immediately. The next try after a try in doubt waits for
    // the settling time.
    let next = matches!(state, RowState::FailedDefinite).then_some(0).or(row.must_settle.then_some(1));
    LedgerRow {
        slot: slot_name(slot),
        operator: operator(),
        args_hash: Hash::default(),
        state,
        attempt: u32::from(row.attempt),
        nonce: u64::from(row.nonce),
        try_no: u32::from(row.try_no),
        first_attempt: u32::from(row.first_attempt),
        first_started_us: 0,
        world_changing: true,
        timeout_ms: 30_000,
        deadline_us: 0,
        next_try_us: next,
        result_hash: None,
        action_key: None,
    }
}

fn effect(slot: u8, try_no: u8, effect: &Effect) -> effect::Effect {
    let failure = || Failure::new(Code::InvocationLost, "no answer");
    let answer = match effect.answer {
        Answer::Ok(value) => effect::Answer::Ok(Output {
            result: value.to_string(),
            receipt: None,
            state_changes: Vec::new(),
            usage: None,
        }),
        Answer::NotApplied => effect::Answer::NotApplied(failure()),
        Answer::Unknown => effect::Answer::Unknown { failure: failure(), kept: None },
    };
    let provenance = match effect.by {
        EffectOrigin::Executed => Provenance::Executed,
        EffectOrigin::Verdict => Provenance::Reconciled,
    };
    effect::Effect { slot: slot_name(slot), try_no: u32::from(try_no), answer, provenance, time_us: 0, spent: None }
}

/// Returns the number of events of the job.
fn events(records: &[Record], cancelled: bool) -> u64 {
    records.iter().map(Record::events).sum::<u64>() + u64::from(cancelled)
}

/// Returns the quiescence of the owner of a try, as assessed by [`assess`].
pub(crate) fn quiescence(clock: TryClock) -> Quiescence {
    let margin_us = i64::from(MARGIN_MS) * 1000;
    let now_us = match clock {
        TryClock::Unused | TryClock::Live => DEADLINE_US + margin_us - 1,
        TryClock::Over => DEADLINE_US + margin_us,
        TryClock::Settled => DEADLINE_US + margin_us + i64::from(SETTLING_MS) * 1000,
    };
    assess(&OwnerFacts {
        now_us,
        same_boot: true,
        deadline_us: DEADLINE_US,
        margin_ms: MARGIN_MS,
        owner_dead_us: None,
        settling_ms: SETTLING_MS,
    })
}

/// Returns the ledger's decision about an invocation, as made by [`ledger::decide`] from the records that a run
/// has loaded.
pub(crate) fn decide(
    run: &Run,
    slot: u8,
    class: ModelClass,
    nonce: Option<u16>,
    quiescence: Quiescence,
) -> LedgerDecision {
    let record = &run.view[usize::from(slot)];
    let row = record.row.as_ref().map(|found| row(slot, found));
    let operator = operator();
    let caller = Caller {
        attempt: u32::from(run.attempt),
        current_attempt: u32::from(run.current),
        nonce: nonce.map(u64::from),
        operator: operator.clone(),
        args_hash: Hash::default(),
        action_key: None,
        now_us: 0,
    };
    let found = SlotFacts {
        row: row.as_ref(),
        event: (record.tries > 0).then(|| (&operator, Hash::default(), None)),
        committed_event: record.committed,
        open_effect: record.open_try().is_some_and(|open| record.effect(open).is_some()),
        any_world_effect: class != ModelClass::Read && record.effects.iter().any(Option::is_some),
        quiescence,
        forbidden: run.cancelled.then_some(Code::Cancelled),
        owns_action_key: true,
    };
    ledger::decide(&caller, &found)
}

fn job_snapshot(job: &Job) -> JobSnapshot {
    let slots = || (0u8..).zip(&job.records);
    let effects = slots().flat_map(|(slot, record)| {
        (1u8..).zip(&record.effects).filter_map(move |(try_no, stored)| {
            let stored = stored.as_ref()?;
            Some(((slot_name(slot), u32::from(try_no)), effect(slot, try_no, stored).to_bytes()))
        })
    });
    JobSnapshot {
        job_id: JobId::new("j"),
        tenant_id: String::new(),
        state: job.state(),
        attempt: u32::from(job.attempt),
        next_seq: events(&job.records, job.cancelled),
        head: Hash::default(),
        cancel_requested: job.cancel_flag,
        inbox_pending: !job.inbox.is_empty(),
        wake_at_us: None,
        lease_live: job.lease_live,
        ledger: slots().filter_map(|(slot, record)| Some((slot_name(slot), row(slot, record.row.as_ref()?)))).collect(),
        effects: effects.collect(),
        payloads: BTreeMap::new(),
        inbox: (0i64..).zip(&job.inbox).map(|(id, _)| id).collect::<BTreeSet<i64>>(),
    }
}

/// Checks with [`admit::admit`] if the database accepts a part of a write.
///
/// The checks cover attempt, claim, end of the log, lease, cancel flag, expected rows, effects and inbox.
pub(crate) fn check_admitted(job: &Job, run: &Run, todo: &PlannedWrite, part: u8) -> Result<(), WriteError> {
    let mut standing = job_snapshot(job);
    let record = &run.view[usize::from(todo.slot)];
    let seq = events(&run.view, run.cancelled);
    let mut batch = Batch::new(standing.job_id.clone(), u32::from(run.attempt), seq, Hash::default());
    if part & ROW != 0
        && let Some(new) = todo.row(record, run.attempt)
    {
        let new = row(todo.slot, &new);
        batch.writes.ledger.push(match &record.row {
            None => LedgerWrite::Insert(new),
            Some(old) => {
                let old = row(todo.slot, old);
                let (expect, expect_try, expect_nonce) = (old.state, old.try_no, old.nonce);
                LedgerWrite::Update { expect, expect_try, expect_nonce, row: new }
            }
        });
    }
    if part & EFFECTS != 0
        && let Some((try_no, new)) = todo.effect(record)
    {
        batch.writes.effects.push(effect(todo.slot, try_no, &new));
    }
    if part & EVENTS != 0 {
        batch.writes.inbox_done.extend(todo.applies.map(|_| 0));
        batch.writes.kind = todo.status().and_then(AttemptEnd::of).map_or(batch.writes.kind, BatchKind::EndAttempt);
    }
    if todo.acquires() {
        batch.writes.kind = BatchKind::START_CALLS;
    }
    admit::admit(&mut standing, &mut ActionKeys::default(), &batch, 0).map(|_| ())
}

/// Returns true if the effect store accepts an answer, as decided by [`admit::new_effects_of`].
pub(crate) fn accepts_effect(job: &Job, slot: u8, try_no: u8, answer: &Effect) -> bool {
    let new = [effect(slot, try_no, answer)];
    admit::new_effects_of(&job_snapshot(job).effects, &new).is_ok()
}

/// Adds a request to the inbox if [`admit::accepts_request`] allows it. [`JobSnapshot::apply_request`] makes
/// the change.
pub(crate) fn add_to_inbox(job: &mut Job, note: ModelRequest) {
    let request = match note {
        ModelRequest::Cancel => InboxRequest::Cancel,
        ModelRequest::Late { slot, try_no } => {
            InboxRequest::LateEffect { slot: slot_name(slot), try_no: u32::from(try_no) }
        }
        ModelRequest::Resolve { slot, try_no, found_result: seen } => InboxRequest::Resolve {
            slot: slot_name(slot),
            try_no: u32::from(try_no),
            verdict: seen.map_or(ManualVerdict::NotApplied, |value| ManualVerdict::Applied(value.to_string())),
        },
    };
    let mut standing = job_snapshot(job);
    // A request to a finished job becomes an audit event, which the model leaves out.
    if standing.state.is_terminal() || !admit::accepts_request(standing.state, &request) {
        return;
    }
    standing.apply_request(&request);
    job.inbox.push(note);
    job.cancel_flag = standing.cancel_requested;
    job.set_state(standing.state);
}
