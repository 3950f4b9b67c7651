//! Tests of the decision table of §4, row by row and over every combination of inputs.

use crate::rules::ledger::*;

const ATTEMPT: u32 = 5;
const NONCE: u64 = 77;
const NOW_US: i64 = 1_000_000;
const WAIT_MS: u32 = 300;

fn args() -> Hash {
    Hash::of(&[b"args"])
}

fn caller() -> Caller {
    Caller {
        attempt: ATTEMPT,
        current_attempt: ATTEMPT,
        nonce: None,
        operator: Operator::new("Mail.Send"),
        args_hash: args(),
        action_key: None,
        now_us: NOW_US,
    }
}

fn row(state: RowState) -> LedgerRow {
    LedgerRow {
        slot: Slot::new("s1"),
        operator: Operator::new("Mail.Send"),
        args_hash: args(),
        state,
        attempt: ATTEMPT - 1,
        nonce: NONCE,
        try_no: 1,
        first_attempt: 1,
        first_started_us: 1,
        world_changing: true,
        timeout_ms: 30_000,
        deadline_us: 1,
        next_try_us: None,
        result_hash: None,
        action_key: None,
    }
}

fn nothing() -> SlotFacts<'static> {
    SlotFacts {
        row: None,
        event: None,
        committed_event: false,
        open_effect: false,
        any_world_effect: false,
        quiescence: Quiescence::Quiescent,
        forbidden: None,
        owns_action_key: true,
    }
}

/// A row of the table: its number, its condition and its decision.
type TableRow = (u32, fn(&Caller, &SlotFacts<'_>) -> bool, fn(&Caller, &SlotFacts<'_>) -> LedgerDecision);

fn state(found: &SlotFacts<'_>) -> Option<RowState> {
    found.row.map(|row| row.state)
}

fn inflight(found: &SlotFacts<'_>) -> bool {
    state(found) == Some(RowState::Inflight)
}

fn ours(caller: &Caller, found: &SlotFacts<'_>) -> bool {
    inflight(found) && found.row.is_some_and(|row| row.attempt == caller.attempt)
}

fn differs(caller: &Caller, operator: &Operator, args_hash: Hash, action_key: Option<Hash>) -> bool {
    (operator, args_hash, action_key) != (&caller.operator, caller.args_hash, caller.action_key)
}

/// The documented table. Row 12 of the documentation is split into the rows 12 to 15.
const TABLE: &[TableRow] = &[
    (1, |caller, _| caller.attempt != caller.current_attempt, |_, _| LedgerDecision::Rejected(Rejection::Stale)),
    (
        2,
        |caller, found| {
            found.row.is_some_and(|row| differs(caller, &row.operator, row.args_hash, row.action_key))
                || found.event.is_some_and(|(operator, hash, key)| differs(caller, operator, hash, key))
        },
        |_, _| LedgerDecision::Rejected(Rejection::Mismatch),
    ),
    (
        3,
        |_, found| found.committed_event || matches!(state(found), Some(RowState::Committed | RowState::FailedFinal)),
        |_, _| LedgerDecision::ReturnRecordedResult,
    ),
    (4, |_, found| inflight(found) && found.open_effect, |_, _| LedgerDecision::CatchUp),
    (5, |_, found| state(found) == Some(RowState::Indeterminate), |_, _| LedgerDecision::Ladder),
    (
        6,
        |caller, found| ours(caller, found) && caller.nonce == found.row.map(|row| row.nonce),
        |_, _| LedgerDecision::Continue,
    ),
    (7, |caller, found| ours(caller, found) && caller.nonce.is_some(), |_, _| LedgerDecision::StopOldCall),
    (
        8,
        |_, found| inflight(found) && found.quiescence != Quiescence::Quiescent,
        |_, _| LedgerDecision::WaitOtherWorker { wait_ms: WAIT_MS },
    ),
    (9, |_, found| inflight(found), |_, _| LedgerDecision::Indeterminate { alarm: false }),
    (
        10,
        |_, found| found.row.is_none() && (found.any_world_effect || found.event.is_some()),
        |_, _| LedgerDecision::Indeterminate { alarm: true },
    ),
    (
        11,
        |_, found| found.forbidden.is_some(),
        |_, found| LedgerDecision::Rejected(Rejection::Forbidden(found.forbidden.unwrap())),
    ),
    (
        12,
        |caller, found| found.row.and_then(|row| row.next_try_us).is_some_and(|time| time > caller.now_us),
        |_, found| LedgerDecision::WaitUntil(found.row.unwrap().next_try_us.unwrap()),
    ),
    (13, |_, found| found.row.is_some_and(|row| row.next_try_us.is_none()), |_, _| LedgerDecision::FailFinal),
    (14, |_, found| !found.owns_action_key, |_, _| LedgerDecision::Rejected(Rejection::ActionInProgress)),
    (15, |_, _| true, |_, _| LedgerDecision::AllowExecute),
];

/// Calls `look` with every combination of callers and stored states.
fn for_all(look: &mut dyn FnMut(&Caller, &SlotFacts<'_>)) {
    let other = Operator::new("Mail.Recall");
    let both = [false, true];
    let mut rows = vec![None];
    for state in [
        RowState::Inflight,
        RowState::Committed,
        RowState::FailedDefinite,
        RowState::Indeterminate,
        RowState::FailedFinal,
    ] {
        for attempt in [ATTEMPT - 1, ATTEMPT] {
            for next_try_us in [None, Some(NOW_US), Some(NOW_US + 1)] {
                let plain = LedgerRow { attempt, next_try_us, ..row(state) };
                rows.push(Some(LedgerRow { operator: other.clone(), ..plain.clone() }));
                rows.push(Some(LedgerRow { args_hash: Hash::default(), ..plain.clone() }));
                rows.push(Some(LedgerRow { action_key: Some(Hash::default()), ..plain.clone() }));
                rows.push(Some(plain));
            }
        }
    }
    let own = caller().operator;
    let events = [
        None,
        Some((&own, args(), None)),
        Some((&other, args(), None)),
        Some((&own, Hash::default(), None)),
        Some((&own, args(), Some(Hash::default()))),
    ];
    for (row, event) in rows.iter().flat_map(|row| events.map(|event| (row.as_ref(), event))) {
        for (nonce, current_attempt) in [None, Some(NONCE), Some(NONCE + 1)]
            .into_iter()
            .flat_map(|nonce| [ATTEMPT, ATTEMPT + 1].map(|now| (nonce, now)))
        {
            let caller = Caller { nonce, current_attempt, ..caller() };
            // The facts depend on seven boolean inputs, one for each bit of `bits`.
            for bits in 0..128_u32 {
                let bit = |number: u32| both[(bits >> number & 1) as usize];
                let found = SlotFacts {
                    row,
                    event,
                    committed_event: bit(0),
                    open_effect: bit(1),
                    any_world_effect: bit(2),
                    quiescence: if bit(3) { Quiescence::Quiescent } else { Quiescence::After { wait_ms: WAIT_MS } },
                    forbidden: bit(4).then_some(if bit(5) { Code::Cancelled } else { Code::PolicyDenied }),
                    owns_action_key: bit(6),
                };
                look(&caller, &found);
            }
        }
    }
}

/// I4: the first row that matches decides.
#[test]
fn first_matching_row_decides() {
    let mut hits = [0_u32; 16];
    for_all(&mut |caller, found| {
        let (number, _, decision) = TABLE.iter().find(|(_, matches, _)| matches(caller, found)).unwrap();
        assert_eq!(decide(caller, found), decision(caller, found), "line {number}: {caller:?} {found:?}");
        hits[*number as usize] += 1;
    });
    assert!(hits[1..].iter().all(|count| *count > 0), "{hits:?}");
}

#[test]
fn no_execution_while_a_try_may_be_open_or_an_answer_exists() {
    let mut allowed = 0;
    for_all(&mut |caller, found| {
        if decide(caller, found) != LedgerDecision::AllowExecute {
            return;
        }
        allowed += 1;
        assert!(matches!(state(found), None | Some(RowState::FailedDefinite)), "{found:?}");
        assert!(!found.committed_event && found.forbidden.is_none() && found.owns_action_key, "{found:?}");
        assert_eq!(caller.attempt, caller.current_attempt);
        if found.row.is_none() {
            assert!(found.event.is_none() && !found.any_world_effect, "{found:?}");
        }
    });
    assert!(allowed > 0);
}

#[test]
fn stale_attempt_is_rejected() {
    for_all(&mut |caller, found| {
        let stale = decide(caller, found) == LedgerDecision::Rejected(Rejection::Stale);
        assert_eq!(stale, caller.attempt != caller.current_attempt);
    });
}

/// I172.
#[test]
fn mismatched_arguments_are_rejected() {
    for_all(&mut |caller, found| {
        if TABLE[1].1(caller, found) {
            assert!(matches!(decide(caller, found), LedgerDecision::Rejected(Rejection::Stale | Rejection::Mismatch)));
        }
    });
}

/// Checks each row of the documented table with a separate example. The examples do not use `TABLE`, so a mistake in
/// `TABLE` cannot hide a mistake in the code. The numbers in this function are row numbers of the documented table.
#[test]
fn every_table_row_by_example() {
    use LedgerDecision as D;
    let with = |row: &LedgerRow, caller: &Caller| decide(caller, &SlotFacts { row: Some(row), ..nothing() });
    let inflight = row(RowState::Inflight);
    let mine = LedgerRow { attempt: ATTEMPT, ..inflight.clone() };
    // 1
    assert_eq!(decide(&Caller { current_attempt: ATTEMPT + 1, ..caller() }, &nothing()), D::Rejected(Rejection::Stale));
    // 2
    let others = LedgerRow { args_hash: Hash::of(&[b"other"]), ..row(RowState::Committed) };
    assert_eq!(with(&others, &caller()), D::Rejected(Rejection::Mismatch));
    // 3
    assert_eq!(with(&row(RowState::Committed), &caller()), D::ReturnRecordedResult);
    assert_eq!(with(&row(RowState::FailedFinal), &caller()), D::ReturnRecordedResult);
    let log_wins = SlotFacts { row: Some(&inflight), committed_event: true, ..nothing() };
    assert_eq!(decide(&caller(), &log_wins), D::ReturnRecordedResult);
    // 4
    let answered = SlotFacts { row: Some(&inflight), open_effect: true, ..nothing() };
    assert_eq!(decide(&caller(), &answered), D::CatchUp);
    // 5
    assert_eq!(with(&row(RowState::Indeterminate), &caller()), D::Ladder);
    // 6, 7
    assert_eq!(with(&mine, &Caller { nonce: Some(NONCE), ..caller() }), D::Continue);
    assert_eq!(with(&mine, &Caller { nonce: Some(NONCE + 1), ..caller() }), D::StopOldCall);
    // 8, 9
    let busy = Quiescence::After { wait_ms: 12 };
    let open = SlotFacts { row: Some(&inflight), quiescence: busy, ..nothing() };
    assert_eq!(decide(&caller(), &open), D::WaitOtherWorker { wait_ms: 12 });
    assert_eq!(with(&inflight, &caller()), D::Indeterminate { alarm: false });
    // The row is from another attempt, and its nonce equals the caller's nonce by coincidence. The caller must not
    // continue the try.
    assert_eq!(with(&inflight, &Caller { nonce: Some(NONCE), ..caller() }), D::Indeterminate { alarm: false });
    // 10
    let lost_row = SlotFacts { any_world_effect: true, ..nothing() };
    assert_eq!(decide(&caller(), &lost_row), D::Indeterminate { alarm: true });
    let operator = caller().operator;
    let lost_row = SlotFacts { event: Some((&operator, args(), None)), ..nothing() };
    assert_eq!(decide(&caller(), &lost_row), D::Indeterminate { alarm: true });
    // 11
    let forbidden = SlotFacts { forbidden: Some(Code::BudgetExceeded), ..nothing() };
    assert_eq!(decide(&caller(), &forbidden), D::Rejected(Rejection::Forbidden(Code::BudgetExceeded)));
    // 12
    let definite = |next_try_us| LedgerRow { next_try_us, ..row(RowState::FailedDefinite) };
    assert_eq!(with(&definite(Some(NOW_US + 1)), &caller()), D::WaitUntil(NOW_US + 1));
    assert_eq!(with(&definite(None), &caller()), D::FailFinal);
    assert_eq!(with(&definite(Some(NOW_US)), &caller()), D::AllowExecute);
    assert_eq!(decide(&caller(), &nothing()), D::AllowExecute);
    let reserved = SlotFacts { owns_action_key: false, ..nothing() };
    assert_eq!(decide(&caller(), &reserved), D::Rejected(Rejection::ActionInProgress));
}

#[test]
fn stored_state_numbers_are_stable() {
    let states = [
        RowState::Inflight,
        RowState::Committed,
        RowState::FailedDefinite,
        RowState::Indeterminate,
        RowState::FailedFinal,
    ];
    assert_eq!(states.map(|state| state as i64), [1, 2, 3, 4, 5]);
    for state in states {
        assert_eq!(RowState::from_number(state as i64), Some(state));
    }
    assert_eq!((RowState::from_number(0), RowState::from_number(6)), (None, None));
    assert_eq!(states.map(RowState::is_final), [false, true, false, false, true]);
}
