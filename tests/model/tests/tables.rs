//! I4, I84: compares the code with the tables of §4 and §5 in `docs/reference/semantics`. Rows, their order and their
//! decisions are read from the page. Every combination of caller and stored data is checked against both
//! tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use latchwork_core::model::error::Code;
use latchwork_core::model::ids::{Hash, Operator, Slot};
use latchwork_core::rules::ledger::{
    Caller, LedgerDecision, LedgerRow, Quiescence, Rejection, RowState, SlotFacts, decide,
};

const ATTEMPT: u32 = 3;
const NONCE: u64 = 7;
const NOW_US: i64 = 1_000;

const STATES: [RowState; 5] =
    [RowState::Inflight, RowState::Committed, RowState::FailedDefinite, RowState::Indeterminate, RowState::FailedFinal];

/// Returns the cells of a section's first table without its header.
fn table(section: &str) -> Vec<Vec<String>> {
    let page = if section.starts_with("## 4.") { "ledger.md" } else { "crashes.md" };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/semantics").join(page);
    let page = std::fs::read_to_string(page).expect("the page exists");
    let lines = page.lines().skip_while(|line| *line != section).skip(1);
    let lines = lines.take_while(|line| !line.starts_with("## ")).skip_while(|line| !line.starts_with("| # |"));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    let rows: Vec<Vec<String>> = lines.take_while(|line| line.starts_with('|')).skip(2).map(cells).collect();
    assert!(!rows.is_empty(), "{section} has a table");
    rows
}

type Matches = fn(&Caller, &SlotFacts<'_>) -> bool;

/// Meaning of each text in the column "found".
const FOUND: &[(&str, Matches)] = &[
    ("caller's attempt is stale", |caller, _| caller.attempt != caller.current_attempt),
    ("row or event for the slot with another operator, args hash or key", |caller, found| {
        let of_caller = (&caller.operator, caller.args_hash, caller.action_key);
        found.row.is_some_and(|row| (&row.operator, row.args_hash, row.action_key) != of_caller)
            || found.event.is_some_and(|event| event != of_caller)
    }),
    (
        "`command_committed` event (final answers only, success or error), `COMMITTED` (also with an empty result), or `FAILED_FINAL`",
        |_, found| found.committed_event || is(found, RowState::Committed) || is(found, RowState::FailedFinal),
    ),
    ("a stored answer of the open try, row `INFLIGHT`", |_, found| found.open_effect && is(found, RowState::Inflight)),
    ("`INDETERMINATE`", |_, found| is(found, RowState::Indeterminate)),
    ("`INFLIGHT`, same attempt and same nonce", |caller, found| {
        own(caller, found) && found.row.map(|row| row.nonce) == caller.nonce
    }),
    ("`INFLIGHT`, same attempt, other nonce", |caller, found| {
        own(caller, found) && caller.nonce.is_some_and(|nonce| found.row.is_some_and(|row| row.nonce != nonce))
    }),
    ("`INFLIGHT`, owner not quiescent (§5)", |_, found| {
        is(found, RowState::Inflight) && found.quiescence != Quiescence::Quiescent
    }),
    ("`INFLIGHT`, owner quiescent", |_, found| {
        is(found, RowState::Inflight) && found.quiescence == Quiescence::Quiescent
    }),
    ("stored answer of a world-changing call, or any event, without a row", |_, found| {
        found.row.is_none() && (found.any_world_effect || found.event.is_some())
    }),
    ("job cancelled (not for `~c` slots), policy or budget forbids", |_, found| found.forbidden.is_some()),
    ("`FAILED_DEFINITE`: time not reached", |caller, found| {
        is(found, RowState::FailedDefinite) && next_try(found).is_some_and(|time| time > caller.now_us)
    }),
    ("no retries left", |_, found| is(found, RowState::FailedDefinite) && next_try(found).is_none()),
    ("else; or nothing", |_, found| is(found, RowState::FailedDefinite) || found.row.is_none()),
];

fn is(found: &SlotFacts<'_>, state: RowState) -> bool {
    found.row.is_some_and(|row| row.state == state)
}

fn own(caller: &Caller, found: &SlotFacts<'_>) -> bool {
    is(found, RowState::Inflight) && found.row.is_some_and(|row| row.attempt == caller.attempt)
}

fn next_try(found: &SlotFacts<'_>) -> Option<i64> {
    found.row.and_then(|row| row.next_try_us)
}

/// Returns the page's text for a decision.
fn documented_decision(decision: LedgerDecision) -> &'static str {
    match decision {
        LedgerDecision::Rejected(Rejection::Stale) => "`Rejected(stale)`",
        LedgerDecision::Rejected(Rejection::Mismatch) => "`Rejected(mismatch)`",
        LedgerDecision::Rejected(Rejection::Forbidden(_)) => "`Rejected(reason)`",
        LedgerDecision::Rejected(Rejection::ActionInProgress) => "if the slot owns its action key's reservation",
        LedgerDecision::ReturnRecordedResult => "`ReturnRecordedResult`",
        LedgerDecision::CatchUp => "catch-up",
        LedgerDecision::Ladder => "the resolution steps of §5",
        LedgerDecision::Continue => "continue (our own commit",
        LedgerDecision::StopOldCall => "stop the old call",
        LedgerDecision::WaitOtherWorker { .. } => "`WaitOtherWorker(until)`",
        LedgerDecision::Indeterminate { alarm: false } => "`Indeterminate`",
        LedgerDecision::Indeterminate { alarm: true } => "`Indeterminate` and an integrity alarm",
        LedgerDecision::WaitUntil(_) => "`WaitUntil(t)`",
        LedgerDecision::FailFinal => "write `FAILED_FINAL`",
        LedgerDecision::AllowExecute => "`AllowExecute`",
    }
}

/// One case of a table row: its number, its condition, and the text of its decision.
struct DocumentedCase {
    number: u32,
    matches: Matches,
    decision: String,
}

/// Returns the cases in the order of the page. A row with several cases gives one entry for each.
fn documented_cases() -> Vec<DocumentedCase> {
    let mut lines = Vec::new();
    let mut known: BTreeSet<&str> = FOUND.iter().map(|(found, _)| *found).collect();
    for cells in table("## 4. Ledger") {
        let [number, found, decision] = cells.as_slice() else { panic!("three columns: {cells:?}") };
        let number = number.parse().expect("rows are numbered");
        let (found, decisions): (Vec<&str>, Vec<&str>) =
            (found.split(" · ").collect(), decision.split(" · ").collect());
        assert_eq!(found.len(), decisions.len(), "row {number} has as many decisions as cases");
        for (found, decision) in found.into_iter().zip(decisions) {
            let meant = FOUND.iter().find(|(words, _)| *words == found);
            let (words, matches) = meant.unwrap_or_else(|| panic!("row {number}: no condition is known for {found:?}"));
            assert!(known.remove(words), "{found:?} is on the page twice");
            lines.push(DocumentedCase { number, matches: *matches, decision: decision.to_owned() });
        }
    }
    assert!(known.is_empty(), "not on the page: {known:?}");
    assert!(lines.is_sorted_by_key(|line| line.number), "the rows are in order");
    lines
}

fn caller() -> Caller {
    Caller {
        attempt: ATTEMPT,
        current_attempt: ATTEMPT,
        nonce: None,
        operator: Operator::new("Mail.Send"),
        args_hash: Hash::default(),
        action_key: None,
        now_us: NOW_US,
    }
}

fn row(state: RowState) -> LedgerRow {
    LedgerRow {
        slot: Slot::new("s"),
        operator: Operator::new("Mail.Send"),
        args_hash: Hash::default(),
        state,
        attempt: ATTEMPT - 1,
        nonce: NONCE,
        try_no: 1,
        first_attempt: 1,
        first_started_us: 0,
        world_changing: true,
        timeout_ms: 1,
        deadline_us: 0,
        next_try_us: None,
        result_hash: None,
        action_key: None,
    }
}

/// Returns every possible ledger row. A row may belong to the call of `caller`, or to another call at the same slot.
fn rows() -> Vec<Option<LedgerRow>> {
    let mut rows = vec![None];
    for state in STATES {
        for attempt in [ATTEMPT - 1, ATTEMPT] {
            for next_try_us in [None, Some(NOW_US), Some(NOW_US + 1)] {
                let plain = LedgerRow { attempt, next_try_us, ..row(state) };
                rows.push(Some(LedgerRow { operator: Operator::new("Mail.Recall"), ..plain.clone() }));
                rows.push(Some(LedgerRow { args_hash: Hash::of(&[b"other"]), ..plain.clone() }));
                rows.push(Some(LedgerRow { action_key: Some(Hash::of(&[b"key"])), ..plain.clone() }));
                rows.push(Some(plain));
            }
        }
    }
    rows
}

/// Calls `look` with every combination of caller, row and other stored data.
fn for_all(mut look: impl FnMut(&Caller, &SlotFacts<'_>)) {
    let (own, other) = (caller().operator, Operator::new("Mail.Recall"));
    let events = [
        None,
        Some((&own, Hash::default(), None)),
        Some((&other, Hash::default(), None)),
        Some((&own, Hash::of(&[b"other"]), None)),
        Some((&own, Hash::default(), Some(Hash::of(&[b"key"])))),
    ];
    let rows = rows();
    for (row, event) in rows.iter().flat_map(|row| events.map(|event| (row.as_ref(), event))) {
        for nonce in [None, Some(NONCE), Some(NONCE + 1)] {
            for bits in 0..256_u32 {
                let bit = |number: u32| bits >> number & 1 == 1;
                let current_attempt = if bit(7) { ATTEMPT + 1 } else { ATTEMPT };
                let found = SlotFacts {
                    row,
                    event,
                    committed_event: bit(0),
                    open_effect: bit(1),
                    any_world_effect: bit(2),
                    quiescence: if bit(3) { Quiescence::Quiescent } else { Quiescence::After { wait_ms: 5 } },
                    forbidden: bit(4).then_some(if bit(5) { Code::Cancelled } else { Code::PolicyDenied }),
                    owns_action_key: bit(6),
                };
                look(&Caller { nonce, current_attempt, ..caller() }, &found);
            }
        }
    }
}

#[test]
fn ledger_decision_matches_the_documented_table() {
    let lines = documented_cases();
    let mut rows_of: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    let mut hit = BTreeSet::new();
    let mut cases = 0_u32;
    for_all(|caller, found| {
        let decision = decide(caller, found);
        let at = lines.iter().position(|line| (line.matches)(caller, found));
        let at = at.unwrap_or_else(|| panic!("no row of the page matches {found:?}"));
        let line = &lines[at];
        assert!(
            line.decision.contains(documented_decision(decision)),
            "row {} says {:?}, the code {decision:?}: {caller:?} {found:?}",
            line.number,
            line.decision
        );
        // The page mentions an alarm exactly where the code raises one.
        let alarm = matches!(decision, LedgerDecision::Indeterminate { alarm: true });
        assert_eq!(alarm, line.decision.contains("alarm"), "row {}", line.number);
        rows_of.entry(documented_decision(decision)).or_default().insert(line.number);
        hit.insert(at);
        cases += 1;
    });
    assert_eq!(hit.len(), lines.len(), "each case of each row decides something: {hit:?}");
    assert_eq!(rows_of.len(), 15, "each decision is made: {rows_of:?}");
    for (decision, rows) in &rows_of {
        assert_eq!(rows.len(), 1, "{decision} is in one row: {rows:?}");
    }
    assert!(cases > 400_000, "{cases}");
}

/// Meaning of each text in the column "on resume".
const ON_RESUME: &[(&str, LedgerDecision)] = &[
    ("`AllowExecute`", LedgerDecision::AllowExecute),
    ("**indeterminate**: see below", LedgerDecision::Indeterminate { alarm: false }),
    ("catch-up: write finished + committed from the stored answer, inject", LedgerDecision::CatchUp),
    ("event log wins, result injected, row repaired", LedgerDecision::ReturnRecordedResult),
    ("inject", LedgerDecision::ReturnRecordedResult),
];

#[test]
fn crash_window_decisions_match_the_documented_table() {
    let operator = caller().operator;
    let windows = table("## 5. Crash windows");
    assert_eq!(windows.len(), 5);
    for (number, cells) in (1..).zip(&windows) {
        let [at, _, log, ledger, effect, resume, again] = cells.as_slice() else { panic!("seven columns: {cells:?}") };
        assert_eq!(at, &number.to_string());
        let (started, committed) = match log.as_str() {
            "no started" => (false, false),
            "started" => (true, false),
            "finished + committed" => (true, true),
            other => panic!("window {number}: {other}"),
        };
        let row = match ledger.as_str() {
            "none" => None,
            "`INFLIGHT`" => Some(row(RowState::Inflight)),
            "`COMMITTED`" => Some(row(RowState::Committed)),
            other => panic!("window {number}: {other}"),
        };
        let effect = match effect.as_str() {
            "yes" => true,
            "no" => false,
            other => panic!("window {number}: {other}"),
        };
        let (_, decision) = ON_RESUME.iter().find(|(words, _)| words == resume).expect("the words are known");
        let found = SlotFacts {
            row: row.as_ref(),
            event: started.then_some((&operator, Hash::default(), None)),
            committed_event: committed,
            // A call with a final answer has no open try.
            open_effect: effect && !committed,
            any_world_effect: effect,
            quiescence: Quiescence::Quiescent,
            forbidden: None,
            owns_action_key: true,
        };
        assert_eq!(decide(&caller(), &found), *decision, "window {number}");
        let again_if = match again.as_str() {
            "no (it has not run yet)" => *decision == LedgerDecision::AllowExecute,
            "never blindly" => *decision == LedgerDecision::Indeterminate { alarm: false },
            "no" => matches!(decision, LedgerDecision::CatchUp | LedgerDecision::ReturnRecordedResult),
            other => panic!("window {number}: {other}"),
        };
        assert!(again_if, "window {number}: {again}");
        // A call is not resolved while its owner may still change the world.
        let busy = SlotFacts { quiescence: Quiescence::After { wait_ms: 5 }, ..found };
        let waits = decide(&caller(), &busy) == LedgerDecision::WaitOtherWorker { wait_ms: 5 };
        assert_eq!(waits, *decision == LedgerDecision::Indeterminate { alarm: false }, "window {number}");
    }
}
