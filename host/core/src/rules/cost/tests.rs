//! Tests of charges, prices and dates.

use serde_json::json;

use crate::model::effect::{Consumption, Usage};
use crate::model::ids::{Hash, Slot};
use crate::model::payload::PayloadRef;
use crate::rules::cost::*;

fn finished(provenance: Provenance, usage: Option<Usage>) -> Body {
    Body::ToolInvocationFinished {
        slot: Slot::new("s"),
        try_no: 1,
        ok: true,
        answer: PayloadRef { hash: Hash::default(), len: 0 },
        provenance,
        code: None,
        usage,
        spent: Some(Consumption { fuel: 7, wall_ms: 9 }),
        assumed_micro_usd: None,
        nondeterministic: true,
        refused: None,
    }
}

fn usage() -> Usage {
    Usage {
        model: Some("small".into()),
        provider_trace_id: Some("req_1".into()),
        tokens_in: 100,
        tokens_out: 10,
        cost_micro_usd: 21,
        credits: 3,
    }
}

/// I33: an answer is charged once, and a reused answer costs nothing.
#[test]
fn answer_is_charged_once_and_reused_answer_is_free() {
    let (model, totals) = charge_of(&finished(Provenance::Executed, Some(usage()))).unwrap();
    assert_eq!((model.as_str(), totals.columns()), ("small", [1, 1, 100, 10, 21, 3, 0, 1, 7, 9]));
    let caught_up = charge_of(&finished(Provenance::CaughtUp, Some(usage()))).unwrap().1;
    assert_eq!(caught_up, totals, "an answer that was caught up with was paid for too");
    let reused = charge_of(&finished(Provenance::Reused, Some(usage()))).unwrap().1;
    assert_eq!(reused.columns(), [1, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(charge_of(&finished(Provenance::Executed, None)), None, "nothing is written for it");
    assert_eq!(charge_of(&Body::CommandCommitted { slot: Slot::new("s") }), None);
}

#[test]
fn totals_round_trip_through_columns() {
    let columns = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    let mut totals = CostTotals::from_columns(columns);
    assert_eq!(totals.columns(), columns);
    totals.add(&CostTotals::from_columns([u64::MAX; 10]));
    assert_eq!(totals.columns(), [u64::MAX; 10], "a sum never wraps");
}

#[test]
fn dollar_amounts_round_trip_exactly() {
    for (text, micro) in [("0", 0), ("1.00", 1_000_000), ("50", 50_000_000), ("0.000001", 1), ("0.15", 150_000)] {
        assert_eq!(micro_usd(text), Some(micro), "{text}");
    }
    for wrong in ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,00", " 1", "0.0000001", "$1", "99999999999999"] {
        assert_eq!(micro_usd(wrong), None, "{wrong}");
    }
    for (micro, text) in [(0, "0.00"), (1_000_000, "1.00"), (1_500_000, "1.50"), (31, "0.000031"), (120_000, "0.12")] {
        assert_eq!(usd(micro), text);
    }
}

#[test]
fn prices_round_up_and_give_the_maximum_cost() {
    let prices = Prices::read(&json!({ "small": { "input": "0.15", "output": "0.60" } })).unwrap();
    assert_eq!(prices.get("small").unwrap().cost_of(1, 0), 1, "a fraction counts as a whole");
    assert_eq!(prices.get("small").unwrap().cost_of(1_000_000, 1_000_000), 750_000);
    let args = br#"{"model":"small","params":{"max_tokens":1000},"prompt":"hi"}"#;
    // The 60 bytes count as 60 input tokens and cost 9 millionths. The 1000 output tokens cost 600 millionths.
    assert_eq!((args.len(), prices.max_cost(args)), (60, Some(609)));
    assert_eq!(
        prices.max_cost(br#"{"model":"small","prompt":"hi"}"#),
        None,
        "the maximum is unknown without max_tokens"
    );
    assert_eq!(prices.max_cost(br#"{"model":"other","params":{"max_tokens":1}}"#), None);
    for wrong in [
        json!([]),
        json!({ "m": 1 }),
        json!({ "m": { "input": "1" } }),
        json!({ "m": { "input": 1, "output": "1" } }),
        json!({ "m": { "input": "1", "output": "1", "cached": "1" } }),
        json!({ "m": { "input": "1", "output": "one" } }),
    ] {
        assert!(Prices::read(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn days_and_months_follow_the_gregorian_calendar() {
    for (seconds, text) in [
        (0, "1970-01-01"),
        (951_782_400, "2000-02-29"),
        (1_709_164_800, "2024-02-29"),
        (1_795_391_999, "2026-11-22"),
        (1_795_392_000, "2026-11-23"),
        (-1, "1969-12-31"),
    ] {
        let time_us = seconds * 1_000_000;
        assert_eq!(day(time_us), text);
        assert_eq!(month(time_us), text[..7]);
    }
}
