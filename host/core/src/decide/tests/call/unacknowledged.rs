//! Tests of a durable barrier whose commit was never acknowledged. Nothing was executed after this barrier.

use serde_json::json;

use crate::decide;
use crate::decide::common::recorded_invocation;
use crate::decide::tests::support::{CrashPoint, Sim, step};
use crate::decide::{Invocation, NextAction, Try};
use crate::model::effect::{Answer, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::mode::Mode;
use crate::rules::ledger::{Quiescence, RowState};
use crate::state::Durable;
use crate::storage::{InboxRequest, InboxRow};

/// Returns three values: a job whose worker has written the barrier of its call, the durable state of this job, and the
/// nonce of the barrier.
fn begun(operator: &str, before: Vec<Answer>) -> (Sim, Durable, u64) {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", operator, &[], json!({}))]);
    let executed = before.len();
    sim.script.insert(operator.into(), before);
    assert!(sim.process(Some(CrashPoint::BeforeExecute(executed))).is_err());
    let durable = sim.durable();
    let nonce = durable.rows[&Slot::new("a")].nonce;
    (sim, durable, nonce)
}

fn asked(durable: &Durable, nonce: Option<u64>) -> Invocation {
    let slot = Slot::new("a");
    Invocation { nonce, ..recorded_invocation(durable, &slot, &durable.job.calls[&slot]) }
}

/// I118: the worker that wrote the barrier continues the try without a second barrier.
#[test]
fn barrier_writer_continues_its_try() {
    for operator in ["Opaque", "Queryable", "Keyed"] {
        let (mut sim, durable, nonce) = begun(operator, vec![]);
        let NextAction::Execute { barrier: Some(barrier), started } =
            decide::next_action(&durable, &asked(&durable, Some(nonce)), &sim.context())
        else {
            panic!("{operator}: the call is not executed");
        };
        // The draft of the barrier is empty. When the draft is committed, the store checks again that the call may be
        // executed.
        assert!(barrier.is_empty(), "{operator}: {barrier:?}");
        assert_eq!(barrier.kind.continued, [Slot::new("a")], "{operator}");
        assert_eq!(Some(started), Try::open(&durable, &Slot::new("a")), "{operator}");
    }
}

/// I118: if a keyed retry is continued under its old barrier, the provenance of the try stays `keyed_retry`.
#[test]
fn continued_keyed_retry_stays_keyed_retry() {
    let unknown = Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "no answer in time"), kept: None };
    let (mut sim, durable, nonce) = begun("Keyed", vec![unknown]);
    let next = decide::next_action(&durable, &asked(&durable, Some(nonce)), &sim.context());
    let NextAction::Execute { started, .. } = next else { panic!("{next:?}") };
    assert_eq!((started.try_no, started.provenance), (2, Provenance::KeyedRetry));
}

/// I118: only the caller that wrote the barrier continues the try. A caller with another nonce, or without a nonce, did
/// not write the barrier. For such a caller, the try is put in doubt after its process is quiescent.
#[test]
fn other_callers_do_not_continue_the_try() {
    let (mut sim, durable, nonce) = begun("Opaque", vec![]);
    let mut next = |nonce, quiescence| {
        decide::next_action(&durable, &Invocation { quiescence, ..asked(&durable, nonce) }, &sim.context())
    };
    assert!(matches!(next(Some(nonce ^ 1), None), NextAction::StopOldCall));
    assert!(matches!(next(None, None), NextAction::CheckOwner));
    let NextAction::Write(draft) = next(None, Some(Quiescence::Quiescent)) else { panic!("in doubt") };
    assert_eq!(draft.ledger[0].row().state, RowState::Indeterminate);
}

/// I118: if the job was cancelled after the barrier, nothing is executed, and no call is in doubt.
#[test]
fn cancelled_job_records_unexecuted_call_as_not_applied() {
    let (mut sim, mut durable, nonce) = begun("Opaque", vec![]);
    let row = InboxRow { id: 1, actor: "bob".into(), reason: None, request: InboxRequest::Cancel, verified: None };
    let draft = decide::apply_request(&durable, &row, &sim.context());
    durable.seal(durable.job.attempt, draft, sim.now_us).expect("the log takes it");
    let next = decide::next_action(&durable, &asked(&durable, Some(nonce)), &sim.context());
    let NextAction::Write(draft) = next else { panic!("{next:?}") };
    assert_eq!(draft.ledger[0].row().state, RowState::FailedFinal);
    assert!(matches!(draft.effects[0].answer, Answer::NotApplied(_)));
}
