//! Checks of requests against the expectations of a job.

use crate::model::ids::{Hash, JobId, Slot};
use crate::model::job::JobState;
use crate::storage::expectation::{Expectation, ExpectationState, gate_name};
use crate::storage::inbox::NotExpected;
use crate::storage::{InboxError, InboxRequest, admit};

/// Returns true if the acceptance of the request depends on the job's expectations.
pub fn depends_on_expectations(request: &InboxRequest) -> bool {
    matches!(request, InboxRequest::Signal { .. } | InboxRequest::Approve { .. } | InboxRequest::Reject { .. })
}

/// Checks that a request may be put into the inbox of a job. `state` is the state of the job, and `awaited`
/// contains all expectations of the job.
///
/// # Errors
/// Returns an error if the job does not expect the request, or no longer expects it.
pub fn check_request(
    job_id: &JobId,
    state: JobState,
    awaited: &[Expectation],
    request: &InboxRequest,
    now_us: i64,
) -> Result<(), InboxError> {
    let refused = |why| Err(InboxError::NotAwaited { job_id: job_id.clone(), why });
    let over = || Err(InboxError::WrongState { job_id: job_id.clone(), state });
    match request {
        // A late effect is evidence. Even a terminal job accepts it.
        InboxRequest::LateEffect { .. } => Ok(()),
        InboxRequest::Signal { key, .. } => match wait_state_for_key(awaited, key, now_us) {
            Some(ExpectationState::Done) => Ok(()),
            _ if state.is_terminal() => over(),
            Some(ExpectationState::Over) => refused(NotExpected::TooLate(key.clone())),
            Some(ExpectationState::Pending | ExpectationState::Open) => Ok(()),
            None => refused(NotExpected::UnknownKey(key.clone())),
        },
        _ if !admit::accepts_request(state, request) => over(),
        InboxRequest::Approve { slot, gate_hash } | InboxRequest::Reject { slot, gate_hash } => {
            match check_gate_decision(awaited, slot, *gate_hash, now_us) {
                Ok(()) => Ok(()),
                Err(why) => refused(why),
            }
        }
        _ => Ok(()),
    }
}

/// Returns the progress of the wait for a correlation key. A pending wait with an unresolved key matches every key. If
/// several waits match, the states have this precedence: `Done`, `Open`, `Pending`, `Over`.
pub(crate) fn wait_state_for_key(awaited: &[Expectation], key: &str, now_us: i64) -> Option<ExpectationState> {
    let waits = || awaited.iter().filter(|awaited| awaited.name.starts_with("wait/"));
    let of_key = waits().filter(|awaited| awaited.key.as_deref() == Some(key)).map(|awaited| awaited.state_at(now_us));
    let unresolved = waits().filter(|awaited| awaited.key.is_none() && awaited.state == ExpectationState::Pending);
    let rank = |state: &ExpectationState| match state {
        ExpectationState::Done => 0,
        ExpectationState::Open => 1,
        ExpectationState::Pending => 2,
        ExpectationState::Over => 3,
    };
    of_key.chain(unresolved.map(|awaited| awaited.state)).min_by_key(rank)
}

/// Checks a decision on a gate. If no expectation of the gate is stored, the decision is accepted. The lease holder
/// later ignores a decision that does not apply.
pub(crate) fn check_gate_decision(
    awaited: &[Expectation],
    slot: &Slot,
    gate_hash: Hash,
    now_us: i64,
) -> Result<(), NotExpected> {
    let name = gate_name(slot);
    let Some(gate) = awaited.iter().find(|awaited| awaited.name == name) else { return Ok(()) };
    if let Some(hash) = gate.key.as_ref().filter(|hash| **hash != gate_hash.to_hex()) {
        return Err(NotExpected::OtherCall { slot: slot.clone(), hash: hash.clone() });
    }
    match gate.state_at(now_us) {
        ExpectationState::Pending | ExpectationState::Open => Ok(()),
        ExpectationState::Done | ExpectationState::Over => Err(NotExpected::GateClosed(slot.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::Hash;
    use crate::model::job::JobState;
    use crate::storage::InboxError;
    use crate::storage::InboxRequest;
    use crate::storage::NotExpected;
    use crate::storage::expectation::wait_name;

    fn wait(step: &str, key: Option<&str>, state: ExpectationState) -> Expectation {
        Expectation { name: wait_name(&step.into()), key: key.map(str::to_owned), state, until_us: None }
    }

    fn signal(awaited: &[Expectation], state: JobState, key: &str) -> Result<(), InboxError> {
        let request = InboxRequest::Signal { key: key.to_owned(), payload: "1".to_owned() };
        check_request(&"job_1".into(), state, awaited, &request, 5)
    }

    /// Tests I25: a signal is accepted while a wait expects it. A duplicate of a signal that was received is always
    /// accepted.
    #[test]
    fn signals_are_accepted_while_expected_and_duplicates_always() {
        use ExpectationState::*;
        let refused = |why| Err(InboxError::NotAwaited { job_id: "job_1".into(), why });
        let (late, unknown) = (NotExpected::TooLate("k".into()), NotExpected::UnknownKey("k".into()));
        for (rows, open, ended) in [
            (vec![wait("a", Some("k"), Pending)], Ok(()), false),
            (vec![wait("a", Some("k"), Open)], Ok(()), false),
            (vec![wait("a", Some("k"), Done)], Ok(()), true),
            (vec![wait("a", Some("k"), Over)], refused(late.clone()), false),
            (vec![wait("a", Some("k"), Over), wait("b", Some("k"), Open)], Ok(()), false),
            (vec![wait("a", Some("other"), Open)], refused(unknown.clone()), false),
            (vec![wait("a", Some("other"), Open), wait("b", None, Pending)], Ok(()), false),
            (vec![wait("b", None, Over)], refused(unknown.clone()), false),
            (vec![], refused(unknown), false),
        ] {
            assert_eq!(signal(&rows, JobState::Parked, "k"), open, "{rows:?}");
            assert_eq!(signal(&rows, JobState::Completed, "k").is_ok(), ended, "{rows:?}");
        }
    }

    /// Tests I20: a decision on a gate is accepted only if it names the call that the gate guards.
    #[test]
    fn gate_decisions_are_accepted_only_for_the_gated_call() {
        let (hash, other) = (Hash::of(&[b"call"]), Hash::of(&[b"another"]));
        let gate =
            |state| [Expectation { name: "gate/s/1".into(), key: Some(hash.to_hex()), state, until_us: Some(9) }];
        let ask_at = |now_us: i64, rows: &[Expectation], gate_hash| {
            let slot = Slot::new("s/1");
            let approve = InboxRequest::Approve { slot: slot.clone(), gate_hash };
            let reject = InboxRequest::Reject { slot, gate_hash };
            let both = [approve, reject]
                .map(|request| check_request(&"job_1".into(), JobState::Parked, rows, &request, now_us));
            assert_eq!(both[0], both[1]);
            both[0].is_ok()
        };
        let ask = |rows: &[Expectation], gate_hash| ask_at(8, rows, gate_hash);
        assert!(ask(&gate(ExpectationState::Open), hash));
        assert!(!ask_at(9, &gate(ExpectationState::Open), hash), "its time is over, noted or not");
        assert!(!ask(&gate(ExpectationState::Open), other), "a stale hash");
        assert!(!ask(&gate(ExpectationState::Done), hash));
        assert!(!ask(&gate(ExpectationState::Over), hash));
        assert!(ask(&[], hash), "the holder decides about gates without a row");
    }
}
